//! The events of a stage: each is done at its instant, beside the load, and what became of it is kept.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::clock::LookClock;
use super::replicas::Replicas;
use crate::load::{LoadEvent, Stop};
use crate::probe::ProbeClient;
use crate::sample::{EventOutcome, Happened, StageObservation};
use crate::spec::{Action, Happening};
use crate::unit::Nanos;

/// Characters of what a command or server says that are kept: the last ones.
const KEPT: usize = 2000;
/// How long a command's output is read on after its end.
const LINGER: Duration = Duration::from_millis(500);

/// The events of a stage under way. They end when this is dropped.
#[derive(Debug)]
pub(super) struct Events {
    clock: LookClock,
    planned: Vec<Happening>,
    hands: Arc<Hands>,
    /// Whether the stage's window is over.
    over: watch::Sender<bool>,
    /// Empty until the window opens.
    under_way: Vec<JoinHandle<Attempt>>,
}

/// What events are done with.
#[derive(Debug)]
struct Hands {
    /// Each replica of the target.
    replicas: Vec<ProbeClient>,
}

/// What became of an event, on the clock of the looks.
#[derive(Debug)]
struct Attempt {
    began: Option<Nanos>,
    ended: Option<Nanos>,
    outcome: EventOutcome,
    output: String,
}

impl Events {
    /// Those of a stage that is about to begin.
    pub(super) fn new(planned: &[Happening], replicas: &Replicas) -> Self {
        Self {
            clock: LookClock::start(),
            planned: planned.to_vec(),
            hands: Arc::new(Hands {
                replicas: replicas.clients().cloned().collect(),
            }),
            over: watch::Sender::new(false),
            under_way: Vec::new(),
        }
    }

    /// Takes note of what the stage tells: when its window opens, time begins for its events.
    pub(super) fn hear(&mut self, event: &LoadEvent) {
        self.clock.hear(event);
        if let LoadEvent::Tick(live) = event
            && live.measuring
            && self.under_way.is_empty()
        {
            let opened = Instant::now();
            let planned = self.planned.iter().cloned();
            self.under_way = planned
                .map(|happening| {
                    let at = opened + happening.at.to_duration();
                    let (hands, over) = (Arc::clone(&self.hands), self.over.subscribe());
                    tokio::spawn(hands.attempt(happening, at, over, self.clock))
                })
                .collect();
        }
    }

    /// Waits for what was begun, and tells what became of each event.
    pub(super) async fn finish(
        mut self,
        observation: &StageObservation,
        mut stop: Stop,
    ) -> Vec<Happened> {
        self.over.send_replace(true);
        let offset = self.clock.origin();
        let mut all = Vec::with_capacity(self.planned.len());
        let mut under_way = std::mem::take(&mut self.under_way).into_iter();
        for happening in &self.planned {
            let attempt = match under_way.next() {
                Some(mut task) => tokio::select! {
                    attempt = &mut task => attempt.ok(),
                    () = stop.pressed() => {
                        task.abort();
                        None
                    }
                },
                None => Some(Attempt::none("the stage ended before its window opened")),
            };
            let attempt = attempt.unwrap_or_else(|| Attempt::none("interrupted"));
            all.push(Happened {
                name: happening.name.clone(),
                what: happening.action.shown(),
                planned: observation.window_start + happening.at,
                lasts: happening.action.lasts(),
                began: attempt.began.map(|at| at.since(offset)),
                ended: attempt.ended.map(|at| at.since(offset)),
                outcome: attempt.outcome,
                output: attempt.output,
            });
        }
        all
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.under_way.iter().for_each(JoinHandle::abort);
    }
}

impl Attempt {
    fn none(why: &str) -> Self {
        Self {
            began: None,
            ended: None,
            outcome: EventOutcome::NotTried {
                why: why.to_owned(),
            },
            output: String::new(),
        }
    }
}

impl Hands {
    /// Waits for the instant, unless the window is over before, and does what is to be done.
    async fn attempt(
        self: Arc<Self>,
        happening: Happening,
        at: Instant,
        mut over: watch::Receiver<bool>,
        clock: LookClock,
    ) -> Attempt {
        tokio::select! {
            () = sleep_until(at) => {}
            _ = over.wait_for(|over| *over) => {
                return Attempt::none("the window ended before it was due");
            }
        }
        let began = clock.now();
        let limit = happening.within.to_duration();
        let done = self.act(&happening.action, limit).await;
        let ended = clock.now();
        let (outcome, output) = match done {
            Ok(output) => (EventOutcome::Done, output),
            Err((why, output)) => (EventOutcome::Failed { why }, output),
        };
        Attempt {
            began: Some(began),
            ended: Some(ended),
            outcome,
            output: self.shown(&output),
        }
    }

    /// What was said, or why it failed with what was said.
    async fn act(&self, action: &Action, limit: Duration) -> Result<String, (String, String)> {
        let call = |replica: usize, method: &'static str, to: String, body: Option<String>| async move {
            let silent = |why: String| (why, String::new());
            let Some(client) = self.replicas.get(replica) else {
                return Err(silent(format!("there is no replica {}", replica + 1)));
            };
            let answer = timeout(limit, client.call(method, &to, body)).await;
            let answer = answer.map_err(|_| silent(format!("no answer within {limit:?}")))?;
            let (status, text) = answer.map_err(|error| silent(error.to_string()))?;
            if (200..300).contains(&status) {
                Ok(text)
            } else {
                Err((format!("it was answered with status {status}"), text))
            }
        };
        match action {
            Action::Command { words, folder } => {
                let mut command = Command::new(words.first().map_or("", String::as_str));
                command.args(words.get(1..).unwrap_or_default());
                if !folder.as_os_str().is_empty() {
                    command.current_dir(folder);
                }
                run(command, limit).await
            }
            Action::Http { method, to, body } => {
                call(0, method.name(), to.clone(), body.clone()).await
            }
            Action::Embedded {
                trouble,
                replica,
                lasts,
            } => {
                let lasts = lasts.map(|lasts| lasts.get() / 1_000_000);
                let body = json!({"fault": trouble.name(), "for_ms": lasts});
                let replica = (*replica as usize).saturating_sub(1);
                call(replica, "POST", "/fault".to_owned(), Some(body.to_string())).await
            }
        }
    }

    /// The end of a text that somebody else wrote, without secrets.
    fn shown(&self, text: &str) -> String {
        let masked = self
            .replicas
            .first()
            .map_or_else(|| text.to_owned(), |client| client.mask(text));
        let skipped = masked.chars().count().saturating_sub(KEPT);
        masked.trim_end().chars().skip(skipped).collect()
    }
}

/// Runs a command to its end, in a process group of its own; beyond its limit all of that is killed.
async fn run(mut command: Command, limit: Duration) -> Result<String, (String, String)> {
    let silent = |why: String| (why, String::new());
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| silent(format!("it could not be started: {error}")))?;
    let said = Said::default();
    let readers = [
        child
            .stdout
            .take()
            .map(|out| tokio::spawn(said.clone().keep(out))),
        child
            .stderr
            .take()
            .map(|err| tokio::spawn(said.clone().keep(err))),
    ];
    let status = timeout(limit, child.wait()).await;
    if status.is_err()
        && let Some(group) = child.id()
    {
        super::guard::kill_group(group);
    }
    for mut reader in readers.into_iter().flatten() {
        // What it leaves running may hold its output open for ever.
        if timeout(LINGER, &mut reader).await.is_err() {
            reader.abort();
        }
    }
    let said = said.text();
    match status {
        Ok(Ok(status)) if status.success() => Ok(said),
        Ok(Ok(status)) => Err((format!("it ended with {status}"), said)),
        Ok(Err(error)) => Err((format!("it could not be waited for: {error}"), said)),
        Err(_) => Err((format!("it did not end within {limit:?}"), said)),
    }
}

/// The last bytes of what was said.
#[derive(Debug, Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Said {
    async fn keep(self, mut stream: impl AsyncRead + Unpin) {
        const BYTES: usize = 4 * KEPT;
        let mut part = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut part).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&part[..read]);
            let surplus = kept.len().saturating_sub(BYTES);
            kept.drain(..surplus);
        }
    }

    fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}
