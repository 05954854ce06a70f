//! Whether a comparison names the cause that was induced, and none where nothing was.
//!
//! Each cause is induced in the candidate alone, by a switch of the embedded engine, by a front that
//! delays, or by stopping the client for moments; then `infergate` compares five pairs and this bench
//! reads the diagnosis in the report. After that the engine is compared with itself (20 times unless
//! given). Some 40 seconds a comparison; wants a quiet machine.
//!
//! ```sh
//! cargo bench --bench causes -- 20
//! ```
//!
//! Runs and reports stay in `target/tmp/causes`.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![allow(clippy::unwrap_used, reason = "a bench has nobody to report to")]

#[path = "../tests/it/proxy.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod proxy;
#[allow(dead_code, reason = "each bench uses its part")]
mod rig;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use infergate::diagnosis::{Cause, Diagnosis};
use infergate::report::json::ReportFile;
use infergate::verdict::Verdict;
use proxy::{Manner, Proxy};
use rig::{Engine, INFERGATE, count, entries, folder, head, infergate, is_bench, machine, row};

/// Pairs of each comparison: the first look of one without an archive.
const PAIRS: usize = 5;
/// How long the client is stopped, and how long it then runs.
const STOPPED: Duration = Duration::from_millis(12);
const RUNNING: Duration = Duration::from_millis(12);

/// The load under which a cause shows.
#[derive(Clone, Copy)]
enum Load {
    /// Half of what the engine can do, with a shared prefix.
    Half,
    /// More sequences than a small KV cache holds.
    Full,
    /// Answers as long as the model makes them.
    Natural,
}

impl Load {
    const fn stage(self) -> &'static str {
        match self {
            Self::Half | Self::Natural => {
                "{name: steady, open: {rate: 70/s, arrivals: poisson}, duration: 3s, warmup: 500ms}"
            }
            Self::Full => "{name: steady, closed: {users: 30}, duration: 3s, warmup: 500ms}",
        }
    }

    const fn workload(self) -> &'static str {
        match self {
            Self::Half => {
                "{seed: 7, classes: [{name: chat, input: 128, output: 16, prefix: {tokens: 80, groups: 4, share: 0.9}}]}"
            }
            Self::Full => "{seed: 7, classes: [{name: chat, input: 160, output: 32}]}",
            Self::Natural => {
                "{seed: 7, output_length: natural, classes: [{name: chat, input: 64, max_output: 64}]}"
            }
        }
    }

    /// The spec, at this target.
    fn spec(self, target: &str) -> String {
        format!(
            "infergate: 1\nname: causes\ntarget: {target}\n\
             under_test: [engine.args]\n\
             workload: {}\nstages:\n  - {}\n\
             gate:\n  repeats: {{min: {PAIRS}, max: {PAIRS}}}\n  cells:\n    \
             - {{metric: ttft.p50, worse_by: 10%}}\n    \
             - {{metric: tpot.p50, worse_by: 10%}}\n    \
             - {{metric: e2e.p50, worse_by: 10%}}\n",
            self.workload(),
            self.stage()
        )
    }
}

/// A cause, and how it is induced.
struct Induced {
    what: &'static str,
    load: Load,
    /// The words of both engines.
    baseline: &'static str,
    candidate: &'static str,
    expected: &'static [Cause],
}

const INDUCED: [Induced; 7] = [
    Induced {
        what: "slower prefill",
        load: Load::Half,
        baseline: "demo",
        candidate: "demo --slower-prefill 40%",
        expected: &[Cause::Prefill],
    },
    Induced {
        what: "slower decode",
        load: Load::Half,
        baseline: "demo",
        candidate: "demo --slower-decode 40%",
        expected: &[Cause::Decode],
    },
    Induced {
        what: "smaller KV cache",
        load: Load::Full,
        baseline: "demo",
        candidate: "demo --kv-blocks 256",
        expected: &[Cause::KvPressure],
    },
    Induced {
        what: "prefix cache off",
        load: Load::Half,
        baseline: "demo",
        candidate: "demo --no-prefix-cache",
        expected: &[Cause::PrefixCache],
    },
    Induced {
        what: "lower max sequences",
        load: Load::Half,
        baseline: "demo",
        candidate: "demo --max-num-seqs 2",
        expected: &[Cause::Queueing],
    },
    Induced {
        what: "longer outputs",
        load: Load::Natural,
        baseline: "demo --answer-tokens 16",
        candidate: "demo --answer-tokens 24",
        expected: &[Cause::OutputLength],
    },
    Induced {
        what: "every step slower",
        load: Load::Half,
        baseline: "demo",
        candidate: "demo --slower 30%",
        expected: &[Cause::Uniform],
    },
];

/// What a comparison said.
struct Told {
    verdict: Option<Verdict>,
    diagnoses: Vec<Diagnosis>,
    /// The sentences of the report.
    why: Vec<String>,
}

fn read(folder: &Path) -> Told {
    let report = fs::read_to_string(folder.join("report.json")).ok();
    let report = report.map(|text| ReportFile::parse(&text).unwrap());
    let page = fs::read_to_string(folder.join("report.md")).unwrap_or_default();
    let after = page.split("### Why\n").nth(1).unwrap_or_default();
    let section = after.split("\n###").next().unwrap_or_default();
    let section = section.split("\n<details>").next().unwrap_or_default();
    Told {
        verdict: report.as_ref().map(|report| report.verdict),
        diagnoses: report.map(|report| report.diagnoses).unwrap_or_default(),
        why: section
            .lines()
            .filter(|line| line.starts_with("- "))
            .map(|line| line.trim_start_matches("- ").to_owned())
            .collect(),
    }
}

/// One row; whether the induced causes were named, and no other.
fn tell(what: &str, told: &Told, expected: &[Cause]) -> bool {
    let named: BTreeSet<Cause> = told.diagnoses.iter().map(|told| told.cause).collect();
    let right = named == expected.iter().copied().collect();
    row(&[
        what.to_owned(),
        told.verdict.map_or("no report".to_owned(), |verdict| {
            format!("{verdict:?}").to_lowercase()
        }),
        if right { "yes" } else { "NO" }.to_owned(),
        told.why.join("<br>"),
    ]);
    right
}

/// The session that a command left in this folder.
fn session(folder: &Path) -> PathBuf {
    let found = entries(folder).into_iter().find(|path| path.is_dir());
    found.unwrap_or_else(|| folder.to_owned())
}

/// `ab` of two embedded engines.
fn compare_engines(at: &Path, load: Load, baseline: &str, candidate: &str) -> Told {
    fs::create_dir_all(at).unwrap();
    fs::write(at.join("spec.yaml"), load.spec("{sim: demo}")).unwrap();
    let sims = ["--baseline-sim", baseline, "--candidate-sim", candidate];
    let words = [&["ab", "spec.yaml", "--out", "out"], &sims[..]].concat();
    infergate(at, &words, &[]);
    read(&session(&at.join("out")))
}

/// `ab` of one engine, the candidate's requests through a front that delays.
fn compare_network(at: &Path) -> Told {
    fs::create_dir_all(at).unwrap();
    let engine = Engine::start(&["demo"]);
    let manner = Manner {
        delay: Duration::from_millis(4),
        ..Manner::default()
    };
    let front = Proxy::start(engine.address(), manner);
    let spec = Load::Half.spec("{url: '${URL:-http://127.0.0.1:1}'}");
    fs::write(at.join("spec.yaml"), spec).unwrap();
    let candidate = format!("http://{}", front.address);
    let urls = ["--baseline-url", &engine.url, "--candidate-url", &candidate];
    let words = [&["ab", "spec.yaml", "--out", "out"], &urls[..]].concat();
    infergate(at, &words, &[]);
    let told = read(&session(&at.join("out")));
    engine.stop();
    told
}

/// Runs of one engine in turn, the candidate's client stopped for moments, as on a machine that has
/// other things to do.
fn compare_clients(at: &Path) -> Told {
    fs::create_dir_all(at).unwrap();
    let engine = Engine::start(&["demo"]);
    let spec = Load::Full.spec(&format!("{{url: '{}'}}", engine.url));
    fs::write(at.join("spec.yaml"), spec).unwrap();
    let take = |side: &str, pair: usize| -> String {
        let out = format!("{side}-{pair}");
        let said = fs::File::options()
            .create(true)
            .append(true)
            .open(at.join("said.txt"))
            .unwrap();
        let mut client = Command::new(INFERGATE)
            .args(["--quiet", "run", "spec.yaml", "--out", &out])
            .current_dir(at)
            .stdin(Stdio::null())
            .stdout(said.try_clone().unwrap())
            .stderr(said)
            .spawn()
            .unwrap();
        let over = AtomicBool::new(false);
        let id = client.id().to_string();
        let signal = |name: &str| {
            let _ = Command::new("kill").args([name, &id]).status();
        };
        std::thread::scope(|scope| {
            if side == "candidate" {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        signal("-STOP");
                        std::thread::sleep(STOPPED);
                        signal("-CONT");
                        std::thread::sleep(RUNNING);
                    }
                });
            }
            client.wait().unwrap();
            over.store(true, Ordering::Relaxed);
        });
        let session = session(&at.join(out));
        session.strip_prefix(at).unwrap().display().to_string()
    };
    let (mut base, mut head) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        if pair % 2 == 0 {
            base.push(take("baseline", pair));
            head.push(take("candidate", pair));
        } else {
            head.push(take("candidate", pair));
            base.push(take("baseline", pair));
        }
    }
    let mut words = vec!["compare", "--base"];
    words.extend(base.iter().map(String::as_str));
    words.push("--candidate");
    words.extend(head.iter().map(String::as_str));
    words.extend(["--out", "report"]);
    infergate(at, &words, &[]);
    engine.stop();
    read(&at.join("report"))
}

fn main() {
    if !is_bench() {
        return;
    }
    let alike = count(20);
    let folder = folder("causes");
    println!(
        "Causes induced in the embedded engine, {PAIRS} pairs each. {}.\n",
        machine()
    );
    head(&["Induced", "verdict", "named right", "the report says"], 4);
    let mut right = 0;
    for (number, induced) in INDUCED.iter().enumerate() {
        let at = folder.join(number.to_string());
        let told = compare_engines(&at, induced.load, induced.baseline, induced.candidate);
        right += u32::from(tell(induced.what, &told, induced.expected));
    }
    let network = compare_network(&folder.join("network"));
    right += u32::from(tell(
        "network delay, 4 ms each way",
        &network,
        &[Cause::Outside],
    ));
    let client = compare_clients(&folder.join("client"));
    right += u32::from(tell(
        "client stopped half of the time",
        &client,
        &[Cause::Client],
    ));
    let of = INDUCED.len() + 2;
    println!("\n{right} of {of} named right.\n");

    head(
        &[
            "The engine with itself",
            "verdict",
            "none named",
            "the report says",
        ],
        4,
    );
    let mut none = 0;
    for number in 0..alike {
        let at = folder.join(format!("itself-{number}"));
        let seeds = [1, 2].map(|side| format!("demo --seed {}", 100 + 2 * number + side));
        let told = compare_engines(&at, Load::Half, &seeds[0], &seeds[1]);
        none += u32::from(tell(&number.to_string(), &told, &[]));
    }
    println!("\nNo cause named in {none} of {alike}.");
}
