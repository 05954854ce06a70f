//! Whether a stage's target keeps up: does its backlog grow?

use serde::{Deserialize, Serialize};

use super::class::Frame;
use crate::plan::Phase;
use crate::sample::RequestRecord;
use crate::stats::median;
use crate::unit::Nanos;

/// How an open loop's target keeps up with what it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LoadState {
    /// What follows from the two figures.
    pub state: Saturation,
    /// Completions by requests due, from the first quarter of the window to its last send.
    pub completed_by_due: f64,
    /// Growth of the backlog (in flight, and due but not sent) by requests due, from 0 (steady) to 1
    /// (nothing ends).
    pub backlog_growth: f64,
}

/// Whether a target keeps up.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Saturation {
    /// It does.
    Steady,
    /// Barely: under 97 % complete and the backlog grows by more than 2 %.
    NearOverload,
    /// It does not: under 95 % complete and the backlog grows by more than 4 %. Latencies then
    /// depend on how long the stage lasts.
    Overloaded,
}

impl Saturation {
    /// As in run files.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::NearOverload => "near overload",
            Self::Overloaded => "overloaded",
        }
    }
}

/// Requests due without which nothing can be said of a backlog.
const LEAST_DUE: u64 = 50;
/// Instants at which the backlog is looked at.
const POINTS: u32 = 30;
/// Requests that say how long one takes before any backlog.
const EARLY: usize = 20;

/// How an open loop's target keeps up, over the window after its first quarter until its last send.
///
/// With `due` requests in that time, `c = completed / due`, and `b` the least-squares slope of the
/// backlog at 30 equally spaced instants by the rate of requests due: 100/s sent and 80/s completed
/// give `c = 0.8`, `b = 0.2`. A request that the in-flight cap kept from being sent is backlog for
/// good. Nothing with fewer than 50 requests, or where the stage had not yet lasted as long as its first
/// requests take: then what is in flight still rises to its level.
///
/// The first pass finds the instants, the second counts what had come by each.
pub(super) struct Backlog {
    frame: Frame,
    first_due: Option<Nanos>,
    last_due: Option<Nanos>,
    /// The first requests by their sends, with their ends.
    early: Vec<(Nanos, Nanos)>,
    /// The instants, ascending, with what came after the one before.
    marks: Vec<(Nanos, Came)>,
}

/// Requests that came by an instant.
#[derive(Debug, Clone, Copy, Default)]
struct Came {
    due: u64,
    ended: u64,
    completed: u64,
}

impl Backlog {
    /// Before the first pass.
    pub(super) const fn new(frame: Frame) -> Self {
        Self {
            frame,
            first_due: None,
            last_due: None,
            early: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// A record in the first pass.
    pub(super) fn see(&mut self, record: &RequestRecord) {
        let due = record.scheduled;
        self.first_due = Some(self.first_due.map_or(due, |first| first.min(due)));
        if record.phase == Phase::Measured {
            self.last_due = self.last_due.max(Some(due));
        }
        if let (Some(sent), Some(done)) = (record.sent, record.done) {
            let at = self.early.partition_point(|early| *early <= (sent, done));
            if at < EARLY {
                self.early.insert(at, (sent, done));
                self.early.truncate(EARLY);
            }
        }
    }

    /// Where the looks begin and end.
    fn span(&self) -> Option<(Nanos, Nanos)> {
        let last = self.last_due?;
        let from = self.frame.start + Nanos::new(last.since(self.frame.start).get() / 4);
        Some((from, last))
    }

    /// The instants of the looks with their seconds since the first.
    fn points(&self) -> Vec<(f64, Nanos)> {
        let Some((from, last)) = self.span() else {
            return Vec::new();
        };
        let span = last.since(from).as_secs_f64();
        let point = |point| {
            let seconds = span * (f64::from(point) / f64::from(POINTS - 1));
            let at = from + Nanos::try_from_secs_f64(seconds).unwrap_or(Nanos::ZERO);
            (seconds, at)
        };
        (0..POINTS).map(point).collect()
    }

    /// Ends the first pass.
    pub(super) fn want(&mut self) {
        let ends = self
            .span()
            .into_iter()
            .flat_map(|(from, last)| [from, last]);
        let points = self.points().into_iter().map(|(_, at)| at);
        let mut marks: Vec<Nanos> = ends.chain(points).collect();
        marks.sort_unstable();
        marks.dedup();
        self.marks = marks.into_iter().map(|at| (at, Came::default())).collect();
    }

    /// The same record in the second pass.
    pub(super) fn look(&mut self, record: &RequestRecord) {
        let marks = &mut self.marks;
        let mut came_by = |instant: Nanos, count: fn(&mut Came)| {
            let at = marks.partition_point(|(mark, _)| *mark < instant);
            if let Some((_, came)) = marks.get_mut(at) {
                count(came);
            }
        };
        came_by(record.scheduled, |came| came.due += 1);
        if let (Some(_), Some(done)) = (record.sent, record.done) {
            came_by(done, |came| came.ended += 1);
            if !record.outcome.kind().is_error() {
                came_by(done, |came| came.completed += 1);
            }
        }
    }

    /// All that came by an instant that is a mark.
    fn came(&self, by: Nanos) -> Came {
        let until = self.marks.iter().take_while(|(mark, _)| *mark <= by);
        until.fold(Came::default(), |all, (_, came)| Came {
            due: all.due + came.due,
            ended: all.ended + came.ended,
            completed: all.completed + came.completed,
        })
    }

    /// Median time from send to end of the stage's first requests; zero where none has ended.
    fn early_latency(&self) -> Nanos {
        let spans = self.early.iter();
        let seconds = spans.map(|(sent, done)| done.since(*sent).as_secs_f64());
        median(seconds.collect())
            .and_then(Nanos::try_from_secs_f64)
            .unwrap_or(Nanos::ZERO)
    }

    /// After the second pass.
    pub(super) fn finish(&self) -> Option<LoadState> {
        let (from, last) = self.span()?;
        let (before, after) = (self.came(from), self.came(last));
        let span = last.since(from).as_secs_f64();
        let counted = after.due - before.due;
        if counted < LEAST_DUE || span <= 0.0 || self.early_latency() > from.since(self.first_due?)
        {
            return None;
        }
        let completed_by_due = (after.completed - before.completed) as f64 / counted as f64;
        let backlog: Vec<(f64, f64)> = self
            .points()
            .into_iter()
            .map(|(seconds, at)| {
                let came = self.came(at);
                (seconds, came.due as f64 - came.ended as f64)
            })
            .collect();
        let backlog_growth = slope(&backlog) * span / counted as f64;
        let state = if completed_by_due < 0.95 && backlog_growth > 0.04 {
            Saturation::Overloaded
        } else if completed_by_due < 0.97 && backlog_growth > 0.02 {
            Saturation::NearOverload
        } else {
            Saturation::Steady
        };
        Some(LoadState {
            state,
            completed_by_due,
            backlog_growth,
        })
    }
}

/// Least-squares slope of y over x; 0 where all x are equal.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mean_x, mean_y) = points.iter().fold((0.0, 0.0), |(x, y), point| {
        (x + point.0 / n, y + point.1 / n)
    });
    let (xy, xx) = points.iter().fold((0.0, 0.0), |(xy, xx), (x, y)| {
        let dx = x - mean_x;
        (xy + dx * (y - mean_y), xx + dx * dx)
    });
    if xx > 0.0 { xy / xx } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Outcome;
    use crate::sample::record::tests::record;

    const FRAME: Frame = Frame {
        start: Nanos::from_secs(5),
        end: Nanos::from_secs(30),
        from_schedule: true,
    };

    /// 20 requests a second for 30 s, each of 100 ms, through a server that ends `capacity` a second.
    fn queue(capacity: f64) -> Vec<RequestRecord> {
        let mut free = 0.0_f64;
        (0..600_u32)
            .map(|i| {
                let due = f64::from(i) / 20.0;
                free = free.max(due) + 1.0 / capacity;
                let at = |seconds: f64| Nanos::try_from_secs_f64(seconds).unwrap();
                RequestRecord {
                    index: i,
                    phase: if due < 5.0 {
                        Phase::Warmup
                    } else {
                        Phase::Measured
                    },
                    scheduled: at(due),
                    sent: Some(at(due)),
                    events: vec![at(free + 0.05)],
                    done: Some(at(free + 0.1)),
                    ..record(Outcome::Completed)
                }
            })
            .collect()
    }

    fn load_state(records: &[RequestRecord], frame: Frame) -> Option<LoadState> {
        let mut backlog = Backlog::new(frame);
        for record in records {
            backlog.see(record);
        }
        backlog.want();
        for record in records {
            backlog.look(record);
        }
        backlog.finish()
    }

    fn state(records: &[RequestRecord]) -> LoadState {
        load_state(records, FRAME).unwrap()
    }

    #[test]
    fn what_is_not_completed_is_backlog() {
        let steady = state(&queue(100.0));
        assert_eq!(steady.state, Saturation::Steady);
        assert!((steady.completed_by_due - 1.0).abs() < 0.01, "{steady:?}");
        let over = state(&queue(16.0));
        assert_eq!(over.state, Saturation::Overloaded);
        assert!((over.completed_by_due - 0.8).abs() < 0.01, "{over:?}");
        assert!((over.backlog_growth - 0.2).abs() < 0.01, "{over:?}");
        assert_eq!(state(&queue(19.3)).state, Saturation::NearOverload);
    }

    #[test]
    fn requests_that_the_cap_kept_back_are_backlog_too() {
        let mut records = queue(100.0);
        for record in records.iter_mut().skip(1).step_by(2) {
            (record.sent, record.done, record.outcome) = (None, None, Outcome::Unsent);
        }
        let capped = state(&records);
        assert_eq!(capped.state, Saturation::Overloaded);
        assert!((capped.backlog_growth - 0.5).abs() < 0.01, "{capped:?}");
    }

    #[test]
    fn a_server_that_sheds_is_not_overloaded() {
        let mut records = queue(100.0);
        for record in records.iter_mut().step_by(4) {
            record.outcome = Outcome::Rejected { status: 503 };
        }
        let shedding = state(&records);
        assert!((shedding.completed_by_due - 0.75).abs() < 0.01);
        assert_eq!(shedding.state, Saturation::Steady);
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(load_state(&queue(16.0)[..140], FRAME), None);
        // In flight still rises where a request takes longer than the time before the first look.
        let mut slow = queue(100.0);
        for record in &mut slow {
            record.done = Some(record.scheduled + Nanos::from_secs(20));
        }
        assert_eq!(load_state(&slow, FRAME), None);
        assert_eq!(load_state(&[], FRAME), None);
    }
}
