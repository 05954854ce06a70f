//! Reports as GitHub Markdown.

use serde::Serialize;

use crate::lang::Lang;

use super::engine::{self, Template};
use super::model::{ReportModel, RunModel};
use super::span::Text;
use super::suite::SuiteModel;

/// A page; its template finds the model under this name, to hand it to its parts whole.
#[derive(Serialize)]
struct Page<'a, T> {
    report: &'a T,
}

/// A comparison, for a pull request or a job summary.
pub fn report(model: &ReportModel, lang: Lang) -> String {
    engine::render(Template::Report, lang, &Page { report: model })
}

/// Several comparisons as one.
pub fn suite(model: &SuiteModel, lang: Lang) -> String {
    engine::render(Template::Suite, lang, &Page { report: model })
}

/// One run.
pub fn run(model: &RunModel) -> String {
    engine::render(Template::Run, Lang::En, model)
}

/// The first of some sentences as a headline, the others below it.
pub(super) fn first_lines(lines: &[Text], lang: Lang) -> String {
    let lines = lines.iter().enumerate().map(|(i, line)| match i {
        0 => format!("**{}**\n\n", sentence(line, lang)),
        _ => format!("{}\n\n", sentence(line, lang)),
    });
    lines.collect()
}

/// One sentence.
pub(super) fn sentence(text: &Text, lang: Lang) -> String {
    engine::markdown(text, lang)
}
