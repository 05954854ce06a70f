//! Why not a threshold, or a t-test? How often other methods call a change where there is none, and
//! find one where there is one, beside this procedure, on the same runs.
//!
//! ```sh
//! cargo bench --bench rivals -- 2000
//! ```
//!
//! The runs are those of `infergate::rehearsal` with one gate: run SD 2 %, 3 % of the runs slowed by 5 to
//! 25 %, session SD 1.5 %. Each has 300 requests as well, whose latencies are log-normal with a sigma
//! of 0.5: half of the variance is the request's own and the same in every run, for the trace is pinned,
//! half is that of a queue, an AR(1) with 0.9 between neighbours. All constants are assumed. Deterministic:
//! repetition *k* draws from stream *k* of a fixed seed.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![allow(clippy::unwrap_used, reason = "a bench has nobody to report to")]

#[path = "rivals/statistics.rs"]
#[allow(dead_code, reason = "the tests look closer")]
mod statistics;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::thread;

use infergate::rehearsal::{Draws, Machine};
use infergate::stats::moderated::{Evidence, look};
use infergate::stats::noise::{LOG_FLOOR, Noise, is_noisy};
use infergate::stats::sequential::{Decision, Design, Outlook, Sequential};
use infergate::stats::stored::StoredBaseline;
use infergate::stats::variance;
use statistics::{LEVEL, mann_whitney, prediction_limit, threshold, welch};

const SEED: u64 = 7;
const MACHINE: Machine = Machine {
    run_sd: 0.02,
    outliers: 0.03,
    drift: 0.0,
};
const SESSION_SD: f64 = 0.015;
/// Of the settings with drift, from one run to the next.
const DRIFT: f64 = 0.005;
const REQUESTS: usize = 300;
const REQUEST_SIGMA: f64 = 0.5;
const NEIGHBOURS: f64 = 0.9;
/// True changes of the candidate, in percent.
const CHANGES: [u8; 5] = [0, 3, 5, 10, 20];
/// Runs a side.
const RUNS: [usize; 4] = [1, 3, 5, 10];
const MOST: usize = 10;

/// How the runs of both sides lie in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setting {
    /// In one session, taking turns.
    InTurn,
    /// The baseline in an earlier session.
    OtherSession,
    /// In one session, the baseline first, on a machine that gets slower.
    Blocked,
}

impl Setting {
    const ALL: [Self; 3] = [Self::InTurn, Self::OtherSession, Self::Blocked];

    const fn title(self) -> &'static str {
        match self {
            Self::InTurn => "Runs in turn",
            Self::OtherSession => "Baseline of another session",
            Self::Blocked => "Baseline first, each run 0.5 % slower than the one before",
        }
    }
}

/// A way to decide; a number is that of runs a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Threshold(usize),
    Welch(usize),
    MannWhitney(usize),
    Prediction,
    /// This procedure with a tolerance in percent.
    Ours(u8),
    /// The same with runs in turn where the others' baseline comes first.
    OursInTurn(u8),
}

impl Method {
    fn all() -> Vec<Self> {
        let mut all: Vec<Self> = RUNS.map(Self::Threshold).into();
        all.extend(RUNS[1..].iter().map(|&k| Self::Welch(k)));
        all.extend(RUNS.map(Self::MannWhitney));
        all.push(Self::Prediction);
        all.extend([10, 5].map(Self::Ours));
        all.extend([10, 5].map(Self::OursInTurn));
        all
    }

    fn name(self) -> String {
        match self {
            Self::Threshold(_) => "10 % threshold on the mean".to_owned(),
            Self::Welch(_) => "Welch's t on runs".to_owned(),
            Self::MannWhitney(_) => "Mann–Whitney U on all requests".to_owned(),
            Self::Prediction => "t boundary over 10 earlier runs".to_owned(),
            Self::Ours(tolerance) => format!("**infergate**, tolerance {tolerance} %"),
            Self::OursInTurn(tolerance) => {
                format!("**infergate**, tolerance {tolerance} %, in turn all the same")
            }
        }
    }
}

/// Everything that one repetition draws; log values without change, session or drift.
struct World {
    base: [f64; MOST],
    head: [f64; MOST],
    base_requests: Vec<f64>,
    head_requests: Vec<f64>,
    /// Single runs before.
    history: [f64; MOST],
    history_sessions: [f64; MOST],
    /// Ten sessions of three runs, each with its session.
    archive: Vec<Vec<f64>>,
    base_session: f64,
    head_session: f64,
}

impl World {
    fn draw(trace: &[f64], stream: u64) -> Self {
        let mut draws = Draws::new(SEED, stream);
        let run = |draws: &mut Draws| {
            let mut gate = [0.0];
            draws.run(&MACHINE, &mut gate);
            gate[0]
        };
        let runs = |draws: &mut Draws| std::array::from_fn(|_| run(draws));
        let (base, head, history) = (runs(&mut draws), runs(&mut draws), runs(&mut draws));
        let archive = (0..10)
            .map(|_| {
                let session = SESSION_SD * draws.normal();
                let runs: [f64; MOST] = runs(&mut draws);
                runs[..3].iter().map(|run| run + session).collect()
            })
            .collect();
        Self {
            base,
            head,
            base_requests: requests(&mut draws, trace),
            head_requests: requests(&mut draws, trace),
            history,
            history_sessions: std::array::from_fn(|_| SESSION_SD * draws.normal()),
            archive,
            base_session: SESSION_SD * draws.normal(),
            head_session: SESSION_SD * draws.normal(),
        }
    }
}

/// Log latencies of ten runs' requests, without their run's own effect.
fn requests(draws: &mut Draws, trace: &[f64]) -> Vec<f64> {
    let mut all = Vec::with_capacity(MOST * REQUESTS);
    for _ in 0..MOST {
        let mut queue = draws.normal();
        for own in trace {
            all.push(REQUEST_SIGMA * 0.5_f64.sqrt() * (own + queue));
            queue = NEIGHBOURS * queue + (1.0 - NEIGHBOURS.powi(2)).sqrt() * draws.normal();
        }
    }
    all
}

/// Both sides' log statistics as a method with `k` runs a side sees them.
fn sides(world: &World, setting: Setting, change: f64, k: usize) -> [Vec<f64>; 2] {
    let (base, head) = match setting {
        Setting::InTurn => ([0.0, 0.0], [0.0, 0.0]),
        Setting::OtherSession => ([world.base_session, 0.0], [world.head_session, 0.0]),
        Setting::Blocked => ([0.0, DRIFT], [DRIFT * k as f64, DRIFT]),
    };
    let side = |runs: &[f64], [start, drift]: [f64; 2], change: f64| -> Vec<f64> {
        (runs[..k].iter().enumerate())
            .map(|(i, run)| run + start + drift * i as f64 + change)
            .collect()
    };
    [
        side(&world.base, base, 0.0),
        side(&world.head, head, change),
    ]
}

fn mann_whitney_says(world: &World, setting: Setting, change: f64, k: usize) -> bool {
    let [base, head] = sides(world, setting, change, k);
    let pooled = |runs: &[f64], requests: &[f64]| -> Vec<f64> {
        (runs.iter().zip(requests.chunks_exact(REQUESTS)))
            .flat_map(|(run, requests)| requests.iter().map(move |request| request + run))
            .collect()
    };
    mann_whitney(
        &pooled(&base, &world.base_requests),
        &pooled(&head, &world.head_requests),
    )
    .is_some_and(|test| test.p <= LEVEL)
}

fn prediction_says(world: &World, setting: Setting, change: f64) -> bool {
    let history: Vec<f64> = (world.history.iter().enumerate())
        .map(|(i, run)| match setting {
            Setting::InTurn => *run,
            Setting::OtherSession => run + world.history_sessions[i],
            Setting::Blocked => run + DRIFT * i as f64,
        })
        .collect();
    let new = match setting {
        Setting::InTurn => 0.0,
        Setting::OtherSession => world.head_session,
        Setting::Blocked => DRIFT * MOST as f64,
    };
    prediction_limit(&history).is_some_and(|limit| world.head[0] + new + change > limit)
}

/// The whole procedure; whether it calls a regression, and after how many runs a side.
fn ours(
    world: &World,
    setting: Setting,
    change: f64,
    tolerance: f64,
    in_turn: bool,
) -> (bool, u32) {
    let evidence = Evidence::BeyondZero;
    if setting == Setting::OtherSession && !in_turn {
        let baseline = StoredBaseline::from_sessions(&world.archive, 0, LOG_FLOOR).unwrap();
        let [_, head] = sides(world, setting, change, 5);
        return looks(Design::stored(1, 5), |k| {
            let ratio = variance(&head[..k]) / baseline.noise()?.sigma.powi(2);
            let noisy = k >= 3 && is_noisy(vec![ratio]);
            let look = baseline.look(&head[..k], tolerance, evidence, noisy)?;
            Some(Outlook::of(&look, tolerance))
        });
    }
    let prior = Noise::from_sessions(&world.archive, LOG_FLOOR)
        .unwrap()
        .of_pair();
    let [base, head] = if in_turn {
        sides(world, Setting::InTurn, change, MOST)
    } else {
        sides(world, setting, change, MOST)
    };
    // AB BA AB …: what is second in a pair is a run later.
    let turn = |i: usize| match (in_turn && setting == Setting::Blocked, i % 2) {
        (false, _) => 0.0,
        (true, 0) => DRIFT,
        (true, _) => -DRIFT,
    };
    let differences: Vec<f64> = (0..MOST).map(|i| head[i] - base[i] + turn(i)).collect();
    looks(Design::paired(3, 10), |k| {
        let noisy = is_noisy(vec![variance(&differences[..k]) / prior.variance]);
        let look = look(&differences[..k], prior, tolerance, evidence, noisy)?;
        Some(Outlook::of(&look, tolerance))
    })
}

fn looks(design: Design, outlook: impl Fn(usize) -> Option<Outlook>) -> (bool, u32) {
    let mut sequential = Sequential::new(design, 1);
    let mut taken = 0;
    while let Some(planned) = sequential.next().filter(|_| !sequential.is_settled()) {
        taken = planned.repeats;
        sequential.take(&[outlook(taken as usize)]);
    }
    (sequential.decisions()[0] == Decision::Regression, taken)
}

/// Whether a method calls the candidate worse, and after how many runs a side.
fn says(method: Method, world: &World, setting: Setting, change: f64) -> (bool, u32) {
    match method {
        Method::Threshold(k) => {
            let [base, head] = sides(world, setting, change, k);
            (threshold(&base, &head, 0.1), k as u32)
        }
        Method::Welch(k) => {
            let [base, head] = sides(world, setting, change, k);
            let p = welch(&base, &head).map(|test| test.p);
            (p.is_some_and(|p| p <= LEVEL), k as u32)
        }
        Method::MannWhitney(k) => (mann_whitney_says(world, setting, change, k), k as u32),
        Method::Prediction => (prediction_says(world, setting, change), 1),
        Method::Ours(tolerance) | Method::OursInTurn(tolerance) => {
            let in_turn = matches!(method, Method::OursInTurn(_));
            let tolerance = (f64::from(tolerance) / 100.0).ln_1p();
            ours(world, setting, change, tolerance, in_turn)
        }
    }
}

/// Calls and runs, by setting, method and change.
type Counts = Vec<Vec<[(u64, u64); CHANGES.len()]>>;

fn count(methods: &[Method], trace: &[f64], repetitions: Range<u64>) -> Counts {
    let mut counts = vec![vec![[(0, 0); CHANGES.len()]; methods.len()]; Setting::ALL.len()];
    for stream in repetitions {
        let world = World::draw(trace, stream);
        for (setting, counts) in Setting::ALL.into_iter().zip(&mut counts) {
            for (method, counts) in methods.iter().zip(counts) {
                for (change, (calls, runs)) in CHANGES.into_iter().zip(counts) {
                    let change = (f64::from(change) / 100.0).ln_1p();
                    let (worse, taken) = says(*method, &world, setting, change);
                    *calls += u64::from(worse);
                    *runs += u64::from(taken);
                }
            }
        }
    }
    counts
}

/// The same by all cores.
fn count_all(methods: &[Method], repetitions: u64) -> Counts {
    // The trace is one for all repetitions, as it is pinned.
    let mut draws = Draws::new(SEED, u64::MAX);
    let trace: Vec<f64> = (0..REQUESTS).map(|_| draws.normal()).collect();
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get) as u64;
    let edge = |core: u64| repetitions * core / cores;
    let parts: Vec<Counts> = thread::scope(|scope| {
        let handles: Vec<_> = (0..cores)
            .map(|core| {
                let trace = &trace;
                scope.spawn(move || count(methods, trace, edge(core)..edge(core + 1)))
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect()
    });
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap();
    for part in parts {
        let cells = all.iter_mut().flatten().flatten();
        for ((calls, runs), more) in cells.zip(part.into_iter().flatten().flatten()) {
            *calls += more.0;
            *runs += more.1;
        }
    }
    all
}

fn percent(share: f64) -> String {
    let digits = usize::from(share > 0.0 && share < 0.0995);
    format!("{:.digits$} %", 100.0 * share)
}

fn main() {
    // `cargo test --benches` and `cargo bench` pass switches of the standard harness.
    let repetitions: u64 =
        (std::env::args().skip(1).find_map(|word| word.parse().ok())).unwrap_or(2000);
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let methods = Method::all();
    let counts = count_all(&methods, repetitions);
    let share = |(calls, _): (u64, u64)| calls as f64 / repetitions as f64;
    let runs = |(_, runs): (u64, u64)| {
        let mean = runs as f64 / repetitions as f64;
        if mean.fract() < 1e-9 {
            format!("{mean:.0}")
        } else {
            format!("{mean:.1}")
        }
    };
    println!("{repetitions} comparisons a cell: how often the candidate is called worse\n");
    for (setting, counts) in Setting::ALL.into_iter().zip(&counts) {
        println!("### {}\n", setting.title());
        println!("| method | runs a side | the same | +3 % | +5 % | +10 % | +20 % |");
        println!("|---|--:|--:|--:|--:|--:|--:|");
        for (method, counts) in methods.iter().zip(counts) {
            if matches!(method, Method::OursInTurn(_)) && setting != Setting::Blocked {
                continue;
            }
            let cells = counts.map(|count| percent(share(count)));
            println!(
                "| {} | {} | {} |",
                method.name(),
                runs(counts[0]),
                cells.join(" | ")
            );
        }
        println!();
    }
    println!("### In short\n");
    println!(
        "| method | runs a side | false alarms: in turn | baseline of another day | blocked on a drifting machine | finds +5 % | +10 % | +20 % |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    let short = [
        Method::Threshold(1),
        Method::Threshold(5),
        Method::Welch(5),
        Method::Welch(10),
        Method::MannWhitney(1),
        Method::MannWhitney(5),
        Method::Prediction,
        Method::Ours(10),
        Method::Ours(5),
    ];
    for method in short {
        let of = |method: Method, setting: usize, change: usize| {
            let index = methods.iter().position(|known| *known == method).unwrap();
            percent(share(counts[setting][index][change]))
        };
        let drifting = match method {
            // `ab` takes turns whatever the machine does.
            Method::Ours(tolerance) => format!(
                "{} in turn, {} blocked",
                of(Method::OursInTurn(tolerance), 2, 0),
                of(method, 2, 0)
            ),
            _ => of(method, 2, 0),
        };
        let index = methods.iter().position(|known| *known == method).unwrap();
        println!(
            "| {} | {} | {} | {} | {drifting} | {} | {} | {} |",
            method.name(),
            runs(counts[0][index][0]),
            of(method, 0, 0),
            of(method, 1, 0),
            of(method, 0, 2),
            of(method, 0, 3),
            of(method, 0, 4),
        );
    }
}
