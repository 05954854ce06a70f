//! What engines say of a stage by their own metrics, in words and as a table of both sides.

use crate::lang::{Phrase, say};
use crate::sample::CacheTokens;
use crate::summary::{EngineFigures, EngineTime, EngineView, Gauge, Run, Speculation};
use crate::unit::scale::{self, Unit};

use super::model::EngineRow;
use super::span::Text;
use super::{cross_check, gpus};

/// The lines of a stage: levels and counts, then times, then both counts of one thing; or why there
/// are none.
pub(super) fn lines(view: &EngineView) -> Vec<Text> {
    let figures = match view {
        EngineView::Unknown { why } => {
            let text = Text::of("unknown: ").prose(why);
            return vec![text.words("; nothing was held against the client's counts")];
        }
        EngineView::Seen(figures) => figures,
    };
    let mut out = vec![
        Text::value(&figures.engine)
            .words(" by ")
            .figure(scale::count(figures.scrapes.into()))
            .words(" looks at its metrics")
            .words(": ")
            .then(Text::join(levels(figures), ", ")),
    ];
    let times = times(figures);
    if !times.is_empty() {
        out.push(Text::of("mean by its clock: ").then(Text::join(times, ", ")));
    }
    out.extend(figures.cross_check.as_ref().and_then(cross_check::agreed));
    out
}

/// What makes the figures less than they seem.
pub(super) fn caveats(view: &EngineView) -> Vec<Text> {
    let EngineView::Seen(figures) = view else {
        return Vec::new();
    };
    let told = figures.caveats.iter();
    let told = told.map(|caveat| Text::default().prose(caveat));
    let check = figures.cross_check.as_ref();
    let unchecked = figures
        .unchecked
        .iter()
        .map(|why| Text::say(say::UNCHECKED, [Text::default().prose(why)]));
    told.chain(check.into_iter().flat_map(cross_check::doubts))
        .chain(unchecked)
        .collect()
}

fn levels(figures: &EngineFigures) -> Vec<Text> {
    let share = |value| scale::value(Unit::Proportion, value);
    let gauge = |name, gauge: Option<Gauge>, text: fn(f64) -> String| {
        gauge.map(|gauge| {
            Text::of(name)
                .figure(text(gauge.mean))
                .words(" (at most ")
                .figure(text(gauge.max))
                .words(")")
        })
    };
    let cache = figures.prefix_cache.and_then(CacheTokens::ratio);
    let taken = figures.speculation.and_then(Speculation::ratio);
    [
        gauge("running ", figures.running, scale::mean),
        gauge("waiting ", figures.waiting, scale::mean),
        gauge("KV cache ", figures.kv_usage, share),
        figures
            .preemptions
            .map(|n| Text::of("preemptions ").figure(scale::count(n))),
        cache.map(|hits| Text::of("prefix hits ").figure(share(hits))),
        taken.map(|taken| Text::of("drafted tokens taken ").figure(share(taken))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A time of the figures, under its name.
type NamedTime = (Phrase, fn(&EngineFigures) -> Option<EngineTime>);

/// Times in the order in which a request goes through them.
const TIMES: [NamedTime; 7] = [
    (say::QUEUE, |figures| figures.queue),
    (say::PREFILL, |figures| figures.prefill),
    (say::TTFT, |figures| figures.ttft),
    (say::DECODE, |figures| figures.decode),
    (say::TPOT, |figures| figures.tpot),
    (say::ITL, |figures| figures.itl),
    (say::E2E, |figures| figures.e2e),
];

fn times(figures: &EngineFigures) -> Vec<Text> {
    let known = TIMES.iter().filter_map(|(name, of)| {
        let time = of(figures)?;
        Some(
            Text::word(*name)
                .words(" ")
                .figure(scale::value(Unit::Seconds, time.mean_s)),
        )
    });
    known.collect()
}

/// A figure of an engine, its name, and how two of them are printed.
type Row = (
    Phrase,
    fn(&EngineFigures) -> Option<f64>,
    fn([f64; 2]) -> [String; 2],
);

const LEVELS: [Row; 8] = [
    (say::RUNNING, |f| Some(f.running?.mean), means),
    (say::WAITING, |f| Some(f.waiting?.mean), means),
    (say::WAITING_MAX, |f| Some(f.waiting?.max), means),
    (say::KV_CACHE, |f| Some(f.kv_usage?.mean), shares),
    (say::KV_CACHE_MAX, |f| Some(f.kv_usage?.max), shares),
    (say::PREEMPTIONS, |f| Some(f.preemptions? as f64), means),
    (say::PREFIX_HITS, |f| f.prefix_cache?.ratio(), shares),
    (say::DRAFTS_TAKEN, |f| f.speculation?.ratio(), shares),
];

fn means(values: [f64; 2]) -> [String; 2] {
    values.map(scale::mean)
}

fn shares(values: [f64; 2]) -> [String; 2] {
    scale::row(Unit::Proportion, values)
}

/// What both sides' engines and GPUs say, stage by stage: means over the runs of each side, and only
/// of what both have.
pub(super) fn rows(baseline: &[Run], candidate: &[Run]) -> Vec<EngineRow> {
    let stages = candidate.first().map_or(&[][..], |run| &run.stages);
    let mut out = Vec::new();
    for stage in stages {
        let name = stage.name.as_str();
        let mean_of = |runs: &[Run], of: &dyn Fn(&EngineFigures) -> Option<f64>| {
            mean(runs.iter().filter_map(|run| of(figures(run, name)?)))
        };
        let both = |of: &dyn Fn(&EngineFigures) -> Option<f64>| {
            Some([mean_of(baseline, of)?, mean_of(candidate, of)?])
        };
        let row = |figure: Phrase, [baseline, candidate]: [String; 2]| EngineRow {
            stage: Text::value(name),
            figure: Text::word(figure),
            baseline: Text::just(baseline),
            candidate: Text::just(candidate),
        };
        for (figure, of) in TIMES {
            let seconds = both(&|figures| Some(of(figures)?.mean_s));
            out.extend(seconds.map(|values| row(figure, scale::row(Unit::Seconds, values))));
        }
        for (figure, of, print) in LEVELS {
            out.extend(both(&of).map(|values| row(figure, print(values))));
        }
        out.extend(gpus::rows(name, baseline, candidate));
    }
    out
}

fn figures<'a>(run: &'a Run, stage: &str) -> Option<&'a EngineFigures> {
    let mut stages = run.stages.iter();
    match stages.find(|s| s.name == stage)?.engine.as_ref()? {
        EngineView::Seen(figures) => Some(figures),
        EngineView::Unknown { .. } => None,
    }
}

/// The mean of values; `None` where there are none.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_u32, 0.0), |(n, sum), value| (n + 1, sum + value));
    (n > 0).then(|| sum / f64::from(n))
}
