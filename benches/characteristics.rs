//! How often the gate is right, over thousands of reports, on the embedded engine in virtual time.
//!
//! The plan's own requests, the engine's own model with an unsteady machine under it, and the
//! product's own records, summaries, comparison and verdict, look by look as `ab` takes them; only
//! clock and network are missing. `N` reports a question (2,000 unless given), on all cores.
//!
//! ```sh
//! cargo bench --bench characteristics -- 2000
//! ```
//!
//! Everything follows from seeds: the same `N` gives the same table. A cell whose tolerance its
//! report's archive does not allow gates nothing; `gates` counts the others. With tolerances of 10 %
//! and 5 % only those cells are declared whose noise usually allows them.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![allow(clippy::unwrap_used, reason = "a bench has nobody to report to")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

#[allow(dead_code, reason = "each bench uses its part")]
mod rig;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use infergate::compare::{Sides, compare};
use infergate::metric::Cell;
use infergate::provenance::UnderTest;
use infergate::session::{Place, RunName, VirtualSitting};
use infergate::sim::engine::Engine;
use infergate::sim::{Machine, SimOptions};
use infergate::spec::{Gate, Limit};
use infergate::stats::noise::Noise;
use infergate::summary::{Run, Side};
use infergate::unit::Nanos;
use infergate::verdict::{CellState, Judgement, NextLook, Verdict, judge};
use rand::rngs::ChaCha8Rng;
use rand::seq::index::sample;
use rand::{RngExt as _, SeedableRng as _};
use rig::gate::{self, CELLS, MACHINE, MARGIN, SESSIONS, SLOWED};
use rig::{count, head, is_bench, machine, median, row};

/// Sessions that archives are drawn from.
const POOL: u32 = 200;
/// Standard deviation of the logarithm of a session's speed, which both sides share.
const SESSION_SD: f64 = 0.015;
/// From the start of a run to that of the next.
const SLOT: Nanos = Nanos::from_secs(5);
const SLOTS_A_MINUTE: f64 = 12.0;
/// Tolerances of the reference figures: 10 %, throughput 5 %.
const FIXED: [f64; CELLS.len()] = [0.10, 0.10, 0.10, 0.10, 0.10, 0.10, 0.10, 0.05];

/// What becomes worse in the candidate, as multiples of tolerances.
#[derive(Clone, Copy)]
enum Shift {
    None,
    /// One cell after the other, a report each.
    OneInTurn(f64),
    All(f64),
}

/// How tolerances and archives are chosen.
#[derive(Clone, Copy, PartialEq)]
enum Tolerances {
    /// As given, with an archive of ten sessions.
    Fixed,
    /// So many times the finest that the report's own archive of eight sessions allows.
    Allowed(f64),
}

impl Tolerances {
    const fn sessions(self) -> usize {
        match self {
            Self::Fixed => 10,
            Self::Allowed(_) => SESSIONS as usize,
        }
    }
}

struct Question {
    label: &'static str,
    tolerances: Tolerances,
    shift: Shift,
}

const QUESTIONS: [Question; 8] = [
    Question {
        label: "A/A",
        tolerances: Tolerances::Fixed,
        shift: Shift::None,
    },
    Question {
        label: "all at tolerance",
        tolerances: Tolerances::Fixed,
        shift: Shift::All(1.0),
    },
    Question {
        label: "all at 2 tolerances",
        tolerances: Tolerances::Fixed,
        shift: Shift::All(2.0),
    },
    Question {
        label: "one at 2 tolerances",
        tolerances: Tolerances::Fixed,
        shift: Shift::OneInTurn(2.0),
    },
    Question {
        label: "A/A",
        tolerances: Tolerances::Allowed(1.0),
        shift: Shift::None,
    },
    Question {
        label: "one at 2 tolerances",
        tolerances: Tolerances::Allowed(1.0),
        shift: Shift::OneInTurn(2.0),
    },
    Question {
        label: "A/A",
        tolerances: Tolerances::Allowed(MARGIN),
        shift: Shift::None,
    },
    Question {
        label: "one at 2 tolerances",
        tolerances: Tolerances::Allowed(MARGIN),
        shift: Shift::OneInTurn(2.0),
    },
];
const SLOWER: [Question; 1] = [Question {
    label: "prefill slower",
    tolerances: Tolerances::Allowed(MARGIN),
    shift: Shift::None,
}];

/// How runs are taken.
#[derive(Clone, Copy)]
struct Conditions {
    label: &'static str,
    first_seed: u64,
    /// Drift a run, mean and standard deviation between reports.
    drift: (f64, f64),
    /// How much slower the candidate's prefill is.
    slower_prefill: f64,
    questions: &'static [Question],
}

/// A standard normal by the Box–Muller transform.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// When a run starts that begins in this slot of a day, as run files say it.
fn started(day: u32, slot: u32) -> String {
    let second = slot * 5;
    format!(
        "2026-01-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// One sitting in virtual time: an engine for each side, and the pairs so far.
struct Session<'a> {
    sitting: &'a VirtualSitting,
    engines: [Engine; 2],
    name: String,
    day: u32,
    slot: u32,
    baseline: Vec<Run>,
    candidate: Vec<Run>,
}

impl<'a> Session<'a> {
    fn new(sitting: &'a VirtualSitting, seed: u64, day: u32, conditions: Conditions) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // The session's speed and its drift are the machine's: both sides have them.
        let speed = (SESSION_SD * normal(&mut random)).exp() - 1.0;
        let (mean, sd) = conditions.drift;
        let drift = mean + sd * normal(&mut random);
        let machine = Machine {
            drift_per_min: (1.0 + drift).powf(SLOTS_A_MINUTE) - 1.0,
            ..MACHINE
        };
        let mut engine = |slower_prefill: f64| {
            let mut options: SimOptions = gate::engine(machine, random.random());
            options.slower.all = speed;
            options.slower.prefill = slower_prefill;
            options.engine().unwrap()
        };
        Self {
            sitting,
            engines: [engine(0.0), engine(conditions.slower_prefill)],
            name: format!("s{seed}"),
            day,
            slot: 0,
            baseline: Vec::new(),
            candidate: Vec::new(),
        }
    }

    fn take(&mut self, side: Side, place: Option<(u32, Side)>) -> Run {
        let slot = self.slot;
        self.slot += 1;
        let name = RunName {
            started: started(self.day, slot),
            stamp: format!("{slot:03}"),
            unique: format!("{}-{slot}", self.name),
            place: place.map(|(pair, side)| Place {
                pair,
                side: Some(side),
            }),
        };
        let start = Nanos::new(SLOT.get() * u64::from(slot));
        let engine = &mut self.engines[side as usize];
        let taken = self.sitting.run(engine, &self.name, start, name);
        assert!(taken.ended < start + SLOT, "a run is shorter than its slot");
        taken.run
    }

    /// Takes pairs until there are so many: A B, B A, A B, …
    fn take_pairs(&mut self, wanted: u32) {
        for pair in self.baseline.len() as u32..wanted {
            let order = if pair.is_multiple_of(2) {
                [Side::Baseline, Side::Candidate]
            } else {
                [Side::Candidate, Side::Baseline]
            };
            for side in order {
                let run = self.take(side, Some((pair, side)));
                match side {
                    Side::Baseline => self.baseline.push(run),
                    Side::Candidate => self.candidate.push(run),
                }
            }
        }
    }

    /// Judges look by look, as `ab` does, taking more pairs where a look needs them.
    fn judge(&mut self, archive: &[Run], gate: &Gate, shift: &[f64]) -> (Judgement, u32) {
        let mut wanted = 1;
        loop {
            self.take_pairs(wanted);
            let mut candidate = self.candidate[..wanted as usize].to_vec();
            for run in &mut candidate {
                for (cell, by) in gate.cells.iter().zip(shift) {
                    let sign = cell.cell.metric.metric().direction().sign();
                    *gate::value(run, &cell.cell) *= (sign * by).exp();
                }
            }
            let sides = Sides {
                baseline: &self.baseline[..wanted as usize],
                candidate: &candidate,
                archive,
            };
            let judgement = judge(&compare(&sides, gate, &UnderTest::NOTHING), gate);
            match judgement.next {
                NextLook::Repeats(repeats) if repeats > wanted => wanted = repeats,
                NextLook::Repeats(_) | NextLook::Stop => return (judgement, wanted),
            }
        }
    }
}

/// What became of one report.
#[derive(Clone, Copy, Default)]
struct Outcome {
    failed: bool,
    passed: bool,
    pairs: u32,
    /// Gated cells with a tolerance, by what became of them.
    regressed: u32,
    ok: u32,
    undecided: u32,
    /// Whose tolerance the report's archive does not allow: they gate nothing.
    demoted: u32,
    /// Whether the cell that was meant to regress did; `None` where none was, or it gates nothing.
    detected: Option<bool>,
}

fn outcome(judgement: &Judgement, pairs: u32, meant: Option<&Cell>) -> Outcome {
    let mut outcome = Outcome {
        failed: judgement.verdict == Verdict::Regression,
        passed: judgement.verdict == Verdict::Pass,
        pairs,
        ..Outcome::default()
    };
    for finding in judgement.findings.iter().filter(|finding| finding.gated) {
        if !finding.limit.is_some_and(Limit::is_relative) {
            continue;
        }
        if Some(&finding.cell) == meant && finding.state != CellState::NotResolvable {
            outcome.detected = Some(finding.state == CellState::Regressed);
        }
        match finding.state {
            CellState::Regressed => outcome.regressed += 1,
            CellState::Ok | CellState::Improved => outcome.ok += 1,
            CellState::NotResolvable => outcome.demoted += 1,
            _ => outcome.undecided += 1,
        }
    }
    outcome
}

/// Sessions of the baseline from which archives are drawn.
struct Pool(Vec<Vec<Run>>);

impl Pool {
    fn draw(&self, sessions: usize, random: &mut ChaCha8Rng) -> Vec<Run> {
        let drawn = sample(random, self.0.len(), sessions);
        drawn.iter().flat_map(|i| self.0[i].clone()).collect()
    }
}

/// Does a piece of work for each number below `count`, on all cores.
fn on_all_cores<T: Send>(count: u32, work: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU32::new(0);
    let mut done: Vec<(u32, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores)
            .map(|_| {
                scope.spawn(|| {
                    let mut done = Vec::new();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return done;
                        }
                        done.push((number, work(number)));
                    }
                })
            })
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap());
        joined.flatten().collect()
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

/// All questions of some conditions about one report; they share its runs.
fn report(
    sitting: &VirtualSitting,
    pool: &Pool,
    fixed: &Gate,
    conditions: Conditions,
    number: u32,
) -> Vec<Outcome> {
    let seed = conditions.first_seed + u64::from(number);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(1);
    let mut session = Session::new(sitting, seed, 20, conditions);
    let spec = &sitting.spec().gate;
    let ask = |question: &Question| {
        let archive = pool.draw(question.tolerances.sessions(), &mut random);
        let gate = match question.tolerances {
            Tolerances::Fixed => fixed.clone(),
            Tolerances::Allowed(margin) => {
                gate::with_tolerances(spec, &gate::tolerances(&archive, spec, margin))
            }
        };
        let cells = gate.cells.iter().filter(|cell| cell.limit.is_relative());
        let (cells, logs): (Vec<&Cell>, Vec<f64>) = cells
            .map(|cell| (&cell.cell, gate::log_tolerance(cell)))
            .unzip();
        let in_turn = number as usize % cells.len();
        let meant = match question.shift {
            Shift::None if conditions.slower_prefill > 0.0 => Some(SLOWED),
            Shift::OneInTurn(_) => Some(in_turn),
            Shift::None | Shift::All(_) => None,
        };
        let by = |i: usize| match question.shift {
            Shift::OneInTurn(by) if i == in_turn => by,
            Shift::All(by) => by,
            Shift::OneInTurn(_) | Shift::None => 0.0,
        };
        let shift: Vec<f64> = logs
            .iter()
            .enumerate()
            .map(|(i, log)| by(i) * log)
            .collect();
        let (judgement, pairs) = session.judge(&archive, &gate, &shift);
        outcome(&judgement, pairs, meant.map(|i| cells[i]))
    };
    conditions.questions.iter().map(ask).collect()
}

fn share(outcomes: &[Outcome], of: impl Fn(&Outcome) -> f64) -> f64 {
    outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64
}

fn yes(of: bool) -> f64 {
    f64::from(u8::from(of))
}

fn print(conditions: Conditions, question: &Question, outcomes: &[Outcome]) {
    let share = |of: &dyn Fn(&Outcome) -> f64| share(outcomes, of);
    let gates = share(&|o| f64::from(o.regressed + o.ok + o.undecided));
    let asked: Vec<f64> = outcomes
        .iter()
        .filter_map(|o| o.detected)
        .map(yes)
        .collect();
    let detected = if asked.is_empty() {
        "–".to_owned()
    } else {
        format!("{:.3}", asked.iter().sum::<f64>() / asked.len() as f64)
    };
    let tolerances = match question.tolerances {
        Tolerances::Fixed => "10 %, 5 %".to_owned(),
        Tolerances::Allowed(margin) => format!("{margin} × finest"),
    };
    row(&[
        conditions.label.to_owned(),
        question.label.to_owned(),
        tolerances,
        format!("{gates:.1}"),
        format!("{:.3}", share(&|o| yes(o.failed))),
        format!("{:.3}", share(&|o| yes(o.passed))),
        format!("{:.3}", share(&|o| f64::from(o.regressed)) / gates),
        format!("{:.3}", share(&|o| f64::from(o.ok)) / gates),
        format!("{:.3}", share(&|o| f64::from(o.undecided)) / gates),
        format!("{:.1}", share(&|o| f64::from(o.pairs))),
        format!(
            "{:.0}",
            median(outcomes.iter().map(|o| f64::from(o.pairs)).collect())
        ),
        detected,
    ]);
}

/// Prints what an independent implementation of the procedure found on another queue: gates chosen at
/// power .95, tolerances of 10 % and 5 %, 1,000 requests a run, archives of ten sessions.
fn print_reference() {
    let rows = [
        [
            "interleaved",
            "A/A",
            ".005",
            ".845",
            "–",
            ".976",
            ".023",
            "5.9",
            "–",
        ],
        [
            "drift 0.5 ± 0.4 %/run",
            "A/A",
            ".005",
            ".726",
            "–",
            ".964",
            ".035",
            "7.2",
            "–",
        ],
        [
            "interleaved",
            "all at tolerance",
            "–",
            "–",
            ".474",
            ".026",
            "–",
            "–",
            "–",
        ],
        [
            "drift 0.5 ± 0.4 %/run",
            "all at tolerance",
            "–",
            "–",
            ".475",
            ".021",
            "–",
            "–",
            "–",
        ],
        [
            "interleaved",
            "all at 2 tolerances",
            "–",
            "–",
            ".963",
            "–",
            "–",
            "–",
            "–",
        ],
        [
            "drift 0.5 ± 0.4 %/run",
            "all at 2 tolerances",
            "–",
            "–",
            ".960",
            "–",
            "–",
            "–",
            "–",
        ],
        [
            "interleaved",
            "one at 2 tolerances",
            "–",
            "–",
            "–",
            "–",
            "–",
            "–",
            "1.000",
        ],
        [
            "drift 0.5 ± 0.4 %/run",
            "one at 2 tolerances",
            "–",
            "–",
            "–",
            "–",
            "–",
            "–",
            "1.000",
        ],
    ];
    println!(
        "\nReference: another queue's simulator and another implementation of the procedure.\n"
    );
    head(
        &[
            "Runs",
            "Candidate",
            "report fails",
            "passes",
            "gate regressed",
            "ok",
            "undecided",
            "pairs, mean",
            "detected",
        ],
        2,
    );
    for cells in rows {
        row(&cells.map(str::to_owned));
    }
}

/// Prints the cells with their noise and what it allows, over many archives; the gate with the
/// reference's tolerances and those cells that it can resolve.
fn print_cells(sitting: &VirtualSitting, pool: &Pool) -> Gate {
    let gate = &sitting.spec().gate;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let archives: Vec<Vec<_>> = (0..100)
        .map(|_| gate::noise(&pool.draw(10, &mut random), gate))
        .collect();
    head(
        &["Cell", "noise, %", "finest at power .95, %", "at .99, %"],
        1,
    );
    let mut kept = gate::with_tolerances(gate, &FIXED);
    for (i, declared) in gate.cells.iter().take(CELLS.len()).enumerate() {
        let cell = &declared.cell;
        let middle =
            |of: &dyn Fn(Noise) -> f64| median(archives.iter().map(|all| of(all[i])).collect());
        let finest = |power| middle(&|noise| gate::finest(noise, cell, gate, power));
        let [sigma, usual, sure] = [
            middle(&|noise| noise.sigma),
            finest(0.95),
            finest(gate::POWER),
        ];
        if usual > FIXED[i] {
            kept.cells.retain(|other| other.cell != *cell);
        }
        let mut cells = vec![cell.to_string()];
        cells.extend([sigma, usual, sure].map(|value| format!("{:.1}", value * 100.0)));
        row(&cells);
    }
    println!();
    kept
}

fn main() {
    if !is_bench() {
        return;
    }
    let times = count(2000).max(1);
    let began = Instant::now();
    let sitting = VirtualSitting::new(gate::parse(gate::text(&FIXED))).unwrap();
    let calm = Conditions {
        label: "interleaved",
        first_seed: 1_000_000,
        drift: (0.0, 0.0),
        slower_prefill: 0.0,
        questions: &QUESTIONS,
    };
    let pool = Pool(on_all_cores(POOL, |number| {
        let day = 1 + number / 15;
        let mut session = Session::new(&sitting, u64::from(number), day, calm);
        session.slot = number % 15 * 1000;
        (0..gate::RUNS_OF_A_SESSION)
            .map(|_| session.take(Side::Baseline, None))
            .collect()
    }));
    let wanted = {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let archives = (0..50).map(|_| pool.draw(SESSIONS as usize, &mut random));
        let gate = &sitting.spec().gate;
        median(
            archives
                .map(|archive| gate::tolerances(&archive, gate, MARGIN)[SLOWED])
                .collect(),
        )
    };
    println!(
        "{times} reports a question in virtual time, run SD 1.5 %, session SD 1.5 %, 3 % of runs 5 % to \
         25 % slower, steps 3 %. {}.\n",
        machine()
    );
    let fixed = print_cells(&sitting, &pool);
    let (slower, moved) = gate::slowdown(&sitting, wanted);
    println!(
        "Prefill {:.0} % slower moves {} by {:.1} %, twice a tolerance of {:.0} %.\n",
        slower * 100.0,
        sitting.spec().gate.cells[SLOWED].cell,
        moved * 100.0,
        wanted * 100.0
    );
    let all = [
        calm,
        Conditions {
            label: "drift 0.5 ± 0.4 %/run",
            first_seed: 2_000_000,
            drift: (0.005, 0.004),
            ..calm
        },
        Conditions {
            label: "interleaved",
            first_seed: 3_000_000,
            slower_prefill: slower,
            questions: &SLOWER,
            ..calm
        },
    ];
    head(
        &[
            "Runs",
            "Candidate",
            "Tolerances",
            "gates",
            "report fails",
            "passes",
            "gate regressed",
            "ok",
            "undecided",
            "pairs, mean",
            "median",
            "detected",
        ],
        3,
    );
    for conditions in all {
        let reports = on_all_cores(times, |number| {
            report(&sitting, &pool, &fixed, conditions, number)
        });
        for (i, question) in conditions.questions.iter().enumerate() {
            let outcomes: Vec<Outcome> = reports.iter().map(|report| report[i]).collect();
            print(conditions, question, &outcomes);
        }
    }
    print_reference();
    println!("\n{:.0} s in all.", began.elapsed().as_secs_f64());
}
