//! The archive as a branch: what is promoted to it, by how many at once, and what is said where it can't be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::{Project, Ran, SMALL, entries, json};

const BRANCH: &str = "infergate-archive";

/// A remote, clones of it, and a session of which each gets a copy of its own.
struct Fleet {
    project: Project,
}

/// Git in a folder, without the settings of whoever runs the tests.
fn git_command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .args([
            "-c",
            "user.name=Tester",
            "-c",
            "user.email=tester@example.org",
        ])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command
}

#[track_caller]
fn git(folder: &Path, words: &[&str]) -> String {
    let output = git_command(folder).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {words:?}: {said}");
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

fn spec() -> String {
    // `check` refuses a tolerance that is within the noise, and two runs on a busy machine have much of it.
    SMALL.replace("SIM", "test").replace("60%", "900%") + "archive: {branch: infergate-archive}\n"
}

/// The runs of a session of that spec, measured once.
fn runs() -> &'static [Value] {
    static RUNS: OnceLock<Vec<Value>> = OnceLock::new();
    RUNS.get_or_init(|| {
        let project = Project::with_spec(&spec());
        project
            .run(&["--quiet", "run", "spec.yaml", "--repeats", "2"])
            .exits(0);
        project.runs().iter().map(|path| json(path)).collect()
    })
}

impl Fleet {
    /// With this many clones, `c0`, `c1`, ….
    fn new(clones: usize) -> Self {
        let spec = spec();
        let fleet = Self {
            project: Project::with_spec(&spec),
        };
        let top = fleet.project.path("");
        git(&top, &["init", "--quiet", "--bare", "-b", "main", "remote"]);
        git(&top, &["init", "--quiet", "-b", "main", "first"]);
        let first = fleet.project.path("first");
        fs::copy(fleet.project.path("spec.yaml"), first.join("spec.yaml")).unwrap();
        git(&first, &["add", "--all"]);
        git(&first, &["commit", "--quiet", "-m", "a spec"]);
        git(&first, &["push", "--quiet", "../remote", "main"]);
        for number in 0..clones {
            git(&top, &["clone", "--quiet", "remote", &format!("c{number}")]);
        }
        fleet
    }

    fn clone(&self, number: usize) -> PathBuf {
        self.project.path(&format!("c{number}"))
    }

    fn remote(&self) -> PathBuf {
        self.project.path("remote")
    }

    /// The folder of a copy of the session under another id.
    fn session(&self, number: usize) -> PathBuf {
        let folder = self.project.path(&format!("sessions/{number}"));
        fs::create_dir_all(&folder).unwrap();
        for mut run in runs().iter().cloned() {
            let id = format!("{}-{number}", run["id"].as_str().unwrap());
            run["session"] = Value::from(format!("session-{number}"));
            run["id"] = Value::from(id.as_str());
            fs::write(folder.join(format!("{id}.json")), run.to_string()).unwrap();
        }
        folder
    }

    /// The binary in a clone.
    fn command(&self, number: usize, words: &[&str]) -> Command {
        let mut command = self.project.command(words);
        command
            .current_dir(self.clone(number))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    fn run(&self, number: usize, words: &[&str]) -> Ran {
        self.command(number, words).output().unwrap().into()
    }

    /// Promoting a copy of the session from a clone.
    fn promote(&self, clone: usize, session: usize) -> Command {
        let folder = self.session(session);
        let words = [
            "baseline",
            "promote",
            folder.to_str().unwrap(),
            "--reason",
            "a test",
        ];
        self.command(clone, &words)
    }

    /// The sessions that stand on the remote's branch, sorted.
    fn standing(&self) -> Vec<String> {
        let listed = git(&self.remote(), &["ls-tree", "-r", "--name-only", BRANCH]);
        let path = listed
            .lines()
            .find(|path| path.ends_with("reference.json"))
            .unwrap();
        let text = git(&self.remote(), &["show", &format!("{BRANCH}:{path}")]);
        let reference: Value = serde_json::from_str(&text).unwrap();
        let sessions = reference["sessions"].as_array().unwrap().iter();
        let mut ids: Vec<String> = sessions
            .map(|stands| stands["session"].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids
    }

    fn expected(sessions: usize) -> Vec<String> {
        let mut ids: Vec<String> = (0..sessions)
            .map(|number| format!("session-{number}"))
            .collect();
        ids.sort();
        ids
    }

    /// So many clones promote a session each at the same time.
    fn race(writers: usize) {
        let fleet = Self::new(writers);
        let children: Vec<_> = (0..writers)
            .map(|number| {
                let mut command = fleet.promote(number, number);
                command
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for child in children {
            Ran::from(child.wait_with_output().unwrap())
                .exits(0)
                .says("promoted 2 runs");
        }
        assert_eq!(fleet.standing(), Self::expected(writers));
        let remote = fleet.remote();
        let files = git(&remote, &["ls-tree", "-r", "--name-only", BRANCH]);
        let runs = files.lines().filter(|path| path.contains("/runs/")).count();
        assert_eq!(runs, 2 * writers);
        let log = git(&remote, &["log", "--format=%h %p", BRANCH]);
        let lines: Vec<usize> = log
            .lines()
            .map(|line| line.split_whitespace().count())
            .collect();
        assert_eq!(lines.len(), writers, "one commit a session");
        let (first, later) = lines.split_last().unwrap();
        assert_eq!(*first, 1, "it begins with nothing of `main`");
        assert!(
            later.iter().all(|names| *names == 2),
            "a line of history: {log}"
        );
        fleet
            .run(0, &["check", "spec.yaml"])
            .exits(0)
            .shows(&format!("{writers} sessions"));
    }
}

#[test]
fn two_writers_lose_nothing() {
    Fleet::race(2);
}

#[test]
fn eight_writers_lose_nothing() {
    Fleet::race(8);
}

#[test]
fn twenty_writers_lose_nothing() {
    Fleet::race(20);
}

#[test]
fn a_dirty_tree_and_a_merge_in_progress_stay_as_they_are() {
    let fleet = Fleet::new(1);
    let clone = fleet.clone(0);
    let write = |path: &str, text: &str| fs::write(clone.join(path), text).unwrap();
    write("file.txt", "1");
    git(&clone, &["add", "--all"]);
    git(&clone, &["commit", "--quiet", "-m", "one"]);
    git(&clone, &["checkout", "--quiet", "-b", "other", "HEAD~"]);
    write("file.txt", "2");
    git(&clone, &["add", "--all"]);
    git(&clone, &["commit", "--quiet", "-m", "two"]);
    let merge = git_command(&clone)
        .args(["merge", "main"])
        .output()
        .unwrap();
    assert!(!merge.status.success(), "a conflict");
    write("untracked.txt", "x");
    write("staged.txt", "x");
    git(&clone, &["add", "staged.txt"]);
    let seen = || {
        let mut files: Vec<(PathBuf, Vec<u8>)> = ["index", "MERGE_HEAD", "HEAD", "FETCH_HEAD"]
            .map(|name| clone.join(".git").join(name))
            .into_iter()
            .chain(entries(&clone))
            .filter(|path| path.is_file())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        files.sort();
        let heads = git(&clone, &["for-each-ref", "refs/heads"]);
        (git(&clone, &["status", "--porcelain"]), heads, files)
    };
    let before = seen();
    assert!(before.0.contains("AA file.txt"), "{}", before.0);
    Ran::from(fleet.promote(0, 0).output().unwrap()).exits(0);
    fleet
        .run(0, &["check", "spec.yaml"])
        .exits(0)
        .shows("1 session");
    assert_eq!(seen(), before);
    assert_eq!(fleet.standing(), ["session-0"]);
}

#[test]
fn a_detached_head_and_a_shallow_clone_promote_like_any_other() {
    let fleet = Fleet::new(1);
    git(&fleet.clone(0), &["checkout", "--quiet", "--detach"]);
    for session in 0..2 {
        Ran::from(fleet.promote(0, session).output().unwrap()).exits(0);
    }
    let url = format!("file://{}", fleet.remote().display());
    git(
        &fleet.project.path(""),
        &["clone", "--quiet", "--depth", "1", &url, "c1"],
    );
    Ran::from(fleet.promote(1, 2).output().unwrap()).exits(0);
    assert_eq!(fleet.standing(), Fleet::expected(3));
    assert_eq!(git(&fleet.remote(), &["rev-list", "--count", BRANCH]), "3");
    assert!(!fleet.remote().join("shallow").exists());
}

#[test]
fn a_branch_that_is_not_there_yet_is_said_to_hold_nothing() {
    let fleet = Fleet::new(1);
    let place = "branch `infergate-archive` of `origin`";
    let nothing = format!("no baseline for `small` in {place}; promote a session first");
    fleet.run(0, &["gate", "spec.yaml"]).exits(3).says(&nothing);
    fleet
        .run(0, &["baseline", "list", "--archive-branch", BRANCH])
        .exits(2)
        .says(&format!("no baselines in {place}"));
    fleet.run(0, &["check", "spec.yaml"]).exits(0);
    Ran::from(fleet.promote(0, 0).output().unwrap())
        .exits(0)
        .says("into `infergate-archive:small/");
    fleet
        .run(0, &["gate", "spec.yaml"])
        .exits(3)
        .says(":small/cpu-infergate-sim-")
        .says("has 1 session and needs 3");
    fleet
        .run(
            0,
            &["baseline", "show", "small", "--archive-branch", BRANCH],
        )
        .exits(0)
        .shows("session-0  a test");
    fleet
        .run(0, &["baseline", "list"])
        .exits(2)
        .says("no baselines in `baselines`");
}

/// A script at a path.
#[cfg(unix)]
fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_remote_that_takes_nothing_says_why_and_the_session_stays() {
    let fleet = Fleet::new(1);
    let hook = fleet.remote().join("hooks/pre-receive");
    let session = fleet.project.path("sessions/0");
    let lost_nothing = format!("Nothing is lost: the session is in `{}`", session.display());
    for (said, advice) in [
        (
            "no pushes today",
            "see what the remote's hook or rules ask for",
        ),
        (
            "Permission to a/b denied to robot",
            "`permissions: {contents: write}`",
        ),
        (
            "You are not allowed to push code to protected branches on this project",
            "let this job push to that branch in the rules that protect it",
        ),
    ] {
        script(&hook, &format!("#!/bin/sh\necho '{said}' >&2\nexit 1\n"));
        Ran::from(fleet.promote(0, 0).output().unwrap())
            .exits(2)
            .says("branch `infergate-archive` of `origin` takes nothing from here")
            .says(said)
            .says(advice)
            .says(&lost_nothing);
    }
    assert_eq!(entries(&session).len(), 2);
    fs::remove_file(hook).unwrap();
    Ran::from(fleet.promote(0, 0).output().unwrap()).exits(0);
    assert_eq!(fleet.standing(), ["session-0"]);
}

#[test]
fn a_remote_that_is_away_leaves_the_copy_to_readers_and_the_session_to_writers() {
    let fleet = Fleet::new(2);
    Ran::from(fleet.promote(0, 0).output().unwrap()).exits(0);
    fleet
        .run(0, &["check", "spec.yaml"])
        .exits(0)
        .shows("1 session");
    fs::rename(fleet.remote(), fleet.project.path("away")).unwrap();
    fleet
        .run(0, &["check", "spec.yaml"])
        .exits(0)
        .shows("1 session")
        .says("branch `infergate-archive` of `origin` cannot be reached")
        .says("reading the copy that was fetched before, of 20");
    for words in [&["check", "spec.yaml"], &["gate", "spec.yaml"]] {
        fleet
            .run(1, words)
            .exits(3)
            .says("cannot be reached, and nothing of it was fetched before")
            .says("does not appear to be a git repository");
    }
    Ran::from(fleet.promote(0, 1).output().unwrap())
        .exits(4)
        .says("cannot be reached")
        .says("Nothing is lost: the session is in");
    fs::rename(fleet.project.path("away"), fleet.remote()).unwrap();
    Ran::from(fleet.promote(0, 1).output().unwrap()).exits(0);
    assert_eq!(fleet.standing(), Fleet::expected(2));
}

#[test]
fn without_git_or_a_repository_it_is_said_what_is_missing() {
    let fleet = Fleet::new(1);
    let mut command = fleet.command(0, &["check", "spec.yaml"]);
    let empty = fleet.project.path("empty");
    fs::create_dir(&empty).unwrap();
    Ran::from(command.env("PATH", &empty).output().unwrap())
        .exits(2)
        .says("there is no `git` program on the PATH; install git");
    let mut command = fleet.command(0, &["check", "spec.yaml"]);
    fs::copy(fleet.clone(0).join("spec.yaml"), empty.join("spec.yaml")).unwrap();
    command.current_dir(&empty);
    Ran::from(command.output().unwrap())
        .exits(2)
        .says("is not in a git repository; run infergate in a checkout");
}

#[test]
fn who_is_nobody_commits_as_infergate_and_hooks_around_it_lead_nowhere() {
    let fleet = Fleet::new(1);
    let mut command = fleet.promote(0, 0);
    let nowhere = fleet.project.path("nowhere");
    command
        .env("HOME", &nowhere)
        .env_remove("EMAIL")
        .env("GIT_DIR", &nowhere)
        .env("GIT_INDEX_FILE", nowhere.join("index"))
        .env("GIT_WORK_TREE", &nowhere);
    Ran::from(command.output().unwrap()).exits(0);
    let author = git(
        &fleet.remote(),
        &["log", "--format=%an <%ae> %cn: %s", BRANCH],
    );
    assert_eq!(
        author,
        "infergate <infergate@localhost> infergate: small: promote session session-0"
    );
    let clone = fleet.clone(0);
    git(&clone, &["config", "user.name", "Ann"]);
    git(&clone, &["config", "user.email", "ann@example.org"]);
    Ran::from(fleet.promote(0, 1).output().unwrap()).exits(0);
    let author = git(
        &fleet.remote(),
        &["log", "-1", "--format=%an <%ae> %cn", BRANCH],
    );
    assert_eq!(author, "Ann <ann@example.org> Ann");
}

#[test]
fn without_a_remote_the_branch_is_the_repositorys_own_until_there_is_one() {
    let fleet = Fleet::new(1);
    let clone = fleet.clone(0);
    git(&clone, &["remote", "remove", "origin"]);
    Ran::from(fleet.promote(0, 0).output().unwrap()).exits(0);
    fleet
        .run(0, &["check", "spec.yaml"])
        .exits(0)
        .shows("1 session");
    git(&clone, &["checkout", "--quiet", BRANCH]);
    Ran::from(fleet.promote(0, 1).output().unwrap())
        .exits(2)
        .says("branch `infergate-archive` is checked out in")
        .says("Nothing is lost");
    git(&clone, &["checkout", "--quiet", "main"]);
    git(
        &clone,
        &["remote", "add", "up", fleet.remote().to_str().unwrap()],
    );
    Ran::from(fleet.promote(0, 1).output().unwrap()).exits(0);
    assert_eq!(fleet.standing(), Fleet::expected(2));
    git(&clone, &["remote", "add", "down", "../first"]);
    fleet
        .run(0, &["check", "spec.yaml"])
        .exits(2)
        .says("`archive` names no remote")
        .says("has `down`, `up`; say which");
}

#[test]
fn another_repository_and_a_folder_of_its_branch_hold_the_archive_too() {
    let fleet = Fleet::new(1);
    let top = fleet.project.path("");
    git(
        &top,
        &["init", "--quiet", "--bare", "-b", "main", "elsewhere"],
    );
    git(
        &fleet.project.path("first"),
        &["push", "--quiet", "../elsewhere", "main"],
    );
    let spec = SMALL.replace("SIM", "test")
        + "archive: {branch: main, repository: ../elsewhere, folder: perf/baselines}\n";
    fs::write(fleet.clone(0).join("spec.yaml"), &spec).unwrap();
    let folder = fleet.session(0);
    for path in entries(&folder) {
        let mut run = json(&path);
        run["spec"]["text"] = Value::from(spec.as_str());
        fs::write(&path, run.to_string()).unwrap();
    }
    let words = [
        "baseline",
        "promote",
        folder.to_str().unwrap(),
        "--reason",
        "x",
    ];
    fleet
        .run(0, &words)
        .exits(0)
        .says("into `main:perf/baselines/small/");
    let elsewhere = fleet.project.path("elsewhere");
    let files = git(&elsewhere, &["ls-tree", "-r", "--name-only", "main"]);
    assert!(
        files.contains("spec.yaml\n") || files.ends_with("spec.yaml"),
        "what was there stays"
    );
    assert!(files.contains("perf/baselines/small/spec.yaml"), "{files}");
    fleet
        .run(0, &["check", "spec.yaml"])
        .exits(0)
        .shows("1 session");
    fs::write(
        fleet.clone(0).join("spec.yaml"),
        spec.replace("repository: ../elsewhere", "remote: upstream"),
    )
    .unwrap();
    fleet
        .run(0, &["check", "spec.yaml"])
        .exits(2)
        .says("`archive` names the remote `upstream`")
        .says("has `origin`");
}

/// A `git` that counts its calls, and ends the one who calls it before the n-th.
#[cfg(unix)]
#[test]
fn a_writer_that_is_killed_before_any_call_of_git_loses_nothing() {
    let fleet = Fleet::new(2);
    let asked = |line: &str| {
        let output = Command::new("sh").args(["-c", line]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let (real, path) = (asked("command -v git"), asked("echo $PATH"));
    let (bin, counter) = (fleet.project.path("bin"), fleet.project.path("counter"));
    script(
        &bin.join("git"),
        &format!(
            "#!/bin/sh\n\
             read n < {counter}\n\
             n=$((n + 1))\n\
             echo $n > {counter}\n\
             if [ $n = \"$END_AT\" ]; then kill -9 $PPID; exit 1; fi\n\
             exec {real} \"$@\"\n",
            counter = counter.display(),
        ),
    );
    let path = format!("{}:{path}", bin.display());
    let mut expected: Vec<String> = Vec::new();
    let mut ends = 0;
    for call in 1.. {
        fs::write(&counter, "0").unwrap();
        let mut command = fleet.promote(0, call);
        command.env("PATH", &path).env("END_AT", call.to_string());
        let ended = Ran::from(command.output().unwrap());
        let whole = ended.code == Some(0);
        if !whole {
            assert_eq!(ended.code, None, "killed: {}", ended.err);
            ends += 1;
        }
        let id = format!("session-{call}");
        if call > 1 && fleet.standing().contains(&id) {
            expected.push(id);
        }
        assert!(!whole || expected.contains(&format!("session-{call}")));
        // Somebody else goes on, and so does the same clone.
        if call % 2 == 1 {
            let clone = call / 2 % 2;
            Ran::from(fleet.promote(clone, 100 + call).output().unwrap()).exits(0);
            expected.push(format!("session-{}", 100 + call));
        }
        expected.sort();
        assert_eq!(
            fleet.standing(),
            expected,
            "after a kill before call {call}"
        );
        fleet
            .run(1, &["baseline", "verify", "--archive-branch", BRANCH])
            .exits(0)
            .shows("0 errors");
        if whole {
            break;
        }
    }
    assert!(ends > 12, "{ends} calls");
    for folder in [fleet.remote(), fleet.clone(0)] {
        git(&folder, &["fsck", "--strict", "--no-dangling"]);
    }
    let shows = format!("{} sessions", expected.len());
    fleet
        .run(1, &["baseline", "list", "--archive-branch", BRANCH])
        .exits(0)
        .shows(&shows);
    assert_eq!(git(&fleet.clone(0), &["status", "--porcelain"]), "");
}

/// Jobs that share a checkout share its copy of the branch, and its lock.
#[test]
fn four_writers_in_one_clone_lose_nothing() {
    let fleet = Fleet::new(1);
    let children: Vec<_> = (0..4)
        .map(|number| {
            let mut command = fleet.promote(0, number);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        Ran::from(child.wait_with_output().unwrap()).exits(0);
    }
    assert_eq!(fleet.standing(), Fleet::expected(4));
    assert_eq!(git(&fleet.remote(), &["rev-list", "--count", BRANCH]), "4");
}

/// Eight processes promote into one folder.
#[test]
fn eight_writers_of_a_folder_lose_nothing() {
    let fleet = Fleet::new(1);
    let children: Vec<_> = (0..8)
        .map(|number| {
            let folder = fleet.session(number);
            let words = [
                "baseline",
                "promote",
                folder.to_str().unwrap(),
                "--reason",
                "x",
            ];
            let words = [&words[..], &["--baselines", "baselines"]].concat();
            let mut command = fleet.command(0, &words);
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        Ran::from(child.wait_with_output().unwrap()).exits(0);
    }
    fleet
        .run(0, &["baseline", "list"])
        .exits(0)
        .shows("8 sessions, 16 runs");
    let environment = entries(&fleet.clone(0).join("baselines/small"));
    assert_eq!(entries(&environment[0].join("runs")).len(), 16);
}
