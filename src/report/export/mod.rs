//! Runs for other tools: a long table, and OpenMetrics.

pub(super) mod cells;
pub(super) mod openmetrics;
mod table;

pub use openmetrics::openmetrics;
pub use table::csv;
pub(super) use table::write_table;
