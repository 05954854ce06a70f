//! Looks at replicas' metrics to what their engines say of a stage.

#[cfg(test)]
mod tests;

use super::counted::Counted;
use super::course::Course;
use super::engine::{EngineFigures, EngineView, Gauge};
use super::looks::ReplicaScrapes;
use super::window::Window;
use crate::sample::{CacheTokens, EngineCache};
use crate::unit::Nanos;
use crate::wire::engine_metrics::{Counter, Level, LevelReading, Span};

/// Looks at a level that are further apart than this leave out what may have happened in between.
const GAP: Nanos = Nanos::from_millis(2_500);

/// A look that is further from an edge of the window than this share of it is told.
const OFF: f64 = 0.05;

/// A measured window, on the clock of the looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScrapedWindow {
    /// Its start.
    pub start: Nanos,
    /// Its end.
    pub end: Nanos,
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
        if replica.seen() < 2 {
            let why = replica.trouble.as_deref();
            return Err(why.unwrap_or("its metrics were not read twice").to_owned());
        }
    }
    let engine = first.engines().next().ok_or("no replica was read")?;
    let mut engines = replicas.iter().flat_map(ReplicaScrapes::engines);
    if let Some(other) = engines.find(|other| *other != engine) {
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
        unchecked: None,
    })
}

/// Puts what the engines' metrics say of each window of a soak into it; `opened` is when the first of these
/// began, on the clock of the looks, and `length_s` how long they all are.
pub fn engine_windows(
    replicas: &[ReplicaScrapes],
    opened: Nanos,
    length_s: f64,
    windows: &mut [Window],
) {
    let first_s = windows.first().map_or(0.0, |window| window.start_s);
    let starts = windows.iter().map(|window| window.start_s - first_s);
    let starts: Vec<f64> = starts.collect();
    let at = |seconds: f64| opened + Nanos::new((seconds * 1e9) as u64);
    for (index, window) in windows.iter_mut().enumerate() {
        let to = starts.get(index + 1).copied().unwrap_or(length_s);
        let span = ScrapedWindow {
            start: at(window.start_s - first_s),
            end: at(to),
        };
        let mean = |gauge: Option<Gauge>| gauge.map(|gauge| gauge.mean);
        window.kv_usage = mean(shared(replicas, span, Level::KvUsage));
        window.kv_blocks = mean(summed(replicas, span, Level::KvBlocks));
        window.engine_memory_bytes = mean(summed(replicas, span, Level::Memory));
        let preempted = replicas
            .iter()
            .map(|one| one.preempted(span.start, span.end));
        window.preemptions = preempted.sum();
    }
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
        let edges = edges(replica, window);
        let Some([(first, late), (last, early)]) = edges else {
            caveats.push(format!(
                "the metrics at {} were not read at both ends of the window, so nothing is known of what they count",
                replica.url
            ));
            return None;
        };
        let Some(counted) = replica.counted(first, last) else {
            caveats.push(format!(
                "the engine at {} was started anew in the window, so nothing is known of what it counted",
                replica.url
            ));
            return None;
        };
        farthest_s = farthest_s.max(late.max(early).as_secs_f64());
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
        let longest = replica.longest_gap(window.start, window.end);
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

/// The looks nearest to a window's edges, with how far they are off; `None` where they are one.
fn edges(replica: &ReplicaScrapes, window: ScrapedWindow) -> Option<[(usize, Nanos); 2]> {
    let [first, last] = [window.start, window.end].map(|edge| replica.nearest(edge));
    let edges = [first?, last?];
    (edges[0].0 < edges[1].0).then_some(edges)
}

/// Looks between the edges of the window, both counted.
fn scrapes_in(replicas: &[ReplicaScrapes], window: ScrapedWindow) -> u32 {
    let counts = replicas.iter().map(|replica| match edges(replica, window) {
        Some([(first, _), (last, _)]) => replica.between(first, last),
        None => 1,
    });
    counts.sum()
}

/// A level of all replicas together.
fn summed(replicas: &[ReplicaScrapes], window: ScrapedWindow, level: Level) -> Option<Gauge> {
    let sum = |of: fn(&LevelReading) -> f64| {
        let courses = replicas.iter().map(|replica| replica.course(level, of));
        let courses: Option<Vec<Course>> = courses.collect();
        let sum = courses?.into_iter().reduce(|sum, one| sum.plus(&one))?;
        sum.over(window.start, window.end)
    };
    Some(Gauge {
        mean: sum(|level| level.value)?.mean,
        max: sum(|level| level.largest)?.max,
    })
}

/// A share: the mean of the replicas' means, and the largest of any.
fn shared(replicas: &[ReplicaScrapes], window: ScrapedWindow, level: Level) -> Option<Gauge> {
    let mut mean = 0.0;
    let mut max = f64::NEG_INFINITY;
    for replica in replicas {
        let of = |value: fn(&LevelReading) -> f64| {
            let course = replica.course(level, value)?;
            course.over(window.start, window.end)
        };
        mean += of(|level| level.value)?.mean / replicas.len() as f64;
        max = max.max(of(|level| level.largest)?.max);
    }
    (!replicas.is_empty()).then_some(Gauge { mean, max })
}
