//! Findings to text: [`build()`] and [`run::build`] make view models, the renderers print them.
//!
//! Computes no statistic: it scales, rounds, orders and words. What others wrote (model names,
//! error texts, versions) is told apart by type ([`Text`]) and made harmless for the place where
//! it is printed.

mod base;
mod build;
mod cache;
pub mod capacity;
mod cells;
mod client;
mod cold_start;
pub mod comment;
mod conditions;
mod cross_check;
pub mod doctor;
mod engine;
mod engines;
mod escape;
pub mod explain;
pub mod export;
mod facts;
mod findings;
mod fit;
pub mod forecast;
mod gpus;
mod happened;
mod headline;
pub mod history;
pub mod html;
pub mod imports;
pub mod json;
pub mod junit;
mod kv;
pub mod layers;
mod lines;
pub mod markdown;
mod marks;
mod method;
pub mod metrics;
mod model;
mod network;
mod outcomes;
mod parts;
mod past;
mod place;
mod quality;
mod reasons;
mod remarks;
pub mod run;
mod setup;
mod soak;
mod source;
mod span;
mod spent;
pub mod suite;
mod sweep;
pub mod template;
mod tenants;
#[cfg(test)]
mod tests;
pub mod text;
pub mod textdiff;
pub mod view;
mod why;
mod words;

pub use build::{Sides, build};
pub use comment::{Comment, comment};
pub use facts::{BothPins, Facts, StepFigures};
pub use model::{
    AdviceRow, CellReason, CellRow, CellTable, ClauseRow, EngineRow, Environment, ErrorRow,
    LatencyRow, OutcomeRow, PinRow, ReportModel, RunModel, SharedPin, StageView, TenantRow,
    TenantTable, Tone,
};
pub use outcomes::StageCounts;
pub use place::CellPlace;
pub use span::Text;
pub use sweep::{Chart, SweepRow, SweepView};

/// One finding as a sentence: `E2E p50 in steady is 31.2 % slower [+27.9 %, +34.6 %], limit: …`.
pub fn finding(finding: &crate::verdict::Finding) -> Text {
    words::sentence(finding)
}
