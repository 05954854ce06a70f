//! How far the load client's latencies are from what the server did.
//!
//! The embedded engine runs in a process of its own and logs the instant at which it wrote each
//! token; `infergate run` measures it from another. Requests are matched by `x-request-id`.
//!
//! ```sh
//! cargo bench --bench accuracy
//! ```
//!
//! What is expected to remain: the way of the request to the server (connection, sending, reading
//! its body), the way of the first bytes back, and in an open loop how late the request left.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![allow(clippy::unwrap_used, reason = "a bench has nobody to report to")]

#[allow(dead_code, reason = "each bench uses its part")]
mod rig;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use infergate::archive::{RecordReader, load_runs};
use infergate::plan::Phase;
use infergate::sample::{RequestRecord, Timeline};
use infergate::sim::{TruthOutcome, TruthRecord};
use infergate::stats::quantile::quantile;
use rig::{Engine, entries, folder, head, infergate, is_bench, machine, row};

/// One load on one engine.
struct Load {
    label: &'static str,
    engine: &'static str,
    /// The stage's arrivals, as in a spec.
    arrivals: &'static str,
    requests: u32,
    output: &'static str,
    from_schedule: bool,
}

const LOADS: [Load; 5] = [
    Load {
        label: "1 user",
        engine: "h100-8b",
        arrivals: "closed: {users: 1}",
        requests: 200,
        output: "{uniform: [12, 20]}",
        from_schedule: false,
    },
    Load {
        label: "16 users",
        engine: "h100-8b",
        arrivals: "closed: {users: 16}",
        requests: 800,
        output: "{uniform: [24, 40]}",
        from_schedule: false,
    },
    Load {
        label: "128 users",
        engine: "h100-8b",
        arrivals: "closed: {users: 128}",
        requests: 2000,
        output: "{uniform: [48, 80]}",
        from_schedule: false,
    },
    Load {
        label: "50/s Poisson",
        engine: "h100-8b",
        arrivals: "open: {rate: 50/s, arrivals: poisson}",
        requests: 1000,
        output: "{uniform: [24, 40]}",
        from_schedule: true,
    },
    Load {
        label: "50/s Poisson",
        engine: "demo",
        arrivals: "open: {rate: 50/s, arrivals: poisson}",
        requests: 1000,
        output: "{uniform: [12, 20]}",
        from_schedule: true,
    },
];

fn spec(load: &Load, url: &str) -> String {
    let Load {
        arrivals,
        requests,
        output,
        ..
    } = load;
    format!(
        "\
infergate: 1
name: accuracy
target: {{url: '{url}', api: chat}}
request: {{temperature: 0}}
workload:
  seed: 42
  output_length: pinned
  classes:
    - {{name: chat, weight: 1, input: {{uniform: [32, 96]}}, output: {output}}}
stages:
  - {{name: steady, {arrivals}, requests: {requests}, warmup: 20}}
gate:
  cells:
    - {{metric: error_ratio, at_most: 2%}}
"
    )
}

/// Values of one metric in seconds: the client's and the server's, request by request or gap by
/// gap.
#[derive(Default)]
struct Pairs(Vec<(f64, f64)>);

impl Pairs {
    fn add(&mut self, ours: f64, truth: f64) {
        self.0.push((ours, truth));
    }

    fn quantile(&self, q: f64, of: impl Fn(&(f64, f64)) -> f64) -> f64 {
        let mut values: Vec<f64> = self.0.iter().map(of).collect();
        values.sort_unstable_by(f64::total_cmp);
        quantile(&values, q).unwrap_or(f64::NAN)
    }
}

#[derive(Default)]
struct Measured {
    ttft: Pairs,
    tpot: Pairs,
    itl: Pairs,
    e2e: Pairs,
    lateness: Vec<f64>,
    unmatched: usize,
}

impl Measured {
    fn take(&mut self, record: &RequestRecord, truth: Option<&TruthRecord>, from_schedule: bool) {
        let timeline = Timeline::new(record, from_schedule);
        let served = truth.and_then(Served::of);
        let (Some(served), Ok(ttft), Ok(tpot), Ok(e2e)) =
            (served, timeline.ttft(), timeline.tpot(), timeline.e2e())
        else {
            self.unmatched += 1;
            return;
        };
        self.ttft.add(ttft, served.ttft);
        self.tpot.add(tpot, served.tpot);
        self.e2e.add(e2e, served.e2e);
        for (ours, truth) in timeline.chunk_gaps().zip(served.gaps) {
            self.itl.add(ours, truth);
        }
        if let Some(sent) = record.sent {
            let late = sent.since(record.scheduled);
            self.lateness.push(late.as_secs_f64());
        }
    }
}

/// What the server did, in seconds.
struct Served {
    ttft: f64,
    tpot: f64,
    e2e: f64,
    gaps: Vec<f64>,
}

impl Served {
    fn of(truth: &TruthRecord) -> Option<Self> {
        let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e6;
        let tokens = truth.token_us.as_ref().filter(|tokens| tokens.len() > 1)?;
        let (first, last) = (truth.first_token_us?, truth.last_token_us?);
        (truth.outcome == TruthOutcome::Ok).then(|| Self {
            ttft: seconds(truth.accepted_us, first),
            tpot: seconds(first, last) / (tokens.len() - 1) as f64,
            e2e: seconds(truth.accepted_us, last),
            gaps: tokens
                .windows(2)
                .map(|pair| seconds(pair[0], pair[1]))
                .collect(),
        })
    }
}

/// Truth records by what follows the run's salt in their ids: `steady-m-7`.
fn truth_by_name(path: &Path) -> HashMap<String, TruthRecord> {
    let text = fs::read_to_string(path).unwrap();
    let records = text.lines().skip(1);
    records
        .map(|line| serde_json::from_str::<TruthRecord>(line).unwrap())
        .filter_map(|record| {
            let name = record.id.strip_prefix("infergate-")?.split_once('-')?.1;
            Some((name.to_owned(), record))
        })
        .collect()
}

fn measure(load: &Load) {
    let folder = folder("accuracy");
    let truth = folder.join("truth.jsonl");
    let engine = Engine::start(&[
        load.engine,
        "--truth",
        truth.to_str().unwrap(),
        "--truth-tokens",
    ]);
    fs::write(folder.join("spec.yaml"), spec(load, &engine.url)).unwrap();
    let status = infergate(&folder, &["run", "spec.yaml"], &[]);
    engine.stop();
    let session = entries(&folder.join("infergate-out")).pop().unwrap();
    let runs = load_runs(&session).unwrap();
    let stage = &runs[0].stages[0];

    let truth = truth_by_name(&truth);
    let mut measured = Measured::default();
    let records = entries(&session.join("records")).pop().unwrap();
    for record in RecordReader::open(&records).unwrap() {
        let record = record.unwrap();
        if record.phase == Phase::Measured {
            let name = format!("{}-m-{}", stage.name, record.index);
            measured.take(&record, truth.get(&name), load.from_schedule);
        }
    }
    let late = |q| {
        let mut late = measured.lateness.clone();
        late.sort_unstable_by(f64::total_cmp);
        quantile(&late, q).unwrap_or(f64::NAN) * 1e3
    };
    let metrics = [
        ("TTFT", &measured.ttft),
        ("TPOT", &measured.tpot),
        ("ITL", &measured.itl),
        ("E2E", &measured.e2e),
    ];
    for (metric, pairs) in metrics {
        let ms = |seconds: f64| format!("{:.3}", seconds * 1e3);
        let mut cells = vec![
            format!("{}, {}", load.label, load.engine),
            metric.to_owned(),
            pairs.0.len().to_string(),
        ];
        for q in [0.5, 0.99] {
            let ours = pairs.quantile(q, |pair| pair.0);
            let truth = pairs.quantile(q, |pair| pair.1);
            cells.extend([ms(ours), ms(truth), format!("{:+.3}", (ours - truth) * 1e3)]);
        }
        cells.push(ms(pairs.quantile(0.99, |pair| (pair.0 - pair.1).abs())));
        row(&cells);
    }
    let cpu = stage
        .health
        .as_ref()
        .and_then(|health| health.cpu_share)
        .map_or_else(
            || "unknown".to_owned(),
            |share| format!("{:.0} %", share * 100.0),
        );
    println!(
        "| {}, {} | lateness p50 {:.3}, p99 {:.3}; client CPU {cpu}; exit {}; unmatched {} | | | | | | | | |",
        load.label,
        load.engine,
        late(0.5),
        late(0.99),
        status.code().unwrap_or(-1),
        measured.unmatched,
    );
}

fn main() {
    if !is_bench() {
        return;
    }
    println!(
        "Client's figures minus the engine's own log, in ms. {}.\n",
        machine()
    );
    head(
        &[
            "Load",
            "Metric",
            "n",
            "p50 ours",
            "p50 truth",
            "p50 difference",
            "p99 ours",
            "p99 truth",
            "p99 difference",
            "p99 of each's difference",
        ],
        2,
    );
    for load in &LOADS {
        measure(load);
    }
    println!(
        "\nClosed loops count from the send, open loops from the schedule; the engine's log counts \
         from the request's body being read, so an open loop's difference holds the lateness."
    );
}
