//! What an engine counted between two looks at its metrics.

use std::collections::BTreeMap;

use super::engine::{EngineTime, Speculation};
use crate::sample::CacheTokens;
use crate::wire::engine_metrics::{Counter, EngineReading, Span, SpanReading};

/// Differences of counters and histograms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counted {
    counters: BTreeMap<Counter, f64>,
    spans: BTreeMap<Span, SpanReading>,
}

/// Whether an engine began anew between two looks: its process started at another time, or a count
/// went back.
pub(super) fn restarted(before: &EngineReading, after: &EngineReading) -> bool {
    let starts = before.started_s.zip(after.started_s);
    let counts = before.counters.iter().any(|(counter, before)| {
        let after = after.counters.get(counter);
        after.is_none_or(|after| after < before)
    });
    let spans = before.spans.iter().any(|(span, before)| {
        let after = after.spans.get(span);
        after.is_none_or(|after| after.count < before.count)
    });
    // Fractions of a second are rounded in some versions' text.
    starts.is_some_and(|(before, after)| (before - after).abs() > 0.5) || counts || spans
}

impl Counted {
    /// What was counted since `before`, of an engine that did not begin anew in between. What was not
    /// there before began at 0: some engines show a metric from its first value on.
    pub(super) fn between(before: &EngineReading, after: &EngineReading) -> Self {
        let counters = after.counters.iter().map(|(counter, after)| {
            let before = before.counters.get(counter).copied().unwrap_or(0.0);
            (*counter, after - before)
        });
        let spans = after.spans.iter().map(|(span, after)| {
            let difference = match before.spans.get(span) {
                Some(before) => SpanReading {
                    count: after.count - before.count,
                    sum_s: after.sum_s - before.sum_s,
                    buckets: after.buckets.since(&before.buckets),
                },
                None => after.clone(),
            };
            (*span, difference)
        });
        Self {
            counters: counters.collect(),
            spans: spans.collect(),
        }
    }

    /// Both added up; what one of them does not have is in neither, for the sum would be of a part.
    #[must_use]
    pub(super) fn plus(&self, other: &Self) -> Self {
        let counters = self
            .counters
            .iter()
            .filter_map(|(counter, one)| Some((*counter, one + other.counters.get(counter)?)));
        let spans = self.spans.iter().filter_map(|(span, one)| {
            let other = other.spans.get(span)?;
            let sum = SpanReading {
                count: one.count + other.count,
                sum_s: one.sum_s + other.sum_s,
                buckets: one.buckets.plus(&other.buckets),
            };
            Some((*span, sum))
        });
        Self {
            counters: counters.collect(),
            spans: spans.collect(),
        }
    }

    /// A counter.
    pub(super) fn count(&self, counter: Counter) -> Option<u64> {
        // `as` saturates, and no engine counts half a token.
        self.counters
            .get(&counter)
            .map(|count| count.round() as u64)
    }

    /// What the prefix cache found.
    pub(super) fn prefix_cache(&self) -> Option<CacheTokens> {
        Some(CacheTokens {
            hits: self.count(Counter::PrefixHits)?,
            queries: self.count(Counter::PrefixQueries)?,
        })
    }

    /// What speculative decoding did.
    pub(super) fn speculation(&self) -> Option<Speculation> {
        Some(Speculation {
            drafted: self.count(Counter::Drafted)?,
            accepted: self.count(Counter::Accepted)?,
        })
    }

    /// A time; `None` where nothing was measured.
    ///
    /// A quantile in buckets is never above `mean / (1 − q)`, for no more than a share of `mean / x` of
    /// values that are not negative can be `x` or more (Markov): 10 values with a mean of 1 ms, all in a
    /// first bucket that ends at 300 ms, have a median of at most 2 ms, not of 150 ms.
    pub(super) fn time(&self, span: Span) -> Option<EngineTime> {
        let reading = self.spans.get(&span)?;
        let mean_s = reading.sum_s / reading.count;
        let quantile = |q: f64| {
            let value = reading.buckets.quantile(q, reading.count)?;
            Some(value.min(mean_s / (1.0 - q)))
        };
        (reading.count >= 1.0 && mean_s.is_finite() && mean_s >= 0.0).then(|| EngineTime {
            n: reading.count as u64,
            mean_s,
            p50_s: quantile(0.5),
            p95_s: quantile(0.95),
        })
    }
}
