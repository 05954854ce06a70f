//! What a run's answers are worth, as tables.

use crate::metric::Metric;
use crate::quality::CheckKind;
use crate::summary::{ClassSummary, Run, StageSummary};
use crate::unit::scale::{self, Unit};

use super::model::{QualityRow, ScoreRow};
use super::span::Text;
use super::words;

/// How many answers of a stage pass each kind of check: of all classes together, then of each where
/// there are several. Answers that are kept for a comparison say nothing by themselves.
pub(super) fn rows(stage: &StageSummary) -> Vec<QualityRow> {
    let classes = stage.classes.iter();
    let classes = classes.map(|(name, class)| (Some(name.as_str()), class));
    let all = [(None, &stage.pooled)].into_iter().chain(classes);
    let checked: Vec<(CheckKind, Option<&str>, &ClassSummary)> = CheckKind::ALL
        .into_iter()
        .flat_map(|kind| all.clone().map(move |(name, class)| (kind, name, class)))
        .collect();
    let row = |(kind, name, class): (CheckKind, Option<&str>, &ClassSummary)| {
        let count = class.quality.as_ref()?.checks.get(&kind)?;
        let metric = words::metric(metric(kind));
        let share = count.passed as f64 / count.of as f64;
        (count.of > 0).then(|| QualityRow {
            check: match name {
                Some(name) => metric.words(" of ").quoted(name),
                None => metric,
            },
            answers: Text::just(scale::count(count.of)),
            passed: Text::just(scale::count(count.passed)),
            share: Text::just(scale::value(Unit::Proportion, share)),
        })
    };
    checked.into_iter().filter_map(row).collect()
}

/// Scores that another tool measured of what was run.
pub(super) fn scores(run: &Run) -> Vec<ScoreRow> {
    let scores = run.imported.iter();
    let row = |(name, score): (&crate::metric::TaskName, &crate::quality::Score)| {
        let [value, error] = scale::row(Unit::Proportion, [score.value, score.standard_error]);
        ScoreRow {
            score: Text::value(name.as_str()),
            value: Text::just(value),
            standard_error: Text::just(error),
            questions: match score.samples {
                Some(n) => Text::just(scale::count(n)),
                None => Text::of("unknown"),
            },
        }
    };
    scores.map(row).collect()
}

const fn metric(kind: CheckKind) -> Metric {
    match kind {
        CheckKind::ValidJson => Metric::QualityValidJson,
        CheckKind::Regex => Metric::QualityRegex,
        CheckKind::Exact => Metric::QualityExact,
    }
}
