//! Records to the summary of a run.

mod model;

pub use model::{
    Attainment, ClassSummary, ClauseCount, ClientHealth, ClientStamp, Distribution, InvalidReason,
    QuantileValue, RUN_FORMAT, Rates, Run, RunEnd, Side, SpecStamp, StageSummary, TokenTotals,
    Window,
};
