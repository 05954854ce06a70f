//! Several reports as one: the worst verdict, a line a spec, all failing cells first.

use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::lang::say;
use crate::unit::scale;
use crate::verdict::{Headline, Verdict};

use super::build::{URGENT, urgent};
use super::cells::{self, Judged};
use super::headline;
use super::json::{ReportFile, ReportFileError};
use super::model::{CellTable, ReportModel, Tone};
use super::span::Text;

/// Format tag of a file of several reports: name and major version.
pub const SUITE_FORMAT: &str = "infergate.suite/1";

/// Several reports in one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SuiteFile {
    /// [`SUITE_FORMAT`].
    pub format: String,
    /// The worst exit code's name: 2 > 1 > 4 > 3 > 0.
    pub exit: Exit,
    /// That exit code.
    pub exit_code: u8,
    /// Counts of gated cells over all specs.
    pub headline: Headline,
    /// The reports, in the order in which they were given.
    pub reports: Vec<ReportFile>,
}

impl SuiteFile {
    /// Of these reports.
    pub fn new(reports: &[ReportFile]) -> Self {
        let exit = exit(reports);
        Self {
            format: SUITE_FORMAT.to_owned(),
            exit,
            exit_code: exit.code(),
            headline: counts(reports.iter()),
            reports: reports.to_vec(),
        }
    }

    /// As JSON, indented, with a line end.
    pub fn render(&self) -> String {
        // Only a map with non-string keys or a failing writer can make this fail.
        let json = serde_json::to_string_pretty(self).expect("report files have string keys");
        format!("{json}\n")
    }
}

/// Reads a file of one report or of several.
pub fn read(text: &str) -> Result<Vec<ReportFile>, ReportFileError> {
    if format_of(text).is_none_or(|format| format != SUITE_FORMAT) {
        return ReportFile::parse(text).map(|report| vec![report]);
    }
    let file: SuiteFile = serde_json::from_str(text).map_err(ReportFileError::Malformed)?;
    match file
        .reports
        .iter()
        .find(|report| report.format != super::json::REPORT_FORMAT)
    {
        Some(other) => Err(ReportFileError::OtherFormat {
            found: other.format.clone(),
        }),
        None => Ok(file.reports),
    }
}

/// Whether a text says that it is a report or several, of whichever version.
pub fn is_one(text: &str) -> bool {
    format_of(text).is_some_and(|format| {
        ["infergate.report/", "infergate.suite/"]
            .iter()
            .any(|name| format.starts_with(name))
    })
}

fn format_of(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Tag {
        format: String,
    }
    serde_json::from_str::<Tag>(text).ok().map(|tag| tag.format)
}

/// The report of several comparisons, one a spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteModel {
    /// The whole message: the worst verdict as a word, and counts over all specs.
    pub headline: Text,
    /// What the headline means.
    pub tone: Tone,
    /// One line a spec, the worst first.
    pub specs: Vec<SpecLine>,
    /// Gated cells of all specs beyond their limits, each with its spec.
    pub broken: CellTable,
    /// Gated cells of all specs that were not measured or not compared.
    pub unmeasured: CellTable,
    /// The heading above those.
    pub unmeasured_title: Text,
    /// Gated cells of all specs that could not be decided.
    pub undecided: CellTable,
    /// Each report for itself, the worst first.
    pub reports: Vec<ReportModel>,
    /// What was left out to fit, and where it is.
    pub left_out: Option<Text>,
}

/// One spec of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpecLine {
    /// Its verdict and counts.
    pub text: Text,
    /// What that means.
    pub tone: Tone,
}

/// The exit code of several reports: 2 > 1 > 4 > 3 > 0.
pub fn exit(reports: &[ReportFile]) -> Exit {
    let exits = reports.iter().map(|report| report.exit);
    exits.fold(Exit::Pass, Exit::worst)
}

/// The view model of several reports.
pub fn build(reports: &[ReportFile]) -> SuiteModel {
    build_of(reports, usize::MAX)
}

/// The same with so many urgent rows at most.
pub(super) fn build_of(reports: &[ReportFile], most: usize) -> SuiteModel {
    let mut sorted: Vec<&ReportFile> = reports.iter().collect();
    sorted.sort_by_key(|report| rank(report));
    let models = sorted.iter().map(|report| report.model_of(0));
    let [broken, unmeasured, undecided] = urgent(
        URGENT.map(|wanted| {
            let mut rows: Vec<Judged> = Vec::new();
            for report in &sorted {
                let judgement = (*report).clone().judgement();
                rows.extend(
                    cells::judged(&judgement, wanted)
                        .into_iter()
                        .map(|mut judged| {
                            judged.row.cell = Text::value(&report.spec.name)
                                .words(" ")
                                .then(judged.row.cell);
                            judged
                        }),
                );
            }
            rows.sort_by_key(|judged| judged.state);
            rows
        }),
        most,
    );
    let reports: Vec<_> = models.collect();
    let lines = sorted.iter().zip(&reports).map(|(file, model)| {
        let mut text = model.headline.clone();
        if let Some(why) = &file.unjudged
            && file.findings.is_empty()
        {
            text = Text::say(say::SENTENCES, [text, Text::default().prose(why)]);
        }
        if let Some(policy) = headline::policy(file.exit, file.policy.as_ref()) {
            text = Text::say(say::SENTENCES, [text, policy]);
        }
        SpecLine {
            text,
            tone: model.tone,
        }
    });
    SuiteModel {
        headline: headline(&sorted),
        tone: match sorted.first().map(|report| report.verdict) {
            Some(Verdict::Pass) => Tone::Good,
            Some(Verdict::Regression) => Tone::Bad,
            Some(Verdict::Undecided | Verdict::Invalid) | None => Tone::Unsure,
        },
        specs: lines.collect(),
        broken,
        unmeasured,
        unmeasured_title: Text::word(say::NEITHER_TITLE),
        undecided,
        reports,
        left_out: None,
    }
}

/// The worst first, by exit code, then by verdict.
pub(super) fn rank(report: &ReportFile) -> (u8, u8) {
    let exit = match report.exit {
        Exit::Usage => 0,
        Exit::Regression => 1,
        Exit::Invalid => 2,
        Exit::Undecided => 3,
        Exit::Pass => 4,
    };
    let verdict = match report.verdict {
        Verdict::Regression => 0,
        Verdict::Invalid => 1,
        Verdict::Undecided => 2,
        Verdict::Pass => 3,
    };
    (exit, verdict)
}

/// `Regression in 1 of 3 specs: 2 of 21 gated cells are beyond their limits, 19 are within their limits`.
fn headline(sorted: &[&ReportFile]) -> Text {
    let Some(first) = sorted.first() else {
        return Text::word(say::NO_REPORT);
    };
    let alike = sorted
        .iter()
        .filter(|report| report.verdict == first.verdict);
    let args = [
        Text::word(headline::verdict(first.verdict)),
        Text::just(scale::count(alike.count() as u64)),
        Text::just(scale::count(sorted.len() as u64)),
        headline::count_phrase(counts(sorted.iter().copied()), say::UNMEASURED),
    ];
    Text::say(say::IN_SPECS, args)
}

fn counts<'a>(reports: impl Iterator<Item = &'a ReportFile>) -> Headline {
    let each = reports.map(|report| report.headline);
    each.fold(Headline::default(), sum)
}

const fn sum(a: Headline, b: Headline) -> Headline {
    Headline {
        gated: a.gated.saturating_add(b.gated),
        regressed: a.regressed.saturating_add(b.regressed),
        passed: a.passed.saturating_add(b.passed),
        improved: a.improved.saturating_add(b.improved),
        accepted: a.accepted.saturating_add(b.accepted),
        undecided: a.undecided.saturating_add(b.undecided),
        unmeasured: a.unmeasured.saturating_add(b.unmeasured),
    }
}
