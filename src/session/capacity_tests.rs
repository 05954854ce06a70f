//! Capacity read from the embedded engine's own model, in virtual time: does it find what the model's
//! formula says?

use super::{Place, RunName, VirtualSitting};
use crate::capacity::{self, Capacity, Compared, KneeRule, Verdict, refine};
use crate::diag::Source;
use crate::sim::SimOptions;
use crate::sim::engine::Engine;
use crate::sim::profile::{Constants, NoiseLevel};
use crate::spec;
use crate::summary::{Run, Side};
use crate::unit::Nanos;
use crate::verdict::CellState;

/// A profile under requests of half to one and a half times these tokens, without any prefix in common.
struct Case {
    profile: &'static str,
    input: u32,
    output: u32,
    users: &'static [u32],
    requests: u32,
}

/// Prompts and answers such that each step of the full engine is within its budget of tokens.
const CASES: [Case; 3] = [
    Case {
        profile: "test",
        input: 64,
        output: 32,
        users: &[1, 2, 4, 8, 16],
        requests: 400,
    },
    Case {
        profile: "demo",
        input: 64,
        output: 16,
        users: &[1, 2, 4, 8, 16, 32, 64],
        requests: 800,
    },
    Case {
        profile: "h100-8b",
        input: 512,
        output: 128,
        users: &[16, 32, 64, 128, 256, 512],
        requests: 1500,
    },
];

impl Case {
    fn constants(&self) -> Constants {
        SimOptions::named(self.profile)
            .unwrap()
            .constants()
            .unwrap()
    }

    /// What a step takes on average with so many users in it, in nanoseconds: `a + b n`. Of a request's
    /// steps, as many as its output tokens, all but one decode, one computes the prompt, and the cache
    /// holds the prompt and half of the answer.
    fn step(&self) -> (f64, f64) {
        let cost = self.constants().cost;
        let (input, output) = (f64::from(self.input), f64::from(self.output));
        let each = |span: Nanos| span.get() as f64;
        let b = each(cost.per_sequence) * (output - 1.0) / output
            + each(cost.per_prefill_token) * input / output
            + each(cost.per_kv_token) * (input + output / 2.0);
        (each(cost.base), b)
    }

    /// The users who give 95 % of what a full engine gives: `n / (a + b n) = .95 M / (a + b M)`.
    fn saturation(&self) -> f64 {
        let (a, b) = self.step();
        let full = self.constants().max_num_seqs as f64;
        let wanted = 0.95 * full / (a + b * full);
        wanted * a / (1.0 - wanted * b)
    }

    fn spec(&self, users: &[u32], slo: &str) -> String {
        let Self {
            profile,
            input,
            output,
            requests,
            ..
        } = self;
        // Of one length, all users would go on in step with each other, and no decode would meet a prefill.
        let around = |mean: u32| format!("{{uniform: [{}, {}]}}", mean / 2, mean + mean / 2);
        format!(
            "\
infergate: 1
name: capacity
target: {{sim: {profile}, api: chat}}
workload:
  seed: 7
  output_length: pinned
  classes:
    - {{name: chat, input: {input_range}, output: {output_range}{slo}}}
stages:
  - {{name: sweep, closed: {{users: {users:?}}}, requests: {requests}, warmup: {warmup}}}
gate:
  cells: [{{metric: error_ratio, stages: [\"sweep@{first}\"], at_most: 50%}}]
pins: {{hardware: {{count: 1}}}}
capacity: {{peak: 5000/s}}
cost: {{gpu_hour: 3.5, currency: USD}}
",
            input_range = around(*input),
            output_range = around(*output),
            warmup = 2 * users.iter().max().unwrap(),
            first = users[0],
        )
    }

    /// Runs of the sweep on an engine that decodes so much slower.
    fn runs(&self, users: &[u32], slo: &str, slower: f64, runs: u32) -> Vec<Run> {
        let source = Source {
            path: "capacity.yaml".to_owned(),
            text: self.spec(users, slo),
        };
        let parsed = spec::parse(&source, &|_| None, &|_| Err("none".to_owned())).unwrap();
        let sitting = VirtualSitting::new(parsed.spec).unwrap();
        let mut options = SimOptions::named(self.profile).unwrap();
        options.slower.decode = slower;
        // Its noise is 2 % from one step to the next, which is 10 % of the load where throughput is flat.
        let quiet = Constants {
            noise: NoiseLevel::NONE,
            ..self.constants()
        };
        let mut engine = Engine::new(quiet, options.slower, options.machine, options.seed);
        let mut now = Nanos::from_secs(1);
        let take = |number| {
            let name = RunName {
                started: format!("2026-01-01T00:00:{number:02}Z"),
                stamp: format!("{number:03}"),
                unique: format!("run-{number}"),
                place: Some(Place {
                    pair: number,
                    side: Some(Side::Baseline),
                }),
            };
            let taken = sitting.run(&mut engine, "s", now, name);
            now = taken.ended;
            let mut run = taken.run;
            let gpus = crate::provenance::Pin {
                declared: None,
                observed: crate::provenance::Observation::Seen {
                    value: "1".to_owned(),
                    source: "test".to_owned(),
                },
            };
            run.pins.insert("hardware.count".parse().unwrap(), gpus);
            run
        };
        (0..runs).map(take).collect()
    }

    fn capacity(&self, users: &[u32], slo: &str) -> Capacity {
        capacity::read(&self.runs(users, slo, 0.0, 1), None)
    }
}

/// Whether a load lies no further from another than one step of the grid.
fn is_next_to(load: f64, saturation: f64, users: &[u32]) -> bool {
    let place = |load: f64| users.partition_point(|users| f64::from(*users) < load - 1e-9);
    place(load).abs_diff(place(saturation)) <= 1
}

#[test]
fn the_knee_is_where_the_model_saturates() {
    for case in &CASES {
        let capacity = case.capacity(case.users, "");
        let knee = capacity.sweeps[0].knee.figure().unwrap();
        let saturation = case.saturation();
        assert_eq!(knee.by, KneeRule::Throughput);
        assert!(
            is_next_to(knee.load, saturation, case.users),
            "{}: {} for {saturation}",
            case.profile,
            knee.load
        );
        // The grid doubles, so that says within a factor of two to either side.
        assert!(knee.load > saturation / 2.0 && knee.load < saturation * 4.0);
    }
}

#[test]
fn under_an_slo_the_knee_is_where_the_model_breaks_it() {
    for case in &CASES {
        // Halfway, in factors, between the middle of the grid and the next step.
        let (a, b) = case.step();
        let middle = case.users.len() / 2;
        let limit = f64::from(case.users[middle]) * 2.0_f64.sqrt();
        let tpot = (a + b * limit) / 1e3;
        let capacity = case.capacity(case.users, &format!(", slo: {{tpot: {tpot:.1}us}}"));
        let sweep = &capacity.sweeps[0];
        let knee = sweep.knee.figure().unwrap();
        assert_eq!(knee.by, KneeRule::Goodput);
        assert!(
            is_next_to(knee.load, limit, case.users),
            "{}: knee {} for {limit}",
            case.profile,
            knee.load
        );
        let within = sweep.within_slo.figure().unwrap();
        assert!(
            is_next_to(within.load, limit, case.users),
            "{}: within {} for {limit}",
            case.profile,
            within.load
        );
    }
}

#[test]
fn a_refined_sweep_finds_it_to_a_quarter() {
    for case in &CASES {
        let mut users = case.users.to_vec();
        let mut runs = case.runs(&users, "", 0.0, 1);
        let capacity = loop {
            let capacity = capacity::read(&runs, None);
            let Some(next) = refine::next(&capacity.sweeps[0]) else {
                break capacity;
            };
            // A sweep has two steps at the least.
            let more = case.runs(&[case.users[0], next as u32], "", 0.0, 1);
            runs[0].stages.push(more[0].stages[1].clone());
            users.push(next as u32);
            assert!(users.len() < case.users.len() + 8, "it ends: {users:?}");
        };
        // Throughput is flat there: 1 % of it is 5 % of the load.
        let knee = capacity.sweeps[0].knee.figure().unwrap();
        let off = knee.load / case.saturation();
        assert!(
            (0.8..1.25).contains(&off),
            "{}: {} by {off} in {users:?}",
            case.profile,
            knee.load
        );
        let below = knee.below.unwrap();
        assert!(knee.load <= 1.1 * below || knee.load - below < 1.5);
    }
}

#[test]
fn a_slower_decode_needs_more_replicas_and_costs_more() {
    let case = &CASES[1];
    let slo = ", slo: {tpot: 6ms}";
    let side = |slower| capacity::read(&case.runs(case.users, slo, slower, 3), None);
    // A fifth less speed is a quarter more time.
    let compared = Compared::of(side(0.0), side(0.25));
    let rps = compared.difference.rps.unwrap();
    assert_eq!(rps.verdict, Verdict::Less, "{rps:?}");
    assert!(compared.difference.replicas.unwrap() > 0);
    let price = compared.difference.good_request.unwrap();
    assert_eq!(price.verdict, Verdict::More, "{price:?}");
    // The same engine again has no difference.
    let same = Compared::of(side(0.0), side(0.0));
    assert!(!same.moved(), "{:?}", same.difference);
}

/// Pairs of a sweep, the candidate's engine decoding so much slower, in turns.
fn pairs(case: &Case, users: &[u32], slo: &str, slower: f64) -> [Vec<Run>; 2] {
    let side = |side: Side, slower: f64| -> Vec<Run> {
        let mut runs = case.runs(users, slo, slower, 5);
        for (run, pair) in runs.iter_mut().zip(0_u32..) {
            let second = (side == Side::Candidate) == (pair % 2 == 0);
            run.side = Some(side);
            run.id = format!("{pair}-{side:?}");
            run.started = format!("2026-01-01T00:00:{:02}Z", 2 * pair + u32::from(second));
        }
        runs
    };
    [side(Side::Baseline, 0.0), side(Side::Candidate, slower)]
}

#[test]
fn a_slower_decode_regresses_the_largest_goodput_and_the_same_engine_does_not() {
    let case = &CASES[1];
    let users = &case.users[2..];
    let slo = ", slo: {tpot: 6ms}";
    let text = case.spec(users, slo).replace(
        "{metric: error_ratio, stages: [\"sweep@4\"], at_most: 50%}",
        "{metric: max_goodput, worse_by: 10%}, {metric: goodput, stages: [\"sweep@8\"], worse_by: 10%}",
    );
    let source = Source {
        path: "capacity.yaml".to_owned(),
        text,
    };
    let parsed = spec::parse(&source, &|_| None, &|_| Err("none".to_owned())).unwrap();
    let gate = parsed.spec.gate;
    assert_eq!(gate.cells[0].cell.to_string(), "sweep/max_goodput");
    let judged = |slower: f64| {
        let [baseline, candidate] = pairs(case, users, slo, slower);
        let sides = crate::compare::Sides {
            baseline: &baseline,
            candidate: &candidate,
            archive: &[],
        };
        let under_test = crate::provenance::UnderTest::NOTHING;
        let comparison = crate::compare::compare(&sides, &gate, &under_test);
        let judgement = crate::verdict::judge(&comparison, &gate);
        let gated = judgement.findings.into_iter().filter(|found| found.gated);
        gated
            .map(|found| (found.cell.to_string(), found.state))
            .collect::<Vec<_>>()
    };
    // A fifth less speed is a quarter more time.
    let slower = judged(0.25);
    assert!(
        slower.contains(&("sweep/max_goodput".to_owned(), CellState::Regressed)),
        "{slower:?}"
    );
    let same = judged(0.0);
    assert!(
        same.iter().all(|(_, state)| *state == CellState::Ok),
        "{same:?}"
    );
}
