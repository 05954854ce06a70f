//! How often the gate is right on the embedded engine, whose truth is known.
//!
//! First it learns the machine's noise from five promoted sessions, a minute; then `N` times (20
//! unless given) `infergate ab` compares the engine with itself, and `N` times with an engine whose
//! prefill is 30 % slower, with other seeds each time, about half a minute each. Wants a quiet
//! machine.
//!
//! ```sh
//! cargo bench --bench verdicts -- 20
//! ```
//!
//! Runs and reports stay in `target/tmp/verdicts`.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![allow(clippy::unwrap_used, reason = "a bench has nobody to report to")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

#[allow(dead_code, reason = "each bench uses its part")]
mod rig;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use infergate::report::json::ReportFile;
use infergate::verdict::{CellState, Change, Design, Finding, Verdict};
use rig::{count, entries, folder, head, infergate, is_bench, machine, median, row};

const SESSIONS: u32 = 5;
/// Sessions that may fail before the bench gives up.
const ATTEMPTS: u32 = 10;

/// The demo's spec with the usual looks and as few requests as a p95 takes.
const SPEC: &str = "\
infergate: 1
name: verdicts
target: {sim: '${ENGINE:-demo}', api: chat}
pins:
  engine: {name: infergate-sim, args: observed}
under_test: [engine.args]
request: {temperature: 0}
workload:
  seed: 42
  output_length: pinned
  classes:
    - name: chat
      weight: 1
      input: {lognormal: {p50: 64, p95: 128}}
      output: {uniform: [12, 20]}
      slo: {ttft: 50ms, tpot: 10ms, e2e: 500ms}
stages:
  - {name: steady, open: {rate: 80/s, arrivals: poisson}, requests: 220, warmup: 40}
gate:
  cells:
    - {metric: ttft.p95, worse_by: 10%, floor: 200us}
    - {metric: ttft.p50, worse_by: 10%, floor: 200us}
    - {metric: tpot.p95, worse_by: 10%, floor: 200us}
    - {metric: e2e.p95, worse_by: 10%, floor: 1ms}
    - {metric: error_ratio, at_most: 2%}
";

/// Two engines to compare.
struct Question {
    label: &'static str,
    /// What the candidate has more than the baseline.
    candidate: &'static str,
    /// Keeps the seeds of the questions apart.
    first_seed: u32,
}

const QUESTIONS: [Question; 2] = [
    Question {
        label: "itself",
        candidate: "",
        first_seed: 1000,
    },
    Question {
        label: "prefill +30 %",
        candidate: " --slower-prefill 30%",
        first_seed: 2000,
    },
];

/// One comparison's outcome.
struct Outcome {
    verdict: Option<Verdict>,
    pairs: u32,
    elapsed_s: f64,
    regressed: Vec<String>,
}

/// Takes sessions of three runs and promotes them, so that the noise is known rather than assumed.
///
/// A session in which something else held up the client is no baseline and is taken again.
fn learn_noise(folder: &Path) {
    let (mut session, mut failed) = (0, 0);
    while session < SESSIONS {
        let engine = format!("demo --seed {}", 100 + session);
        let status = infergate(
            folder,
            &["run", "spec.yaml", "--repeats", "3"],
            &[("ENGINE", &engine)],
        );
        if !status.success() {
            failed += 1;
            assert!(
                failed < ATTEMPTS,
                "this machine is too busy to measure, or something is wrong: see {}",
                folder.join("said.txt").display()
            );
            continue;
        }
        let taken = entries(&folder.join("infergate-out")).pop().unwrap();
        let words = [
            "baseline",
            "promote",
            taken.to_str().unwrap(),
            "--reason",
            "noise of this machine",
        ];
        let status = infergate(folder, &words, &[]);
        assert!(status.success(), "no promotion: see {}", folder.display());
        session += 1;
    }
    if failed > 0 {
        println!("{failed} sessions were taken again, for the client had been held up in them.\n");
    }
}

/// A finding in few words, with the estimated change.
fn describe(finding: &Finding) -> String {
    let change = match finding.change {
        None => String::new(),
        Some(Change::Ratio { estimate, .. }) => format!(" {:+.1} %", estimate * 100.0),
        Some(Change::Points { estimate, .. }) => format!(" {:+.1} pp", estimate * 100.0),
    };
    format!("{} {}{change}", finding.cell, finding.state.label())
}

fn ask(question: &Question, number: u32, folder: &Path) -> Outcome {
    let seed = question.first_seed + 2 * number;
    let baseline = format!("demo --seed {seed}");
    let candidate = format!("demo --seed {}{}", seed + 1, question.candidate);
    let out = format!("{}-{number}", question.label.split(' ').next().unwrap());
    let words = [
        "ab",
        "spec.yaml",
        "--baseline-sim",
        &baseline,
        "--candidate-sim",
        &candidate,
        "--out",
        &out,
    ];
    let began = Instant::now();
    let status = infergate(folder, &words, &[]);
    let elapsed_s = began.elapsed().as_secs_f64();
    let exit = status.code().unwrap_or(-1);
    let report = entries(&folder.join(&out))
        .pop()
        .and_then(|session| fs::read_to_string(session.join("report.json")).ok())
        .map(|text| ReportFile::parse(&text).unwrap());
    let gated = report.iter().flat_map(|report| &report.findings);
    let gated: Vec<&Finding> = gated.filter(|finding| finding.gated).collect();
    let outcome = Outcome {
        verdict: report.as_ref().map(|report| report.verdict),
        pairs: match report.as_ref().map(|report| &report.design) {
            Some(Design::Interleaved { pairs, .. }) => *pairs,
            _ => 0,
        },
        elapsed_s,
        regressed: gated
            .iter()
            .filter(|finding| finding.state == CellState::Regressed)
            .map(|finding| finding.cell.to_string())
            .collect(),
    };
    let others: Vec<String> = gated
        .iter()
        .filter(|finding| finding.state != CellState::Ok)
        .map(|finding| describe(finding))
        .collect();
    row(&[
        question.label.to_owned(),
        format!("{seed}, {}", seed + 1),
        outcome.verdict.map_or("no report", word).to_owned(),
        others.join("; "),
        exit.to_string(),
        outcome.pairs.to_string(),
        format!("{elapsed_s:.0}"),
    ]);
    outcome
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Regression => "regression",
        Verdict::Undecided => "undecided",
        Verdict::Invalid => "invalid",
    }
}

fn sum_up(question: &Question, outcomes: &[Outcome]) {
    let of = |verdict| {
        let with = outcomes.iter().filter(|outcome| outcome.verdict == verdict);
        with.count().to_string()
    };
    let mut cells: BTreeMap<&str, u32> = BTreeMap::new();
    for cell in outcomes.iter().flat_map(|outcome| &outcome.regressed) {
        *cells.entry(cell).or_default() += 1;
    }
    let cells: Vec<String> = cells
        .iter()
        .map(|(cell, times)| format!("{cell} {times}×"))
        .collect();
    row(&[
        question.label.to_owned(),
        cells.join(", "),
        outcomes.len().to_string(),
        of(Some(Verdict::Pass)),
        of(Some(Verdict::Regression)),
        of(Some(Verdict::Undecided)),
        of(Some(Verdict::Invalid)),
        of(None),
        format!(
            "{:.0}",
            median(outcomes.iter().map(|o| f64::from(o.pairs)).collect())
        ),
        format!(
            "{:.0}",
            median(outcomes.iter().map(|o| o.elapsed_s).collect())
        ),
    ]);
}

fn main() {
    if !is_bench() {
        return;
    }
    let times = count(20).max(1);
    let folder = folder("verdicts");
    fs::write(folder.join("spec.yaml"), SPEC).unwrap();
    println!(
        "`infergate ab` on the embedded engine, {times} times each. {}.\n",
        machine()
    );
    learn_noise(&folder);
    head(
        &[
            "Candidate",
            "Seeds",
            "Verdict",
            "Gated cells that are not ok",
            "Exit",
            "Pairs",
            "s",
        ],
        4,
    );
    let asked: Vec<(&Question, Vec<Outcome>)> = QUESTIONS
        .iter()
        .map(|question| {
            let outcomes = (0..times).map(|number| ask(question, number, &folder));
            (question, outcomes.collect())
        })
        .collect();
    println!();
    head(
        &[
            "Candidate",
            "Regressed cells",
            "Of",
            "pass",
            "regression",
            "undecided",
            "invalid",
            "no report",
            "Pairs, median",
            "s, median",
        ],
        2,
    );
    for (question, outcomes) in &asked {
        sum_up(question, outcomes);
    }
}
