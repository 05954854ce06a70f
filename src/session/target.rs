//! The target of a run: a URL, the embedded engine as a child process of its own, or an engine that
//! the spec launches.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::launch::{Launched, Launchpad};
use crate::load::Stop;
use crate::probe::{Origin, ProbeError};
use crate::provenance::{Declared, Observation, Pin, Pins, Why};
use crate::spec::TargetPlace;
use crate::summary::ColdStart;

/// How long the embedded engine may take to listen.
const START_LIMIT: Duration = Duration::from_secs(20);

/// Why a target could not be brought up.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The child process could not be started.
    #[error("cannot start the embedded engine (`{program} sim {words}`): {source}")]
    Spawn {
        /// This binary.
        program: String,
        /// The engine's words.
        words: String,
        /// Why.
        source: std::io::Error,
    },
    /// The child process ended, or said nothing, before it listened.
    #[error("the embedded engine (`sim {words}`) did not come up: {said}")]
    NotListening {
        /// The engine's words.
        words: String,
        /// What it said on standard error.
        said: String,
    },
    /// Another server is where the launched engine is to be.
    #[error(
        "cannot launch `{command}`: something answers at `{url}` already and would be measured in its \
         place; stop that, or let the command and `url` name another port"
    )]
    Occupied {
        /// Where.
        url: String,
        /// The command.
        command: String,
    },
    /// Somebody else holds a GPU that the engine is to have.
    #[error(
        "cannot launch `{command}`: {what}, and two on one GPU would measure each other; end that \
         process, or name another GPU in `env: {{CUDA_VISIBLE_DEVICES: …}}` of the launch"
    )]
    GpuHeld {
        /// The command.
        command: String,
        /// Who, in words.
        what: String,
    },
    /// The engine's log could not be made.
    #[error("cannot create `{}` for the launched engine's output: {source}", path.display())]
    Log {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The guard of a launched engine could not be started.
    #[error(
        "cannot launch `{command}` in `{}`: {source}; is the launch's `dir` there, counted from the spec?",
        folder.display()
    )]
    Guard {
        /// The command.
        command: String,
        /// Where it was to run.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The command could not be started.
    #[error(
        "cannot launch `{command}`: {why}; its first word has to be a program on the `PATH`, or a path \
         from the launch's `dir` or the spec"
    )]
    NotStarted {
        /// The command.
        command: String,
        /// Why.
        why: String,
    },
    /// A launched engine did not come up.
    #[error("the launched engine `{command}` {what}; {}", log_end(log, tail))]
    NotReady {
        /// The command.
        command: String,
        /// What it did instead.
        what: String,
        /// The file of its output.
        log: PathBuf,
        /// The last lines of it.
        tail: Vec<String>,
    },
    /// The launched engine can't be asked whether it is up.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The user asked to stop while an engine came up.
    #[error("interrupted while the engine was starting")]
    Interrupted,
}

impl TargetError {
    /// Whether another try may end otherwise: the command runs, and the engine did not come up.
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::NotReady { .. })
    }
}

fn log_end(log: &Path, tail: &[String]) -> String {
    let log = log.display();
    if tail.is_empty() {
        return format!("it wrote nothing into its log `{log}`");
    }
    format!("its log `{log}` ends:\n  | {}", tail.join("\n  | "))
}

/// A target that can be measured. What was started for it ends with this value, and with this process.
#[derive(Debug)]
pub struct RunningTarget {
    bases: Vec<String>,
    engine: Engine,
}

/// What was started for a target.
#[derive(Debug)]
enum Engine {
    /// Nothing: it runs already.
    Elsewhere,
    /// The embedded engine, each of its replicas killed when dropped; their standard input stays open as
    /// long as they live, and they watch that.
    Embedded(Vec<Child>),
    /// What the spec launches.
    Launched(Box<Launched>),
}

impl RunningTarget {
    /// Takes URLs as they are, starts the embedded engine on a free port and waits until it listens,
    /// or launches an engine and waits until it is ready.
    pub(super) async fn start(
        place: &TargetPlace,
        label: &str,
        pad: &Launchpad,
        stop: Stop,
    ) -> Result<Self, TargetError> {
        let base = |url: &String| url.trim_end_matches('/').to_owned();
        match place {
            TargetPlace::Urls(urls) => Ok(Self {
                bases: urls.iter().map(base).collect(),
                engine: Engine::Elsewhere,
            }),
            TargetPlace::Sim { words, replicas } => {
                let mut all = Self::start_sim(words, &pad.program).await?;
                for _ in 1..*replicas {
                    all.join(Self::start_sim(words, &pad.program).await?);
                }
                Ok(all)
            }
            TargetPlace::Launched { url, launch } => {
                let bases = vec![base(url)];
                let launched = Launched::start(&bases[0], launch, label, pad, stop).await?;
                Ok(Self {
                    bases,
                    engine: Engine::Launched(Box::new(launched)),
                })
            }
        }
    }

    /// The embedded engine of these words, as `program` (this binary) has it.
    pub(super) async fn start_sim(words: &[String], program: &Path) -> Result<Self, TargetError> {
        let text = words.join(" ");
        let mut command = Command::new(program);
        // A group of its own: the terminal's Ctrl-C is for this process, which drains first and
        // then ends the engine.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .arg("sim")
            .args(words)
            .args(["--port", "0", "--parent-watch", "--takes-faults"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| TargetError::Spawn {
                program: program.display().to_string(),
                words: text.clone(),
                source,
            })?;
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let first = tokio::time::timeout(START_LIMIT, lines.next_line()).await;
        let base = first
            .ok()
            .and_then(Result::ok)
            .flatten()
            .and_then(|line| line.strip_prefix("listening on ").map(str::to_owned));
        if let Some(base) = base {
            return Ok(Self {
                bases: vec![base],
                engine: Engine::Embedded(vec![child]),
            });
        }
        let mut said = String::new();
        let _ = child.start_kill();
        if let Some(stderr) = child.stderr.as_mut() {
            let _ = stderr.take(4096).read_to_string(&mut said).await;
        }
        let said = said.trim();
        let said = if said.is_empty() {
            "it said nothing"
        } else {
            said
        }
        .to_owned();
        Err(TargetError::NotListening { words: text, said })
    }

    /// Takes the replicas of another embedded engine as its own.
    fn join(&mut self, other: Self) {
        if let (Engine::Embedded(children), Engine::Embedded(others)) =
            (&mut self.engine, other.engine)
        {
            children.extend(others);
            self.bases.extend(other.bases);
        }
    }

    /// The base URLs, without a trailing slash: several where there are replicas.
    pub fn bases(&self) -> &[String] {
        &self.bases
    }

    /// What tells it from another that may be at the same URL at another time.
    pub(super) fn identity(&self) -> String {
        match &self.engine {
            Engine::Launched(launched) => format!("{} {}", self.bases.join(" "), launched.shown()),
            Engine::Elsewhere | Engine::Embedded(_) => self.bases.join(" "),
        }
    }

    /// How it came to run.
    pub(super) fn origin(&self) -> Origin {
        match &self.engine {
            Engine::Elsewhere => Origin::Elsewhere,
            Engine::Embedded(_) => Origin::Embedded,
            Engine::Launched(launched) => Origin::Launched(launched.visible_gpus()),
        }
    }

    /// Adds what the launch says of an engine, where that shows it not itself: its arguments, its
    /// container image.
    pub(super) fn complete(&self, pins: &mut Pins) {
        let Engine::Launched(launched) = &self.engine else {
            return;
        };
        if let Some(pin) = pin(pins, "engine.args") {
            let declared = matches!(pin.declared, Some(Declared::Literal(_)));
            if matches!(pin.observed, Observation::Unknown(_)) && !declared {
                pin.observed = by_launch(launched.shown());
            }
        }
        if let Some(image) = launched.image()
            && let Some(pin) = pin(pins, "host.container")
        {
            // What the probe saw is the container that infergate itself runs in.
            pin.observed = by_launch(image.to_owned());
        }
    }

    /// How a launched engine came up.
    pub(super) fn cold_start(&self) -> Option<&ColdStart> {
        match &self.engine {
            Engine::Launched(launched) => launched.cold_start(),
            Engine::Elsewhere | Engine::Embedded(_) => None,
        }
    }

    /// How a launched engine ended by itself; `None` while it runs, and of any other target. `lost`
    /// says that it does not answer any more.
    pub(super) async fn obituary(&self, lost: bool) -> Option<String> {
        match &self.engine {
            Engine::Launched(launched) => launched.obituary(lost).await,
            Engine::Elsewhere | Engine::Embedded(_) => None,
        }
    }

    /// Ends what was started for it and waits for its end.
    pub(super) async fn stop(self) {
        match self.engine {
            Engine::Elsewhere => {}
            Engine::Embedded(children) => {
                for mut child in children {
                    let _ = child.kill().await;
                }
            }
            Engine::Launched(launched) => launched.stop().await,
        }
    }
}

/// The pin of this path, unknown where nobody has spoken of it.
fn pin<'p>(pins: &'p mut Pins, path: &str) -> Option<&'p mut Pin> {
    let unknown = Pin {
        declared: None,
        observed: Observation::Unknown(Why::NotReported),
    };
    Some(pins.entry(path.parse().ok()?).or_insert(unknown))
}

fn by_launch(value: String) -> Observation {
    Observation::Seen {
        value,
        source: "launch".to_owned(),
    }
}
