//! Records to the summary of a run.

mod class;
mod distribution;
mod engine;
mod gpu;
mod invalid;
mod load_state;
mod merge;
mod model;
mod prefix_cache;
#[cfg(test)]
pub(crate) mod properties;
mod pulses;
mod records;
mod settling;
mod shard;
mod stage;
mod streaming;
mod tenants;
#[cfg(test)]
mod tests;
mod windows;

pub use engine::{EngineFigures, EngineTime, EngineView, Gauge, Speculation};
pub use gpu::{GpuFigures, GpuView};
pub use invalid::InvalidReason;
pub use load_state::{LoadState, Saturation};
pub use merge::{MergeError, merge_observations, merge_runs, same_run};
pub use model::{
    Attainment, ClassSummary, ClauseCount, ClientHealth, ClientStamp, Distribution, QuantileValue,
    RUN_FORMAT, Rates, Run, RunEnd, Side, SkippedStage, SpecStamp, StageSummary, TokenTotals,
    Window,
};
pub use prefix_cache::{CACHE_TOLERANCE, CacheDoubt, CacheUsage, PrefixCache, shared_share};
pub use records::Records;
pub use settling::Settling;
pub use shard::{MergedShard, ShardStamp};
pub use stage::{StageContext, summarise_stage};
pub use tenants::{TenantCounts, TenantLatency, TenantSummary, Tenants};
