//! Records to the summary of a run.

mod class;
mod condition;
mod distribution;
mod model;
mod stage;
#[cfg(test)]
mod tests;

pub use condition::{LoadState, Saturation, Settling};
pub use model::{
    Attainment, ClassSummary, ClauseCount, ClientHealth, ClientStamp, Distribution, InvalidReason,
    QuantileValue, RUN_FORMAT, Rates, Run, RunEnd, Side, SkippedStage, SpecStamp, StageSummary,
    TokenTotals, Window,
};
pub use stage::{StageContext, summarise_stage};
