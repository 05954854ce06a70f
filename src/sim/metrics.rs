//! The engine's own metrics, as Prometheus text under vLLM's names.

use std::fmt::Write as _;

use super::engine::{Engine, Step};
use super::profile::Constants;
use crate::unit::Nanos;

/// Upper bounds of the buckets of every histogram, in seconds.
const BOUNDS: [f64; 22] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0,
    7.5, 10.0, 20.0, 40.0, 80.0, 160.0,
];

#[derive(Debug, Clone, Default)]
struct Histogram {
    /// Observations in each bucket alone; those above the last bound count only below.
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum: f64,
}

impl Histogram {
    fn observe(&mut self, span: Nanos) {
        let secs = span.as_secs_f64();
        if let Some(bucket) = BOUNDS.iter().position(|bound| secs <= *bound) {
            self.buckets[bucket] += 1;
        }
        self.count += 1;
        self.sum += secs;
    }
}

/// How a request finished, in vLLM's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finished {
    Stop,
    Length,
    Abort,
}

/// Counters and gauges of the server.
#[derive(Debug, Clone, Default)]
pub(super) struct Metrics {
    running: usize,
    waiting: usize,
    kv_usage: f64,
    kv_usable: usize,
    preemptions: u64,
    prefix_queries: u64,
    prefix_hits: u64,
    prompt_tokens: u64,
    generation_tokens: u64,
    stopped: u64,
    reached_length: u64,
    aborted: u64,
    first_token: Histogram,
    inter_token: Histogram,
    request: Histogram,
    queue: Histogram,
    prefill: Histogram,
    decode: Histogram,
    write_lateness: Histogram,
}

impl Metrics {
    /// Counts a step and takes the gauges that stand after it.
    pub(super) fn step(&mut self, step: &Step, engine: &Engine) {
        self.preemptions += step.preempted as u64;
        self.prefix_queries += step.prefix_queries as u64;
        self.prefix_hits += step.prefix_hits as u64;
        self.generation_tokens += step.emissions.len() as u64;
        for emission in &step.emissions {
            match emission.previous {
                None => {
                    self.first_token.observe(step.end.since(emission.arrival));
                    self.queue.observe(emission.facts.queued);
                    let since = step.end.since(emission.arrival);
                    self.prefill.observe(since.since(emission.facts.queued));
                }
                Some(previous) => self.inter_token.observe(step.end.since(previous)),
            }
            if emission.last {
                self.request.observe(step.end.since(emission.arrival));
                self.decode.observe(step.end.since(emission.first));
            }
        }
        self.gauges(engine);
    }

    /// Takes the gauges as they stand while a step lasts.
    pub(super) fn begin(&mut self, step: &Step, engine: &Engine) {
        self.gauges(engine);
        self.running = step.running;
    }

    /// Takes the gauges as they stand between steps.
    pub(super) fn gauges(&mut self, engine: &Engine) {
        self.running = engine.running();
        self.waiting = engine.waiting();
        self.kv_usage = engine.kv_usage();
        self.kv_usable = engine.kv_usable();
    }

    /// Counts an answer that came at once, without an engine.
    pub(super) fn instant(&mut self, tokens: usize) {
        self.generation_tokens += tokens as u64;
    }

    /// Counts a request that is over.
    pub(super) fn finished(
        &mut self,
        how: Finished,
        prompt_tokens: usize,
        lateness: Option<Nanos>,
    ) {
        self.prompt_tokens += prompt_tokens as u64;
        match how {
            Finished::Stop => self.stopped += 1,
            Finished::Length => self.reached_length += 1,
            Finished::Abort => self.aborted += 1,
        }
        if let Some(lateness) = lateness {
            self.write_lateness.observe(lateness);
        }
    }

    /// The text of `/metrics`.
    pub(super) fn render(&self, model: &str, engine: Option<Constants>, memory: f64) -> String {
        let model = model.replace('\\', "\\\\").replace('"', "\\\"");
        let mut page = Page {
            labels: format!("engine=\"0\",model_name=\"{model}\""),
            text: String::with_capacity(16 << 10),
        };
        page.gauge(
            "vllm:num_requests_running",
            "Requests in the running batch.",
            self.running as f64,
        );
        page.gauge(
            "vllm:num_requests_waiting",
            "Requests that wait to be scheduled.",
            self.waiting as f64,
        );
        page.gauge(
            "vllm:kv_cache_usage_perc",
            "Share of KV blocks in use, 0 to 1.",
            self.kv_usage,
        );
        page.gauge(
            "process_resident_memory_bytes",
            "Memory that the engine pretends to hold.",
            memory,
        );
        if engine.is_some() {
            page.gauge(
                "infergate:kv_blocks_usable",
                "Blocks of the KV cache that something fits into.",
                self.kv_usable as f64,
            );
        }
        page.counter(
            "vllm:num_preemptions_total",
            "Preemptions.",
            self.preemptions,
        );
        page.counter(
            "vllm:prefix_cache_queries_total",
            "Prompt tokens looked up in the prefix cache.",
            self.prefix_queries,
        );
        page.counter(
            "vllm:prefix_cache_hits_total",
            "Prompt tokens found in the prefix cache.",
            self.prefix_hits,
        );
        page.counter(
            "vllm:prompt_tokens_total",
            "Prompt tokens of finished requests.",
            self.prompt_tokens,
        );
        page.counter(
            "vllm:generation_tokens_total",
            "Tokens generated.",
            self.generation_tokens,
        );
        page.head(
            "vllm:request_success_total",
            "counter",
            "Requests by how they finished.",
        );
        for (reason, count) in [
            ("stop", self.stopped),
            ("length", self.reached_length),
            ("abort", self.aborted),
        ] {
            page.sample(
                "vllm:request_success_total",
                &format!(",finished_reason=\"{reason}\""),
                count as f64,
            );
        }
        page.histogram(
            "vllm:time_to_first_token_seconds",
            "From arrival to the first token.",
            &self.first_token,
        );
        page.histogram(
            "vllm:inter_token_latency_seconds",
            "Between two tokens of a request.",
            &self.inter_token,
        );
        page.histogram(
            "vllm:e2e_request_latency_seconds",
            "From arrival to the last token.",
            &self.request,
        );
        page.histogram(
            "vllm:request_queue_time_seconds",
            "From arrival to the first step.",
            &self.queue,
        );
        page.histogram(
            "vllm:request_prefill_time_seconds",
            "From the first step to the first token.",
            &self.prefill,
        );
        page.histogram(
            "vllm:request_decode_time_seconds",
            "From the first token to the last.",
            &self.decode,
        );
        page.histogram(
            "infergate:write_lateness_seconds",
            "The latest token of a request: from its step's ideal end to its writing.",
            &self.write_lateness,
        );
        if let Some(engine) = engine {
            page.head("vllm:cache_config_info", "gauge", "The KV cache.");
            let labels = format!(
                ",block_size=\"{}\",enable_prefix_caching=\"{}\",num_gpu_blocks=\"{}\"",
                engine.block_size,
                if engine.prefix_cache { "True" } else { "False" },
                engine.kv_blocks,
            );
            page.sample("vllm:cache_config_info", &labels, 1.0);
        }
        page.text
    }
}

struct Page {
    labels: String,
    text: String,
}

impl Page {
    // Writing to a string cannot fail, so results of `write!` are dropped here.

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, more_labels: &str, value: f64) {
        let _ = writeln!(self.text, "{name}{{{}{more_labels}}} {value}", self.labels);
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.head(name, "gauge", help);
        self.sample(name, "", value);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "counter", help);
        self.sample(name, "", value as f64);
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.head(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        let mut below = 0;
        for (bound, count) in BOUNDS.iter().zip(&histogram.buckets) {
            below += count;
            self.sample(&bucket, &format!(",le=\"{bound}\""), below as f64);
        }
        self.sample(&bucket, ",le=\"+Inf\"", histogram.count as f64);
        self.sample(&format!("{name}_count"), "", histogram.count as f64);
        self.sample(&format!("{name}_sum"), "", histogram.sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let mut metrics = Metrics::default();
        for millis in [1, 4, 300_000] {
            metrics.first_token.observe(Nanos::from_millis(millis));
        }
        metrics.finished(Finished::Length, 7, None);
        let text = metrics.render("a\"b", None, 1.0);
        let name = "vllm:time_to_first_token_seconds";
        let labels = "engine=\"0\",model_name=\"a\\\"b\"";
        for line in [
            format!("{name}_bucket{{{labels},le=\"0.001\"}} 1"),
            format!("{name}_bucket{{{labels},le=\"0.005\"}} 2"),
            format!("{name}_bucket{{{labels},le=\"160\"}} 2"),
            format!("{name}_bucket{{{labels},le=\"+Inf\"}} 3"),
            format!("{name}_count{{{labels}}} 3"),
            format!("{name}_sum{{{labels}}} 300.005"),
            format!("vllm:prompt_tokens_total{{{labels}}} 7"),
            format!("vllm:request_success_total{{{labels},finished_reason=\"length\"}} 1"),
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
    }
}
