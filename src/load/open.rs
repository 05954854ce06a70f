//! Open loop: requests leave by the clock, whatever the server does.
//!
//! A thread of its own sleeps until each instant of the absolute schedule and hands the request to
//! the next lane; so no answer delays a send. The runtime's own timers
//! would not do: they count in milliseconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::dispatch::Dispatch;
use super::supply::Prepared;
use crate::plan::Schedule;
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
    /// The requests come in the schedule's order, its warm-up first.
    pub(super) fn start(
        dispatch: Arc<Dispatch>,
        schedule: &Schedule,
        in_flight: u32,
        requests: mpsc::Receiver<Prepared>,
    ) -> std::io::Result<Self> {
        let instants: Vec<Nanos> = schedule
            .warmup
            .iter()
            .chain(&schedule.measured)
            .copied()
            .collect();
        let (hand_over, handed_over) = oneshot::channel();
        let dropped = Arc::new(AtomicBool::new(false));
        let has_dropped = Arc::clone(&dropped);
        let thread = std::thread::Builder::new()
            .name("pace".to_owned())
            .spawn(move || {
                sharpen_sleep();
                let stopped =
                    || has_dropped.load(Ordering::Relaxed) || dispatch.window.bounds().halted;
                let tasks = pace(&dispatch, &instants, in_flight, requests, stopped);
                let _ = hand_over.send(tasks);
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

fn pace(
    dispatch: &Arc<Dispatch>,
    instants: &[Nanos],
    in_flight: u32,
    mut requests: mpsc::Receiver<Prepared>,
    stopped: impl Fn() -> bool,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for (number, &due) in instants.iter().enumerate() {
        let Some(prepared) = requests.blocking_recv() else {
            break;
        };
        loop {
            if stopped() {
                return tasks;
            }
            let now = dispatch.clock.now();
            if now >= due {
                break;
            }
            std::thread::park_timeout(due.since(now).to_duration());
        }
        if dispatch.level.in_flight() >= in_flight {
            dispatch.unsent(prepared.planned, due);
            continue;
        }
        let lane = dispatch.client.lanes().of(number);
        let flight = dispatch.depart(lane, prepared, due);
        tasks.spawn_on(
            async move {
                flight.fly().await;
            },
            lane.runtime(),
        );
        while tasks.try_join_next().is_some() {}
    }
    tasks
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
