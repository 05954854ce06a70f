//! Records to the summary of a run.

mod class;
mod distribution;
mod model;
mod stage;
#[cfg(test)]
mod tests;

pub use model::{
    Attainment, ClassSummary, ClauseCount, ClientHealth, ClientStamp, Distribution, InvalidReason,
    QuantileValue, RUN_FORMAT, Rates, Run, RunEnd, Side, SpecStamp, StageSummary, TokenTotals,
    Window,
};
pub use stage::{StageContext, summarise_stage};
