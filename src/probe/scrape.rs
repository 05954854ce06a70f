//! Which engine's names a target's metrics have, and what they do not show.

use super::cache::{counted, why_no_metrics};
use super::client::ProbeClient;
use super::queue::held;
use crate::checkup::MetricsSeen;
use crate::wire::prometheus::samples;

/// What the names of an engine begin with.
const ENGINES: [(&str, &str); 5] = [
    ("vllm:", "vLLM"),
    ("sglang:", "SGLang"),
    ("llamacpp:", "llama.cpp"),
    ("trtllm_", "TensorRT-LLM"),
    ("tgi_", "TGI"),
];

/// Asks once; else why there are none.
pub async fn metrics_seen(client: &ProbeClient) -> Result<MetricsSeen, String> {
    let text = client
        .text("/metrics")
        .await
        .map_err(|error| why_no_metrics(&error))?;
    Ok(shown(&text))
}

fn shown(text: &str) -> MetricsSeen {
    let engine = ENGINES
        .iter()
        .find(|(prefix, _)| samples(text).any(|sample| sample.name.starts_with(prefix)))
        .map(|(_, engine)| (*engine).to_owned());
    let missing = [
        ("its queue", held(text).is_none()),
        ("its prefix cache", counted(text).is_none()),
    ];
    MetricsSeen {
        engine,
        missing: missing
            .into_iter()
            .filter(|(_, missing)| *missing)
            .map(|(what, _)| what.to_owned())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_known_by_its_names() {
        let text = "# HELP up\nup 1\nvllm:num_requests_waiting{m=\"x\"} 0\n";
        let seen = shown(text);
        assert_eq!(seen.engine.as_deref(), Some("vLLM"));
        assert_eq!(seen.missing, ["its prefix cache"]);
        assert_eq!(shown("up 1\n").engine, None);
    }
}
