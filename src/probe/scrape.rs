//! Which engine's metrics a target shows, and what they leave out.

use super::metrics::MetricsSource;
use crate::checkup::MetricsSeen;
use crate::wire::engine_metrics::{Counter, EngineReading, Level, Span};

/// Asks once; else why there are none.
pub async fn metrics_seen(source: &MetricsSource) -> Result<MetricsSeen, String> {
    match source.read().await {
        Ok(reading) => Ok(shown(&reading)),
        Err(none) => Err(none.why),
    }
}

fn shown(reading: &EngineReading) -> MetricsSeen {
    let has = |span| reading.spans.contains_key(&span);
    let parts = [
        ("its queue", reading.levels.contains_key(&Level::Waiting)),
        ("its KV cache", reading.levels.contains_key(&Level::KvUsage)),
        (
            "its prefix cache",
            reading.counters.contains_key(&Counter::PrefixHits),
        ),
        ("queue times", has(Span::Queue)),
        ("prefill times", has(Span::Prefill)),
    ];
    let missing = parts.into_iter().filter(|(_, shown)| !shown);
    MetricsSeen {
        engine: reading.engine.to_owned(),
        missing: missing.map(|(what, _)| what.to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::engine_metrics::read;

    #[test]
    fn what_an_engine_leaves_out_is_named() {
        let text = "# HELP up\nup 1\nvllm:num_requests_waiting{m=\"x\"} 0\n\
                    vllm:prefix_cache_queries_total 10\nvllm:prefix_cache_hits_total 4\n";
        let seen = shown(&read(text).unwrap());
        assert_eq!(seen.engine, "vllm");
        assert_eq!(
            seen.missing,
            ["its KV cache", "queue times", "prefill times"]
        );
    }
}
