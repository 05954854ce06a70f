//! The gate that two benches question: its spec, the machine that it runs on, and tolerances that
//! the machine's noise allows.

use std::fmt::Write as _;

use infergate::compare::{Sides, compare};
use infergate::diag::Source;
use infergate::metric::{Cell, Direction, Kind, Statistic};
use infergate::provenance::UnderTest;
use infergate::session::{RunName, VirtualSitting};
use infergate::sim::{Machine, Profile, SimOptions};
use infergate::spec::{self, Gate, GateCell, Limit, Spec};
use infergate::stats::moderated::smallest_resolvable;
use infergate::stats::noise::{LOG_FLOOR, Noise};
use infergate::stats::sequential::PlannedLook;
use infergate::summary::Run;
use infergate::unit::Nanos;
use infergate::verdict::{Mode, planned_looks};

/// Power with which the last look has to resolve a tolerance.
pub(crate) const POWER: f64 = 0.99;
/// Tolerances are so many times the finest ones: what slow runs add is not in an archive's noise.
pub(crate) const MARGIN: f64 = 2.0;
/// An archive's sessions and their runs.
pub(crate) const SESSIONS: u32 = 8;
pub(crate) const RUNS_OF_A_SESSION: u32 = 3;
/// No tolerance is finer than this, however quiet the machine.
const FINEST: f64 = 0.05;

/// A machine as statistics of real ones have it: every step scatters, every run, and some runs are
/// much slower. No stalls: one of 50 ms and more is longer than an answer of this engine.
pub(crate) const MACHINE: Machine = Machine {
    step_noise: Some(0.03),
    stalls_per_s: None,
    run_noise: 0.015,
    run_outliers: 0.03,
    drift_per_min: 0.0,
};

/// The gated cells with a tolerance, by stage and metric.
pub(crate) const CELLS: [(&str, &str); 8] = [
    ("open", "ttft.p50"),
    ("open", "ttft.p95"),
    ("open", "tpot.p95"),
    ("open", "e2e.p95"),
    ("closed", "tpot.p50"),
    ("closed", "tpot.p95"),
    ("closed", "e2e.p95"),
    ("closed", "output_throughput"),
];

/// The cell that the candidate's slower prefill is to move by twice its tolerance.
pub(crate) const SLOWED: usize = 1;

/// The words of this machine's switches.
pub(crate) fn words(machine: Machine) -> String {
    let mut words = String::new();
    let percent = |share: f64| format!("{:.6}%", share * 100.0);
    let mut add = |flag: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = write!(words, " --{flag} {value}");
    };
    if let Some(noise) = machine.step_noise {
        add("step-noise", percent(noise));
    }
    if let Some(rate) = machine.stalls_per_s {
        add("stalls", format!("{rate}/s"));
    }
    add("run-noise", percent(machine.run_noise));
    add("run-outliers", percent(machine.run_outliers));
    add("drift", percent(machine.drift_per_min));
    words.split_off(1)
}

/// The spec, in runs of about three seconds with as few requests as a p95 takes.
pub(crate) fn text(tolerances: &[f64; CELLS.len()]) -> String {
    let mut text = "\
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
    - {name: chat, weight: 1, input: {lognormal: {p50: 24, p95: 48}}, output: {uniform: [12, 20]}}
stages:
  - {name: open, open: {rate: 120/s, arrivals: poisson}, requests: 220, warmup: 20}
  - {name: closed, closed: {users: 8}, requests: 220, warmup: 20}
gate:
  cells:
"
    .to_owned();
    for ((stage, metric), tolerance) in CELLS.iter().zip(tolerances) {
        let percent = tolerance * 100.0;
        let _ = writeln!(
            text,
            "    - {{metric: {metric}, stages: [{stage}], worse_by: {percent:.0}%}}"
        );
    }
    text.push_str("    - {metric: error_ratio, at_most: 2%}\n");
    text
}

/// A spec from its text.
pub(crate) fn parse(text: String) -> Spec {
    let source = Source {
        path: "the bench's spec".to_owned(),
        text,
    };
    let no_files = |_: spec::FileAsk<'_>| Err("none".to_owned());
    spec::parse(&source, &|_| None, &no_files).unwrap().spec
}

/// The gate with these tolerances.
pub(crate) fn with_tolerances(gate: &Gate, tolerances: &[f64]) -> Gate {
    let mut gate = gate.clone();
    for (cell, &ratio) in gate.cells.iter_mut().zip(tolerances) {
        cell.limit = Limit::WorseBy { ratio, floor: None };
    }
    gate
}

/// The last of the looks that pairs with an archive have.
pub(crate) fn last_look(gate: &Gate) -> PlannedLook {
    planned_looks(Mode::Pairs, gate).last()
}

/// What an archive says of the noise of each cell with a tolerance.
pub(crate) fn noise(archive: &[Run], gate: &Gate) -> Vec<Noise> {
    // A session's own runs don't count as its archive.
    let apart = [Run {
        session: "none".to_owned(),
        ..archive[0].clone()
    }];
    let sides = Sides {
        baseline: &apart,
        candidate: &apart,
        archive,
    };
    let cells = compare(&sides, gate, &UnderTest::NOTHING).cells;
    cells
        .iter()
        .filter(|cell| cell.limit.is_some_and(Limit::is_relative))
        .map(|cell| {
            let sessions: Vec<Vec<f64>> = cell
                .sessions
                .iter()
                .map(|runs| {
                    runs.iter()
                        .map(|run| run.measured().unwrap().ln())
                        .collect()
                })
                .collect();
            Noise::from_sessions(&sessions, LOG_FLOOR).unwrap()
        })
        .collect()
}

/// The smallest tolerance that the last look resolves under this noise.
pub(crate) fn finest(noise: Noise, cell: &Cell, gate: &Gate, power: f64) -> f64 {
    let last = last_look(gate);
    let log = smallest_resolvable(noise.of_pair(), last.repeats, last.pass, power);
    match cell.metric.metric().direction() {
        Direction::LowerIsBetter => log.exp_m1(),
        Direction::HigherIsBetter => -(-log).exp_m1(),
    }
}

/// Tolerances in whole percents, `margin` times the finest that the noise of this archive allows.
pub(crate) fn tolerances(archive: &[Run], gate: &Gate, margin: f64) -> [f64; CELLS.len()] {
    let all = noise(archive, gate);
    std::array::from_fn(|i| {
        let finest = finest(all[i], &gate.cells[i].cell, gate, POWER);
        ((margin * finest * 100.0).ceil() / 100.0).max(FINEST)
    })
}

/// A tolerance as the procedure has it: a difference of logarithms, positive where worse.
pub(crate) fn log_tolerance(cell: &GateCell) -> f64 {
    let Limit::WorseBy { ratio, .. } = cell.limit else {
        return 0.0;
    };
    match cell.cell.metric.metric().direction() {
        Direction::LowerIsBetter => ratio.ln_1p(),
        Direction::HigherIsBetter => -(-ratio).ln_1p(),
    }
}

/// The value of a cell in a run, to be read or changed. Of a percentile, the one that gates.
pub(crate) fn value<'a>(run: &'a mut Run, cell: &Cell) -> &'a mut f64 {
    let stage = cell.stage.as_deref().unwrap();
    let mut stages = run.stages.iter_mut();
    let class = &mut stages.find(|s| s.name == stage).unwrap().pooled;
    let metric = cell.metric.metric();
    match (metric.kind(), cell.metric.statistic()) {
        (Kind::Distribution, Statistic::Quantile(quantile)) => {
            let distribution = class.distributions.get_mut(&metric).unwrap();
            let value = distribution.quantiles.get_mut(&quantile).unwrap();
            value.adjusted_s.as_mut().unwrap()
        }
        _ => class.rates.output_tps.as_mut().unwrap(),
    }
}

/// The demo's engine on a machine.
pub(crate) fn engine(machine: Machine, seed: u64) -> SimOptions {
    let mut options = SimOptions::new(Profile::find("demo").unwrap());
    options.machine = machine;
    options.seed = seed;
    options
}

/// How much slower a prefill moves the cell [`SLOWED`] by twice this tolerance, and by how much it
/// moves it then, on average over virtual runs.
pub(crate) fn slowdown(sitting: &VirtualSitting, tolerance: f64) -> (f64, f64) {
    const RUNS: u32 = 20;
    let mut slowed = sitting.spec().gate.cells[SLOWED].clone();
    slowed.limit = Limit::WorseBy {
        ratio: tolerance,
        floor: None,
    };
    let cell = &slowed.cell;
    let calm = Machine {
        run_noise: 0.0,
        run_outliers: 0.0,
        stalls_per_s: None,
        ..MACHINE
    };
    let mean = |slower: f64| -> f64 {
        let runs = (0..RUNS).map(|seed| {
            let mut options = engine(calm, seed.into());
            options.slower.prefill = slower;
            let name = RunName {
                started: String::new(),
                stamp: String::new(),
                unique: seed.to_string(),
                place: None,
            };
            let engine = &mut options.engine().unwrap();
            let mut taken = sitting.run(engine, "slowdown", Nanos::ZERO, name);
            value(&mut taken.run, cell).ln()
        });
        runs.sum::<f64>() / f64::from(RUNS)
    };
    let (before, wanted) = (mean(0.0), 2.0 * log_tolerance(&slowed));
    let (mut low, mut high) = (0.0, 2.0);
    for _ in 0..8 {
        let middle = f64::midpoint(low, high);
        if mean(middle) - before < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    let slower = (high * 100.0).round() / 100.0;
    (slower, (mean(slower) - before).exp_m1())
}
