//! What a metric means under the definitions of each tool: two figures can be held against each other where
//! they mean the same.

use super::{DEFINITION, Metric};

/// What a metric means under these definitions; `None` of definitions that nobody knows, and where the
/// tool has no such figure. Two tags mean the same by a metric where the texts are equal.
///
/// `meaning("vllm/1", Metric::Ttft)` is "send to first chunk with choices", under `aiperf/1` it is "send to
/// first content or reasoning": not the same.
pub fn meaning(definition: &str, metric: Metric) -> Option<&'static str> {
    if definition == DEFINITION {
        return Some(metric.definition());
    }
    let of = TOOLS.iter().find(|tool| tool.tag == definition)?;
    match metric {
        Metric::Ttft => of.ttft,
        Metric::Tpot => of.tpot,
        Metric::Itl => of.itl,
        Metric::ChunkGap | Metric::MaxStall => {
            of.tokens?;
            Some(of.itl.unwrap_or("raw gaps between contents"))
        }
        Metric::E2e => Some(of.e2e),
        Metric::RequestThroughput => Some(of.completed),
        Metric::OutputThroughput | Metric::TotalThroughput => of.tokens,
        Metric::InputThroughput => of.input,
        Metric::ErrorRatio | Metric::Attainment | Metric::Goodput | Metric::MaxGoodput => {
            Some(of.good)
        }
        Metric::Ttfa
        | Metric::TruncatedRatio
        | Metric::TokensPerJoule
        | Metric::JoulesPerGood
        | Metric::ColdReady
        | Metric::ColdFirstRequest
        | Metric::ColdWarmRequest
        | Metric::RecoveryTime
        | Metric::DrainTime
        | Metric::LostToEvents
        | Metric::QualityValidJson
        | Metric::QualityRegex
        | Metric::QualityExact
        | Metric::QualityAgreement
        | Metric::QualityImported => None,
    }
}

/// Whether the definitions of a tag are known.
pub fn is_known(definition: &str) -> bool {
    definition == DEFINITION || TOOLS.iter().any(|tool| tool.tag == definition)
}

/// What a tool's figures mean.
struct Meanings {
    tag: &'static str,
    ttft: Option<&'static str>,
    tpot: Option<&'static str>,
    itl: Option<&'static str>,
    e2e: &'static str,
    completed: &'static str,
    tokens: Option<&'static str>,
    input: Option<&'static str>,
    good: &'static str,
}

const CHOICES: Option<&str> = Some("send to first chunk with choices, empty or not");
const CONTENT: Option<&str> = Some("send to first content or reasoning");
const CONTENT_ALONE: Option<&str> = Some("send to first content");
const BY_LAST_CHUNK: Option<&str> =
    Some("(last chunk with choices − first chunk with choices) / (output tokens − 1)");
const BY_CONTENT: Option<&str> =
    Some("(last content − first content or reasoning) / (output tokens − 1)");
const CHUNKS: Option<&str> = Some("raw gaps between chunks, all requests pooled");
const COMPLETED: &str = "requests that the client counts as good / first send to last answer";
const BY_USAGE: Option<&str> =
    Some("tokens by the server's usage, of requests that the client counts as good / duration");
const BY_CLIENT: Option<&str> = Some("tokens by the client's tokenizer / duration");
const WHOLE_BODY: &str = "send to end of body";

const TOOLS: [Meanings; 17] = [
    Meanings {
        tag: "vllm/1",
        ttft: CHOICES,
        tpot: BY_LAST_CHUNK,
        itl: CHUNKS,
        e2e: "send to last chunk with choices",
        completed: COMPLETED,
        tokens: BY_USAGE,
        input: BY_USAGE,
        good: "streams that end without an exception, errors within them too, are good",
    },
    Meanings {
        tag: "sglang/1",
        ttft: Some("connect and send to first content or reasoning"),
        tpot: Some(
            "(end of stream − first content or reasoning) / (output tokens, credited as asked for, − 1)",
        ),
        itl: CHUNKS,
        e2e: "connect and send to end of stream",
        completed: COMPLETED,
        tokens: Some("tokens by usage or as asked for / duration"),
        input: Some("tokens of the data set / duration"),
        good: "streams that end without an exception, errors within them too, are good",
    },
    Meanings {
        tag: "guidellm/1",
        ttft: Some("send to first content, reasoning or tool call"),
        tpot: Some("(last − first content, reasoning or tool call) / (output tokens − 1)"),
        itl: None,
        e2e: "send to last token",
        completed: "requests that ended well / measured time, by its slices",
        tokens: Some("tokens by usage / measured time, by its slices"),
        input: Some("tokens by usage / measured time, by its slices"),
        good: "streams with an error in them and empty answers fail",
    },
    Meanings {
        tag: "aiperf/1",
        ttft: CONTENT,
        tpot: BY_CONTENT,
        itl: None,
        e2e: "send to last content",
        completed: COMPLETED,
        tokens: BY_CLIENT,
        input: BY_CLIENT,
        good: "streams without an error that the client knows are good",
    },
    Meanings {
        tag: "genai-perf/1",
        ttft: CONTENT,
        tpot: BY_CONTENT,
        itl: None,
        e2e: "send to last content",
        completed: "all requests, failed ones too / duration",
        tokens: BY_CLIENT,
        input: BY_CLIENT,
        good: "failed requests are in no count",
    },
    Meanings {
        tag: "inference-perf/1",
        ttft: CONTENT_ALONE,
        tpot: Some("(last − first content) / (tokens of the client's tokenizer − 1)"),
        itl: Some("gaps between tokens of re-tokenized chunks, 0 within a chunk"),
        e2e: WHOLE_BODY,
        completed: COMPLETED,
        tokens: BY_CLIENT,
        input: BY_CLIENT,
        good: "a status of 200 is good, errors within the stream too",
    },
    Meanings {
        tag: "genai-bench/1",
        ttft: CONTENT,
        tpot: Some("(end of stream − first content or reasoning) / (output tokens − 1)"),
        itl: None,
        e2e: "send to end of stream",
        completed: "requests of the middle of the run / duration of all of it",
        tokens: Some("tokens by usage, of the middle of the run / duration of all of it"),
        input: Some("tokens by usage, of the middle of the run / duration of all of it"),
        good: "streams with an error in them fail",
    },
    Meanings {
        tag: "llmperf/1",
        ttft: Some("send to first data line"),
        tpot: None,
        itl: Some("sum of all gaps, with the time to first token in it / output tokens"),
        e2e: "send to last data line",
        completed: COMPLETED,
        tokens: BY_CLIENT,
        input: BY_CLIENT,
        good: "a status of 200 is good",
    },
    Meanings {
        tag: "inference-benchmarker/1",
        ttft: CONTENT_ALONE,
        tpot: Some("sum of gaps between contents / (tokens of re-tokenized chunks − 1)"),
        itl: None,
        e2e: "send to last content",
        completed: "requests that ended in time / first to last completed",
        tokens: BY_CLIENT,
        input: BY_CLIENT,
        good: "requests that end after the deadline are in no count",
    },
    Meanings {
        tag: "locust/1",
        ttft: None,
        tpot: None,
        itl: None,
        e2e: "send to end of body, of failed requests too",
        completed: "all requests, failed ones too / duration",
        tokens: None,
        input: None,
        good: "what the script fails fails",
    },
    Meanings {
        tag: "k6/1",
        ttft: None,
        tpot: None,
        itl: None,
        e2e: "send to end of body, of failed requests too",
        completed: "iterations / duration",
        tokens: None,
        input: None,
        good: "a status under 400 is good",
    },
    Meanings {
        tag: "oha/1",
        ttft: None,
        tpot: None,
        itl: None,
        e2e: WHOLE_BODY,
        completed: "all requests, failed ones too / duration",
        tokens: None,
        input: None,
        good: "any status is good",
    },
    Meanings {
        tag: "hey/1",
        ttft: None,
        tpot: None,
        itl: None,
        e2e: WHOLE_BODY,
        completed: "all requests, failed ones too / duration",
        tokens: None,
        input: None,
        good: "any status is good",
    },
    Meanings {
        tag: "wrk/1",
        ttft: None,
        tpot: None,
        itl: None,
        e2e: WHOLE_BODY,
        completed: "all requests, failed ones too / duration",
        tokens: None,
        input: None,
        good: "a status under 400 is good",
    },
    Meanings {
        tag: "mlperf/1",
        ttft: Some("scheduled instant to first token"),
        tpot: Some("(last token − first token) / (output tokens − 1)"),
        itl: None,
        e2e: "scheduled instant to completion",
        completed: "(samples − 1) / time of the last",
        tokens: Some("tokens of the system under test / duration"),
        input: None,
        good: "a run with one failure is invalid",
    },
    Meanings {
        tag: "inferencex/1",
        ttft: CHOICES,
        tpot: BY_LAST_CHUNK,
        itl: CHUNKS,
        e2e: "send to last chunk with choices",
        completed: COMPLETED,
        tokens: Some("tokens by usage, a GPU / duration"),
        input: Some("tokens by usage, a GPU / duration"),
        good: "failed requests are in no count",
    },
    Meanings {
        tag: "llm-d/1",
        ttft: Some("as the tool says that made the report"),
        tpot: Some("as the tool says that made the report"),
        itl: Some("as the tool says that made the report"),
        e2e: "as the tool says that made the report",
        completed: "as the tool says that made the report",
        tokens: Some("as the tool says that made the report"),
        input: Some("as the tool says that made the report"),
        good: "as the tool says that made the report",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_different_tools_agree_only_where_they_mean_the_same() {
        let same = |a: &str, b: &str, metric| {
            let (a, b) = (meaning(a, metric), meaning(b, metric));
            a.is_some() && a == b
        };
        assert!(!same("vllm/1", "aiperf/1", Metric::Ttft));
        assert!(!same("vllm/1", "aiperf/1", Metric::Tpot));
        assert!(same("vllm/1", "aiperf/1", Metric::RequestThroughput));
        assert!(same("aiperf/1", "genai-bench/1", Metric::Ttft));
        assert!(!same("guidellm/1", "vllm/1", Metric::Tpot));
        assert!(!same(DEFINITION, "vllm/1", Metric::Ttft));
    }

    #[test]
    fn every_tag_stands_once() {
        let tags: std::collections::BTreeSet<&str> = TOOLS.iter().map(|tool| tool.tag).collect();
        assert_eq!(tags.len(), TOOLS.len());
        assert!(is_known(DEFINITION) && is_known("vllm/1") && !is_known("other/1"));
    }
}
