//! What engines' metrics say, in one vocabulary.
//!
//! A pure mapping from an exposition's text to an [`EngineReading`]: the names of each engine stand in
//! one table (`names`), and everything that is read of an engine's metrics is read through it.

mod buckets;
mod names;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use buckets::{Bucket, Buckets};

use super::prometheus::{Sample, samples};
use names::{Engine, Family, Label, Source};

/// What only grows while an engine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counter {
    /// Tokens of prompts; whether those found in a prefix cache are among them says
    /// [`EngineReading::prompts_are_whole`].
    PromptTokens,
    /// Tokens that were generated.
    OutputTokens,
    /// Requests that ended.
    Finished,
    /// Requests that were thrown out of the KV cache and computed again.
    Preemptions,
    /// Prompt tokens that were looked up in the prefix cache.
    PrefixQueries,
    /// Of those, found.
    PrefixHits,
    /// Tokens that speculative decoding proposed.
    Drafted,
    /// Of those, taken.
    Accepted,
}

/// What goes up and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Requests under way.
    Running,
    /// Requests that wait.
    Waiting,
    /// Share of the KV cache in use.
    KvUsage,
    /// Blocks of the KV cache that can be used.
    KvBlocks,
    /// Memory of the process that shows the metrics, in bytes.
    Memory,
}

/// What an engine measures of each request or token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Span {
    /// From a request's arrival to its first scheduling.
    Queue,
    /// From its scheduling to its first token.
    Prefill,
    /// From its first token to its last.
    Decode,
    /// From its arrival to its first token.
    Ttft,
    /// Time per output token after the first, one value a request.
    Tpot,
    /// Gap between tokens, one value a token.
    Itl,
    /// From its arrival to its last token.
    E2e,
}

/// What an engine said at an instant, its ranks, models and data-parallel copies taken together.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineReading {
    /// Whose names were found: `vllm`, `sglang`, `llama.cpp`, `tensorrt-llm`, `tgi`.
    pub engine: &'static str,
    /// Whether prompt tokens that were found in a prefix cache count as prompt tokens.
    pub prompts_are_whole: bool,
    /// When its process started, in seconds since 1970, where it says so.
    pub started_s: Option<f64>,
    /// Counters, added up over label sets.
    pub counters: BTreeMap<Counter, f64>,
    /// Levels: added up over label sets, of shares the mean.
    pub levels: BTreeMap<Level, LevelReading>,
    /// Times, added up over label sets.
    pub spans: BTreeMap<Span, SpanReading>,
}

/// A level at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelReading {
    /// The sum over label sets; of shares the mean.
    pub value: f64,
    /// The same; of shares the largest of any label set.
    pub largest: f64,
}

/// The times that an engine has measured since it started.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanReading {
    /// How many.
    pub count: f64,
    /// Their sum, in seconds.
    pub sum_s: f64,
    /// How many were at most so long; empty where the engine does not say.
    pub buckets: Buckets,
}

/// Why a text is no engine's metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoReading {
    /// It has no sample in it at all.
    #[error("the answer is no Prometheus text")]
    NotPrometheus,
    /// It has, and none whose name is known.
    #[error("none of its metrics is one of vLLM's, SGLang's, llama.cpp's, TensorRT-LLM's or TGI's")]
    UnknownEngine,
}

/// Reads an exposition.
///
/// Label sets of a name are added up: two models with 3 and 4 requests running have 7. A sample that
/// is no finite number is left out as if it was not there.
///
/// # Errors
///
/// [`NoReading`] where nothing in it is known.
pub fn read(text: &str) -> Result<EngineReading, NoReading> {
    let page = Page::new(text);
    if page.samples.is_empty() {
        return Err(NoReading::NotPrometheus);
    }
    let known = names::ENGINES.iter().find_map(|engine| {
        let reading = page.reading(engine);
        let own = reading.levels.keys().any(|level| *level != Level::Memory);
        let said = !(reading.counters.is_empty() && !own && reading.spans.is_empty());
        said.then_some(reading)
    });
    known.ok_or(NoReading::UnknownEngine)
}

/// The finite samples of an exposition, by name.
struct Page<'t> {
    samples: BTreeMap<&'t str, Vec<Sample<'t>>>,
}

impl<'t> Page<'t> {
    fn new(text: &'t str) -> Self {
        let mut by_name: BTreeMap<&str, Vec<Sample<'_>>> = BTreeMap::new();
        for sample in samples(text).filter(|sample| sample.value.is_finite()) {
            by_name.entry(sample.name).or_default().push(sample);
        }
        Self { samples: by_name }
    }

    fn reading(&self, engine: &Engine) -> EngineReading {
        let mut counters: BTreeMap<Counter, f64> = BTreeMap::new();
        for (counter, sources) in engine.counters {
            let counted = sources.iter().find_map(|source| self.counted(*source));
            if let Some(value) = counted {
                counters.insert(*counter, value);
            }
        }
        if !engine.prompts_are_whole {
            // What was computed and what was found are counted apart: both were looked up.
            let computed = counters.get(&Counter::PromptTokens).copied();
            let found = counters.get(&Counter::PrefixHits).copied();
            if let (Some(computed), Some(found)) = (computed, found) {
                counters.insert(Counter::PrefixQueries, computed + found);
            }
        }
        for (part, whole) in [
            (Counter::PrefixHits, Counter::PrefixQueries),
            (Counter::Accepted, Counter::Drafted),
        ] {
            // One of a pair says nothing without the other.
            if !(counters.contains_key(&part) && counters.contains_key(&whole)) {
                counters.remove(&part);
                counters.remove(&whole);
            }
        }
        let levels = engine.levels.iter().chain(names::OF_ANY);
        EngineReading {
            engine: engine.name,
            prompts_are_whole: engine.prompts_are_whole,
            started_s: self.sum("process_start_time_seconds", None),
            counters,
            levels: levels
                .filter_map(|(level, sources)| {
                    let mut found = sources.iter().map(|source| self.level(*level, *source));
                    Some((*level, found.find_map(|reading| reading)?))
                })
                .collect(),
            spans: engine
                .spans
                .iter()
                .filter_map(|(span, families)| {
                    Some((*span, families.iter().find_map(|family| self.span(family))?))
                })
                .collect(),
        }
    }

    /// The samples of a name and label.
    fn of(&self, name: &str, label: Label) -> impl Iterator<Item = &Sample<'t>> {
        let named = self.samples.get(name).into_iter().flatten();
        named.filter(move |sample| {
            label.is_none_or(|(name, value)| sample.label(name) == Some(value))
        })
    }

    /// The sum over label sets; `None` where there is none.
    fn sum(&self, name: &str, label: Label) -> Option<f64> {
        let mut values = self.of(name, label).map(|sample| sample.value).peekable();
        values.peek()?;
        // Of finite numbers, the sum need not be finite.
        Some(values.sum::<f64>()).filter(|sum| sum.is_finite())
    }

    /// A counter, whether or not its name ends in `_total`.
    fn counted(&self, source: Source) -> Option<f64> {
        let total = format!("{}_total", source.name);
        self.sum(&total, source.label)
            .or_else(|| self.sum(source.name, source.label))
            .filter(|count| *count >= 0.0)
    }

    fn level(&self, level: Level, source: Source) -> Option<LevelReading> {
        let sum = self.sum(source.name, source.label)?;
        let (sets, largest) = self
            .of(source.name, source.label)
            .fold((0_u32, f64::NEG_INFINITY), |(sets, largest), sample| {
                (sets + 1, largest.max(sample.value))
            });
        Some(match level {
            Level::KvUsage => LevelReading {
                value: sum / f64::from(sets),
                largest,
            },
            Level::Running | Level::Waiting | Level::KvBlocks | Level::Memory => LevelReading {
                value: sum,
                largest: sum,
            },
        })
    }

    fn span(&self, family: &Family) -> Option<SpanReading> {
        let Source { name, label } = family.source;
        let (sum, count, buckets) = match family.count {
            Some(count) => (
                self.counted(family.source)?,
                self.counted(count)?,
                Buckets::default(),
            ),
            None => (
                self.sum(&format!("{name}_sum"), label)?,
                self.sum(&format!("{name}_count"), label)?,
                Buckets::merged(self.of(&format!("{name}_bucket"), label), family.unit_s),
            ),
        };
        let sum_s = sum * family.unit_s;
        (count >= 0.0 && sum_s.is_finite()).then_some(SpanReading {
            count,
            sum_s,
            buckets,
        })
    }
}
