//! A temporary project with a spec, and the binary to run in it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A folder that goes away with the test.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

/// What a command left: its exit code and what it said.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Asserts the exit code, showing everything that was said where it differs.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        self
    }

    /// Asserts that it ended by itself, with whatever verdict.
    #[track_caller]
    pub(crate) fn exits_any(self) -> Self {
        assert!(
            matches!(self.code, Some(0..=4)),
            "{:?}\n{}",
            self.code,
            self.err
        );
        self
    }

    /// Asserts that standard error says this.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(
            self.err.contains(text),
            "no {text:?} in stderr:\n{}",
            self.err
        );
        self
    }

    /// Asserts that standard output shows this.
    #[track_caller]
    pub(crate) fn shows(self, text: &str) -> Self {
        assert!(
            self.out.contains(text),
            "no {text:?} in stdout:\n{}",
            self.out
        );
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}

/// Variables by which a job of CI would reach into a test.
const OF_A_JOB: [&str; 27] = [
    "INFERGATE_LANG",
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "BUILDKITE",
    "GITHUB_API_URL",
    "GITHUB_EVENT_NAME",
    "GITHUB_EVENT_PATH",
    "GITHUB_GRAPHQL_URL",
    "GITHUB_OUTPUT",
    "GITHUB_REF",
    "GITHUB_REPOSITORY",
    "GITHUB_RUN_ATTEMPT",
    "GITHUB_RUN_ID",
    "GITHUB_SERVER_URL",
    "GITHUB_SHA",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_WORKSPACE",
    "GITLAB_TOKEN",
    "CI_API_V4_URL",
    "CI_PROJECT_ID",
    "CI_PROJECT_DIR",
    "CI_PIPELINE_ID",
    "CI_MERGE_REQUEST_IID",
    "BUILDKITE_BUILD_CHECKOUT_PATH",
];

/// A small spec on the embedded engine: two users, 60 requests, some milliseconds each.
pub(crate) const SMALL: &str = "\
infergate: 1
name: small
target: {sim: SIM, api: chat}
under_test: [engine.args]
workload:
  seed: 7
  output_length: pinned
  classes:
    - {name: chat, weight: 1, input: 40, output: 6, slo: {ttft: 1s, e2e: 2s}}
stages:
  - {name: steady, closed: {users: 2}, requests: 60, warmup: 4}
gate:
  cells:
    - {metric: e2e.p50, worse_by: 60%}
    - {metric: error_ratio, at_most: 10%}
";

impl Project {
    /// With [`SMALL`] on the embedded engine of these words.
    pub(crate) fn new(sim: &str) -> Self {
        Self::with_spec(&SMALL.replace("SIM", sim))
    }

    /// With this spec as `spec.yaml`.
    pub(crate) fn with_spec(spec: &str) -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::write(project.path("spec.yaml"), spec).unwrap();
        project
    }

    /// A path in the project.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary in this folder, with these words.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_infergate"));
        command
            .current_dir(self.folder.path())
            .args(words)
            // Tests run side by side, each on a machine of its own as far as locks go.
            .env("INFERGATE_LOCKS", self.path("locks"))
            .env_remove("TARGET_URL");
        // What a job of CI may do to an archive is tested where it is said to be one.
        for variable in OF_A_JOB {
            command.env_remove(variable);
        }
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.command(words).output().unwrap().into()
    }

    /// The folders of all sessions so far, in the order of their names.
    pub(crate) fn sessions(&self) -> Vec<PathBuf> {
        entries(&self.path("infergate-out"))
    }

    /// The run files of all sessions so far; not those that are being written.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let sessions = self.sessions();
        let files = sessions
            .iter()
            .flat_map(|session| entries(&session.join("runs")));
        files
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .collect()
    }
}

/// Every file that a project holds at its end is what its schema says.
impl Drop for Project {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let (wrong, _) = crate::valid::check_files(self.folder.path());
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    }
}

impl Project {
    /// Waits until a child that measures has ended some requests.
    ///
    /// The header of the records is written when the load begins, so a file that has grown past it
    /// means that requests have ended.
    pub(crate) fn wait_for_load(&self, child: &mut Child) {
        let grew = || {
            self.sessions()
                .iter()
                .flat_map(|session| entries(&session.join("records")))
                .any(|path| path.metadata().unwrap().len() > 200)
        };
        while !grew() {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::yield_now();
        }
    }
}

/// An embedded engine that ends with the test.
pub(crate) struct Engine {
    child: Child,
    pub(crate) address: String,
}

impl Engine {
    /// Of these words, on a free port.
    pub(crate) fn start(words: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_infergate"))
            .arg("sim")
            .args(words)
            .args(["--port", "0", "--parent-watch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap();
        Self {
            address: address.to_owned(),
            child,
        }
    }
}

impl Engine {
    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody else is given while this is there: bound, but nothing listens on it. A server that
/// sets `SO_REUSEADDR`, as servers do, can listen there.
pub(crate) struct Port(tokio::net::TcpSocket);

impl Port {
    /// A free one.
    pub(crate) fn reserve() -> Self {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self(socket)
    }

    /// Its number.
    pub(crate) fn number(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }
}

/// What is in a folder, sorted; nothing where there is no folder.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = found.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// A JSON file.
pub(crate) fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}
