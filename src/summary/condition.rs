//! Whether a stage's figures speak of a steady state: is it still warming up, does its backlog grow?

use serde::{Deserialize, Serialize};

use super::class::Frame;
use crate::metric::Metric;
use crate::plan::Phase;
use crate::sample::{Outcome, RequestRecord, Timeline};
use crate::stats::median;
use crate::stats::mser::mser5;
use crate::unit::Nanos;

/// Where a stage's latencies settle, by MSER-5 over their logarithms in the order of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settling {
    /// Which latency takes longest to settle: TTFT or E2E.
    pub metric: Metric,
    /// Requests of the window that are warm-up by the rule.
    pub cut: u64,
    /// Requests that have this latency.
    pub of: u64,
    /// False where that is beyond doubt: a cut of more than a tenth (or at the search's end), of at
    /// least 100 requests, whose latencies are 4 standard errors off the rest.
    pub settled: bool,
}

/// How an open loop's target keeps up with what it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

/// Where the window's TTFT and E2E settle: the one that does not, or takes longer. `None` with fewer
/// than 20 values, or without any.
pub(super) fn settling(records: &[RequestRecord], frame: Frame) -> Option<Settling> {
    let mut sent: Vec<&RequestRecord> = records
        .iter()
        .filter(|record| record.phase == Phase::Measured && record.sent.is_some())
        .collect();
    sent.sort_by_key(|record| (record.sent, record.index));
    let of = |metric: Metric| {
        let latency = |record: &&RequestRecord| {
            let timeline = Timeline::new(record, frame.from_schedule);
            let value = match metric {
                Metric::Ttft => timeline.ttft(),
                _ => timeline.e2e(),
            };
            value.ok().filter(|seconds| *seconds > 0.0).map(f64::ln)
        };
        let series: Vec<f64> = sent.iter().filter_map(latency).collect();
        mser5(&series).map(|found| Settling {
            metric,
            cut: found.cut as u64,
            of: found.length as u64,
            settled: !found.is_warming(),
        })
    };
    [Metric::Ttft, Metric::E2e]
        .into_iter()
        .filter_map(of)
        .min_by_key(|settling| (settling.settled, std::cmp::Reverse(settling.cut)))
}

/// Requests due without which nothing can be said of a backlog.
const LEAST_DUE: usize = 50;
/// Instants at which the backlog is looked at.
const POINTS: u32 = 30;
/// Requests that say how long one takes before any backlog.
const EARLY: usize = 20;

/// How an open loop's target keeps up, over the window after its first quarter until its last send.
///
/// With `due` requests in that time, `c = completed / due`, and `b` the least-squares slope of the
/// backlog at 30 equally spaced instants by the rate of requests due: 100/s sent and 80/s completed
/// give `c = 0.8`, `b = 0.2`. A request that the in-flight cap kept from being sent is backlog for
/// good. `None` with fewer than 50 requests, or where the stage had not yet lasted as long as its first
/// requests take: then what is in flight still rises to its level.
pub(super) fn load_state(records: &[RequestRecord], frame: Frame) -> Option<LoadState> {
    let mut due: Vec<Nanos> = records.iter().map(|record| record.scheduled).collect();
    due.sort_unstable();
    let last = records
        .iter()
        .filter(|record| record.phase == Phase::Measured)
        .map(|record| record.scheduled)
        .max()?;
    let from = frame.start + Nanos::new(last.since(frame.start).get() / 4);
    let span = last.since(from).as_secs_f64();
    let counted = count(&due, last) - count(&due, from);
    if counted < LEAST_DUE || span <= 0.0 || early_latency(records) > from.since(*due.first()?) {
        return None;
    }
    let ends = |wanted: fn(Outcome) -> bool| -> Vec<Nanos> {
        let mut ends: Vec<Nanos> = records
            .iter()
            .filter(|record| record.sent.is_some() && wanted(record.outcome))
            .filter_map(|record| record.done)
            .collect();
        ends.sort_unstable();
        ends
    };
    let ended = ends(|_| true);
    let completed = ends(|outcome| !outcome.kind().is_error());
    let completions = count(&completed, last) - count(&completed, from);
    let completed_by_due = completions as f64 / counted as f64;
    let backlog: Vec<(f64, f64)> = (0..POINTS)
        .map(|point| {
            let share = f64::from(point) / f64::from(POINTS - 1);
            let at = from + Nanos::try_from_secs_f64(span * share).unwrap_or(Nanos::ZERO);
            let open = count(&due, at) as f64 - count(&ended, at) as f64;
            (span * share, open)
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

/// How many of some ascending instants have come.
fn count(instants: &[Nanos], until: Nanos) -> usize {
    instants.partition_point(|at| *at <= until)
}

/// Median time from send to end of the stage's first requests; zero where none has ended.
fn early_latency(records: &[RequestRecord]) -> Nanos {
    let mut sent: Vec<(Nanos, Nanos)> = records
        .iter()
        .filter_map(|record| Some((record.sent?, record.done?)))
        .collect();
    sent.sort_unstable();
    let spans = sent.iter().take(EARLY);
    let seconds = spans.map(|(sent, done)| done.since(*sent).as_secs_f64());
    median(seconds.collect())
        .and_then(Nanos::try_from_secs_f64)
        .unwrap_or(Nanos::ZERO)
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

    #[test]
    fn a_slow_start_is_found_in_either_latency() {
        assert!(settling(&queue(100.0), FRAME).unwrap().settled);
        let mut records = queue(100.0);
        for record in &mut records {
            let start = if record.index < 200 { 300 } else { 0 };
            let late = Nanos::from_millis(start + u64::from(record.index * 37 % 101));
            record.done = record.done.map(|done| done + late);
            record.events.push(record.events[0] + late);
        }
        let found = settling(&records, FRAME).unwrap();
        assert_eq!(
            (found.metric, found.cut, found.of, found.settled),
            (Metric::E2e, 100, 500, false)
        );
    }
}
