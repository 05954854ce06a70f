//! The pinned spec: YAML to a value that cannot hold a contradiction.
//!
//! [`parse`] goes from text to a tree of nodes with their places (`yaml.rs`), fills in the
//! variables of `target` and `baseline` (`variables.rs`) and lowers the tree by hand (`lower/`). There are no
//! serde shapes in between: serde stops at the first unknown field or wrong type, and a spec with
//! three mistakes has to show three. Reading by hand also knows the parts of the language that a
//! later version adds, and refuses them by name.

mod archive;
mod budget;
mod cache;
mod class;
mod connection;
mod diagnostics;
mod estimate;
mod fields;
mod files;
mod gate;
mod happening;
mod import;
mod keep_text;
mod launch;
mod limit;
mod lower;
mod metrics;
mod model;
mod node;
mod place;
mod rate;
mod replay;
mod rows;
mod select;
mod tenants;
mod think;
mod timeouts;
mod trade;
mod values;
mod variables;
mod yaml;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use crate::diag::{Diagnostic, Source};

pub use archive::{Archive, ArchivePlace, BranchName};
pub use budget::{Budget, Cost, Money, Outlay};
pub use cache::CacheRegime;
pub use class::{Bucket, Cancel, Class, Length, OutputLength, PrefixSharing, Turns};
pub use connection::{
    Answers, Compression, HttpVersion, IdentityFiles, KeySource, TargetConnection,
};
pub use files::{FileAsk, FileText, Files, Reader, SchemaStamp};
pub use gate::{Drift, Gate, GateCell, Policy, Repeats};
pub use happening::{Action, Happening, Method, Trouble};
pub use import::Import;
pub use keep_text::KeepText;
pub use launch::{Ending, Launch, Ready, StopSignal, Word};
pub use limit::{Limit, LimitText};
pub use lower::base_url;
pub use metrics::MetricsPlace;
pub use model::{
    Api, Arrival, ArrivalProcess, DeclaredPins, Extent, Layer, Slo, SloClause, Spec, Stage,
    StopWhen, Target, Warmup, Workload,
};
pub use place::TargetPlace;
pub use rate::RateProfile;
pub use replay::{Account, Played, Replay, ReplayRow, ReplayStamp};
pub use rows::{FileRow, Rows, RowsKind, RowsSize, RowsStamp, Said};
pub use select::SelectError;
pub use tenants::Tenants;
pub use think::Think;
pub use timeouts::Timeouts;
pub use trade::Trade;

/// This version, which `requires` in a spec is held against.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A spec that can be run, with what its author should know.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The spec.
    pub spec: Spec,
    /// Warnings in the order of the text.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a spec.
///
/// `environment` gives the values of variables; only `${…}` in the values of `target`,
/// `targets` and `baseline` asks for any. `files` gives the text of each file that a stage replays or a class takes rows from. An error holds every mistake and
/// warning in the order of the text, at least one of them an error, and never a variable's value.
pub fn parse(
    source: &Source,
    environment: &dyn Fn(&str) -> Option<String>,
    files: Files<'_>,
) -> Result<Parsed, Vec<Diagnostic>> {
    let mut out = diagnostics::Diagnostics::default();
    let spec = yaml::read(&source.text, &mut out).and_then(|mut root| {
        variables::expand(&mut root, environment, &mut out);
        lower::lower(&root, &source.text, files, &mut out)
    });
    match spec {
        Some(spec) if !out.has_errors() => Ok(Parsed {
            spec,
            warnings: out.finish(),
        }),
        _ => Err(out.finish()),
    }
}
