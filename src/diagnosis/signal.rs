//! What can be read of one stage of one run, by its client, its engine and its GPUs.

use serde::{Deserialize, Serialize};

use crate::metric::{Metric, Quantile};
use crate::sample::OutcomeKind;
use crate::summary::{
    EngineFigures, EngineTime, EngineView, Gauge, GpuFigures, GpuView, InvalidReason, StageSummary,
};

/// A figure of a stage that causes are told by.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Mean time to first token, by the client.
    Ttft,
    /// Median gap between tokens.
    ItlMedian,
    /// 95th percentile of it.
    ItlTail,
    /// Mean time to first token by the engine's own clock.
    EngineTtft,
    /// Time to first token by the client less that by the engine: network, gateway, client.
    Outside,
    /// Mean time from a request's arrival at the engine to its first scheduling.
    Queue,
    /// Mean time from there to its first token.
    Prefill,
    /// Mean requests that waited.
    Waiting,
    /// Most requests under way at once.
    RunningMax,
    /// Largest share of the KV cache in use.
    KvUsage,
    /// Preemptions a request.
    Preemptions,
    /// Share of prompt tokens that the prefix cache held.
    PrefixHits,
    /// Share of drafted tokens that were taken.
    Acceptance,
    /// Output tokens a completed request.
    OutputTokens,
    /// Input tokens, by those that the plan wanted.
    InputTokens,
    /// Share of answers cut at their limit.
    Truncated,
    /// Mean clock of the multiprocessors, in MHz, of the slowest GPU.
    SmClock,
    /// Share of looks at the GPU in which heat, power or the hardware held its clocks back.
    Throttled,
    /// Mean temperature of the hottest GPU, in °C.
    Temperature,
    /// Power drawn by all GPUs, in watts.
    Power,
    /// CPU of the client, as a share of the cores it may use.
    ClientCpu,
    /// How late the client sent, at the 99th percentile.
    Lateness,
    /// How late its event loop woke, at the 99th percentile.
    LoopLag,
}

/// How a signal's changes are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// As ratios.
    Ratio,
    /// As ratios, of times that may be next to nothing.
    Time,
    /// As differences.
    Points,
}

impl Signal {
    /// All of them.
    pub const ALL: [Self; 23] = [
        Self::Ttft,
        Self::ItlMedian,
        Self::ItlTail,
        Self::EngineTtft,
        Self::Outside,
        Self::Queue,
        Self::Prefill,
        Self::Waiting,
        Self::RunningMax,
        Self::KvUsage,
        Self::Preemptions,
        Self::PrefixHits,
        Self::Acceptance,
        Self::OutputTokens,
        Self::InputTokens,
        Self::Truncated,
        Self::SmClock,
        Self::Throttled,
        Self::Temperature,
        Self::Power,
        Self::ClientCpu,
        Self::Lateness,
        Self::LoopLag,
    ];

    pub(super) const fn scale(self) -> Scale {
        match self {
            Self::Outside | Self::Queue | Self::Lateness | Self::LoopLag => Scale::Time,
            Self::KvUsage
            | Self::Preemptions
            | Self::PrefixHits
            | Self::Acceptance
            | Self::Truncated
            | Self::Throttled
            | Self::ClientCpu => Scale::Points,
            Self::Ttft
            | Self::ItlMedian
            | Self::ItlTail
            | Self::EngineTtft
            | Self::Prefill
            | Self::Waiting
            | Self::RunningMax
            | Self::OutputTokens
            | Self::InputTokens
            | Self::SmClock
            | Self::Temperature
            | Self::Power => Scale::Ratio,
        }
    }

    /// Its value in a stage; `None` where the run does not hold it.
    pub(super) fn read(self, stage: &StageSummary) -> Option<f64> {
        let value = match self {
            Self::Ttft => mean(stage, Metric::Ttft),
            Self::ItlMedian => quantile(stage, Quantile::P50),
            Self::ItlTail => quantile(stage, Quantile::P95),
            Self::EngineTtft => engine_ttft(stage),
            Self::Outside => Some((from_send(stage)? - engine_ttft(stage)?).max(0.0)),
            Self::Queue => time(stage, |engine| engine.queue),
            Self::Prefill => time(stage, |engine| engine.prefill),
            Self::Waiting => gauge(stage, |engine| engine.waiting).map(|gauge| gauge.mean),
            Self::RunningMax => gauge(stage, |engine| engine.running).map(|gauge| gauge.max),
            Self::KvUsage => gauge(stage, |engine| engine.kv_usage).map(|gauge| gauge.max),
            Self::Preemptions => {
                let preemptions = engine(stage)?.preemptions? as f64;
                Some(preemptions / stage.pooled.scheduled.max(1) as f64)
            }
            Self::PrefixHits => prefix_hits(stage),
            Self::Acceptance => engine(stage)?.speculation?.ratio(),
            Self::OutputTokens => {
                let completed = stage.pooled.count(OutcomeKind::Completed);
                (completed > 0).then(|| share(stage.pooled.tokens.output_observed, completed))
            }
            Self::InputTokens => {
                let tokens = &stage.pooled.tokens;
                (tokens.input_planned > 0 && tokens.input_observed > 0)
                    .then(|| share(tokens.input_observed, tokens.input_planned))
            }
            Self::Truncated => {
                let cut = stage.pooled.count(OutcomeKind::Truncated);
                let of = stage.pooled.counted();
                (of > 0).then(|| share(cut, of))
            }
            Self::SmClock => gpus(stage, |gpu| gpu.sm_clock_mhz).reduce(f64::min),
            Self::Temperature => gpus(stage, |gpu| gpu.temperature_c).reduce(f64::max),
            Self::Power => gpus(stage, |gpu| gpu.power_w).reduce(|sum, gpu| sum + gpu),
            Self::Throttled => throttled(stage),
            Self::ClientCpu => stage.health.as_ref()?.cpu_share,
            Self::Lateness => Some(stage.health.as_ref()?.lateness_p99_s),
            Self::LoopLag => stage.health.as_ref()?.loop_lag_p99_s,
        };
        value.filter(|value| value.is_finite())
    }
}

/// Whether the run's own checks found the client at fault in this stage.
pub(super) fn client_at_fault(stage: &StageSummary) -> bool {
    fn is_load(reason: &InvalidReason) -> bool {
        match reason {
            InvalidReason::Late { .. }
            | InvalidReason::SentShort { .. }
            | InvalidReason::ClientCpu { .. } => true,
            InvalidReason::Shard { reason, .. } => is_load(reason),
            InvalidReason::TokensOffPlan { .. }
            | InvalidReason::NoRequests
            | InvalidReason::Event { .. }
            | InvalidReason::Interrupted => false,
        }
    }
    stage.invalid.iter().any(is_load)
}

/// The engine's figures, where there are any.
pub(super) const fn engine(stage: &StageSummary) -> Option<&EngineFigures> {
    match &stage.engine {
        Some(EngineView::Seen(figures)) => Some(figures),
        Some(EngineView::Unknown { .. }) | None => None,
    }
}

fn mean(stage: &StageSummary, metric: Metric) -> Option<f64> {
    stage.pooled.distributions.get(&metric)?.mean_s
}

/// Mean time to first token from the send, as the engine's clock starts with the arrival.
fn from_send(stage: &StageSummary) -> Option<f64> {
    let late = if stage.from_schedule {
        // Of a client that is not late, next to nothing.
        stage.health.as_ref()?.lateness_p50_s
    } else {
        0.0
    };
    Some(mean(stage, Metric::Ttft)? - late)
}

fn quantile(stage: &StageSummary, quantile: Quantile) -> Option<f64> {
    let gaps = stage.pooled.distributions.get(&Metric::Itl)?;
    Some(gaps.quantiles.get(&quantile)?.value_s)
}

fn time(stage: &StageSummary, part: fn(&EngineFigures) -> Option<EngineTime>) -> Option<f64> {
    let time = part(engine(stage)?)?;
    (time.n > 0).then_some(time.mean_s)
}

fn gauge(stage: &StageSummary, part: fn(&EngineFigures) -> Option<Gauge>) -> Option<Gauge> {
    part(engine(stage)?)
}

fn engine_ttft(stage: &StageSummary) -> Option<f64> {
    time(stage, |engine| engine.ttft).or_else(|| {
        let queue = time(stage, |engine| engine.queue)?;
        Some(queue + time(stage, |engine| engine.prefill)?)
    })
}

fn prefix_hits(stage: &StageSummary) -> Option<f64> {
    let by_engine = engine(stage).and_then(|engine| engine.prefix_cache?.ratio());
    let cache = || stage.prefix_cache.as_ref();
    by_engine
        .or_else(|| cache()?.by_engine())
        .or_else(|| cache()?.by_usage())
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn gpus(stage: &StageSummary, part: fn(&GpuFigures) -> Option<Gauge>) -> impl Iterator<Item = f64> {
    let gpus = match &stage.gpus {
        Some(GpuView::Seen(gpus)) => gpus.as_slice(),
        Some(GpuView::Unknown { .. }) | None => &[],
    };
    gpus.iter().filter_map(move |gpu| Some(part(gpu)?.mean))
}

fn throttled(stage: &StageSummary) -> Option<f64> {
    use crate::sample::Throttle;
    let Some(GpuView::Seen(gpus)) = &stage.gpus else {
        return None;
    };
    let held = |gpu: &GpuFigures| {
        let by_hand = [Throttle::ClocksSetting, Throttle::SyncBoost];
        let reasons = gpu.throttled.iter();
        let reasons = reasons.filter(|(reason, _)| !by_hand.contains(reason));
        reasons.map(|(_, share)| *share).fold(0.0, f64::max)
    };
    gpus.iter().map(held).reduce(f64::max)
}
