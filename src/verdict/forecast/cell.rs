//! One declared cell before there is a candidate.

use super::{CellForecast, CellNoise, Resolution, Scale, TOLD};
use crate::spec::Limit;
use crate::stats::sequential::{Design, PlannedLook};
use crate::stats::stored::FEWEST_SESSIONS;
use crate::verdict::hypothesis::Hypothesis;
use crate::verdict::informational::default_limit;
use crate::verdict::power::FIRM_POWER;

/// Pairs that anybody may be asked for.
const MOST_PAIRS: u32 = 100;
/// Recommended tolerances are multiples of half a percent,
const RATIO_STEP: f64 = 0.005;
/// and of a tenth of a point.
const POINTS_STEP: f64 = 0.001;

/// The forecast of a cell over pairs and over stored sessions, each with its looks.
pub(super) fn forecast(
    (paired, design): (&Hypothesis<'_>, &Design),
    (stored, stored_design): (&Hypothesis<'_>, &Design),
    power: f64,
) -> CellForecast {
    let cell = paired.cell;
    let relative = paired.test.is_relative();
    let few = paired.too_few_samples();
    let at = |hypothesis: &Hypothesis<'_>, look: PlannedLook, power: f64| {
        let smallest = hypothesis.smallest(look, power)?;
        hypothesis.as_declared(smallest).filter(|_| few.is_none())
    };
    let first = design.looks().first().map_or(1, |look| look.repeats);
    let pairs = TOLD.map(|repeats| {
        let too_early = paired.is_assumed() && repeats < first;
        Resolution {
            repeats,
            smallest: at(paired, planned(design, repeats), power).filter(|_| !too_early),
        }
    });
    let enough = !relative || stored.stored_sessions() >= FEWEST_SESSIONS;
    let runs = stored_design.looks().iter().filter(|_| enough);
    let stored = runs.map(|look| Resolution {
        repeats: look.repeats,
        smallest: at(stored, *look, power),
    });
    let room = paired.room().and_then(|room| paired.as_declared(room));
    let smallest = at(paired, design.last(), power);
    let resolvable = room.zip(smallest).map(|(room, smallest)| room >= smallest);
    let needed = || {
        let resolves = |&pairs: &u32| {
            let smallest = at(paired, fixed(pairs), power);
            room.zip(smallest)
                .is_some_and(|(room, smallest)| room >= smallest)
        };
        (design.last().repeats..=MOST_PAIRS).find(resolves)
    };
    let firm = at(paired, design.last(), FIRM_POWER).filter(|_| relative);
    let showing: Vec<usize> = cell
        .noise
        .iter()
        .map(Vec::len)
        .filter(|&runs| runs > 1)
        .collect();
    CellForecast {
        cell: cell.cell.clone(),
        limit: paired.limit,
        gated: cell.gated,
        sessions: showing.len() as u32,
        runs: showing.iter().sum::<usize>() as u32,
        scale: scale(paired),
        noise: paired.expected_noise().map(|noise| CellNoise {
            sigma: match scale(paired) {
                Scale::Ratio if !paired.is_log() => {
                    paired.as_declared(noise.sigma).unwrap_or(noise.sigma)
                }
                _ => noise.sigma,
            },
            df: noise.df,
            assumed: paired.is_assumed(),
        }),
        pairs: pairs.to_vec(),
        stored: stored.collect(),
        room,
        smallest,
        resolvable,
        pairs_needed: if resolvable == Some(false) {
            needed()
        } else {
            None
        },
        recommended: firm.map(|firm| recommended(paired, firm)),
        why: why(paired, few, smallest),
    }
}

/// The look at so many repeats: the design's own, else the only one.
fn planned(design: &Design, repeats: u32) -> PlannedLook {
    let own = design.looks().iter().find(|look| look.repeats == repeats);
    own.copied().unwrap_or_else(|| fixed(repeats))
}

/// The only look of a design that has one.
fn fixed(repeats: u32) -> PlannedLook {
    Design::paired(repeats, repeats).last()
}

fn scale(hypothesis: &Hypothesis<'_>) -> Scale {
    match hypothesis.limit {
        Limit::WorseBy { .. } => Scale::Ratio,
        Limit::AtMost(_) | Limit::AtLeast(_) if hypothesis.is_log() => Scale::Ratio,
        Limit::WorseByPoints(_) | Limit::AtMost(_) | Limit::AtLeast(_) => Scale::Points,
    }
}

/// What is resolved nearly always, rounded up, and no finer than what the metric usually has.
fn recommended(hypothesis: &Hypothesis<'_>, firm: f64) -> f64 {
    let usual = match default_limit(hypothesis.cell) {
        Limit::WorseBy { ratio, .. } => ratio,
        Limit::WorseByPoints(points) => points,
        Limit::AtMost(_) | Limit::AtLeast(_) => 0.0,
    };
    let step = match scale(hypothesis) {
        Scale::Ratio => RATIO_STEP,
        Scale::Points => POINTS_STEP,
    };
    // What is a multiple already stays one.
    let rounded = (firm / step - 1e-9).ceil() * step;
    rounded.max(usual)
}

fn why(
    hypothesis: &Hypothesis<'_>,
    few: Option<(u64, u64)>,
    smallest: Option<f64>,
) -> Option<String> {
    if let Some((n, needed)) = few {
        return Some(format!("{n} values a run, and its quantile needs {needed}"));
    }
    let broken = !hypothesis.test.is_relative() && hypothesis.room().is_some_and(|room| room < 0.0);
    if broken {
        Some("the archived runs break the limit".to_owned())
    } else if smallest.is_none() {
        Some("no archived run says how many requests fail".to_owned())
    } else if hypothesis.has_no_runs() && hypothesis.is_assumed() {
        Some("no archived run: the noise is assumed".to_owned())
    } else if hypothesis.is_assumed() {
        Some("no archived session has two runs of it: the noise is assumed".to_owned())
    } else {
        None
    }
}
