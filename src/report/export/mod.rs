//! Runs for other tools: a long table, OpenMetrics, and the result files of other load tools.

pub(super) mod cells;
mod llm_d;
mod load;
pub(super) mod openmetrics;
mod table;
mod vllm;

#[cfg(test)]
mod tests;

pub use llm_d::llm_d;
pub use load::{Exported, ExportedFile};
pub use openmetrics::openmetrics;
pub use table::csv;
pub(super) use table::write_table;
pub use vllm::vllm;
