//! Open loop: requests leave by the clock, whatever the server does.
//!
//! A thread of its own sleeps until each instant of the absolute schedule and hands the request to
//! the next lane; so no answer delays a send. The runtime's own timers
//! would not do: they count in milliseconds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::conversation::NextTurn;
use super::dispatch::{Dispatch, Landing};
use super::kitchen::Prepared;
use super::supply::Batches;
use crate::plan::{Phase, Schedule};
use crate::unit::Nanos;

/// The thread that paces sends; it sends nothing more once this is dropped.
#[derive(Debug)]
pub(super) struct Pacer {
    thread: Thread,
    dropped: Arc<AtomicBool>,
    /// The requests under way, once the last was sent.
    handed_over: Option<oneshot::Receiver<JoinSet<()>>>,
}

impl Pacer {
    /// Starts to send by this schedule. `in_flight` is the cap: a request due at it is `unsent`.
    ///
    /// The requests come in the schedule's order, its warm-up first. Those that follow on an answer
    /// are due when their user has thought, as long as that is within the window.
    pub(super) fn start(
        dispatch: Arc<Dispatch>,
        schedule: &Schedule,
        in_flight: u32,
        requests: Batches,
    ) -> std::io::Result<Self> {
        let instants: Vec<Nanos> = schedule
            .warmup
            .iter()
            .chain(&schedule.measured)
            .copied()
            .collect();
        let (hand_over, handed_over) = oneshot::channel();
        let dropped = Arc::new(AtomicBool::new(false));
        let (sender, follow_ups) = std::sync::mpsc::channel();
        let pacing = Pacing {
            starts: Starts {
                instants: instants.into_iter(),
                requests,
            },
            window_start: schedule.window_start,
            window_end: schedule.window_end,
            in_flight,
            sent: 0,
            dropped: Arc::clone(&dropped),
            tasks: JoinSet::new(),
            going_on: 0,
            follow_ups,
            sender,
            waiting: BTreeMap::new(),
            dispatch,
        };
        let thread = std::thread::Builder::new()
            .name("pace".to_owned())
            .spawn(move || {
                sharpen_sleep();
                let _ = hand_over.send(pacing.run());
            })?;
        Ok(Self {
            thread: thread.thread().clone(),
            dropped,
            handed_over: Some(handed_over),
        })
    }

    /// Wakes the thread, for it to see that the window was halted.
    pub(super) fn wake(&self) {
        self.thread.unpark();
    }

    /// The requests still under way, when the last was sent; then nothing more.
    pub(super) async fn last_sent(&mut self) -> JoinSet<()> {
        let Some(handed_over) = &mut self.handed_over else {
            return JoinSet::new();
        };
        let tasks = handed_over.await.unwrap_or_default();
        self.handed_over = None;
        tasks
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

/// Where sessions start: instants, and the first request of each.
struct Starts {
    instants: std::vec::IntoIter<Nanos>,
    requests: Batches,
}

impl Iterator for Starts {
    type Item = (Nanos, Prepared);

    fn next(&mut self) -> Option<(Nanos, Prepared)> {
        self.instants.next().zip(self.requests.blocking_next())
    }
}

/// A turn that follows on an answer, and the instant at which it is due.
type FollowUp = (Nanos, NextTurn);

/// What the pacing thread works with.
struct Pacing {
    dispatch: Arc<Dispatch>,
    dropped: Arc<AtomicBool>,
    starts: Starts,
    window_start: Nanos,
    window_end: Nanos,
    in_flight: u32,
    /// Requests that were sent: lanes take turns.
    sent: usize,
    tasks: JoinSet<()>,
    /// Requests in flight on whose answer another turn may follow: each tells once.
    going_on: usize,
    follow_ups: std::sync::mpsc::Receiver<Option<FollowUp>>,
    sender: std::sync::mpsc::Sender<Option<FollowUp>>,
    /// Turns by the instant at which they are due, and by when they were known.
    waiting: BTreeMap<(Nanos, u64), NextTurn>,
}

impl Pacing {
    /// Sends until nothing more is due; leaves what is in flight then.
    fn run(mut self) -> JoinSet<()> {
        let mut known = 0;
        let mut start = self.starts.next();
        loop {
            for follow_up in self.follow_ups.try_iter() {
                self.going_on -= 1;
                if let Some((due, turn)) = follow_up.filter(|(due, _)| *due < self.window_end) {
                    self.waiting.insert((due, known), turn);
                    known += 1;
                }
            }
            let started = start.as_ref().map(|(due, _)| *due);
            let followed = self.waiting.first_key_value().map(|((due, _), _)| *due);
            let due = match (started, followed) {
                (None, None) if self.going_on == 0 => return self.tasks,
                (None, None) => self.window_end,
                (started, followed) => started
                    .into_iter()
                    .chain(followed)
                    .fold(self.window_end, Nanos::min),
            };
            if self.dropped.load(Ordering::Relaxed) || self.dispatch.window.bounds().halted {
                return self.tasks;
            }
            let now = self.dispatch.clock.now();
            if now < due {
                std::thread::park_timeout(due.since(now).to_duration());
                continue;
            }
            if followed == Some(due) && started != Some(due) {
                if let Some((_, turn)) = self.waiting.pop_first() {
                    let phase = if due < self.window_start {
                        Phase::Warmup
                    } else {
                        Phase::Measured
                    };
                    self.send(due, turn.prepared(phase, &self.dispatch.kitchen));
                }
            } else if let Some((due, prepared)) = start.take() {
                self.send(due, prepared);
                start = self.starts.next();
            } else {
                // Whatever follows now would be due past the window.
                return self.tasks;
            }
        }
    }

    fn send(&mut self, due: Nanos, prepared: Prepared) {
        if self.dispatch.level.in_flight() >= self.in_flight {
            self.dispatch.unsent(prepared.planned, due);
            return;
        }
        let goes_on = prepared.conversation.is_some();
        let lane = self.dispatch.client.lanes().of(self.sent);
        self.sent += 1;
        let flight = self.dispatch.depart(lane, prepared, due);
        if goes_on {
            self.going_on += 1;
            let sender = self.sender.clone();
            let pacer = std::thread::current();
            let task = async move {
                let Landing { done, next } = flight.fly().await;
                let follow_up = next.map(|turn| (done + turn.think.unwrap_or(Nanos::ZERO), turn));
                // Where nobody hears it, the stage sends nothing more.
                let _ = sender.send(follow_up);
                pacer.unpark();
            };
            self.tasks.spawn_on(task, lane.runtime());
        } else {
            let task = async move {
                flight.fly().await;
            };
            self.tasks.spawn_on(task, lane.runtime());
        }
        while self.tasks.try_join_next().is_some() {}
    }
}

/// Asks the kernel not to round this thread's sleeps: Linux adds up to 50 µs by default. Where it
/// can't be asked, sends are that much later.
fn sharpen_sleep() {
    // The link reads `PID/task/TID`; the kernel takes slack at the thread's own entry only.
    if let Ok(link) = std::fs::read_link("/proc/thread-self")
        && let Some(thread) = link.file_name()
    {
        let slack = std::path::Path::new("/proc")
            .join(thread)
            .join("timerslack_ns");
        let _ = std::fs::write(slack, "1");
    }
}
