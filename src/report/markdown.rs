//! Reports as GitHub Markdown.

use serde::Serialize;

use super::engine::{self, Template};
use super::model::{ReportModel, RunModel};
use super::suite::SuiteModel;

/// A page; its template finds the model under this name, to hand it to its parts whole.
#[derive(Serialize)]
struct Page<'a, T> {
    report: &'a T,
}

/// A comparison, for a pull request or a job summary.
pub fn report(model: &ReportModel) -> String {
    engine::render(Template::Report, &Page { report: model })
}

/// Several comparisons as one.
pub fn suite(model: &SuiteModel) -> String {
    engine::render(Template::Suite, &Page { report: model })
}

/// One run.
pub fn run(model: &RunModel) -> String {
    engine::render(Template::Run, model)
}
