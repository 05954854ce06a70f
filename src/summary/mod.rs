//! Records to the summary of a run.

mod class;
mod distribution;
mod load_state;
mod model;
#[cfg(test)]
pub(crate) mod properties;
mod records;
mod settling;
mod stage;
#[cfg(test)]
mod tests;
mod windows;

pub use load_state::{LoadState, Saturation};
pub use model::{
    Attainment, ClassSummary, ClauseCount, ClientHealth, ClientStamp, Distribution, InvalidReason,
    QuantileValue, RUN_FORMAT, Rates, Run, RunEnd, Side, SkippedStage, SpecStamp, StageSummary,
    TokenTotals, Window,
};
pub use records::Records;
pub use settling::Settling;
pub use stage::{StageContext, summarise_stage};
