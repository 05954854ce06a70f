//! Records of one stage to its summary, with what makes it invalid.

use std::collections::BTreeMap;

use super::class::{Frame, summarise, tokens_at};
use super::condition::{load_state, settling};
use super::model::{ClientHealth, InvalidReason, StageSummary, Window};
use crate::metric::Quantile;
use crate::plan::Phase;
use crate::sample::{OutcomeKind, RequestRecord, StageEnd, StageObservation, Timeline};
use crate::spec::{Arrival, Class, OutputLength, SloClause, Stage};
use crate::stats;
use crate::stats::quantile::quantile;
use crate::unit::Nanos;

/// Most slices of a window.
const WINDOWS: u64 = 60;
/// A slice of a soak stage's window, in nanoseconds.
const MINUTE: u64 = 60_000_000_000;

/// What a stage is summarised by, beside its records.
#[derive(Debug, Clone, Copy)]
pub struct StageContext<'a> {
    /// The stage.
    pub stage: &'a Stage,
    /// The workload's classes, as records number them.
    pub classes: &'a [Class],
    /// Quantiles to store.
    pub quantiles: &'a [Quantile],
    /// Largest difference of tokens between plan and observation, as a fraction.
    pub token_mismatch: f64,
}

/// Summarises a stage. `records` are all of the stage, warm-up included, in any order.
pub fn summarise_stage(
    context: StageContext<'_>,
    records: &[RequestRecord],
    observation: &StageObservation,
) -> StageSummary {
    let StageContext {
        stage,
        classes,
        quantiles,
        ..
    } = context;
    let users = match stage.arrival {
        Arrival::Closed { users, .. } => Some(users),
        Arrival::Open { .. } | Arrival::Trace(_) => None,
    };
    let from_schedule = stage.arrival.is_open();
    // Under a rate that changes, latency and backlog change with it: that shows neither.
    let steady = stage.arrival.is_steady();
    let frame = Frame {
        start: observation.window_start,
        end: observation.window_end,
        from_schedule,
    };
    let pooled = summarise(records.iter(), classes, frame, quantiles);
    let mut by_class = BTreeMap::new();
    if classes.len() > 1 {
        for (index, class) in classes.iter().enumerate() {
            let of_class = records
                .iter()
                .filter(|record| record.class as usize == index);
            by_class.insert(
                class.name.to_string(),
                summarise(of_class, classes, frame, quantiles),
            );
        }
    }
    let lateness = Lateness::of(records);
    let mut summary = StageSummary {
        name: stage.name.clone(),
        from_schedule,
        users,
        rate_rps: stage.mean_rate(),
        window_s: frame.seconds(),
        invalid: Vec::new(),
        settling: steady.then(|| settling(records, frame)).flatten(),
        load_state: (from_schedule && steady)
            .then(|| load_state(records, frame))
            .flatten(),
        stopped: match observation.end {
            StageEnd::Stopped(reason) => Some(reason),
            _ => None,
        },
        engine_queue: None,
        health: health(records, observation, &lateness),
        pooled,
        classes: by_class,
        windows: windows(records, frame, stage.soak),
    };
    summary.invalid = invalid(context, &summary, observation);
    summary
}

/// How late requests left, in seconds.
struct Lateness {
    p50: f64,
    p99: f64,
    max: f64,
}

impl Lateness {
    fn of(records: &[RequestRecord]) -> Self {
        let mut late: Vec<f64> = records
            .iter()
            .filter(|record| record.phase == Phase::Measured)
            .filter_map(|record| Some(record.sent?.since(record.scheduled).as_secs_f64()))
            .collect();
        late.sort_unstable_by(f64::total_cmp);
        Self {
            p50: quantile(&late, 0.5).unwrap_or(0.0),
            p99: quantile(&late, 0.99).unwrap_or(0.0),
            max: late.last().copied().unwrap_or(0.0),
        }
    }
}

fn health(
    records: &[RequestRecord],
    observation: &StageObservation,
    lateness: &Lateness,
) -> ClientHealth {
    ClientHealth {
        lateness_p50_s: lateness.p50,
        lateness_p99_s: lateness.p99,
        lateness_max_s: lateness.max,
        cpu_share: observation.cpu_share,
        loop_lag_p99_s: observation.loop_lag_p99.map(Nanos::as_secs_f64),
        in_flight_mean: observation.in_flight_mean,
        in_flight_max: observation.in_flight_max,
        cap_hits: observation.cap_hits,
        resent: records
            .iter()
            .filter(|record| record.phase == Phase::Measured && record.resent > 0)
            .count() as u64,
        connections: observation.connections,
        bytes: observation.bytes,
        backlog: observation.backlog,
    }
}

/// What the client or the harness did wrong (metrics' validity rules): lateness p99 over
/// max(5 ms, 5 % of the tightest TTFT SLO); under 99 % sent while in flight was below its cap;
/// client CPU over 90 %; tokens off the plan.
fn invalid(
    context: StageContext<'_>,
    summary: &StageSummary,
    observation: &StageObservation,
) -> Vec<InvalidReason> {
    let mut reasons = Vec::new();
    if observation.end == StageEnd::Interrupted {
        reasons.push(InvalidReason::Interrupted);
    }
    let pooled = &summary.pooled;
    if pooled.scheduled == 0 {
        if reasons.is_empty() && observation.end == StageEnd::Complete {
            reasons.push(InvalidReason::NoRequests);
        }
        return reasons;
    }
    let tightest = context
        .classes
        .iter()
        .filter_map(|class| class.slo.get(&SloClause::Ttft))
        .min()
        .map_or(0.0, |slo| slo.as_secs_f64());
    let limit_s = (tightest * 0.05).max(0.005);
    let p99_s = summary.health.lateness_p99_s;
    if summary.from_schedule && p99_s > limit_s {
        reasons.push(InvalidReason::Late { p99_s, limit_s });
    }
    // At the cap the target was too slow, which is a result and no fault of the client.
    let unsent = pooled.count(OutcomeKind::Unsent);
    let own_fault = unsent.saturating_sub(u64::from(observation.cap_hits));
    let ratio = 1.0 - own_fault as f64 / pooled.scheduled as f64;
    if ratio < 0.99 && observation.end == StageEnd::Complete {
        reasons.push(InvalidReason::SentShort { ratio });
    }
    if let Some(share) = observation.cpu_share
        && share > 0.9
    {
        reasons.push(InvalidReason::ClientCpu { share });
    }
    let off = |observed: u64, planned: u64| {
        if planned == 0 {
            0.0
        } else {
            observed as f64 / planned as f64 - 1.0
        }
    };
    let tokens = &pooled.tokens;
    let input = off(tokens.input_observed, tokens.input_planned);
    let (observed, planned) = pinned_output(context, summary);
    let output = off(observed, planned);
    // Counted events are only a lower bound of the tokens, so nothing can be concluded from them.
    let counted = tokens.output_source == Some(crate::sample::TokenSource::Usage);
    let limit = context.token_mismatch;
    // Words have one token or several, so the input of few requests strays by chance.
    let chance = 2.0 / (tokens.input_planned as f64).sqrt();
    if input.abs() > limit + chance || (counted && output.abs() > limit) {
        reasons.push(InvalidReason::TokensOffPlan {
            input,
            output,
            limit,
        });
    }
    reasons
}

/// Output tokens, observed and planned, of the classes that pin them.
fn pinned_output(context: StageContext<'_>, summary: &StageSummary) -> (u64, u64) {
    let pinned = |class: &&Class| class.output_length == OutputLength::Pinned;
    context
        .classes
        .iter()
        .filter(pinned)
        // A single class is not kept apart.
        .map(|class| {
            summary
                .classes
                .get(class.name.as_str())
                .unwrap_or(&summary.pooled)
        })
        .fold((0, 0), |(observed, planned), class| {
            (
                observed + class.tokens.output_observed,
                planned + class.tokens.output_planned,
            )
        })
}

/// The window in equal slices of at least a second; of a soak stage, in minutes, the last one shorter.
fn windows(records: &[RequestRecord], frame: Frame, soak: bool) -> Vec<Window> {
    let length = frame.end.since(frame.start).get();
    if length == 0 {
        return Vec::new();
    }
    let (slices, slice) = if soak {
        (length.div_ceil(MINUTE), MINUTE as f64)
    } else {
        let slices = (length / 1_000_000_000).clamp(1, WINDOWS);
        (slices, length as f64 / slices as f64)
    };
    let slice_of = |at: Nanos| {
        let since = u128::from(at.since(frame.start).get());
        let index = if soak {
            since / u128::from(MINUTE)
        } else {
            since * u128::from(slices) / u128::from(length)
        };
        frame.contains(at).then_some(index as usize)
    };
    let mut windows: Vec<Window> = (0..slices)
        .map(|index| Window {
            start_s: slice * index as f64 / 1e9,
            scheduled: 0,
            completed: 0,
            output_tokens: 0,
            ttft_p50_s: None,
        })
        .collect();
    let mut tokens = vec![0.0; windows.len()];
    let mut ttft: Vec<Vec<f64>> = vec![Vec::new(); windows.len()];
    for record in records {
        for (at, count) in tokens_at(record) {
            if let Some(slice) = slice_of(at) {
                tokens[slice] += count;
            }
        }
        if record.phase == Phase::Measured
            && let Some(slice) = slice_of(record.scheduled)
        {
            windows[slice].scheduled += 1;
            windows[slice].completed += u64::from(record.outcome.kind() == OutcomeKind::Completed);
            ttft[slice].extend(Timeline::new(record, frame.from_schedule).ttft());
        }
    }
    for ((window, tokens), ttft) in windows.iter_mut().zip(tokens).zip(ttft) {
        window.output_tokens = tokens.round() as u64;
        window.ttft_p50_s = stats::median(ttft);
    }
    windows
}
