//! The tools: how each one's file is recognised, and who reads it.

mod aiperf;
mod genai_bench;
mod guidellm;
mod hey;
mod inference_benchmarker;
mod inference_perf;
mod inferencex;
mod k6;
mod llm_d;
mod llmperf;
mod locust;
mod mlperf;
mod oha;
mod sglang;
mod text;
mod vllm;
mod wrk;

use std::collections::BTreeMap;

use serde_json::Value;

use super::Options;
use super::document::Document;
use super::found::Found;
use super::packed::Row;
use crate::metric::Metric;

/// A tool whose files are read.
#[derive(Debug)]
pub(super) struct Tool {
    /// Its name, as its users call it.
    pub(super) name: &'static str,
    /// Tag of its definitions.
    pub(super) tag: &'static str,
    /// What its file is recognised by, in words.
    pub(super) by: &'static str,
    /// Whether a file is its own.
    pub(super) is_own: fn(&Document<'_>) -> bool,
    /// How what it holds is read.
    pub(super) read: Read,
}

/// How a tool's file is read, or why it can't be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Read {
    /// From the one object that it is.
    One(fn(&Value) -> Result<Found, String>),
    /// From a text for people.
    Text(fn(&str) -> Result<Found, String>),
    /// From each of its rows, a run each.
    Rows(fn(Row) -> Result<Found, String>),
    /// From all of it.
    Whole(fn(&Document<'_>, &Options) -> Result<Found, String>),
}

impl Tool {
    /// Hands on each run of a file as soon as it is read.
    pub(super) fn read(
        &self,
        document: &Document<'_>,
        options: &Options,
        found: &mut dyn FnMut(Found),
    ) -> Result<(), String> {
        match self.read {
            Read::One(read) => found(read(document.one().ok_or("it is not one object")?)?),
            Read::Text(read) => found(read(&document.text)?),
            Read::Rows(read) => document.each_row(&mut |row| {
                found(read(row)?);
                Ok(())
            })?,
            Read::Whole(read) => found(read(document, options)?),
        }
        Ok(())
    }
}

const TOOLS: &[Tool] = &[
    vllm::TOOL,
    sglang::TOOL,
    guidellm::TOOL,
    aiperf::TOOL,
    aiperf::GENAI_PERF,
    inference_perf::TOOL,
    genai_bench::TOOL,
    llmperf::TOOL,
    inference_benchmarker::TOOL,
    locust::TOOL,
    k6::TOOL,
    oha::TOOL,
    hey::TOOL,
    wrk::TOOL,
    mlperf::TOOL,
    inferencex::TOOL,
    llm_d::TOOL,
];

/// Checks that a file has what someone says stands for a metric.
fn own_names(names: &BTreeMap<String, Metric>, known: &[&str], what: &str) -> Result<(), String> {
    for (name, metric) in names {
        if !known.contains(&name.as_str()) {
            let near = crate::diag::suggest(name, known.iter().copied());
            let near = near.map_or_else(
                || "name one that it has".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(format!(
                "it has no {what} `{name}`, which is to be its `{metric}`; {near}"
            ));
        }
    }
    Ok(())
}

/// The tools whose file it could be.
pub(super) fn recognise<'a>(
    document: &'a Document<'_>,
) -> impl Iterator<Item = &'static Tool> + 'a {
    TOOLS.iter().filter(|tool| (tool.is_own)(document))
}

/// What is looked for, a tool each.
pub(super) fn looked_for() -> Vec<String> {
    let each = |tool: &Tool| format!("{} ({})", tool.name, tool.by);
    TOOLS.iter().map(each).collect()
}
