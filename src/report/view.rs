//! What templates of users find: a small model that stays, beside the one that our own templates take apart.

use serde::Serialize;

use crate::exit::Exit;
use crate::lang::Lang;
use crate::verdict::{CellState, Change, Finding, Headline, Verdict};

use super::json::ReportFile;
use super::model::{AdviceRow, CellRow, PinRow, WhyRow};
use super::span::Text;
use super::{cells, suite, words};

/// Format tag of the view: name and major version.
pub const VIEW_FORMAT: &str = "infergate.view/1";

/// What a template finds at its top. Every field is always there: lists and texts may be empty, and what
/// isn't known is `null`. A `Text` prints in the language of the report, made harmless for the template's
/// kind of file; `|plain` makes a string of it, to compare.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct View {
    /// [`VIEW_FORMAT`].
    pub format: String,
    /// Language of texts: `en` or `zh`.
    pub lang: String,
    /// The worst verdict of all specs.
    pub verdict: Verdict,
    /// The exit code's name, after the specs' policies.
    pub exit: Exit,
    /// The exit code.
    pub exit_code: u8,
    /// The whole message: the verdict as a word, counts, and the spec's name where it is one. It stands
    /// before what the template makes.
    pub headline: Text,
    /// One comparison a spec, the worst first.
    pub specs: Vec<SpecView>,
}

/// The comparison of one spec.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SpecView {
    /// The spec's name.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The exit code's name, after the spec's policies.
    pub exit: Exit,
    /// The exit code.
    pub exit_code: u8,
    /// The verdict as a word, counts, the spec's name.
    pub headline: Text,
    /// Counts of gated cells.
    pub counts: Headline,
    /// The worst finding as a sentence, and what a policy or a demotion changed.
    pub lead: Vec<Text>,
    /// Model, precision, engine, hardware of the candidate; empty where nothing is known.
    pub setup: Text,
    /// How the runs were taken.
    pub design: Text,
    /// What differs between the sides: what is under test, what forbids the comparison, what is a caveat.
    pub conditions: Vec<Text>,
    /// All cells, gated and observed, worst first.
    pub rows: Vec<CellView>,
    /// Why figures moved, as far as anything tells.
    pub why: Vec<WhyRow>,
    /// What to do next.
    pub advice: Vec<AdviceRow>,
    /// Reasons to trust the figures less.
    pub caveats: Vec<Text>,
    /// How the figures came about.
    pub method: Vec<Text>,
    /// All pins that differ.
    pub pins: Vec<PinRow>,
    /// Commands that make the report again.
    pub reproduce: Vec<Text>,
    /// Ids of the baseline's runs.
    pub baseline_runs: Vec<String>,
    /// Ids of the candidate's runs.
    pub candidate_runs: Vec<String>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CellView {
    /// `steady/ttft.p95`, as `explain` takes it.
    pub id: String,
    /// The same as a text, with the release that it is compared with where that is no baseline.
    pub cell: Text,
    /// Whether the verdict depends on it.
    pub gated: bool,
    /// Its state.
    pub state: CellState,
    /// Its state as a word.
    pub state_said: Text,
    /// The baseline's value and what it rests on.
    pub baseline: Text,
    /// The candidate's.
    pub candidate: Text,
    /// Signed change, interval and direction as a word.
    pub change: Text,
    /// Its limit.
    pub limit: Text,
    /// Best estimate of the change: candidate by baseline, minus one; of proportions their difference.
    pub estimate: Option<f64>,
    /// Lower end of its unadjusted 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Why its state is what it is, where the numbers do not say; empty else.
    pub why: Text,
    /// Where its limit is written.
    pub place: Option<PlaceView>,
}

/// A line of a spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PlaceView {
    /// The file, as the command was given it.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
}

impl View {
    /// Of reports, as one.
    pub fn of(reports: &[ReportFile], lang: Lang) -> Self {
        let mut sorted: Vec<&ReportFile> = reports.iter().collect();
        sorted.sort_by_key(|report| suite::rank(report));
        let specs: Vec<SpecView> = sorted.iter().map(|report| SpecView::of(report)).collect();
        let exit = suite::exit(reports);
        Self {
            format: VIEW_FORMAT.to_owned(),
            lang: lang.tag().to_owned(),
            verdict: specs
                .first()
                .map_or(Verdict::Undecided, |spec| spec.verdict),
            exit,
            exit_code: exit.code(),
            headline: match &specs[..] {
                [spec] => spec.headline.clone(),
                _ => suite::build(reports).headline,
            },
            specs,
        }
    }

    /// One of each verdict with one of everything: what a template is tried on before anything is measured.
    pub fn examples(lang: Lang) -> Vec<Self> {
        [
            (Verdict::Pass, Exit::Pass, CellState::Ok),
            (Verdict::Regression, Exit::Regression, CellState::Regressed),
            (Verdict::Undecided, Exit::Undecided, CellState::Suspect),
            (Verdict::Invalid, Exit::Invalid, CellState::Invalid),
        ]
        .map(|(verdict, exit, state)| {
            let spec = SpecView::example(verdict, exit, state);
            Self {
                format: VIEW_FORMAT.to_owned(),
                lang: lang.tag().to_owned(),
                verdict,
                exit,
                exit_code: exit.code(),
                headline: spec.headline.clone(),
                specs: vec![spec],
            }
        })
        .into()
    }
}

impl SpecView {
    fn of(report: &ReportFile) -> Self {
        let model = report.model();
        let judgement = report.clone().judgement();
        let environment = model.environment;
        let rows = report.findings.iter().map(|finding| {
            let row = cells::row(finding, &judgement.design);
            let place = report.place(finding).map(|place| PlaceView {
                path: place.path.clone(),
                line: place.line,
            });
            CellView::of(finding, row, place)
        });
        Self {
            name: report.spec.name.clone(),
            verdict: report.verdict,
            exit: report.exit,
            exit_code: report.exit.code(),
            headline: model.headline,
            counts: report.headline,
            lead: model.lead,
            setup: environment.setup,
            design: environment.design,
            conditions: [
                environment.under_test,
                environment.blocking,
                environment.caveats,
            ]
            .concat(),
            rows: rows.collect(),
            why: model.why,
            advice: model.advice,
            caveats: model.caveats,
            method: model.method,
            pins: model.pins,
            reproduce: model.reproduce,
            baseline_runs: report.baseline.clone(),
            candidate_runs: report.candidate.clone(),
        }
    }

    fn example(verdict: Verdict, exit: Exit, state: CellState) -> Self {
        let some = || Text::of("an example");
        Self {
            name: "example".to_owned(),
            verdict,
            exit,
            exit_code: exit.code(),
            headline: some(),
            counts: Headline {
                gated: 1,
                ..Headline::default()
            },
            lead: vec![some()],
            setup: some(),
            design: some(),
            conditions: vec![some()],
            rows: vec![CellView {
                id: "steady/ttft.p95".to_owned(),
                cell: Text::value("steady/ttft.p95"),
                gated: true,
                state,
                state_said: some(),
                baseline: some(),
                candidate: some(),
                change: some(),
                limit: some(),
                estimate: Some(0.5),
                low: Some(0.25),
                high: Some(0.75),
                why: some(),
                place: Some(PlaceView {
                    path: "example.yaml".to_owned(),
                    line: 1,
                }),
            }],
            why: vec![WhyRow {
                stage: some(),
                cause: some(),
                evidence: some(),
            }],
            advice: vec![AdviceRow {
                text: some(),
                command: Some(some()),
            }],
            caveats: vec![some()],
            method: vec![some()],
            pins: vec![PinRow {
                pin: some(),
                baseline: some(),
                candidate: some(),
                role: some(),
            }],
            reproduce: vec![some()],
            baseline_runs: vec!["base".to_owned()],
            candidate_runs: vec!["candidate".to_owned()],
        }
    }
}

impl CellView {
    fn of(finding: &Finding, row: CellRow, place: Option<PlaceView>) -> Self {
        let [estimate, low, high] = match finding.change {
            Some(
                Change::Ratio {
                    estimate,
                    low,
                    high,
                }
                | Change::Points {
                    estimate,
                    low,
                    high,
                },
            ) => [estimate, low, high].map(|figure| Some(figure).filter(|f| f.is_finite())),
            None => [None; 3],
        };
        Self {
            id: finding.cell.to_string(),
            cell: row.cell,
            gated: finding.gated,
            state: finding.state,
            state_said: row.state,
            baseline: row.baseline,
            candidate: row.candidate,
            change: row.change,
            limit: row.limit,
            estimate,
            low,
            high,
            why: words::why(finding).unwrap_or_default(),
            place,
        }
    }
}
