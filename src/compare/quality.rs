//! Cells of quality: checked answers, answers held against another run's, imported scores.

use serde::{Deserialize, Serialize};

use super::measure::{Measure, Value};
use super::pairing::{Arranged, Arrangement};
use crate::metric::{Cell, Metric, TaskName};
use crate::quality::{Agreement, AnswerSample, CheckKind};
use crate::stats::proportion::Count;
use crate::summary::{ClassSummary, Run, StageSummary};

/// How far the answers of both sides' runs are alike, over all pairs of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Alike {
    /// Pairs of answers.
    pub compared: u64,
    /// Pairs that differ.
    pub differing: u64,
    /// Characters that a pair that differs has alike from the start on at the least, the lower
    /// median over those; `None` where none differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u32>,
}

/// The run that each run of a side is held against.
///
/// An interleaved candidate run has the baseline run of its pair, any other the newest of the
/// baseline. A baseline run has the one before it and the first has the second, so what the
/// baseline's figure is at a look depends on no later run.
pub(super) fn partners<'a>(arranged: &Arranged<'a>, runs: &[&'a Run]) -> Vec<Option<&'a Run>> {
    let baseline = &arranged.baseline;
    match arranged.arrangement {
        Arrangement::Interleaved => baseline.iter().copied().map(Some).collect(),
        Arrangement::Stored | Arrangement::SameRun | Arrangement::Unpaired => {
            vec![baseline.last().copied(); runs.len()]
        }
    }
}

/// The same for runs of one side among each other.
pub(super) fn neighbours<'a>(runs: &[&'a Run]) -> Vec<Option<&'a Run>> {
    (0_usize..runs.len())
        .map(|i| runs.get(i.checked_sub(1).unwrap_or(1)).copied())
        .collect()
}

/// The imported score of this name.
pub(super) fn imported(run: &Run, name: TaskName) -> Measure {
    let Some(score) = run.imported.get(&name) else {
        let why = format!("the run has no imported score `{name}`");
        return Measure::without(Value::Absent(why));
    };
    let sound = (0.0..=1.0).contains(&score.value)
        && score.standard_error > 0.0
        && score.standard_error.is_finite();
    if !sound {
        let why = format!(
            "the run file has {} ± {} as `{name}`, which is no share with its error",
            score.value, score.standard_error
        );
        return Measure::without(Value::Invalid(why));
    }
    Measure {
        value: Value::Measured(score.value),
        n: score.samples.unwrap_or(0),
        standard_error: Some(score.standard_error),
        ..Measure::without(Value::Measured(score.value))
    }
}

/// Answers that fail a kind of check; `None` where none was checked.
pub(super) fn failing(parts: &[&ClassSummary], kind: CheckKind) -> Option<Count> {
    let counts = parts.iter().filter_map(|class| {
        let count = class.quality.as_ref()?.checks.get(&kind)?;
        Some(Count {
            events: count.of.saturating_sub(count.passed),
            trials: count.of,
        })
    });
    let count = Count::pool(&counts.collect::<Vec<Count>>());
    (count.trials > 0).then_some(count)
}

/// Requests of which one of two runs passes a check and the other does not; `None` where nothing can
/// be paired.
pub(super) fn discordant(
    run: &Run,
    partner: Option<&Run>,
    cell: &Cell,
    kind: CheckKind,
) -> Option<Count> {
    let partner = partner.filter(|partner| same_prompts(run, partner))?;
    let counts = samples(run, partner, cell).map(|(own, other)| {
        let pairs = own.discordant(kind, other);
        Count {
            events: pairs.events,
            trials: pairs.of,
        }
    });
    let count = Count::pool(&counts.collect::<Vec<Count>>());
    (count.trials > 0).then_some(count)
}

/// The share of answers that are those of another run.
pub(super) fn agreement(run: &Run, partner: Option<&Run>, cell: &Cell) -> Measure {
    match agreed(run, partner, cell) {
        Ok(Agreement {
            compared,
            alike_until,
        }) => {
            let bad = Count {
                events: alike_until.len() as u64,
                trials: compared,
            };
            let value = Value::Measured(1.0 - bad.share().unwrap_or(1.0));
            Measure {
                n: compared,
                bad: Some(bad),
                ..Measure::without(value)
            }
        }
        Err(why) => Measure::without(Value::Absent(why)),
    }
}

fn agreed(run: &Run, partner: Option<&Run>, cell: &Cell) -> Result<Agreement, String> {
    let partner =
        partner.ok_or("there is no other run of the baseline to hold its answers against")?;
    if !same_prompts(run, partner) {
        return Err("its prompts are not those of the run that its answers are held against: they were written by another calibration".to_owned());
    }
    let mut all = Agreement::default();
    for (own, other) in samples(run, partner, cell) {
        let more = own.agreement(other);
        all.compared += more.compared;
        all.alike_until.extend(more.alike_until);
    }
    if all.compared == 0 {
        return Err("no request has an answer in both runs".to_owned());
    }
    Ok(all)
}

/// Whether two runs with one plan have sent the same texts where their salt is fixed.
fn same_prompts(run: &Run, other: &Run) -> bool {
    run.prompt_calibration == other.prompt_calibration
}

/// The answers of a cell's classes that both runs keep, stage by stage.
fn samples<'a>(
    run: &'a Run,
    partner: &'a Run,
    cell: &'a Cell,
) -> impl Iterator<Item = (&'a AnswerSample, &'a AnswerSample)> {
    let taken = |stage: &&StageSummary| cell.stage.as_ref().is_none_or(|name| *name == stage.name);
    run.stages.iter().filter(taken).flat_map(move |stage| {
        let other = partner.stages.iter().find(|other| other.name == stage.name);
        classes(stage, cell.class.as_deref()).filter_map(move |(name, class)| {
            let other = match name {
                Some(name) => other?.classes.get(name)?,
                None => &other?.pooled,
            };
            let sample = |class: &'a ClassSummary| Some(&class.quality.as_ref()?.sample);
            Some((sample(class)?, sample(other)?))
        })
    })
}

/// The classes of a stage with their names; the only one of a stage has none.
fn classes<'a>(
    stage: &'a StageSummary,
    class: Option<&'a str>,
) -> impl Iterator<Item = (Option<&'a str>, &'a ClassSummary)> {
    let whole = stage.classes.is_empty().then_some((None, &stage.pooled));
    let parts = stage.classes.iter();
    let wanted = move |name: &str| class.is_none_or(|class| class == name);
    whole.into_iter().chain(
        parts
            .filter(move |(name, _)| wanted(name))
            .map(|(name, class)| (Some(name.as_str()), class)),
    )
}

/// How far answers are alike over all candidate runs; `None` of other cells, and where there is
/// nothing to hold them against.
pub(super) fn alike(arranged: &Arranged<'_>, cell: &Cell) -> Option<Alike> {
    if cell.metric.metric() != Metric::QualityAgreement {
        return None;
    }
    let mut all = Agreement::default();
    let partners = partners(arranged, &arranged.candidate);
    for (run, partner) in arranged.candidate.iter().zip(partners) {
        if let Ok(more) = agreed(run, partner, cell) {
            all.compared += more.compared;
            all.alike_until.extend(more.alike_until);
        }
    }
    // The lower of two middle ones: between two positions nothing is known.
    let middle = all.alike_until.len().saturating_sub(1) / 2;
    all.alike_until.sort_unstable();
    (all.compared > 0).then(|| Alike {
        compared: all.compared,
        differing: all.differing(),
        until: all.alike_until.get(middle).copied(),
    })
}
