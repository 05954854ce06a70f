//! Looks at replicas' metrics to what their engines say of a stage.

#[cfg(test)]
mod tests;

use super::counted::{Counted, restarted};
use super::course::Course;
use super::engine::{EngineFigures, EngineView, Gauge};
use crate::sample::{CacheTokens, EngineCache};
use crate::unit::Nanos;
use crate::wire::engine_metrics::{Counter, EngineReading, Level, Span};

/// Looks at a level that are further apart than this leave out what may have happened in between.
const GAP: Nanos = Nanos::from_millis(2_500);

/// A look that is further from an edge of the window than this share of it is told.
const OFF: f64 = 0.05;

/// One look at a replica's metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct Scrape {
    /// When: half way between question and answer.
    pub at: Nanos,
    /// What was said.
    pub reading: EngineReading,
}

/// The looks at one replica, from before a stage to after its drain.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplicaScrapes {
    /// Where its metrics are.
    pub url: String,
    /// In order of time.
    pub scrapes: Vec<Scrape>,
    /// Why the last look that brought nothing did not.
    pub trouble: Option<String>,
}

/// A measured window, on the clock of the looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScrapedWindow {
    /// Its start.
    pub start: Nanos,
    /// Its end.
    pub end: Nanos,
}

impl ReplicaScrapes {
    /// Its first and last look, and whether it was started anew between them.
    pub(super) fn whole(&self) -> Result<Counted, String> {
        match self.scrapes.as_slice() {
            [first, .., last] if !self.restarted_in(0, self.scrapes.len() - 1) => {
                Ok(Counted::between(&first.reading, &last.reading))
            }
            [_, _, ..] => Err("its counters went back: it was started anew".to_owned()),
            [] | [_] => Err(self
                .trouble
                .clone()
                .unwrap_or_else(|| "its metrics were not read twice".to_owned())),
        }
    }

    fn restarted_in(&self, first: usize, last: usize) -> bool {
        let mut looks = self.scrapes[first..=last].windows(2);
        looks.any(|pair| restarted(&pair[0].reading, &pair[1].reading))
    }

    /// The look nearest to an instant, the earlier one of two.
    fn nearest(&self, to: Nanos) -> usize {
        let off = |scrape: &Scrape| scrape.at.since(to).max(to.since(scrape.at));
        let looks = self.scrapes.iter().enumerate();
        looks
            .min_by_key(|(_, scrape)| off(scrape))
            .map_or(0, |(index, _)| index)
    }

    fn course(&self, value: impl Fn(&EngineReading) -> Option<f64>) -> Option<Course> {
        let looks = self.scrapes.iter();
        let seen: Vec<(Nanos, f64)> = looks
            .filter_map(|scrape| Some((scrape.at, value(&scrape.reading)?)))
            .collect();
        (!seen.is_empty()).then(|| Course::new(seen))
    }
}

/// What prefix caches found over the whole stage, warm-up and drain included.
pub fn cache_tokens(replicas: &[ReplicaScrapes]) -> EngineCache {
    let counted = replicas.iter().map(|replica| {
        let silent = || "the metrics count no prefix cache that is known".to_owned();
        replica.whole()?.prefix_cache().ok_or_else(silent)
    });
    let sum = counted.reduce(|sum, one| Ok(CacheTokens::plus(sum?, one?)));
    match sum.unwrap_or_else(|| Err("no replica was asked".to_owned())) {
        Ok(tokens) => EngineCache::Tokens(tokens),
        Err(why) => EngineCache::Unknown { why },
    }
}

/// What the engines' metrics say of a window, all replicas together.
///
/// Counters and histograms are differences between the looks nearest to the window's edges; levels are
/// weighted by time. Where an engine was started anew in between there are no differences, for what
/// it counted between its last look and its end is lost.
pub fn engine_view(replicas: &[ReplicaScrapes], window: ScrapedWindow) -> EngineView {
    match figures(replicas, window) {
        Ok(figures) => EngineView::Seen(Box::new(figures)),
        Err(why) => EngineView::Unknown { why },
    }
}

fn figures(replicas: &[ReplicaScrapes], window: ScrapedWindow) -> Result<EngineFigures, String> {
    let first = replicas.first().ok_or("no replica was asked")?;
    for replica in replicas {
        if replica.scrapes.len() < 2 {
            let why = replica.trouble.as_deref();
            return Err(why.unwrap_or("its metrics were not read twice").to_owned());
        }
    }
    let engine = first.scrapes[0].reading.engine;
    let mut looks = replicas.iter().flat_map(|replica| &replica.scrapes);
    if let Some(other) = looks.find(|scrape| scrape.reading.engine != engine) {
        let other = other.reading.engine;
        return Err(format!("its metrics are those of {engine} and of {other}"));
    }
    let mut caveats = Vec::new();
    let differences = differences(replicas, window, &mut caveats);
    gaps(replicas, window, &mut caveats);
    let time = |span| differences.as_ref().and_then(|counted| counted.time(span));
    let count = |counter| {
        differences
            .as_ref()
            .and_then(|counted| counted.count(counter))
    };
    Ok(EngineFigures {
        engine: engine.to_owned(),
        scrapes: scrapes_in(replicas, window),
        caveats,
        queue: time(Span::Queue),
        prefill: time(Span::Prefill),
        decode: time(Span::Decode),
        ttft: time(Span::Ttft),
        tpot: time(Span::Tpot),
        itl: time(Span::Itl),
        e2e: time(Span::E2e),
        running: summed(replicas, window, Level::Running),
        waiting: summed(replicas, window, Level::Waiting),
        kv_usage: shared(replicas, window, Level::KvUsage),
        preemptions: count(Counter::Preemptions),
        prefix_cache: differences.as_ref().and_then(Counted::prefix_cache),
        speculation: differences.as_ref().and_then(Counted::speculation),
        prompt_tokens: count(Counter::PromptTokens),
        output_tokens: count(Counter::OutputTokens),
        finished: count(Counter::Finished),
        cross_check: None,
    })
}

/// What was counted between the edges of the window, and what speaks against it.
fn differences(
    replicas: &[ReplicaScrapes],
    window: ScrapedWindow,
    caveats: &mut Vec<String>,
) -> Option<Counted> {
    let length_s = window.end.since(window.start).as_secs_f64();
    let mut all: Option<Counted> = None;
    let mut farthest_s: f64 = 0.0;
    for replica in replicas {
        let (first, last) = (replica.nearest(window.start), replica.nearest(window.end));
        if first >= last {
            caveats.push(format!(
                "the metrics at {} were not read at both ends of the window, so nothing is known of what they count",
                replica.url
            ));
            return None;
        }
        if replica.restarted_in(first, last) {
            caveats.push(format!(
                "the engine at {} was started anew in the window, so nothing is known of what it counted",
                replica.url
            ));
            return None;
        }
        for (look, edge) in [(first, window.start), (last, window.end)] {
            let at = replica.scrapes[look].at;
            farthest_s = farthest_s.max(at.since(edge).max(edge.since(at)).as_secs_f64());
        }
        let counted = Counted::between(
            &replica.scrapes[first].reading,
            &replica.scrapes[last].reading,
        );
        all = Some(match all {
            Some(sum) => sum.plus(&counted),
            None => counted,
        });
    }
    if farthest_s > OFF * length_s {
        caveats.push(format!(
            "the metrics were read up to {farthest_s:.3} s off the edges of a window of {length_s:.3} s: what they count is of that much more or less",
        ));
    }
    all
}

/// Says where nobody looked for long.
fn gaps(replicas: &[ReplicaScrapes], window: ScrapedWindow, caveats: &mut Vec<String>) {
    for replica in replicas {
        let inside = replica.scrapes.iter().map(|scrape| scrape.at);
        let inside = inside.filter(|at| window.start < *at && *at < window.end);
        let mut instants = vec![window.start];
        instants.extend(inside);
        instants.push(window.end);
        let gaps = instants.windows(2).map(|pair| pair[1].since(pair[0]));
        let longest = gaps.max().unwrap_or(Nanos::ZERO);
        if longest > GAP {
            let because = match &replica.trouble {
                Some(why) => format!(" ({why})"),
                None => String::new(),
            };
            caveats.push(format!(
                "the metrics at {} were not read for {:.1} s of the window{because}: levels may have gone up and down meanwhile",
                replica.url,
                longest.as_secs_f64()
            ));
        }
    }
}

fn scrapes_in(replicas: &[ReplicaScrapes], window: ScrapedWindow) -> u32 {
    let counts = replicas.iter().map(|replica| {
        let (first, last) = (replica.nearest(window.start), replica.nearest(window.end));
        last - first + 1
    });
    u32::try_from(counts.sum::<usize>()).unwrap_or(u32::MAX)
}

/// A level of all replicas together.
fn summed(replicas: &[ReplicaScrapes], window: ScrapedWindow, level: Level) -> Option<Gauge> {
    let value = |reading: &EngineReading| Some(reading.levels.get(&level)?.value);
    let courses: Option<Vec<Course>> = replicas
        .iter()
        .map(|replica| replica.course(value))
        .collect();
    let sum = courses?.into_iter().reduce(|sum, one| sum.plus(&one))?;
    sum.over(window.start, window.end)
}

/// A share: the mean of the replicas' means, and the largest of any.
fn shared(replicas: &[ReplicaScrapes], window: ScrapedWindow, level: Level) -> Option<Gauge> {
    let mut mean = 0.0;
    let mut max = f64::NEG_INFINITY;
    for replica in replicas {
        let of = |value: fn(&crate::wire::engine_metrics::LevelReading) -> f64| {
            let course = replica.course(|reading| reading.levels.get(&level).map(value))?;
            course.over(window.start, window.end)
        };
        mean += of(|level| level.value)?.mean / replicas.len() as f64;
        max = max.max(of(|level| level.largest)?.max);
    }
    (!replicas.is_empty()).then_some(Gauge { mean, max })
}
