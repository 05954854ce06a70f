//! What the load client needs for a streamed token, CPU and memory, beside clients that do less.
//!
//! Three clients take turns on the same engine, which runs in a process of its own: ours; reqwest,
//! which reads the same answers and parses nothing; and a bare socket, which does not even read
//! HTTP. All count in `N` repeats (5 unless given); ratios are taken within a repeat.
//!
//! ```sh
//! cargo bench --bench load -- 5
//! ```

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![allow(clippy::unwrap_used, reason = "a bench has nobody to report to")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod bare;
#[allow(dead_code, reason = "each bench uses its part")]
mod rig;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Instant;

use infergate::access::Access;
use infergate::diag::Source;
use infergate::load::{Client, Endpoint, StageJob, Stop, run_stage};
use infergate::plan::{Phase, Plan, PromptCalibration, Prompter, Salt};
use infergate::spec::{self, Api, Spec};
use infergate::unit::Nanos;
use infergate::wire::Transcript;
use rig::{Engine, count, head, is_bench, machine, median, row};

/// One engine under one closed loop.
struct Case {
    label: &'static str,
    engine: &'static str,
    users: u32,
    requests: u32,
    tokens: u32,
}

const CASES: [Case; 3] = [
    Case {
        label: "at once, 32 users",
        engine: "null",
        users: 32,
        requests: 4000,
        tokens: 256,
    },
    Case {
        label: "at once, 256 users",
        engine: "null",
        users: 256,
        requests: 4000,
        tokens: 256,
    },
    Case {
        label: "paced, 1,000 users",
        engine: "paced",
        users: 1000,
        requests: 3000,
        tokens: 128,
    },
];

const CLIENTS: [&str; 3] = ["infergate", "reqwest, no parsing", "bare socket"];

/// What a client did in one go.
struct Go {
    requests: f64,
    chunks: f64,
    wall_s: f64,
    cpu_s: f64,
    peak_mb: f64,
}

impl Go {
    fn requests_per_s(&self) -> f64 {
        self.requests / self.wall_s
    }

    fn chunks_per_s(&self) -> f64 {
        self.chunks / self.wall_s
    }

    fn cpu_per_million(&self) -> f64 {
        self.cpu_s / self.chunks * 1e6
    }

    fn peak_mb(&self) -> f64 {
        self.peak_mb
    }
}

impl Case {
    fn spec(&self, url: &str) -> Spec {
        let Self {
            users,
            requests,
            tokens,
            ..
        } = self;
        let text = format!(
            "\
infergate: 1
name: load
target: {{url: '{url}', api: chat}}
request: {{temperature: 0}}
workload:
  seed: 42
  output_length: pinned
  classes:
    - {{name: chat, weight: 1, input: 64, output: {tokens}}}
stages:
  - {{name: steady, closed: {{users: {users}, ramp: 1ms}}, requests: {requests}, warmup: 0}}
gate:
  cells:
    - {{metric: error_ratio, at_most: 2%}}
"
        );
        let path = "the bench's spec".to_owned();
        let no_traces = |_: spec::FileAsk<'_>| Err("none".to_owned());
        spec::parse(&Source { path, text }, &|_| None, &no_traces)
            .unwrap()
            .spec
    }
}

/// Everything that the clients of a case share.
struct Job {
    plan: Arc<Plan>,
    spec: Spec,
    endpoint: Endpoint,
}

impl Job {
    fn new(case: &Case, engine: &Engine) -> Self {
        let spec = case.spec(&engine.url);
        Self {
            plan: Arc::new(Plan::expand(&spec)),
            endpoint: Endpoint {
                base_urls: vec![engine.url.clone()],
                api: Api::Chat,
                model: format!("sim/{}", case.engine),
                access: Access::default(),
                extra: BTreeMap::from([("temperature".to_owned(), 0.into())]),
            },
            spec,
        }
    }

    fn client(&self) -> Client {
        Client::new(&self.endpoint, self.spec.timeouts.connect).unwrap()
    }

    /// The requests' bodies, as the load client writes them.
    fn bodies(&self, requests: u32, salt: &str) -> Vec<Vec<u8>> {
        let prompter = Prompter::new(42, Salt::new(salt), PromptCalibration::ASSUMED);
        let client = self.client();
        (0..requests)
            .map(|number| {
                let planned = self.plan.request(0, Phase::Measured, number);
                let prompt = prompter.prompt("steady", &planned, &[]);
                let template = client.template();
                let transcript = Transcript::new(template.api(), &prompt);
                template.body(&transcript, &planned)
            })
            .collect()
    }

    /// Requests, those before all users had started included, and chunks.
    async fn ours(&self, salt: &str) -> (f64, f64) {
        let prompter = Arc::new(Prompter::new(
            42,
            Salt::new(salt),
            PromptCalibration::ASSUMED,
        ));
        let client = self.client();
        let job = StageJob {
            plan: &self.plan,
            stage: 0,
            prompter: &prompter,
            client: &client,
            timeouts: &self.spec.timeouts,
            share: infergate::plan::Share::WHOLE,
            begin: None,
        };
        let (mut requests, mut chunks) = (0, 0);
        let count = |record: infergate::sample::RequestRecord| {
            requests += 1;
            chunks += record.events.len();
        };
        run_stage(job, count, |_| {}, Stop::never()).await.unwrap();
        (f64::from(requests), chunks as f64)
    }
}

/// User and system time of this process, in seconds.
fn cpu_s() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_ascii_whitespace().skip(11).take(2);
    // Ticks of USER_HZ, which is 100 on every Linux.
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// Most memory that this process has had since the peak was reset, in megabytes; Linux only.
fn peak_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.unwrap_or(f64::NAN) * 1024.0 / 1e6
}

fn reset_peak() {
    // Where the system does not let it, the peak is that of all goes so far.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn go(case: &Case, job: &Job, engine: &Engine, client: usize, salt: &str) -> Go {
    // As the binary has it.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let bodies = if client == 0 {
        Vec::new()
    } else {
        job.bodies(case.requests, salt)
    };
    reset_peak();
    let (began, cpu) = (Instant::now(), cpu_s());
    let (requests, chunks) = runtime.block_on(async {
        let lines = match client {
            0 => return job.ours(salt).await,
            1 => bare::reqwest(&engine.url, bodies, case.users).await,
            _ => bare::socket(engine.address(), bodies, case.users).await,
        };
        let chunks = u64::from(case.requests) * u64::from(case.tokens);
        assert!(lines >= chunks, "an answer was cut short: {lines} lines");
        (f64::from(case.requests), chunks as f64)
    });
    Go {
        requests,
        chunks,
        wall_s: Nanos::from(began.elapsed()).as_secs_f64(),
        cpu_s: cpu_s() - cpu,
        peak_mb: peak_mb(),
    }
}

fn measure(case: &Case, repeats: u32) {
    let engine = Engine::start(&[case.engine]);
    let job = Job::new(case, &engine);
    let mut goes: Vec<Vec<Go>> = CLIENTS.iter().map(|_| Vec::new()).collect();
    for repeat in 0..repeats {
        for turn in 0..CLIENTS.len() {
            let client = (turn + repeat as usize) % CLIENTS.len();
            let salt = format!("{repeat}/{client}");
            goes[client].push(go(case, &job, &engine, client, &salt));
        }
    }
    engine.stop();
    for (client, name) in CLIENTS.iter().enumerate() {
        let of = |value: fn(&Go) -> f64| median(goes[client].iter().map(value).collect());
        // How many times ours takes what this client takes.
        let ratio = |value: fn(&Go) -> f64| {
            let pairs = goes[0].iter().zip(&goes[client]);
            median(
                pairs
                    .map(|(ours, other)| value(ours) / value(other))
                    .collect(),
            )
        };
        row(&[
            case.label.to_owned(),
            (*name).to_owned(),
            format!("{:.0}", of(Go::requests_per_s)),
            format!("{:.0}", of(Go::chunks_per_s)),
            format!("{:.2}", of(Go::cpu_per_million)),
            format!("{:.0}", of(Go::peak_mb)),
            format!("{:.2}", ratio(Go::chunks_per_s)),
            format!("{:.2}", ratio(Go::cpu_per_million)),
        ]);
    }
}

fn main() {
    if !is_bench() {
        return;
    }
    let _ = rustls::crypto::ring::default_provider().install_default();
    let repeats = count(5);
    println!(
        "One streamed token is one chunk; medians of {repeats} interleaved repeats. {}.\n",
        machine()
    );
    head(
        &[
            "Load",
            "Client",
            "requests/s",
            "chunks/s",
            "CPU s per 1M chunks",
            "peak MB",
            "chunks/s, infergate by this",
            "CPU, infergate by this",
        ],
        2,
    );
    for case in &CASES {
        measure(case, repeats);
    }
    println!(
        "\nThe engine takes CPU of the same machine, so chunks/s is that of both together. Ours \
         writes prompts, parses every chunk, keeps an instant for each and makes records; the \
         others have their requests written beforehand, which is memory of theirs."
    );
}
