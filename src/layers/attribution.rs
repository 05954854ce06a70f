//! What a gap between two layers looks like: a constant for each request, a price for each token,
//! answers held back, failures, connections, a queue of the front's own.
//!
//! Each part is named by figures that stand beside it; what the figures can't tell is said too.

use super::gap::{self, Gap, LEAST_PAIRS};
use super::part::{Across, Part, Tally, Unsure};
use super::{StageLayers, StagePair};
use crate::metric::{CellMetric, Metric, Quantile};
use crate::sample::OutcomeKind;
use crate::stats::mean;
use crate::stats::proportion::{Count, Share, newcombe};
use crate::summary::{ClassSummary, StageSummary};

/// A part below this share of the end-to-end gap is not named.
const LEAST_SHARE: f64 = 0.1;
/// And without an interval one below this share of the engine's own figure isn't either.
const LEAST_CHANGE: f64 = 0.05;
/// A front that leaves this much of the time in which the engine streams holds answers back.
const HELD_BACK: f64 = 0.2;
/// Fewer tokens an answer show no stream.
const LEAST_TOKENS: f64 = 4.0;
/// Tokens come in clumps where the usual gap falls to this share of the engine's …
const CLUMP_USUAL: f64 = 0.25;
/// … and the long ones grow to this many times the engine's.
const CLUMP_LONG: f64 = 1.5;
/// Events are put together where an answer has this share of the engine's number of them.
const MERGED: f64 = 0.75;
/// A tail's gap of so many times the middle's is no constant.
const TAIL: f64 = 2.0;
/// A gap grows with the load where it becomes so many times what it is at the lowest.
const GROWS: f64 = 2.0;
/// Below this, in seconds, timers and schedulers alone make such differences.
const LEAST_S: f64 = 0.001;
/// A closed loop that sends so much less loads the engine less.
const LESS_LOAD: f64 = 0.1;

fn median(metric: Metric) -> Option<CellMetric> {
    CellMetric::quantile(metric, Quantile::P50)
}

fn quantile_gap(pairs: &[StagePair<'_>], metric: Metric, quantile: Quantile) -> Option<Gap> {
    gap::over(pairs, CellMetric::quantile(metric, quantile)?)
}

/// The parts of a stage's gap, those of latency first; empty of no pair.
pub(super) fn parts(pairs: &[StagePair<'_>]) -> Vec<Part> {
    let held = buffered(pairs);
    let mut parts = Vec::new();
    let ends = quantile_gap(pairs, Metric::E2e, Quantile::P50);
    if let (Some(_), Some(ends)) = (&held, ends) {
        parts.push(per_request(Metric::E2e, ends, ends));
    } else if let Some(ends) = ends {
        parts.extend(first_token(pairs, ends));
        parts.extend(each_token(pairs, ends));
        parts.extend(clumped(pairs));
    }
    if held.is_none() {
        parts.extend(merged(pairs));
    }
    parts.splice(0..0, held);
    parts.extend(failures(pairs));
    parts.extend(connections(pairs));
    parts
}

/// Whether a part of the end-to-end gap is to be named: shown by its interval, or without one large
/// beside the engine's own figure; and no trifle of the whole.
fn counts(part: Gap, whole: Gap) -> bool {
    let large = part.difference.abs() >= LEAST_SHARE * whole.difference.abs();
    let change = part.difference.abs() >= LEAST_CHANGE * part.engine;
    large && part.is_shown().unwrap_or(change)
}

fn first_token(pairs: &[StagePair<'_>], ends: Gap) -> Option<Part> {
    let middle = quantile_gap(pairs, Metric::Ttft, Quantile::P50)?;
    let tail = quantile_gap(pairs, Metric::Ttft, Quantile::P95);
    let grows = |tail: &Gap| {
        let more = tail.difference - middle.difference;
        tail.difference > TAIL * middle.difference.max(0.0)
            && more >= LEAST_S.max(LEAST_SHARE * tail.engine)
            && tail.is_shown() != Some(false)
    };
    if let Some(tail) = tail.filter(grows) {
        return Some(Part::Tail { middle, tail });
    }
    Some(per_request(Metric::Ttft, middle, ends))
}

fn per_request(by: Metric, gap: Gap, ends: Gap) -> Part {
    if counts(gap, ends) {
        Part::PerRequest { by, gap }
    } else {
        Part::NothingPerRequest { by, gap }
    }
}

fn each_token(pairs: &[StagePair<'_>], ends: Gap) -> Option<Part> {
    let gap = quantile_gap(pairs, Metric::Tpot, Quantile::P50)?;
    let tokens = over(pairs, |stage| Some(tokens(&stage.pooled)? - 1.0))?;
    let answer = gap.times(tokens.engine.max(0.0));
    Some(if counts(answer, ends) {
        Part::PerToken {
            gap,
            tokens: tokens.engine,
            answer,
        }
    } else {
        Part::NothingPerToken { gap }
    })
}

/// A front that hands an answer on when it has all of it: the first token comes late, the rest at once.
fn buffered(pairs: &[StagePair<'_>]) -> Option<Part> {
    let streamed = over(pairs, |stage| {
        let mean = |metric| stage.pooled.distributions.get(&metric)?.mean_s;
        Some((mean(Metric::E2e)? - mean(Metric::Ttft)?).max(0.0))
    })?;
    let tokens = over(pairs, |stage| tokens(&stage.pooled))?;
    let first = quantile_gap(pairs, Metric::Ttft, Quantile::P50)?;
    let held = streamed.front <= HELD_BACK * streamed.engine && streamed.engine > 0.0;
    // A front that is merely quicker makes nobody wait for the first token.
    (held && tokens.engine >= LEAST_TOKENS && first.difference > 0.0).then_some(Part::Buffered {
        engine_s: streamed.engine,
        front_s: streamed.front,
        first,
    })
}

fn clumped(pairs: &[StagePair<'_>]) -> Option<Part> {
    let usual = quantile_gap(pairs, Metric::Itl, Quantile::P50)?;
    let long = quantile_gap(pairs, Metric::Itl, Quantile::P99)?;
    let pace = gap::over(pairs, median(Metric::Tpot)?)?;
    let clumps = usual.front < CLUMP_USUAL * usual.engine && long.front > CLUMP_LONG * long.engine;
    (clumps && pace.front > 0.0).then(|| Part::Clumped {
        tokens: (long.front / pace.front).round().max(2.0),
        engine_s: usual.engine,
        front_s: long.front,
    })
}

fn merged(pairs: &[StagePair<'_>]) -> Option<Part> {
    let events = over(pairs, |stage| {
        let answers = stage.pooled.distributions.get(&Metric::E2e)?.n;
        let gaps = stage.pooled.distributions.get(&Metric::ChunkGap);
        let gaps = gaps.map_or(0, |distribution| distribution.n);
        (answers > 0).then(|| 1.0 + gaps as f64 / answers as f64)
    })?;
    (events.engine >= LEAST_TOKENS && events.front < MERGED * events.engine).then_some(
        Part::Merged {
            engine: events.engine,
            front: events.front,
        },
    )
}

/// Kinds of failures of which the front has more, beyond doubt (Newcombe's interval at 95 %).
fn failures<'a>(pairs: &[StagePair<'a>]) -> Vec<Part> {
    let tally = |side: fn(&StagePair<'a>) -> &'a ClassSummary, kind| Tally {
        requests: pairs.iter().map(|pair| side(pair).count(kind)).sum(),
        of: pairs.iter().map(|pair| side(pair).counted()).sum(),
    };
    let kinds = OutcomeKind::ALL.into_iter().filter(|kind| kind.is_error());
    kinds
        .filter_map(|kind| {
            let engine = tally(|pair| &pair.engine.pooled, kind);
            let front = tally(|pair| &pair.front.pooled, kind);
            let more = newcombe(share(front)?, share(engine)?, 0.95);
            (more.lower > 0.0).then_some(Part::Failures {
                kind,
                engine,
                front,
            })
        })
        .collect()
}

fn share(tally: Tally) -> Option<Share> {
    let count = Count {
        events: tally.requests,
        trials: tally.of,
    };
    Some(Share {
        p: count.share()?,
        n: tally.of as f64,
    })
}

/// Half of the requests with a connection of their own, against a fifth at most.
fn connections(pairs: &[StagePair<'_>]) -> Option<Part> {
    let opened = over(pairs, |stage| {
        let sent = stage.pooled.sent;
        let opened = stage.health.as_ref()?.connections?;
        (sent > 0).then(|| opened as f64 / sent as f64)
    })?;
    (opened.front >= 0.5 && opened.engine <= 0.2).then_some(Part::Connections {
        engine: opened.engine,
        front: opened.front,
    })
}

/// What keeps the parts from being sure.
pub(super) fn doubts(pairs: &[StagePair<'_>]) -> Vec<Unsure> {
    let mut doubts = Vec::new();
    if pairs.len() < LEAST_PAIRS {
        doubts.push(Unsure::FewPairs {
            pairs: pairs.len() as u32,
        });
    }
    if !pairs.is_empty() && quantile_gap(pairs, Metric::Ttft, Quantile::P50).is_none() {
        doubts.push(Unsure::NoTokens);
    }
    let closed = pairs.iter().all(|pair| pair.engine.users.is_some());
    let rates =
        CellMetric::value(Metric::RequestThroughput).and_then(|rate| gap::over(pairs, rate));
    if let (true, Some(rates)) = (closed, rates)
        && rates.relative().is_some_and(|share| share < -LESS_LOAD)
    {
        doubts.push(Unsure::LessLoad {
            engine_rps: rates.engine,
            front_rps: rates.front,
        });
    }
    doubts
}

/// What the stages show together: of those of one kind the least and the most loaded.
pub(super) fn across(stages: &[StageLayers]) -> Vec<Across> {
    type Load = fn(&StageLayers) -> Option<f64>;
    let kinds: [Load; 2] = [|stage| stage.users.map(f64::from), |stage| stage.rate_rps];
    let found: Vec<Across> = kinds
        .into_iter()
        .filter_map(|load| grown(stages, load))
        .collect();
    if found.is_empty() && stages.iter().any(|stage| stage.pairs > 0) {
        vec![Across::OneLoad]
    } else {
        found
    }
}

fn grown(stages: &[StageLayers], load: fn(&StageLayers) -> Option<f64>) -> Option<Across> {
    let mut loaded: Vec<(f64, &str, Gap)> = stages
        .iter()
        .filter_map(|stage| {
            let ttft = median(Metric::Ttft)?;
            let figure = stage.figures.iter().find(|figure| figure.metric == ttft)?;
            Some((load(stage)?, stage.name.as_str(), figure.gap?))
        })
        .collect();
    loaded.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((least, from, low), (most, to, high)) = (*loaded.first()?, *loaded.last()?);
    if most <= least {
        return None;
    }
    let (from, to) = (from.to_owned(), to.to_owned());
    let apart = match (low.interval, high.interval) {
        (Some(low), Some(high)) => low.high < high.low,
        _ => true,
    };
    let more = high.difference - low.difference;
    let grows = high.difference > GROWS * low.difference.max(0.0)
        && more >= LEAST_S.max(LEAST_SHARE * high.engine);
    Some(if grows && apart {
        Across::Queueing {
            from,
            to,
            low,
            high,
        }
    } else {
        Across::Steady {
            from,
            to,
            low,
            high,
        }
    })
}

/// Tokens of a completed answer, mean.
fn tokens(class: &ClassSummary) -> Option<f64> {
    let completed = class.count(OutcomeKind::Completed);
    (completed > 0).then(|| class.tokens.output_observed as f64 / completed as f64)
}

/// Means of both layers.
struct Means {
    engine: f64,
    front: f64,
}

fn over<'a>(
    pairs: &[StagePair<'a>],
    value: impl Fn(&StageSummary) -> Option<f64>,
) -> Option<Means> {
    let side = |of: fn(&StagePair<'a>) -> &'a StageSummary| -> Option<f64> {
        let values: Option<Vec<f64>> = pairs.iter().map(|pair| value(of(pair))).collect();
        mean(&values?)
    };
    Some(Means {
        engine: side(|pair| pair.engine)?,
        front: side(|pair| pair.front)?,
    })
}
