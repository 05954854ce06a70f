//! One stage: starts its arrivals, hands on its records, watches its window, drains.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep_until};

use super::arrivals::Arrivals;
use super::clock::Clock;
use super::closed::{Ramp, Rules, Turns, Users};
use super::cpu;
use super::dispatch::Dispatch;
use super::errors::ErrorWatch;
use super::event::{Live, LoadEvent, Recent};
use super::health::LoopLag;
use super::inbox::Inbox;
use super::job::{StageJob, StartError};
use super::kitchen::Kitchen;
use super::level::{Landed, Level};
use super::memory;
use super::open::Pacer;
use super::progress::{Step, Totals};
use super::pulse::{PulseMeter, Reading};
use super::stop::Stop;
use super::supply::Supply;
use super::target::Lifeline;
use super::window::{Bounds, Window};
use crate::plan::Phase;
use crate::sample::{Pulse, RequestRecord, StageEnd, StageObservation};
use crate::spec::{Arrival, Extent};
use crate::unit::Nanos;

/// How often live figures are told.
const TICK: Nanos = Nanos::from_millis(250);

/// How often records are collected.
const COLLECT: Nanos = Nanos::from_millis(10);

/// Longest drain of a stage that was stopped, whatever its own.
const DRAIN_AFTER_HALT: Nanos = Nanos::from_secs(5);

/// Runs one stage on the client's lanes and returns what was seen of it as a whole.
///
/// `records` gets one record per request that was due, in the order in which they ended; `events`
/// gets the stage's start and end and live figures about four times a second and whenever the window
/// opens or closes. Both run on the caller's task: they delay no request, and records queue up meanwhile.
///
/// After the window, sends stop and the stage drains until nothing is in flight or its
/// `drain_timeout` has passed; what is left then is cut and recorded `unfinished`. When `stop` is
/// pressed, when the target takes no connections any more (20 requests in a row, or all for 3 s),
/// or when as many of the latest requests fail as the stage's `stop_when` says, sends stop at once,
/// the drain is at most 5 s, and the window ends at that instant; requests due later are not
/// recorded at all.
///
/// Under a warm regime [`prime`](super::prime) goes before it. Dropping the future stops the stage.
pub async fn run_stage(
    job: StageJob<'_>,
    mut records: impl FnMut(RequestRecord),
    mut events: impl FnMut(LoadEvent),
    mut stop: Stop,
) -> Result<StageObservation, StartError> {
    events(LoadEvent::StageStarted {
        stage: job.stage,
        name: job.plan.stages()[job.stage].stage.name.clone(),
    });
    let mut stage = Running::start(job).await?;
    let mut ticks = interval(TICK.to_duration());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut collects = interval(COLLECT.to_duration());
    collects.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut batch = Vec::new();
    loop {
        let step = stage.step;
        let next = stage.advance();
        if stage.step != step {
            events(LoadEvent::Tick(stage.live()));
        }
        if let Some(pulse) = stage.felt.take() {
            events(LoadEvent::Pulse(pulse));
        }
        tokio::select! {
            _ = collects.tick() => stage.collect(&mut batch, &mut records),
            _ = ticks.tick() => events(LoadEvent::Tick(stage.live())),
            () = stop.pressed(), if stage.end == StageEnd::Complete => {
                stage.halt(StageEnd::Interrupted);
            }
            // What follows from it is `advance`'s.
            _ = stage.bounds.changed() => {}
            () = sleep_until(stage.dispatch.clock.timer(next)) => {}
            () = stage.arrivals.over(), if stage.step.is_drain() => break,
        }
    }
    // Every flight has landed, so every record is in the inbox.
    stage.collect(&mut batch, &mut records);
    let live = stage.live();
    let observation = stage.observe();
    events(LoadEvent::StageEnded {
        stage: job.stage,
        live,
        end: observation.end.clone(),
    });
    Ok(observation)
}

/// A stage under way.
struct Running {
    dispatch: Arc<Dispatch>,
    arrivals: Arrivals,
    bounds: watch::Receiver<Bounds>,
    drain_timeout: Nanos,
    step: Step,
    end: StageEnd,
    lag: LoopLag,
    pulse: PulseMeter,
    /// The latest pulse, until it is told.
    felt: Option<Pulse>,
    landed: Landed,
    /// `None` where the spec itself brings the target down.
    lifeline: Option<Lifeline>,
    /// Connections opened before the stage.
    opened_before: u64,
    errors: ErrorWatch,
    recent: Recent,
    totals: Totals,
}

impl Running {
    async fn start(job: StageJob<'_>) -> Result<Self, StartError> {
        let opened_before = job.client.opened();
        let planned = &job.plan.stages()[job.stage];
        let (stage, schedule) = (&planned.stage, &planned.schedule);
        let kitchen = Kitchen::new(job.plan, job.stage, job.prompter, job.client);
        let window = Arc::new(match schedule {
            Some(schedule) => Window::new(Some(schedule.window_start), Some(schedule.window_end)),
            // Clients that share a closed loop out have agreed on its window.
            None => Window::new(
                job.begin.map(|_| stage.warmup.duration),
                job.begin.and(match stage.extent {
                    Extent::Duration(window) => Some(stage.warmup.duration + window),
                    Extent::Requests(_) => None,
                }),
            ),
        });
        // The clock starts when the first requests are ready, so none is late from the start.
        let dispatch = |kitchen, window: &Arc<Window>| {
            Arc::new(Dispatch {
                stage: job.stage as u32,
                client: job.client.clone(),
                kitchen,
                clock: job.begin.map_or_else(Clock::start, Clock::start_at),
                timeouts: job.timeouts.clone(),
                window: Arc::clone(window),
                inbox: Inbox::default(),
                level: Level::default(),
            })
        };
        let share = job.share;
        let (dispatch, arrivals) = match (schedule, &stage.arrival) {
            (Some(schedule), _) => {
                let phases = [
                    (Phase::Warmup, schedule.warmup.len() as u32),
                    (Phase::Measured, schedule.measured.len() as u32),
                ];
                let supply = Supply::start(kitchen.clone(), 0, &phases, share).await?;
                job.begins().await;
                let dispatch = dispatch(kitchen, &window);
                let pacer = Pacer::start(
                    Arc::clone(&dispatch),
                    &schedule.share(share),
                    share.of(stage.in_flight),
                    supply.blocking(),
                )?;
                (dispatch, Arrivals::new(Some(pacer), JoinSet::new()))
            }
            (None, &Arrival::Closed { users, ramp, think }) => {
                let users = share.of(users);
                let count = match stage.extent {
                    Extent::Requests(count) => count,
                    Extent::Duration(_) => u32::MAX,
                };
                let warmup = [(Phase::Warmup, u32::MAX)];
                let warmup = Supply::start(kitchen.clone(), users, &warmup, share).await?;
                let measured = [(Phase::Measured, count)];
                let measured = Supply::start(kitchen.clone(), users, &measured, share).await?;
                let rules = Rules {
                    users,
                    warmup: stage.warmup,
                    extent: stage.extent,
                };
                job.begins().await;
                let dispatch = dispatch(kitchen, &window);
                let users = Users {
                    dispatch: Arc::clone(&dispatch),
                    turns: Turns::new(rules, Arc::clone(&window)),
                    warmup,
                    measured,
                    ramp: Ramp::new(users, ramp),
                    think: think.mean(),
                };
                (dispatch, Arrivals::new(None, users.start()))
            }
            (None, Arrival::Open { .. } | Arrival::Trace(_)) => {
                unreachable!("an open-loop stage has a schedule")
            }
        };
        Ok(Self {
            lag: LoopLag::start(job.client.lanes(), dispatch.clock, &window),
            dispatch,
            arrivals,
            bounds: window.watch(),
            drain_timeout: stage.drain_timeout,
            step: Step::Warmup,
            end: StageEnd::Complete,
            pulse: PulseMeter::new(),
            felt: None,
            landed: Landed::default(),
            lifeline: stage.events.is_empty().then(Lifeline::default),
            opened_before,
            errors: ErrorWatch::new(stage.stop_when.and_then(|stop| stop.error_ratio)),
            recent: Recent::default(),
            totals: Totals::default(),
        })
    }

    /// Follows the window to where the stage is now; returns when to look again at the latest.
    fn advance(&mut self) -> Nanos {
        const NEVER: Nanos = Nanos::new(u64::MAX);
        let Bounds { start, end, halted } = *self.bounds.borrow_and_update();
        let now = self.dispatch.clock.now();
        if self.step == Step::Warmup {
            match start {
                Some(start) if start <= now => {
                    self.feel(now);
                    self.step = Step::Window;
                }
                start => return start.unwrap_or(NEVER),
            }
        }
        if self.step == Step::Window {
            match end {
                Some(end) if end <= now => {
                    self.feel(now);
                    let drain = if halted {
                        self.drain_timeout.min(DRAIN_AFTER_HALT)
                    } else {
                        self.drain_timeout
                    };
                    self.step = Step::Drain { until: end + drain };
                }
                end => {
                    if self.pulse.due().is_some_and(|due| due <= now) {
                        self.feel(now);
                    }
                    let due = self.pulse.due().unwrap_or(NEVER);
                    return end.unwrap_or(NEVER).min(due);
                }
            }
        }
        match self.step {
            Step::Drain { until } if until <= now => {
                self.step = Step::Cut;
                self.arrivals.cut();
                NEVER
            }
            Step::Drain { until } => until,
            Step::Warmup | Step::Window | Step::Cut => NEVER,
        }
    }

    /// Takes the client's pulse, within the window.
    fn feel(&mut self, at: Nanos) {
        let reading = Reading {
            at,
            cpu: cpu::process_time(),
            memory: memory::resident(),
            opened: self.dispatch.client.opened(),
        };
        self.felt = self.pulse.read(reading, self.lag.take_largest());
    }

    /// Stops sends at once.
    fn halt(&mut self, end: StageEnd) {
        self.end = end;
        let now = self.dispatch.clock.now();
        self.dispatch.window.halt(now);
        if let Step::Drain { until } = &mut self.step {
            *until = (*until).min(now + DRAIN_AFTER_HALT);
        }
        self.arrivals.wake();
    }

    /// Hands on the records that have come; leaves `batch` empty.
    fn collect(&mut self, batch: &mut Vec<RequestRecord>, records: &mut impl FnMut(RequestRecord)) {
        let Dispatch { level, clock, .. } = &*self.dispatch;
        self.landed.look(level, clock.now());
        self.dispatch.inbox.collect(batch);
        for record in batch.drain(..) {
            self.take(&record);
            records(record);
        }
    }

    fn take(&mut self, record: &RequestRecord) {
        let bounds = self.dispatch.window.bounds();
        let clock = self.dispatch.clock;
        self.totals.take(record, bounds, || clock.now());
        self.recent.take(record);
        let lost = self
            .lifeline
            .as_mut()
            .is_some_and(|line| line.lost_with(record));
        if lost && self.end == StageEnd::Complete {
            self.halt(StageEnd::TargetLost {
                error: record.error.clone().unwrap_or_default(),
            });
        }
        // What fails in the drain ends nothing any more.
        if let Some(reason) = self.errors.exceeded_with(record)
            && self.end == StageEnd::Complete
            && !self.step.is_drain()
        {
            self.halt(StageEnd::Stopped(reason));
        }
    }

    fn live(&self) -> Live {
        Live {
            elapsed: self.dispatch.clock.now(),
            measuring: self.step == Step::Window,
            opened: self.dispatch.window.bounds().start,
            landed: self.landed.until(),
            sent: self.dispatch.level.sent(),
            completed: self.totals.completed,
            errors: self.totals.errors,
            in_flight: self.dispatch.level.in_flight(),
            output_tokens: self.totals.output_tokens,
            ttft_p50: self.recent.median(),
        }
    }

    fn observe(self) -> StageObservation {
        let Bounds { start, end, .. } = self.dispatch.window.bounds();
        let window_end = end.unwrap_or_else(|| self.dispatch.clock.now());
        let window_start = start.unwrap_or(window_end);
        let window = window_end.since(window_start);
        let in_flight_mean = if window == Nanos::ZERO {
            0.0
        } else {
            self.totals.in_flight as f64 / window.get() as f64
        };
        // A window without a send has only what was in flight before it.
        let in_flight_max = self.dispatch.level.most_in_window();
        let in_flight_max = in_flight_max.max(in_flight_mean.ceil() as u32);
        StageObservation {
            window_start,
            window_end,
            in_flight_mean,
            in_flight_max,
            cap_hits: self.totals.cap_hits,
            cpu_share: self.pulse.cpu_share(window.as_secs_f64()),
            loop_lag_p99: self.lag.p99(),
            connections: Some(self.dispatch.client.opened() - self.opened_before),
            bytes: self.totals.bytes,
            backlog: self.totals.backlog,
            end: self.end,
            pulses: vec![self.pulse.finish()],
            events: Vec::new(),
        }
    }
}
