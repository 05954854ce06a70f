//! How long a large result file takes to import, and how much memory.
//!
//! Writes a file of `N` megabytes (500 unless given) in each shape that has its requests: a line a request
//! (`aiperf`), a line a run with its lists (SGLang), one document with its lists and its answers (vLLM), and one
//! document with an object a request (`guidellm`). Imports each by the binary and watches that process. The files
//! stay in the folder that is named at the end.
//!
//! ```sh
//! cargo bench --bench import -- 500
//! ```

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![allow(clippy::unwrap_used, reason = "a bench has nobody to report to")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

#[allow(dead_code, reason = "each bench uses its part")]
mod rig;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rig::{INFERGATE, count, folder, head, is_bench, machine, row};

/// Output tokens of a request.
const TOKENS: u64 = 256;
/// Runs of a file that has several.
const RUNS: u64 = 8;

/// A number that differs from its neighbours, in seconds around this one.
fn near(seconds: f64, index: u64) -> f64 {
    let scatter = (index.wrapping_mul(2_654_435_761) >> 8) % 10_007;
    seconds * (0.9 + 0.2 * scatter as f64 / 10_007.0)
}

fn list(of: impl Iterator<Item = String>) -> String {
    let mut out = String::from("[");
    for (index, value) in of.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&value);
    }
    out.push(']');
    out
}

fn gaps(request: u64, scale: f64) -> String {
    list((1..TOKENS).map(|token| (near(0.01, request * TOKENS + token) * scale).to_string()))
}

/// A line of `aiperf`'s `profile_export.jsonl`.
fn aiperf(request: u64) -> String {
    let start = 1_796_000_000_000_000_000 + request * 10_000_000;
    format!(
        "{{\"metadata\": {{\"session_num\": {request}, \"request_start_ns\": {start}, \"request_end_ns\": {}, \
         \"worker_id\": \"worker_1\", \"benchmark_phase\": \"profiling\", \"was_cancelled\": false}}, \"metrics\": \
         {{\"request_latency\": {{\"value\": {}, \"unit\": \"ms\"}}, \"time_to_first_token\": {{\"value\": {}, \
         \"unit\": \"ms\"}}, \"inter_chunk_latency\": {{\"value\": {}, \"unit\": \"ms\"}}, \"output_sequence_length\": \
         {{\"value\": {TOKENS}, \"unit\": \"tokens\"}}, \"input_sequence_length\": {{\"value\": 512, \"unit\": \
         \"tokens\"}}}}, \"error\": null}}\n",
        start + 2_600_000_000,
        near(2600.0, request),
        near(50.0, request),
        gaps(request, 1e3),
    )
}

/// The lists that vLLM and SGLang write.
fn lists(requests: u64) -> String {
    let each = |of: &dyn Fn(u64) -> String| list((0..requests).map(of));
    format!(
        "\"input_lens\": {}, \"output_lens\": {}, \"ttfts\": {}, \"itls\": {}, \"generated_texts\": {}, \"errors\": {}",
        each(&|_| "512".to_owned()),
        each(&|_| TOKENS.to_string()),
        each(&|n| near(0.05, n).to_string()),
        each(&|n| gaps(n, 1.0)),
        each(&|_| format!("\"{}\"", "word ".repeat(TOKENS as usize))),
        each(&|_| "\"\"".to_owned()),
    )
}

/// A row of SGLang's `--output-details`.
fn sglang(requests: u64) -> String {
    format!(
        "{{\"backend\": \"sglang-oai-chat\", \"request_rate\": Infinity, \"max_concurrency\": 64, \"duration\": {}, \
         \"completed\": {requests}, \"total_output_tokens\": {}, \"mean_e2e_latency_ms\": 2600.0, {}}}\n",
        requests as f64 / 25.0,
        requests * TOKENS,
        lists(requests)
    )
}

/// A file of vLLM's `--save-detailed`.
fn vllm(requests: u64) -> String {
    format!(
        "{{\"date\": \"20261129-101500\", \"endpoint_type\": \"openai-chat\", \"model_id\": \"m\", \"num_prompts\": \
         {requests}, \"request_rate\": \"inf\", \"max_concurrency\": 64, \"duration\": {}, \"completed\": {requests}, \
         \"failed\": 0, \"mean_ttft_ms\": 50.0, {}}}",
        requests as f64 / 25.0,
        lists(requests)
    )
}

/// An object of `guidellm`'s `requests`.
fn guidellm(request: u64) -> String {
    let start = 1_796_000_000.0 + request as f64 / 25.0;
    format!(
        "{{\"request_id\": \"{request}\", \"request_args\": \"{}\", \"output\": \"{}\", \"info\": {{\"error\": null, \
         \"timings\": {{\"request_start\": {start}, \"first_token_iteration\": {}, \"last_token_iteration\": {}}}}}, \
         \"input_metrics\": {{\"text_tokens\": 512}}, \"output_metrics\": {{\"text_tokens\": {TOKENS}}}}}",
        "word ".repeat(512),
        "word ".repeat(TOKENS as usize),
        start + near(0.05, request),
        start + near(2.6, request),
    )
}

/// Writes a file; how many requests it has.
type Writer = fn(&mut dyn Write, u64) -> u64;

const SHAPES: [(&str, Writer); 4] = [
    ("aiperf, a line a request", |out, bytes| {
        let requests = bytes / aiperf(0).len() as u64;
        for request in 0..requests {
            out.write_all(aiperf(request).as_bytes()).unwrap();
        }
        requests
    }),
    ("sglang, a line a run", |out, bytes| {
        let requests = (bytes / RUNS / (sglang(100).len() as u64 / 100)).max(1);
        for _ in 0..RUNS {
            out.write_all(sglang(requests).as_bytes()).unwrap();
        }
        RUNS * requests
    }),
    ("vllm, one document", |out, bytes| {
        let requests = bytes / (vllm(100).len() as u64 / 100);
        out.write_all(vllm(requests).as_bytes()).unwrap();
        requests
    }),
    ("guidellm, one document", |out, bytes| {
        let requests = bytes / guidellm(0).len() as u64;
        let totals = format!(
            "{{\"successful\": {requests}, \"errored\": 0, \"incomplete\": 0, \"total\": {requests}}}"
        );
        write!(
            out,
            "{{\"benchmarks\": [{{\"duration\": {}, \"config\": {{\"strategy\": {{\"type_\": \"concurrent\", \
             \"streams\": 64}}}}, \"metrics\": {{\"request_totals\": {totals}, \"request_latency\": {{}}}}, \
             \"requests\": {{\"successful\": [",
            requests as f64 / 25.0
        )
        .unwrap();
        for request in 0..requests {
            let comma = if request > 0 { ", " } else { "" };
            write!(out, "{comma}{}", guidellm(request)).unwrap();
        }
        out.write_all(b"], \"errored\": [], \"incomplete\": []}}]}")
            .unwrap();
        requests
    }),
];

/// Imports a file: how long it took, and the process's memory at its most in megabytes; Linux only.
fn import(file: &Path) -> (Duration, f64) {
    let started = Instant::now();
    let mut child = Command::new(INFERGATE)
        .arg("import")
        .arg(file)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = f64::NAN;
    let exit = loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let most = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let most = most.and_then(|most| most.trim().trim_end_matches(" kB").parse::<f64>().ok());
        peak = most.map_or(peak, |kilobytes| kilobytes * 1024.0 / 1e6);
        if let Some(exit) = child.try_wait().unwrap() {
            break exit;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(exit.success(), "{}: {exit}", file.display());
    (started.elapsed(), peak)
}

fn main() {
    if !is_bench() {
        return;
    }
    let bytes = u64::from(count(500)) * 1_000_000;
    let folder = folder("import");
    println!("{}\n", machine());
    head(
        &[
            "file",
            "MB",
            "requests",
            "seconds",
            "MB/s",
            "peak MB",
            "share of the file",
        ],
        1,
    );
    for (index, (name, write)) in SHAPES.into_iter().enumerate() {
        let path = folder.join(format!("{index}.json"));
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&path).unwrap());
        let requests = write(&mut out, bytes);
        out.flush().unwrap();
        let megabytes = fs::metadata(&path).unwrap().len() as f64 / 1e6;
        let (took, peak) = import(&path);
        let seconds = took.as_secs_f64();
        row(&[
            name.to_owned(),
            format!("{megabytes:.0}"),
            requests.to_string(),
            format!("{seconds:.1}"),
            format!("{:.0}", megabytes / seconds),
            format!("{peak:.0}"),
            format!("{:.0} %", 100.0 * peak / megabytes),
        ]);
    }
    println!("\nfiles: {}", folder.display());
}
