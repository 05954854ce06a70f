//! Looks at replicas' metrics while a stage runs, on a thread apart from the lanes that send and read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::clock::LookClock;
use crate::load::LoadEvent;
use crate::priority::make_way;
use crate::probe::MetricsSource;
use crate::summary::ReplicaScrapes;
use crate::unit::Nanos;

/// How often each replica is asked.
const EVERY: Duration = Duration::from_secs(1);

/// How long it may take to answer. While it does the next looks are left out.
const AT_MOST: Duration = Duration::from_secs(5);

/// What the looks are to do.
#[derive(Debug, Clone, Copy, Default)]
struct Order {
    /// Looks that were asked for out of turn.
    asked: u32,
    /// One last look is wanted.
    last: bool,
}

/// Looks at replicas' metrics from before a stage to after it. They end when this is dropped.
#[derive(Debug)]
pub(super) struct Watch {
    orders: watch::Sender<Order>,
    done: oneshot::Receiver<()>,
    seen: Seen,
    measuring: bool,
}

/// What was seen so far, replica by replica.
#[derive(Debug, Clone)]
struct Seen(Arc<Mutex<Vec<ReplicaScrapes>>>);

impl Seen {
    fn lock(&self) -> MutexGuard<'_, Vec<ReplicaScrapes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of one replica.
    fn note(&self, replica: usize, note: impl FnOnce(&mut ReplicaScrapes)) {
        if let Some(replica) = self.lock().get_mut(replica) {
            note(replica);
        }
    }
}

impl Watch {
    /// Begins to look, and returns when each replica was asked once. `None` where no thread can be had.
    pub(super) async fn start(sources: Vec<MetricsSource>, clock: LookClock) -> Option<Self> {
        let (orders, order) = watch::channel(Order::default());
        let (done_in, done) = oneshot::channel();
        let (first_in, mut first) = mpsc::channel(1);
        let replicas = sources
            .iter()
            .map(|source| ReplicaScrapes::new(source.url()));
        let seen = Seen(Arc::new(Mutex::new(replicas.collect())));
        let notes = seen.clone();
        let body = move || {
            make_way();
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let Ok(runtime) = runtime else { return };
            let looks = sources
                .into_iter()
                .enumerate()
                .map(|(replica, source)| {
                    let seen = notes.clone();
                    let note = move |note: Note| seen.note(replica, note);
                    look(source, clock, order.clone(), first_in.clone(), note)
                })
                .map(|look| runtime.spawn(look))
                .collect::<Vec<_>>();
            drop((first_in, order));
            runtime.block_on(async {
                for look in looks {
                    // A look that panicked leaves what it saw.
                    let _ = look.await;
                }
                let _ = done_in.send(());
            });
        };
        let thread = std::thread::Builder::new().name("metrics".to_owned());
        thread.spawn(body).ok()?;
        // Ends when every look has dropped its end.
        while first.recv().await.is_some() {}
        Some(Self {
            orders,
            done,
            seen,
            measuring: false,
        })
    }

    /// Takes note of when the stage's window opens and closes.
    pub(super) fn hear(&mut self, event: &LoadEvent) {
        let (LoadEvent::Tick(live) | LoadEvent::StageEnded { live, .. }) = event else {
            return;
        };
        if live.measuring != self.measuring {
            self.measuring = live.measuring;
            self.orders.send_modify(|order| order.asked += 1);
        }
    }

    /// Looks once more, and gives all that was seen.
    pub(super) async fn finish(self) -> Vec<ReplicaScrapes> {
        self.orders.send_modify(|order| order.last = true);
        let _ = self.done.await;
        std::mem::take(&mut *self.seen.lock())
    }

    /// What was seen so far.
    pub(super) fn peek<T>(&self, at: impl FnOnce(&[ReplicaScrapes]) -> T) -> T {
        at(&self.seen.lock())
    }
}

/// What a look leaves with its replica.
type Note = Box<dyn FnOnce(&mut ReplicaScrapes) + Send>;

/// Looks at one replica until it is to stop; what `first` is dropped for is the first look.
async fn look(
    source: MetricsSource,
    clock: LookClock,
    mut order: watch::Receiver<Order>,
    first: mpsc::Sender<()>,
    note: impl Fn(Note),
) {
    let source = match source.anew() {
        Ok(source) => source,
        Err(error) => {
            note(Box::new(move |replica| {
                replica.trouble = Some(error.to_string());
            }));
            return;
        }
    };
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks.tick().await;
    let mut goes_on = scrape(&source, clock, false, &note).await;
    drop(first);
    let mut known = Order::default();
    while goes_on && !known.last {
        tokio::select! {
            _ = ticks.tick() => {}
            changed = order.changed() => {
                if changed.is_err() {
                    break;
                }
            }
        }
        let now = *order.borrow_and_update();
        let asked = now.last || now.asked != known.asked;
        known = now;
        goes_on = scrape(&source, clock, asked, &note).await;
    }
}

/// One look, that was asked for or came by the clock; false where none will ever bring anything.
async fn scrape(
    source: &MetricsSource,
    clock: LookClock,
    asked: bool,
    note: &impl Fn(Note),
) -> bool {
    let began = clock.now();
    let answer = timeout(AT_MOST, source.read()).await;
    let ended = clock.now();
    let trouble = |why: String| {
        note(Box::new(move |replica| replica.trouble = Some(why)));
    };
    match answer {
        Ok(Ok(reading)) => {
            let at = began + Nanos::new(ended.since(began).get() / 2);
            note(Box::new(move |replica| replica.see(at, reading, asked)));
            true
        }
        Ok(Err(none)) => {
            trouble(none.why);
            none.may_pass
        }
        Err(_) => {
            trouble(format!("no answer within {} s", AT_MOST.as_secs()));
            true
        }
    }
}
