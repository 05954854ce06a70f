//! An engine that the spec launches: started under a guard, waited for, ended with its children.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::guard::{ENDED, FAILED, kill_group};
use super::idle::wait_for_idle;
use super::log::{new_log, tail};
use super::target::TargetError;
use crate::access::Access;
use crate::load::Stop;
use crate::probe::gpu::{self, Visible};
use crate::probe::{Asking, ProbeClient, early_answer};
use crate::spec::{Launch, Word};
use crate::summary::{ColdStart, EarlyAnswer};

/// Between two questions whether an engine is up: at least, and at most.
const ASK_EVERY: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(500)];
/// In between, this part of the time that it has taken so far: it blurs that by 1.6 % at most.
const PART: u32 = 64;
/// How long a first request may take that the spec does not wait for.
const EARLY: Duration = Duration::from_mins(1);
/// How much longer than its grace an engine's end may take, and how long its port may stay open.
const LEEWAY: Duration = Duration::from_secs(10);
/// How long after its last answer the news of an engine's end may come.
const NEWS: Duration = Duration::from_secs(5);

/// What it takes to launch an engine.
#[derive(Debug, Clone)]
pub struct Launchpad {
    /// This binary, which has the guard in it.
    pub program: PathBuf,
    /// A folder for the engine's output.
    pub logs: PathBuf,
    /// What the engine asks for.
    pub access: Access,
    /// What its first requests are like.
    pub asking: Asking,
}

/// What became of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Runs,
    NotStarted(String),
    Ended(String),
    /// Somebody killed the guard, and so the engine was ended too.
    Unguarded,
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
    /// What listens to the guard.
    following: JoinHandle<()>,
    began: Instant,
    /// What else used the machine before it.
    busy: Vec<String>,
    cold_start: Option<ColdStart>,
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
        let busy = tokio::select! {
            busy = wait_for_idle(launch) => busy?,
            () = stop.pressed() => return Err(TargetError::Interrupted),
        };
        let log = new_log(&pad.logs, label)?;
        let mut launched = Self::spawn(launch, probe, log, &pad.program)?;
        launched.busy = busy;
        let ready = tokio::select! {
            ready = launched.ready(&pad.asking) => ready,
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
        let stop = launch.stop.command.iter().flatten();
        let began = now();
        let mut guard = command
            .arg("guard")
            .args(["--signal", launch.stop.signal.name()])
            .args(["--grace-ms", &grace.to_string()])
            .args(stop.flat_map(|word| ["--stop", word.expose()]))
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
        let following = tokio::spawn(follow(said, tell, guard.id()));
        Ok(Self {
            launch: launch.clone(),
            probe,
            log,
            guard,
            lifeline,
            fate,
            following,
            began,
            busy: Vec::new(),
            cold_start: None,
        })
    }

    /// Waits until the engine answers, or is known not to.
    async fn ready(&mut self, asking: &Asking) -> Result<(), TargetError> {
        let within = self.launch.ready.within;
        let path = self.launch.ready.http.clone();
        let mut fate = self.fate.clone();
        let mut last = String::new();
        let up = async {
            let cold = self.comes_up(&mut last).await;
            self.meets(asking, cold, &mut last).await
        };
        let what = tokio::select! {
            up = tokio::time::timeout(within.to_duration(), up) => match up {
                Ok(cold_start) => {
                    self.cold_start = Some(cold_start);
                    return Ok(());
                }
                Err(_) if self.launch.ready.first_request => format!(
                    "was not ready at `{path}` and for a first request within {within}: {last}"
                ),
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
                Ok(Fate::Runs | Fate::Unguarded) | Err(_) => {
                    "lost its guard, which somebody killed, before it was ready".to_owned()
                }
            },
        };
        Err(TargetError::NotReady {
            command: self.launch.shown(),
            what,
            log: self.log.clone(),
            tail: self.tail().await,
        })
    }

    /// Waits until the ready probe is answered; seconds since the process was started.
    async fn comes_up(&self, last: &mut String) -> f64 {
        let [least, most] = ASK_EVERY;
        loop {
            match self.probe.status(&self.launch.ready.http).await {
                Ok(200..=299) => return self.began.elapsed().as_secs_f64(),
                Ok(status) => *last = format!("it answered {status} last"),
                Err(error) => *last = error.to_string(),
            }
            let pause = self.began.elapsed() / PART;
            tokio::time::sleep(pause.clamp(least, most)).await;
        }
    }

    /// Sends the first two requests; where the spec waits for the first, until it is answered.
    async fn meets(&self, asking: &Asking, ready_s: f64, last: &mut String) -> ColdStart {
        const TEXTS: [&str; 2] = ["Is anybody there?", "Say it once more, please."];
        let within = self.launch.ready.within.to_duration();
        let wait = self.launch.ready.first_request;
        let at_most = if wait { within } else { within.min(EARLY) };
        let first = loop {
            let first = early_answer(&self.probe, asking, TEXTS[0], at_most).await;
            match &first {
                EarlyAnswer::Failed { error } if wait => last.clone_from(error),
                EarlyAnswer::Failed { .. } | EarlyAnswer::Answered { .. } => break first,
            }
            tokio::time::sleep(ASK_EVERY[1]).await;
        };
        ColdStart {
            ready_s,
            first,
            warm: early_answer(&self.probe, asking, TEXTS[1], at_most).await,
            busy: self.busy.clone(),
        }
    }

    /// How it came up.
    pub(super) const fn cold_start(&self) -> Option<&ColdStart> {
        self.cold_start.as_ref()
    }

    /// How the engine ended, with the end of its log; `None` while it runs and answers.
    ///
    /// `lost` says that it does not answer, and waits a moment for the news, since connections break
    /// before it comes.
    pub(super) async fn obituary(&self, lost: bool) -> Option<String> {
        let mut fate = self.fate.clone();
        if lost {
            let ended = fate.wait_for(|fate| *fate != Fate::Runs);
            let _ = tokio::time::timeout(NEWS, ended).await;
        }
        let how = match &*self.fate.borrow() {
            Fate::Runs if !lost => return None,
            Fate::Runs if self.launch.stop.command.is_some() => {
                "the launched command has not failed".to_owned()
            }
            Fate::Runs => "the launched engine still runs".to_owned(),
            Fate::NotStarted(how) | Fate::Ended(how) => {
                format!("the launched engine ended ({how})")
            }
            Fate::Unguarded => "the launched engine was ended, for somebody killed the process \
                 of infergate that guards it"
                .to_owned(),
        };
        let tail = self.tail().await;
        let said = if tail.is_empty() {
            "it wrote nothing".to_owned()
        } else {
            format!("its log ends: {}", tail.join(" | "))
        };
        Some(format!("{how}; {said}"))
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
    async fn tail(&self) -> Vec<String> {
        let mask = |line: &str| self.probe.mask(&self.launch.mask(line));
        tail(&self.log, &self.launch, mask).await
    }

    /// The container image that the spec names.
    pub(super) fn image(&self) -> Option<&str> {
        self.launch.image.as_deref()
    }

    /// Ends the engine with all that it started, and waits until nothing listens in its place.
    pub(super) async fn stop(mut self) {
        // From here on the guard's end is what is wanted.
        self.following.abort();
        self.lifeline = None;
        let patience = self.launch.patience() + LEEWAY;
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

#[expect(clippy::disallowed_methods, reason = "the clock of an engine's start")]
fn now() -> Instant {
    Instant::now()
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.following.abort();
        self.kill();
    }
}

/// Follows what the guard says. It stays for as long as it is wanted, so if its words end before that,
/// somebody killed it, and what it guarded goes with it: nothing would end that later.
async fn follow(said: ChildStdout, tell: watch::Sender<Fate>, guard: Option<u32>) {
    let mut lines = BufReader::new(said).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(why) = line.strip_prefix(FAILED) {
            tell.send_replace(Fate::NotStarted(why.to_owned()));
            return;
        } else if let Some(how) = line.strip_prefix(ENDED) {
            tell.send_replace(Fate::Ended(how.to_owned()));
        }
    }
    tell.send_if_modified(|fate| {
        let unguarded = *fate == Fate::Runs;
        if unguarded {
            *fate = Fate::Unguarded;
        }
        unguarded
    });
    // Nobody has waited for it yet, so its number is still its own.
    if let Some(leader) = guard {
        kill_group(leader);
    }
}
