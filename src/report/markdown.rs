//! Reports as GitHub Markdown.

use super::engine::{self, Template};
use super::model::{ReportModel, RunModel};

/// A comparison, for a pull request or a job summary.
pub fn report(model: &ReportModel) -> String {
    engine::render(Template::Report, model)
}

/// One run.
pub fn run(model: &RunModel) -> String {
    engine::render(Template::Run, model)
}
