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
mod capacity;
mod class;
mod compose;
mod connection;
mod described;
mod diagnostics;
mod estimate;
mod fields;
mod files;
mod gate;
mod happening;
mod import;
mod in_step;
mod keep_text;
mod launch;
mod limit;
mod lower;
mod metrics;
mod model;
mod node;
mod place;
mod rate;
mod refine;
mod replay;
mod rows;
mod select;
mod soak;
mod stage;
mod suite;
mod tenants;
mod think;
mod timeouts;
mod trade;
mod values;
mod variables;
mod written;
mod yaml;

#[cfg(test)]
mod extends_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::diag::{Diagnostic, Source, line_column};
use written::Written;

pub use archive::{Archive, ArchivePlace, BranchName};
pub use budget::{Budget, Cost, Money, Outlay};
pub use cache::CacheRegime;
pub use capacity::CapacityPlan;
pub use class::{Bucket, Cancel, Class, Length, OutputLength, PrefixSharing, Turns};
pub use connection::{
    Answers, Compression, HttpVersion, IdentityFiles, KeySource, TargetConnection,
};
pub use described::{spec_schema, suite_schema};
pub use files::{FileAsk, FileText, Files, Reader, SchemaStamp};
pub use gate::{Drift, Gate, GateCell, Policy, Repeats};
pub use happening::{Action, Happening, Method, Trouble};
pub use import::Import;
pub use keep_text::KeepText;
pub use launch::{Ending, Launch, Ready, StopSignal, Word};
pub use limit::{Limit, LimitText};
pub use lower::base_url;
pub use metrics::MetricsPlace;
pub use model::{Api, DeclaredPins, Layer, Slo, SloClause, Spec, Target, Workload};
pub use place::TargetPlace;
pub use rate::RateProfile;
pub use refine::{Refine, Refining};
pub use replay::{Account, Played, Replay, ReplayRow, ReplayStamp};
pub use rows::{FileRow, Rows, RowsKind, RowsSize, RowsStamp, Said};
pub use select::SelectError;
pub use soak::Soak;
pub use stage::{Arrival, ArrivalProcess, Extent, Stage, StopWhen, Warmup};
pub use suite::{AxisValue, Cell as SuiteCell, MOST_MEMBERS, Suite, SuiteMember};
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
/// `targets` and `baseline` asks for any. `files` gives the text of each file that the spec extends, that a
/// stage replays or that a class takes rows from. An error holds every mistake and warning in the order of the
/// text, those of extended files after it, at least one of them an error, and never a variable's value.
pub fn parse(
    source: &Source,
    environment: &dyn Fn(&str) -> Option<String>,
    files: Files<'_>,
) -> Result<Parsed, Vec<Diagnostic>> {
    parse_in(source, None, environment, files)
}

/// Reads a spec as a suite's cell has it.
pub fn parse_in(
    source: &Source,
    cell: Option<&SuiteCell>,
    environment: &dyn Fn(&str) -> Option<String>,
    files: Files<'_>,
) -> Result<Parsed, Vec<Diagnostic>> {
    let mut out = diagnostics::Diagnostics::default();
    let composed = compose::compose(source, cell, files, &mut out);
    let sources = composed.sources.clone();
    let is_merged = composed.is_merged();
    let spec = composed.root.and_then(|mut root| {
        // Before the variables, whose values are nobody's to keep.
        let written = Written {
            text: if is_merged {
                written::yaml(&root, &|_| None)
            } else {
                source.text.clone()
            },
            content: written::digest(&root),
            sources: composed.sources,
        };
        variables::expand(&mut root, environment, &mut out);
        lower::lower(&root, written, files, &mut out)
    });
    let has_errors = out.has_errors();
    let noted = out.finish().into_iter();
    let diagnostics = noted
        .map(|diagnostic| sources.resolve(diagnostic))
        .collect();
    match spec {
        Some(spec) if !has_errors => Ok(Parsed {
            spec,
            warnings: diagnostics,
        }),
        _ => Err(diagnostics),
    }
}

/// A spec with what it extends, as one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// As it is kept with a run: the spec's own text where it extends nothing.
    pub text: String,
    /// Written anew, each value with its file and line behind it.
    pub explained: String,
}

/// Puts a spec together with what it extends, as a suite's cell has it, whatever it says.
pub fn merged(
    source: &Source,
    cell: Option<&SuiteCell>,
    files: Files<'_>,
) -> Result<Merged, Vec<Diagnostic>> {
    let mut out = diagnostics::Diagnostics::default();
    let composed = compose::compose(source, cell, files, &mut out);
    let sources = &composed.sources;
    let Some(root) = composed.root.as_ref().filter(|_| !out.has_errors()) else {
        let noted = out.finish().into_iter();
        return Err(noted.map(|one| sources.resolve(one)).collect());
    };
    let place = |span: &Range<usize>| {
        let place = sources.locate(span)?;
        let (line, _) = line_column(&place.source.text, place.span.start);
        Some(format!("{}:{line}", place.source.path))
    };
    Ok(Merged {
        text: if composed.is_merged() {
            written::yaml(root, &|_| None)
        } else {
            source.text.clone()
        },
        explained: written::yaml(root, &place),
    })
}
