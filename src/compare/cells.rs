//! The cells of a comparison: those that the spec declares, and all others that the runs hold.

use std::collections::BTreeSet;

use super::measure::{Measure, measure};
use super::pairing::Arranged;
use super::quality::{self, Alike};
use super::{aftermath, definitions, energy, max_goodput};
use crate::lang::Said;
use crate::metric::{Cell, CellMetric, Kind, Metric, Quantile};
use crate::quality::CheckKind;
use crate::spec::{Gate, Limit, Trade};
use crate::summary::{ClassSummary, Run, StageSummary};

/// A cell with its values on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedCell {
    /// The cell.
    pub cell: Cell,
    /// Its limit; `None` where the spec does not declare the cell.
    pub limit: Option<Limit>,
    /// What it may lose more for a gain in another cell.
    pub trade: Option<Trade>,
    /// Whether the verdict depends on it.
    pub gated: bool,
    /// One per baseline run; in step with `candidate` where interleaved.
    pub baseline: Vec<Measure>,
    /// One per candidate run.
    pub candidate: Vec<Measure>,
    /// The usable ones of each archived session, oldest first.
    pub sessions: Vec<Vec<Measure>>,
    /// The usable ones of each session that shows how much runs scatter, oldest first: `sessions`,
    /// and against stored ones those that stand for nothing else.
    pub noise: Vec<Vec<Measure>>,
    /// Whether its baseline is the one pinned session, and `sessions` only tell how days differ.
    pub anchored: bool,
    /// Whether the load is a closed loop, whose rates follow the server.
    pub closed_loop: bool,
    /// How far the sides' answers are alike, of agreement.
    pub alike: Option<Alike>,
    /// How the sides' work differs, in words, where it does: then a better figure proves nothing.
    pub work_changed: Option<String>,
    /// What the two sides mean by it, in words, where that is not the same: then nothing can be compared.
    pub means: Option<Said>,
}

impl ComparedCell {
    /// Whether the candidate's latency is shorter than a round trip to it, in more than half of its
    /// runs: it can't have been the target that answered.
    pub fn is_below_round_trip(&self) -> bool {
        let below = |measure: &&Measure| {
            let both = measure.measured().zip(measure.round_trip_s);
            both.is_some_and(|(value, round_trip)| value < round_trip)
        };
        2 * self.candidate.iter().filter(below).count() > self.candidate.len()
    }
}

/// Quantiles that are shown of undeclared cells.
const SHOWN: Reductions<'_> = Reductions {
    quantiles: &[Quantile::P50, Quantile::P95, Quantile::P99],
    mean: false,
};

/// What distributions are reduced to, where cells are listed.
#[derive(Debug, Clone, Copy)]
pub struct Reductions<'a> {
    /// These quantiles.
    pub quantiles: &'a [Quantile],
    /// Their mean too.
    pub mean: bool,
}

/// Declared cells in the order of the spec.
pub(super) fn declared(arranged: &Arranged<'_>, gate: &Gate) -> Vec<ComparedCell> {
    gate.cells
        .iter()
        .map(|declared| {
            let mut cell = compared(arranged, declared.cell.clone(), gate.token_mismatch);
            cell.limit = Some(declared.limit);
            cell.trade.clone_from(&declared.trade);
            cell.gated = !declared.informational;
            cell
        })
        .collect()
}

/// Declared cells, then the observed ones that are not declared.
pub(super) fn all(arranged: &Arranged<'_>, gate: &Gate) -> Vec<ComparedCell> {
    let mut cells = declared(arranged, gate);
    let declared: BTreeSet<&Cell> = gate.cells.iter().map(|declared| &declared.cell).collect();
    let gains = gate
        .cells
        .iter()
        .filter_map(|declared| Some(declared.trade.as_ref()?.gain.clone()));
    let mut shown: BTreeSet<Cell> = BTreeSet::new();
    for cell in observed(arranged).into_iter().chain(gains) {
        if !declared.contains(&cell) && shown.insert(cell.clone()) {
            cells.push(compared(arranged, cell, gate.token_mismatch));
        }
    }
    cells
}

fn compared(arranged: &Arranged<'_>, cell: Cell, mismatch: f64) -> ComparedCell {
    let side = |runs: &[&Run], partners: Vec<Option<&Run>>| -> Vec<Measure> {
        let each = runs.iter().zip(partners);
        each.map(|(run, partner)| measure(run, partner, &cell))
            .collect()
    };
    let usable = |sessions: &[Vec<&Run>]| {
        let session = |runs: &Vec<&Run>| {
            let measures = side(runs, quality::neighbours(runs)).into_iter();
            measures.filter(Measure::is_usable).collect()
        };
        sessions.iter().map(session).collect()
    };
    let stages = || {
        let runs = arranged.baseline.iter().chain(&arranged.candidate);
        runs.flat_map(|run| stages_of(run, &cell))
    };
    let of_run = cell.metric.metric().kind() == Kind::OfRun;
    ComparedCell {
        means: definitions::difference(arranged, cell.metric.metric()),
        limit: None,
        trade: None,
        gated: false,
        baseline: side(&arranged.baseline, quality::neighbours(&arranged.baseline)),
        candidate: side(
            &arranged.candidate,
            quality::partners(arranged, &arranged.candidate),
        ),
        sessions: usable(&arranged.sessions),
        noise: usable(&arranged.noise),
        anchored: false,
        closed_loop: !of_run && stages().count() > 0 && stages().all(|stage| stage.users.is_some()),
        alike: quality::alike(arranged, &cell),
        // What an answer is worth does not hang on how long it is.
        work_changed: Work::of(&arranged.baseline, &cell)
            .zip(Work::of(&arranged.candidate, &cell))
            .filter(|_| !of_run && !cell.metric.metric().is_quality())
            .and_then(|(base, head)| base.difference(head, mismatch)),
        cell,
    }
}

/// A cell in each run of one session.
pub fn measures(runs: &[&Run], cell: &Cell) -> Vec<Measure> {
    let each = runs.iter().zip(quality::neighbours(runs));
    each.map(|(run, partner)| measure(run, partner, cell))
        .collect()
}

fn stages_of<'a>(run: &'a Run, cell: &Cell) -> impl Iterator<Item = &'a StageSummary> {
    run.stages
        .iter()
        .filter(move |stage| cell.is_of(&stage.name))
}

/// What a side's requests did.
#[derive(Clone, Copy)]
struct Work {
    input: Tokens,
    output: Tokens,
    answers: f64,
    counted: f64,
}

#[derive(Clone, Copy)]
struct Tokens {
    observed: f64,
    planned: f64,
}

impl Work {
    /// Over all runs of a side; `None` where no request counts.
    fn of(runs: &[&Run], cell: &Cell) -> Option<Self> {
        let stages: Vec<&ClassSummary> = runs
            .iter()
            .flat_map(|run| stages_of(run, cell).map(|stage| &stage.pooled))
            .collect();
        let sum = |part: fn(&ClassSummary) -> u64| -> f64 {
            stages.iter().map(|class| part(class)).sum::<u64>() as f64
        };
        let counted = sum(ClassSummary::counted);
        (counted > 0.0).then(|| Self {
            input: Tokens {
                observed: sum(|class| class.tokens.input_observed),
                planned: sum(|class| class.tokens.input_planned),
            },
            output: Tokens {
                observed: sum(|class| class.tokens.output_observed),
                planned: sum(|class| class.tokens.output_planned),
            },
            answers: sum(ClassSummary::ended_well),
            counted,
        })
    }

    /// What differs by more than `limit`, as a fraction of the baseline's. Tokens are relative to the plan,
    /// so that a slower side that gets through fewer requests of a closed loop has not done other work;
    /// where a side has no plan, as those of other tools, the tokens of an answer are held against each other.
    fn difference(self, head: Self, limit: f64) -> Option<String> {
        let tokens = |of: fn(&Self) -> Tokens| {
            let both = [&self, &head];
            let planned = both.iter().all(|side| of(side).planned > 0.0);
            both.map(|side| {
                let Tokens {
                    observed,
                    planned: plan,
                } = of(side);
                let each = if planned { plan } else { side.answers };
                if each > 0.0 && (planned || observed > 0.0) {
                    observed / each
                } else {
                    1.0
                }
            })
        };
        let completions = [&self, &head].map(|side| side.answers / side.counted);
        let parts: Vec<String> = [
            ("input tokens", tokens(|side| side.input)),
            ("output tokens", tokens(|side| side.output)),
            ("completions", completions),
        ]
        .into_iter()
        .filter(|(_, [base, head])| (head - base).abs() > limit * base.abs())
        .map(|(what, [base, head])| {
            if base > 0.0 {
                format!("{what} {:+.1} %", (head / base - 1.0) * 100.0)
            } else {
                format!("{what} where the baseline has none")
            }
        })
        .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Every cell that some run of either side holds, in the order of stages and metrics.
fn observed(arranged: &Arranged<'_>) -> Vec<Cell> {
    held(
        &[arranged.baseline.as_slice(), &arranged.candidate].concat(),
        SHOWN,
    )
}

/// Every cell that some of these runs hold, in the order of stages and metrics.
pub fn held(runs: &[&Run], reductions: Reductions<'_>) -> Vec<Cell> {
    let (mut cells, mut seen) = (Vec::new(), BTreeSet::new());
    for run in runs {
        for name in run.imported.keys() {
            let cell = Cell {
                stage: None,
                class: None,
                metric: CellMetric::imported(*name),
            };
            if seen.insert(cell.clone()) {
                cells.push(cell);
            }
        }
        for stage in &run.stages {
            let classes = stage
                .classes
                .iter()
                .map(|(name, class)| (Some(name), class));
            for (class, summary) in std::iter::once((None, &stage.pooled)).chain(classes) {
                let metrics = metrics_of(summary, class.is_some(), reductions).into_iter();
                let told = |metric: &CellMetric| {
                    let known = metric.metric().kind() != Kind::Energy || energy::is_known(stage);
                    known && aftermath::is_told(metric.metric(), stage)
                };
                for metric in metrics.filter(told) {
                    let cell = Cell {
                        stage: Some(stage.name.clone()),
                        class: class.cloned(),
                        metric,
                    };
                    if seen.insert(cell.clone()) {
                        cells.push(cell);
                    }
                }
            }
        }
    }
    for sweep in runs.iter().flat_map(|run| max_goodput::sweeps(run)) {
        let best = CellMetric::value(Metric::MaxGoodput);
        cells.extend(
            best.map(|metric| Cell {
                stage: Some(sweep.to_owned()),
                class: None,
                metric,
            })
            .filter(|cell| seen.insert(cell.clone())),
        );
    }
    if runs.iter().any(|run| run.cold_start.is_some()) {
        let of_run = Metric::ALL
            .into_iter()
            .filter(|metric| metric.kind() == Kind::OfRun);
        cells.extend(of_run.filter_map(CellMetric::value).map(|metric| Cell {
            stage: None,
            class: None,
            metric,
        }));
    }
    cells
}

/// What is shown of a summary: quantiles of its distributions, and for all classes pooled the
/// rates and proportions too.
fn metrics_of(
    class: &ClassSummary,
    one_class: bool,
    reductions: Reductions<'_>,
) -> Vec<CellMetric> {
    let reduced = |metric: Metric| {
        let quantiles = reductions.quantiles.iter();
        let mean = CellMetric::mean(metric).filter(|_| reductions.mean);
        quantiles
            .filter_map(move |q| CellMetric::quantile(metric, *q))
            .chain(mean)
    };
    Metric::ALL
        .into_iter()
        .flat_map(|metric| -> Vec<CellMetric> {
            if matches!(metric.kind(), Kind::OfRun | Kind::OfSweep)
                || repeats_another(class, metric)
            {
                Vec::new()
            } else if metric.is_quality() {
                let value = CellMetric::value(metric).filter(|_| has_quality(class, metric));
                value.into_iter().collect()
            } else if class.distributions.contains_key(&metric) {
                reduced(metric).collect()
            } else if one_class {
                Vec::new()
            } else {
                CellMetric::value(metric).into_iter().collect()
            }
        })
        .collect()
}

/// Whether there is something to say of a metric of quality.
fn has_quality(class: &ClassSummary, metric: Metric) -> bool {
    let quality = class.quality.as_ref();
    quality.is_some_and(|quality| match CheckKind::counted_by(metric) {
        Some(kind) => quality.checks.contains_key(&kind),
        None => quality.sample.has_prints(),
    })
}

/// Whether a metric says the same as a better known one: TTFA without reasoning is TTFT, and the gap
/// between chunks of one token is ITL.
fn repeats_another(class: &ClassSummary, metric: Metric) -> bool {
    let other = match metric {
        Metric::Ttfa => Metric::Ttft,
        Metric::ChunkGap => Metric::Itl,
        _ => return false,
    };
    let of = |metric| class.distributions.get(&metric);
    of(metric)
        .zip(of(other))
        .is_some_and(|(a, b)| (a.n, a.failed) == (b.n, b.failed) && a.quantiles == b.quantiles)
}
