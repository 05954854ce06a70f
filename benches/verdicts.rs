//! How often the gate is right on the embedded engine, whose truth is known, by real `ab`.
//!
//! The engine's machine is unsteady: every step scatters, every run, and 3 % of runs are 5 % to 25 %
//! slower. First the bench learns that noise from eight promoted sessions of three runs and gives
//! each of eight cells a tolerance that the noise allows. Then `infergate ab` compares the engine
//! with itself `A` times (60 unless given), with one whose prefill is so much slower that one cell is
//! worse by twice its tolerance `B` times (20), and with itself on a machine that gets 0.5 % slower
//! from run to run `C` times (20). Some 25 seconds a report; wants a quiet machine.
//!
//! ```sh
//! cargo bench --bench verdicts -- 60 20 20
//! ```
//!
//! Runs and reports stay in `target/tmp/verdicts`. What is there is not taken again: an interrupted
//! bench goes on where it was. Remove the folder to begin anew. The same questions thousands of
//! times, in virtual time: `characteristics`.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![allow(clippy::unwrap_used, reason = "a bench has nobody to report to")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

#[allow(dead_code, reason = "each bench uses its part")]
mod rig;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use infergate::archive::load_runs;
use infergate::report::json::ReportFile;
use infergate::session::VirtualSitting;
use infergate::sim::Machine;
use infergate::summary::Run;
use infergate::verdict::{CellState, Change, Design, Finding, Verdict};
use jiff::Timestamp;
use rig::gate::{self, CELLS, MACHINE, MARGIN, POWER, RUNS_OF_A_SESSION, SESSIONS, SLOWED};
use rig::{counts, entries, head, infergate, is_bench, kept_folder, machine, median, row};

/// Sessions that may fail before the bench gives up.
const ATTEMPTS: u32 = 2 * SESSIONS;
/// How much slower the machine gets from run to run.
const DRIFT: f64 = 0.005;

/// Two engines to compare, and what is asked of so many reports.
struct Question {
    label: &'static str,
    folder: &'static str,
    machine: Machine,
    /// What the candidate has more than the baseline.
    candidate: String,
    times: u32,
    /// Keeps the seeds of the questions apart.
    first_seed: u32,
    required: &'static str,
}

/// One comparison's outcome.
struct Outcome {
    verdict: Option<Verdict>,
    pairs: u32,
    elapsed_s: f64,
    regressed: Vec<String>,
    /// The estimated change of the slowed cell.
    slowed: Option<f64>,
}

fn engine(machine: Machine, seed: u32) -> String {
    format!("demo --seed {seed} {}", gate::words(machine))
}

/// Takes sessions and promotes them, so that the noise is known rather than assumed.
///
/// A session in which something else held up the client is no baseline and is taken again.
fn learn_noise(folder: &Path) -> Vec<Run> {
    let (mut taken, mut failed) = (Vec::new(), 0);
    while (taken.len() as u32) < SESSIONS {
        let number = taken.len();
        let out = format!("archive/{number}");
        let promoted = folder.join(&out).join("promoted");
        if !promoted.exists() {
            let _ = fs::remove_dir_all(folder.join(&out));
            let engine = engine(MACHINE, 100 + number as u32 + ATTEMPTS * failed);
            let repeats = RUNS_OF_A_SESSION.to_string();
            let words = ["run", "spec.yaml", "--repeats", &repeats, "--out", &out];
            if !infergate(folder, &words, &[("ENGINE", &engine)]).success() {
                failed += 1;
                assert!(
                    failed < ATTEMPTS,
                    "this machine is too busy to measure, or something is wrong: see {}",
                    folder.join("said.txt").display()
                );
                continue;
            }
            let session = entries(&folder.join(&out)).pop().unwrap();
            let session = session.to_str().unwrap();
            let words = ["baseline", "promote", session, "--reason", "its noise"];
            assert!(
                infergate(folder, &words, &[]).success(),
                "no promotion: see {}",
                folder.display()
            );
            fs::write(promoted, "").unwrap();
        }
        taken.push(folder.join(out));
    }
    if failed > 0 {
        println!("{failed} sessions were taken again, for the client had been held up in them.\n");
    }
    let session = |path: &PathBuf| {
        let session = entries(path).into_iter().find(|path| path.is_dir());
        load_runs(&session.unwrap()).unwrap()
    };
    taken.iter().flat_map(session).collect()
}

/// Seconds from the start of a run to that of the next, over an archive's sessions.
fn seconds_a_run(archive: &[Run]) -> f64 {
    let start = |run: &Run| run.started.parse::<Timestamp>().unwrap();
    let mut starts: BTreeMap<&str, Vec<Timestamp>> = BTreeMap::new();
    for run in archive {
        starts.entry(&run.session).or_default().push(start(run));
    }
    let of_session = |starts: &Vec<Timestamp>| {
        let (first, last) = (starts.iter().min().unwrap(), starts.iter().max().unwrap());
        last.duration_since(*first).as_secs_f64() / (starts.len() - 1) as f64
    };
    starts.values().map(of_session).sum::<f64>() / starts.len() as f64
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

/// Takes one report, unless it is there.
fn take(question: &Question, number: u32, folder: &Path) -> PathBuf {
    let out = format!("{}-{number}", question.folder);
    let path = folder.join(&out);
    if path.join("seconds").exists() {
        return path;
    }
    let _ = fs::remove_dir_all(&path);
    let seed = question.first_seed + 2 * number;
    let baseline = engine(question.machine, seed);
    let candidate = format!(
        "{}{}",
        engine(question.machine, seed + 1),
        question.candidate
    );
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
    infergate(folder, &words, &[]);
    let seconds = began.elapsed().as_secs_f64().to_string();
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("seconds"), seconds).unwrap();
    path
}

fn ask(question: &Question, number: u32, folder: &Path) -> Outcome {
    let path = take(question, number, folder);
    let elapsed_s = fs::read_to_string(path.join("seconds")).unwrap();
    let session = entries(&path).into_iter().find(|path| path.is_dir());
    let report = session
        .and_then(|session| fs::read_to_string(session.join("report.json")).ok())
        .map(|text| ReportFile::parse(&text).unwrap());
    let findings = report.iter().flat_map(|report| &report.findings);
    let gated: Vec<&Finding> = findings.filter(|finding| finding.gated).collect();
    let slowed = format!("{}/{}", CELLS[SLOWED].0, CELLS[SLOWED].1);
    let change = |finding: &&Finding| match finding.change {
        Some(Change::Ratio { estimate, .. }) => Some(estimate),
        _ => None,
    };
    let outcome = Outcome {
        verdict: report.as_ref().map(|report| report.verdict),
        pairs: match report.as_ref().map(|report| &report.design) {
            Some(Design::Interleaved { pairs, .. }) => *pairs,
            _ => 0,
        },
        elapsed_s: elapsed_s.parse().unwrap(),
        regressed: gated
            .iter()
            .filter(|finding| finding.state == CellState::Regressed)
            .map(|finding| finding.cell.to_string())
            .collect(),
        slowed: gated
            .iter()
            .find(|finding| finding.cell.to_string() == slowed)
            .and_then(change),
    };
    let others: Vec<String> = gated
        .iter()
        .filter(|finding| finding.state != CellState::Ok)
        .map(|finding| describe(finding))
        .collect();
    row(&[
        question.label.to_owned(),
        number.to_string(),
        outcome.verdict.map_or("no report", word).to_owned(),
        others.join("; "),
        outcome.pairs.to_string(),
        format!("{:.0}", outcome.elapsed_s),
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
        with.count()
    };
    let slowed = format!("{}/{}", CELLS[SLOWED].0, CELLS[SLOWED].1);
    let named = outcomes
        .iter()
        .filter(|outcome| outcome.regressed.contains(&slowed));
    let middle = |of: &dyn Fn(&Outcome) -> Option<f64>, digits: usize| {
        let values: Vec<f64> = outcomes.iter().filter_map(of).collect();
        if values.is_empty() {
            "–".to_owned()
        } else {
            format!("{:.digits$}", median(values))
        }
    };
    let passed = of(Some(Verdict::Pass));
    row(&[
        question.label.to_owned(),
        question.required.to_owned(),
        outcomes.len().to_string(),
        of(Some(Verdict::Regression)).to_string(),
        (outcomes.len() - passed).to_string(),
        passed.to_string(),
        (of(Some(Verdict::Invalid)) + of(None)).to_string(),
        named.count().to_string(),
        middle(&|outcome| outcome.slowed.map(|change| change * 100.0), 1),
        middle(&|outcome| Some(outcome.pairs.into()), 0),
        middle(&|outcome| Some(outcome.elapsed_s), 0),
    ]);
}

/// Prints each cell's noise, what it allows and the tolerance in use, which is no finer.
fn print_cells(archive: &[Run], gate: &infergate::spec::Gate, tolerances: &[f64]) {
    let last = gate::last_look(gate).repeats;
    let finest = format!("finest at {last} pairs, power {POWER}, %");
    head(&["Cell", "noise, %", &finest, "tolerance, %"], 1);
    for (i, noise) in gate::noise(archive, gate).into_iter().enumerate() {
        let cell = &gate.cells[i].cell;
        let finest = gate::finest(noise, cell, gate, POWER);
        assert!(tolerances[i] >= finest, "{cell} can be resolved");
        let mut cells = vec![cell.to_string()];
        let figures = [noise.sigma, finest, tolerances[i]];
        cells.extend(figures.map(|figure| format!("{:.1}", figure * 100.0)));
        row(&cells);
    }
    println!();
}

fn main() {
    if !is_bench() {
        return;
    }
    let [alike, slower, drifting] = counts([60, 20, 20]);
    let spec = gate::text(&[0.1; CELLS.len()]);
    let folder = kept_folder("verdicts", &spec);
    println!("`infergate ab` on the embedded engine. {}.\n", machine());
    fs::write(folder.join("spec.yaml"), &spec).unwrap();
    let archive = learn_noise(&folder);
    let spec = gate::parse(spec);
    let tolerances = gate::tolerances(&archive, &spec.gate, MARGIN);
    fs::write(folder.join("spec.yaml"), gate::text(&tolerances)).unwrap();
    print_cells(&archive, &spec.gate, &tolerances);
    let run_s = seconds_a_run(&archive);
    let sitting = VirtualSitting::new(spec).unwrap();
    let (slowed, moved) = gate::slowdown(&sitting, tolerances[SLOWED]);
    println!(
        "A run takes {run_s:.1} s. Prefill {:.0} % slower moves {}/{} by {:.1} % in virtual time, twice \
         its tolerance.\n",
        slowed * 100.0,
        CELLS[SLOWED].0,
        CELLS[SLOWED].1,
        moved * 100.0
    );
    let questions = [
        Question {
            label: "itself",
            folder: "itself",
            machine: MACHINE,
            candidate: String::new(),
            times: alike,
            first_seed: 1000,
            required: "of 60 at most 2 regressions, 6 not pass",
        },
        Question {
            label: "one cell worse by 2 tolerances",
            folder: "slower",
            machine: MACHINE,
            candidate: format!(" --slower-prefill {:.0}%", slowed * 100.0),
            times: slower,
            first_seed: 2000,
            required: "of 20 at least 19 name it",
        },
        Question {
            label: "itself, 0.5 % slower each run",
            folder: "drift",
            machine: Machine {
                drift_per_min: (60.0 / run_s * DRIFT.ln_1p()).exp_m1(),
                ..MACHINE
            },
            candidate: String::new(),
            times: drifting,
            first_seed: 3000,
            required: "of 20 at most 1 regression",
        },
    ];
    head(
        &[
            "Candidate",
            "Number",
            "Verdict",
            "Gated cells that are not ok",
            "Pairs",
            "s",
        ],
        4,
    );
    let asked: Vec<(&Question, Vec<Outcome>)> = questions
        .iter()
        .map(|question| {
            let outcomes = (0..question.times).map(|number| ask(question, number, &folder));
            (question, outcomes.collect())
        })
        .collect();
    println!();
    let named = format!("name {}/{}", CELLS[SLOWED].0, CELLS[SLOWED].1);
    head(
        &[
            "Candidate",
            "Required",
            "Of",
            "regression",
            "not pass",
            "pass",
            "invalid or none",
            &named,
            "its change, %, median",
            "Pairs, median",
            "s, median",
        ],
        2,
    );
    for (question, outcomes) in &asked {
        sum_up(question, outcomes);
    }
}
