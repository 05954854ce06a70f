//! An engine that the spec launches: started under a guard, waited for, ended with its children.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use super::guard::{ENDED, FAILED, kill_group};
use super::target::TargetError;
use crate::access::Access;
use crate::load::Stop;
use crate::probe::ProbeClient;
use crate::probe::gpu::{self, Visible};
use crate::spec::{Launch, Word};

/// Between two questions whether an engine is up: at first, and at most.
const ASK_EVERY: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];
/// How much longer than its grace an engine's end may take, and how long its port may stay open.
const LEEWAY: Duration = Duration::from_secs(10);
/// How long after its last answer the news of an engine's end may come.
const NEWS: Duration = Duration::from_secs(5);
/// Lines of a log that are shown, and how long each may be.
const TAIL: usize = 20;
const LONGEST: usize = 300;

/// What it takes to launch an engine.
#[derive(Debug, Clone)]
pub struct Launchpad {
    /// This binary, which has the guard in it.
    pub program: PathBuf,
    /// A folder for the engine's output.
    pub logs: PathBuf,
    /// What the engine asks for.
    pub access: Access,
}

/// What became of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Runs,
    NotStarted(String),
    Ended(String),
}

/// An engine that runs; it ends with this value.
#[derive(Debug)]
pub(super) struct Launched {
    launch: Launch,
    probe: ProbeClient,
    log: PathBuf,
    guard: Child,
    /// While this is open the engine lives.
    lifeline: Option<ChildStdin>,
    fate: watch::Receiver<Fate>,
}

impl Launched {
    /// Starts the engine and waits until it is ready; its output goes to a new file of this label.
    pub(super) async fn start(
        url: &str,
        launch: &Launch,
        label: &str,
        pad: &Launchpad,
        mut stop: Stop,
    ) -> Result<Self, TargetError> {
        let probe = ProbeClient::new(url, &pad.access)?;
        if probe.is_listening().await {
            return Err(TargetError::Occupied {
                url: url.to_owned(),
                command: launch.shown(),
            });
        }
        let log = new_log(&pad.logs, label)?;
        let mut launched = Self::spawn(launch, probe, log, &pad.program)?;
        let ready = tokio::select! {
            ready = launched.ready() => ready,
            () = stop.pressed() => Err(TargetError::Interrupted),
        };
        match ready {
            Ok(()) => Ok(launched),
            Err(error) => {
                launched.stop().await;
                Err(error)
            }
        }
    }

    fn spawn(
        launch: &Launch,
        probe: ProbeClient,
        log: PathBuf,
        program: &Path,
    ) -> Result<Self, TargetError> {
        let folder = launch.working_folder();
        // The guard runs in that folder already, where other relative paths would lead elsewhere.
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut command = Command::new(program);
        #[cfg(unix)]
        command.process_group(0);
        if !folder.as_os_str().is_empty() {
            command.current_dir(&folder);
        }
        let grace = launch.stop.grace.to_duration().as_millis();
        let env = launch.env.iter();
        let mut guard = command
            .arg("guard")
            .args(["--signal", launch.stop.signal.name()])
            .args(["--grace-ms", &grace.to_string()])
            .arg("--log")
            .arg(absolute(&log))
            .arg("--")
            .args(launch.command.iter().map(Word::expose))
            .envs(env.map(|(name, value)| (name, value.expose())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| TargetError::Guard {
                command: launch.shown(),
                folder,
                source,
            })?;
        let lifeline = guard.stdin.take();
        let said = guard.stdout.take().expect("stdout is piped");
        let (tell, fate) = watch::channel(Fate::Runs);
        tokio::spawn(follow(said, tell));
        Ok(Self {
            launch: launch.clone(),
            probe,
            log,
            guard,
            lifeline,
            fate,
        })
    }

    /// Waits until the engine answers, or is known not to.
    async fn ready(&mut self) -> Result<(), TargetError> {
        let within = self.launch.ready.within;
        let path = self.launch.ready.http.clone();
        let mut fate = self.fate.clone();
        let mut last = String::new();
        let asked = async {
            let [mut pause, longest] = ASK_EVERY;
            loop {
                match self.probe.status(&path).await {
                    Ok(200..=299) => return,
                    Ok(status) => last = format!("it answered {status} last"),
                    Err(error) => last = error.to_string(),
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(longest);
            }
        };
        let what = tokio::select! {
            answered = tokio::time::timeout(within.to_duration(), asked) => match answered {
                Ok(()) => return Ok(()),
                Err(_) => format!("was not ready at `{path}` within {within}: {last}"),
            },
            changed = fate.wait_for(|fate| *fate != Fate::Runs) => match changed.as_deref() {
                Ok(Fate::NotStarted(why)) => {
                    return Err(TargetError::NotStarted {
                        command: self.launch.shown(),
                        why: why.clone(),
                    });
                }
                Ok(Fate::Ended(how)) => format!("ended ({how}) before it was ready"),
                Ok(Fate::Runs) | Err(_) => "lost its guard before it was ready".to_owned(),
            },
        };
        Err(TargetError::NotReady {
            command: self.launch.shown(),
            what,
            log: self.log.clone(),
            tail: self.tail(),
        })
    }

    /// How the engine ended, with the end of its log; `None` while it runs.
    ///
    /// `lost` waits a moment for the news, since connections break before it comes.
    pub(super) async fn obituary(&self, lost: bool) -> Option<String> {
        let mut fate = self.fate.clone();
        if lost {
            let ended = fate.wait_for(|fate| *fate != Fate::Runs);
            let _ = tokio::time::timeout(NEWS, ended).await;
        }
        let how = match &*self.fate.borrow() {
            Fate::Runs => return None,
            Fate::NotStarted(how) | Fate::Ended(how) => how.clone(),
        };
        let tail = self.tail();
        let said = if tail.is_empty() {
            "it wrote nothing".to_owned()
        } else {
            format!("its log ends: {}", tail.join(" | "))
        };
        Some(format!("the launched engine ended ({how}); {said}"))
    }

    /// The GPUs that it may use: by its own variable, else by ours.
    pub(super) fn visible_gpus(&self) -> Visible {
        let own = self.launch.env.get(gpu::VARIABLE);
        own.map_or_else(Visible::from_environment, |word| Visible::of(word.expose()))
    }

    /// The command, as far as it may be shown.
    pub(super) fn shown(&self) -> String {
        self.launch.shown()
    }

    /// The last lines that the engine wrote, without secrets.
    fn tail(&self) -> Vec<String> {
        let text = last_of(&self.log).unwrap_or_default();
        let lines = text
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty());
        let lines: Vec<&str> = lines.collect();
        let shown = |line: &&str| {
            let masked = self.probe.mask(&self.launch.mask(line));
            // Whatever an engine writes must not command the terminal.
            let plain = masked.chars().map(|c| if c.is_control() { ' ' } else { c });
            plain.take(LONGEST).collect()
        };
        lines[lines.len().saturating_sub(TAIL)..]
            .iter()
            .map(shown)
            .collect()
    }

    /// Ends the engine with all that it started, and waits until nothing listens in its place.
    pub(super) async fn stop(mut self) {
        self.lifeline = None;
        let patience = self.launch.stop.grace.to_duration() + LEEWAY;
        if tokio::time::timeout(patience, self.guard.wait())
            .await
            .is_err()
        {
            self.kill();
            let _ = self.guard.wait().await;
        }
        let closed = async {
            while self.probe.is_listening().await {
                tokio::time::sleep(ASK_EVERY[0]).await;
            }
        };
        let _ = tokio::time::timeout(LEEWAY, closed).await;
    }

    fn kill(&self) {
        // A guard that was reaped has no number any more.
        if let Some(leader) = self.guard.id() {
            kill_group(leader);
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Follows what the guard says; the end of its words is the end of what it guards.
async fn follow(said: ChildStdout, tell: watch::Sender<Fate>) {
    let mut lines = BufReader::new(said).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(why) = line.strip_prefix(FAILED) {
            tell.send_replace(Fate::NotStarted(why.to_owned()));
        } else if let Some(how) = line.strip_prefix(ENDED) {
            tell.send_replace(Fate::Ended(how.to_owned()));
        }
    }
}

/// A file of this label that is not there yet: `candidate-3.log`.
fn new_log(folder: &Path, label: &str) -> Result<PathBuf, TargetError> {
    let failed = |path: &Path, source| TargetError::Log {
        path: path.to_owned(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    let mut number = 1_u32;
    loop {
        let path = folder.join(format!("{label}-{number}.log"));
        match File::create_new(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(source) => return Err(failed(&path, source)),
        }
    }
}

/// The last part of a file, more than any tail that is shown.
fn last_of(path: &Path) -> std::io::Result<String> {
    const BYTES: u64 = 64 << 10;
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES)))?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
