//! Records to the summary of a run.

mod aftermath;
mod class;
mod cold_start;
mod continued;
mod counted;
mod course;
mod cross_check;
mod distribution;
mod engine;
mod gpu;
mod health;
mod invalid;
mod load_state;
mod looks;
mod merge;
mod model;
mod network;
mod origin;
pub mod outlay;
mod prefix_cache;
#[cfg(test)]
pub(crate) mod properties;
mod pulses;
mod records;
mod scrapes;
mod settling;
mod shard;
mod soak;
mod source;
mod spent;
mod stage;
mod streaming;
mod tenants;
#[cfg(test)]
mod tests;
mod totals;
mod window;
mod windows;

pub use aftermath::{Aftermath, Bursts, EventSummary, Recovery};
pub use cold_start::{ColdStart, EarlyAnswer};
pub use continued::{continued, goes_on};
pub use cross_check::{BothCounts, BothTimes, ClientCounts, CountOf, CrossCheck, TimeOf};
pub use distribution::{Adjusted, Distribution, PercentileMethod, QuantileValue};
pub use engine::{EngineFigures, EngineTime, EngineView, Gauge, Speculation};
pub use gpu::{GpuFigures, GpuView};
pub use health::ClientHealth;
pub use invalid::InvalidReason;
pub use load_state::{LoadState, Saturation};
pub use looks::ReplicaScrapes;
pub use merge::{MergeError, merge_observations, merge_runs, same_run};
pub use model::{
    Attainment, ClassSummary, ClauseCount, ClientStamp, RUN_FORMAT, Run, RunEnd, Side,
    SkippedStage, SpecStamp, StageSummary,
};
pub use network::Network;
pub use origin::{Origin, OriginCaveat};
pub use prefix_cache::{CACHE_TOLERANCE, CacheDoubt, CacheUsage, PrefixCache, shared_share};
pub use records::Records;
pub use scrapes::{ScrapedWindow, cache_tokens, engine_view, engine_windows};
pub use settling::Settling;
pub use shard::{MergedShard, ShardStamp};
pub use soak::{Course, Moved, SoakCode, SoakFigure, SoakFinding, SoakView, soak_view};
pub use source::SourceStamp;
pub use spent::{GpuPart, GpuTime, Paid, Spent};
pub use stage::{StageContext, summarise_stage};
pub use tenants::{TenantCounts, TenantLatency, TenantSummary, Tenants};
pub use totals::{Rates, TokenTotals};
pub use window::Window;
