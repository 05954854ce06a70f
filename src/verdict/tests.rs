use proptest::prelude::*;

use super::*;
use crate::compare::synthetic::{
    Pairs, archive, fail, gate, reference_archive, run, set, worse_by,
};
use crate::compare::{Sides, compare};
use crate::exit::Exit;
use crate::ident::Digest;
use crate::metric::Metric;
use crate::provenance::{Observation, Pin};
use crate::spec::Policy;
use crate::stats::tests::close;
use crate::summary::{InvalidReason, Run};

const GATES: [(&str, Limit); 3] = [
    ("ttft.p95", worse_by(0.1)),
    ("tpot.p95", worse_by(0.1)),
    ("e2e.p95", worse_by(0.1)),
];
const TTFT: [f64; 5] = [0.14, 0.17, 0.12, 0.16, 0.15];
const TPOT: [f64; 5] = [0.01, -0.02, 0.015, 0.0, 0.01];
const E2E: [f64; 5] = [0.06, 0.10, 0.04, 0.09, 0.07];

fn of(baseline: &[Run], candidate: &[Run], archive: &[Run], gate: &Gate) -> Judgement {
    let sides = Sides {
        baseline,
        candidate,
        archive,
    };
    judge(&compare(&sides, gate, &[]), gate)
}

fn pairs(pairs: &Pairs, gate: &Gate) -> Judgement {
    of(
        &pairs.baseline,
        &pairs.candidate,
        &reference_archive(),
        gate,
    )
}

fn finding<'a>(judgement: &'a Judgement, metric: &str) -> &'a Finding {
    judgement
        .findings
        .iter()
        .find(|finding| finding.gated && finding.cell.metric.to_string() == metric)
        .unwrap()
}

fn state(judgement: &Judgement, metric: &str) -> CellState {
    finding(judgement, metric).state
}

fn fixed(repeats: u32, cells: &[(&str, Limit)]) -> Gate {
    Gate {
        repeats: Some(Repeats {
            min: repeats,
            max: repeats,
        }),
        ..gate(cells)
    }
}

fn shifted(metric: Metric, d: f64) -> Pairs {
    Pairs::new(3).shift(metric, &[d, d + 0.005, d - 0.005])
}

#[test]
fn reference_decision_one() {
    let data = Pairs::new(3)
        .shift(Metric::Ttft, &TTFT)
        .shift(Metric::Tpot, &TPOT)
        .shift(Metric::E2e, &E2E);
    let got = pairs(&data, &gate(&GATES));
    assert_eq!(got.exit, Exit::Regression);
    assert_eq!(got.verdict, Verdict::Regression);
    assert_eq!(got.next, NextLook::Stop);
    assert_eq!(state(&got, "ttft.p95"), CellState::Regressed);
    assert_eq!(state(&got, "tpot.p95"), CellState::Ok);
    assert_eq!(state(&got, "e2e.p95"), CellState::NotFinished);
    let ttft = finding(&got, "ttft.p95").evidence.unwrap();
    close(ttft.p_regression, 3.702_803_7e-7);
    close(ttft.p_adjusted, 2.777_102_8e-6);
    close(ttft.p_pass, 0.997_730_26);
    let tpot = finding(&got, "tpot.p95").evidence.unwrap();
    close(tpot.p_pass, 1.027_574e-5);
    let e2e = finding(&got, "e2e.p95").evidence.unwrap();
    close(e2e.p_adjusted, 0.001_849_717_2);
    let Some(Change::Ratio {
        estimate,
        low,
        high,
    }) = finding(&got, "ttft.p95").change
    else {
        panic!("a ratio");
    };
    close(estimate, 0.143_333_333_f64.exp_m1());
    close(low, 0.113_934_21_f64.exp_m1());
    close(high, 0.172_732_46_f64.exp_m1());
    assert_eq!(got.findings[0].state, CellState::Regressed, "worst first");
}

#[test]
fn reference_decision_two_needs_more_pairs() {
    let data = Pairs::new(5)
        .shift(Metric::Ttft, &TTFT.map(|d| d - 0.14))
        .shift(Metric::Tpot, &TPOT)
        .shift(Metric::E2e, &E2E);
    let got = pairs(&data, &gate(&GATES));
    assert_eq!(got.exit, Exit::Undecided);
    assert_eq!(got.next, NextLook::Repeats(7));
    assert_eq!(state(&got, "ttft.p95"), CellState::Ok);
    assert_eq!(state(&got, "tpot.p95"), CellState::Ok);
    assert_eq!(state(&got, "e2e.p95"), CellState::Inconclusive);
    let e2e = finding(&got, "e2e.p95").evidence.unwrap();
    close(e2e.p_regression, 6.573_66e-6);
    close(e2e.p_adjusted, 9.860_50e-5);
    close(e2e.p_pass, 0.020_597_4);
    assert_eq!(finding(&got, "ttft.p95").evidence.unwrap().repeats, 5);
    let first = Pairs {
        baseline: data.baseline[..3].to_vec(),
        candidate: data.candidate[..3].to_vec(),
    };
    assert_eq!(pairs(&first, &gate(&GATES)).next, NextLook::Repeats(5));
}

#[test]
fn stored_reference() {
    let stored = archive(&[
        vec![4.600, 4.615, 4.590],
        vec![4.640, 4.655, 4.630],
        vec![4.585, 4.600, 4.610],
        vec![4.620, 4.610, 4.600],
        vec![4.650, 4.640, 4.660],
    ]);
    let candidate: Vec<Run> = [4.70_f64, 4.72, 4.71]
        .into_iter()
        .zip(0..)
        .map(|(y, i)| {
            let mut run = run("today", 600 + i);
            set(&mut run, Metric::Ttft, y.exp());
            run
        })
        .collect();
    // Five sessions that differ by 2.4 % resolve 13 %, so 10 % would be demoted.
    let got = of(
        &stored,
        &candidate,
        &[],
        &gate(&[("ttft.p95", worse_by(0.16))]),
    );
    assert!(matches!(
        got.design,
        Design::Stored {
            sessions: 5,
            runs: 3,
            ..
        }
    ));
    let ttft = finding(&got, "ttft.p95").evidence.unwrap();
    close(ttft.p_regression, 0.012_877_2);
    close(ttft.p_adjusted, 0.012_877_2 / 0.6);
    assert_eq!(state(&got, "ttft.p95"), CellState::Inconclusive);
    assert_eq!(got.next, NextLook::Repeats(5));
}

#[test]
fn one_run_against_a_firm_archive_may_pass_and_never_fails() {
    let sessions: Vec<Vec<f64>> = (0..10)
        .map(|i| vec![0.002 * f64::from(i % 3), 0.01, 0.005])
        .collect();
    let stored = archive(&sessions);
    let gate = gate(&[("ttft.p95", worse_by(0.1))]);
    let judged = |y: f64| {
        let mut head = run("today", 600);
        set(&mut head, Metric::Ttft, y.exp());
        of(&stored, &[head], &[], &gate)
    };
    assert_eq!(judged(0.006).exit, Exit::Pass);
    let worse = judged(1.0);
    assert_eq!(state(&worse, "ttft.p95"), CellState::Suspect);
    assert_eq!(
        (worse.exit, worse.next),
        (Exit::Undecided, NextLook::Repeats(3))
    );
    let collapsed = judged(f64::INFINITY);
    assert_eq!(state(&collapsed, "ttft.p95"), CellState::Suspect);
}

#[test]
fn a_small_or_old_archive_is_advisory() {
    let sessions = vec![vec![0.0, 0.01, 0.005]; 4];
    let gate = gate(&[("ttft.p95", worse_by(0.1))]);
    let mut head = run("today", 600);
    set(&mut head, Metric::Ttft, 1.0);
    let small = of(&archive(&sessions), &[head.clone()], &[], &gate);
    assert_eq!(state(&small, "ttft.p95"), CellState::Inconclusive);
    assert!(matches!(
        finding(&small, "ttft.p95").reason,
        Some(Reason::Advisory { .. })
    ));
    let enough = archive(&vec![vec![0.0, 0.01, 0.005]; 8]);
    assert_eq!(of(&enough, &[head.clone()], &[], &gate).exit, Exit::Pass);
    head.started = "2026-04-01T00:00:00Z".to_owned();
    let old = of(&enough, &[head], &[], &gate);
    assert_eq!(state(&old, "ttft.p95"), CellState::Inconclusive);
}

#[test]
fn without_an_archive_the_noise_is_assumed_and_looks_come_later() {
    let gate = gate(&[("ttft.p95", worse_by(0.1))]);
    let judged = |pairs: &Pairs| of(&pairs.baseline, &pairs.candidate, &[], &gate);
    let three = judged(&Pairs::new(3));
    assert_eq!(three.next, NextLook::Repeats(5));
    assert_eq!(state(&three, "ttft.p95"), CellState::Inconclusive);
    let five = judged(&Pairs::new(5));
    assert_eq!((five.exit, five.next), (Exit::Pass, NextLook::Stop));
    assert!(
        five.caveats
            .iter()
            .any(|text| text.starts_with("assumed noise"))
    );
    let fine = of(
        &Pairs::new(5).baseline,
        &Pairs::new(5).candidate,
        &[],
        &fixed(5, &[("ttft.p95", worse_by(0.05))]),
    );
    assert_eq!(state(&fine, "ttft.p95"), CellState::NotResolvable);
    assert_eq!(fine.exit, Exit::Undecided, "no gate remains");
}

#[test]
fn a_demoted_cell_counts_only_where_it_looks_worse() {
    let cells = [("ttft.p95", worse_by(0.02)), ("tpot.p95", worse_by(0.1))];
    let calm = pairs(&Pairs::new(3), &gate(&cells));
    assert_eq!(state(&calm, "ttft.p95"), CellState::NotResolvable);
    assert_eq!(calm.exit, Exit::Pass);
    assert_eq!((calm.headline.passed, calm.headline.undecided), (1, 1));
    let worse = pairs(&shifted(Metric::Ttft, 0.03), &gate(&cells));
    assert_eq!(worse.exit, Exit::Undecided);
    let mut few = Pairs::new(3);
    for run in few.baseline.iter_mut().chain(&mut few.candidate) {
        let pooled = &mut run.stages[0].pooled;
        pooled.distributions.get_mut(&Metric::Ttft).unwrap().n = 150;
    }
    let few = pairs(&few, &gate(&GATES));
    assert_eq!(
        finding(&few, "ttft.p95").reason,
        Some(Reason::FewSamples {
            n: 150,
            needed: 200
        })
    );
    assert_eq!(few.exit, Exit::Pass);
}

#[test]
fn a_candidate_that_collapses_is_a_regression_and_both_sides_are_invalid() {
    let mut one = Pairs::new(3);
    for run in &mut one.candidate {
        set(run, Metric::Ttft, f64::INFINITY);
    }
    let got = pairs(&one, &gate(&GATES));
    assert_eq!(got.exit, Exit::Regression);
    assert_eq!(
        finding(&got, "ttft.p95").reason,
        Some(Reason::CandidateFailed)
    );
    assert_eq!(finding(&got, "ttft.p95").candidate.unwrap().value, None);
    let mut both = one.clone();
    for run in &mut both.baseline {
        set(run, Metric::Ttft, f64::INFINITY);
    }
    let got = pairs(&both, &gate(&GATES));
    assert_eq!(state(&got, "ttft.p95"), CellState::Invalid);
    assert_eq!((got.exit, got.next), (Exit::Invalid, NextLook::Stop));
    let mut once = Pairs::new(3);
    set(&mut once.candidate[1], Metric::Ttft, f64::INFINITY);
    let got = pairs(&once, &gate(&GATES));
    assert_eq!(state(&got, "ttft.p95"), CellState::Suspect);
    assert_eq!(got.next, NextLook::Repeats(5));
}

#[test]
fn goodput_zero_on_the_candidate_alone_is_a_regression_without_a_test() {
    let limit = [("goodput", worse_by(0.05))];
    let mut one = Pairs::new(3);
    for run in &mut one.candidate {
        fail(run, 1000);
    }
    let got = pairs(&one, &gate(&limit));
    assert_eq!(state(&got, "goodput"), CellState::Regressed);
    assert_eq!(finding(&got, "goodput").reason, Some(Reason::FellToZero));
    for run in &mut one.baseline {
        fail(run, 1000);
    }
    assert_eq!(pairs(&one, &gate(&limit)).exit, Exit::Invalid);
}

#[test]
fn goodput_near_full_attainment_is_judged_in_points() {
    let limit = [("goodput", worse_by(0.03))];
    let mut data = Pairs::new(3);
    for (run, bad) in data.candidate.iter_mut().zip([60, 65, 62]) {
        fail(run, bad);
    }
    let got = pairs(&data, &gate(&limit));
    assert_eq!(got.exit, Exit::Regression);
    let Some(Change::Points { estimate, .. }) = finding(&got, "goodput").change else {
        panic!("points");
    };
    close(estimate, -0.187 / 3.0);
    assert_eq!(pairs(&Pairs::new(3), &gate(&limit)).exit, Exit::Pass);
}

#[test]
fn a_fault_of_the_client_drops_the_pair_and_asks_for_another() {
    let mut data = Pairs::new(3);
    data.candidate[1].stages[0].invalid = vec![InvalidReason::ClientCpu { share: 0.95 }];
    let got = pairs(&data, &gate(&GATES));
    assert_eq!(got.next, NextLook::Repeats(4));
    assert!(matches!(got.design, Design::Interleaved { pairs: 2, .. }));
    for run in &mut data.candidate {
        run.stages[0].invalid = vec![InvalidReason::ClientCpu { share: 0.95 }];
    }
    let got = pairs(&data, &gate(&GATES));
    assert_eq!((got.exit, got.next), (Exit::Invalid, NextLook::Stop));
    assert_eq!(got.headline.unmeasured, 3);
    let first = Pairs {
        baseline: data.baseline[..1].to_vec(),
        candidate: data.candidate[..1].to_vec(),
    };
    assert_eq!(pairs(&first, &gate(&GATES)).next, NextLook::Repeats(4));
}

#[test]
fn a_declared_cell_that_no_run_holds_is_missing_and_the_others_are_judged() {
    let cells = [GATES[0], ("itl.p95", worse_by(0.1))];
    let mut data = Pairs::new(3);
    for run in &mut data.candidate {
        let values = &mut run.stages[0].pooled.distributions;
        let e2e = values[&Metric::E2e].clone();
        values.insert(Metric::Ttfa, e2e);
    }
    let got = pairs(&data, &gate(&cells));
    assert_eq!(state(&got, "itl.p95"), CellState::Missing);
    assert_eq!(state(&got, "ttft.p95"), CellState::Ok);
    assert_eq!(got.exit, Exit::Invalid);
    let new = got
        .findings
        .iter()
        .find(|f| f.cell.metric.metric() == Metric::Ttfa);
    assert_eq!(new.unwrap().state, CellState::New);
}

#[test]
fn an_absolute_limit_needs_no_baseline_and_names_what_it_inherits() {
    let limit = [("ttft.p95", Limit::AtMost(0.25))];
    assert_eq!(pairs(&Pairs::new(3), &gate(&limit)).exit, Exit::Pass);
    let broken = pairs(&shifted(Metric::Ttft, 0.5), &gate(&limit));
    assert_eq!(broken.exit, Exit::Regression);
    assert_eq!(finding(&broken, "ttft.p95").reason, None);
    let mut both = shifted(Metric::Ttft, 0.5);
    for run in &mut both.baseline {
        set(run, Metric::Ttft, 0.4);
    }
    let inherited = pairs(&both, &gate(&limit));
    assert_eq!(
        finding(&inherited, "ttft.p95").reason,
        Some(Reason::Inherited)
    );
    assert_eq!(inherited.exit, Exit::Regression);
    let at_least = [("output_throughput", Limit::AtLeast(900.0))];
    assert_eq!(pairs(&Pairs::new(3), &gate(&at_least)).exit, Exit::Pass);
}

#[test]
fn one_run_alone_is_compared_with_its_limits_as_it_is() {
    let limits = [
        ("ttft.p95", Limit::AtMost(0.25)),
        ("error_ratio", Limit::AtMost(0.005)),
    ];
    let mut alone = run("today", 600);
    let got = of(&[], &[alone.clone()], &[], &gate(&limits));
    assert_eq!(got.exit, Exit::Pass);
    assert_eq!(finding(&got, "ttft.p95").reason, Some(Reason::OnThisRun));
    fail(&mut alone, 6);
    let got = of(&[], &[alone], &[], &gate(&limits));
    assert_eq!(state(&got, "error_ratio"), CellState::Regressed);
    assert_eq!(got.exit, Exit::Regression);
}

#[test]
fn error_ratios_against_a_limit_pool_the_runs() {
    let limit = [("error_ratio", Limit::AtMost(0.005))];
    assert_eq!(pairs(&Pairs::new(3), &gate(&limit)).exit, Exit::Pass);
    let mut data = Pairs::new(3);
    for run in &mut data.candidate {
        fail(run, 20);
    }
    assert_eq!(pairs(&data, &gate(&limit)).exit, Exit::Regression);
    for run in &mut data.candidate {
        fail(run, 5);
    }
    let at_limit = pairs(&data, &gate(&limit));
    assert_eq!(at_limit.exit, Exit::Undecided);
    assert_eq!(at_limit.next, NextLook::Repeats(5));
}

#[test]
fn rare_failures_pass_by_their_interval_and_never_regress() {
    let limit = [("error_ratio", Limit::WorseByPoints(0.005))];
    let healthy = pairs(&Pairs::new(3), &gate(&limit));
    assert_eq!(healthy.exit, Exit::Pass);
    let mut data = Pairs::new(3);
    for run in &mut data.candidate {
        fail(run, 6);
    }
    let got = pairs(&data, &gate(&limit));
    assert_eq!(state(&got, "error_ratio"), CellState::Suspect);
    for run in &mut data.candidate {
        fail(run, 40);
    }
    assert_eq!(pairs(&data, &gate(&limit)).exit, Exit::Regression);
}

#[test]
fn an_absolute_floor_widens_the_tolerance() {
    let limit = Limit::WorseBy {
        ratio: 0.1,
        floor: Some(0.1),
    };
    let data = shifted(Metric::Ttft, 0.2);
    assert_eq!(pairs(&data, &gate(&[("ttft.p95", limit)])).exit, Exit::Pass);
    let plain = pairs(&data, &gate(&[("ttft.p95", worse_by(0.1))]));
    assert_eq!(plain.exit, Exit::Regression);
}

#[test]
fn improvements_are_named_and_wonders_are_looked_at() {
    let better = pairs(&shifted(Metric::Ttft, -0.2), &gate(&GATES));
    assert_eq!(state(&better, "ttft.p95"), CellState::Improved);
    assert_eq!((better.exit, better.headline.improved), (Exit::Pass, 1));
    let wonder = pairs(&shifted(Metric::Ttft, -0.8), &gate(&GATES));
    assert_eq!(state(&wonder, "ttft.p95"), CellState::Implausible);
    assert_eq!(wonder.exit, Exit::Undecided);
    let mut lazy = shifted(Metric::Ttft, -0.2);
    for run in &mut lazy.candidate {
        run.stages[0].pooled.tokens.output_observed /= 2;
    }
    let lazy = pairs(&lazy, &gate(&GATES));
    assert_eq!(finding(&lazy, "ttft.p95").reason, Some(Reason::WorkChanged));
    assert_eq!(lazy.exit, Exit::Undecided);
}

#[test]
fn incomparable_sides_are_not_judged_and_limits_still_are() {
    let cells = [GATES[0], ("e2e.p95", Limit::AtMost(1.0))];
    let mut data = Pairs::new(3);
    for (run, name) in data.baseline.iter_mut().zip(["a100"; 3]) {
        let observed = Observation::Seen {
            value: name.to_owned(),
            source: "test".to_owned(),
        };
        let pin = Pin {
            declared: None,
            observed,
        };
        run.pins.insert("hardware.gpu".parse().unwrap(), pin);
    }
    let got = pairs(&data, &gate(&cells));
    assert_eq!(state(&got, "ttft.p95"), CellState::Incomparable);
    assert_eq!(state(&got, "e2e.p95"), CellState::Regressed);
    assert_eq!(got.exit, Exit::Regression);
    let only = pairs(&data, &gate(&cells[..1]));
    assert_eq!((only.exit, only.next), (Exit::Undecided, NextLook::Stop));
}

#[test]
fn policies_map_what_is_undecided_and_say_so() {
    let mut data = Pairs::new(3);
    data.candidate[0].trace_digest = Digest::of(b"other");
    let mut gate = gate(&GATES);
    gate.incomparable = Policy::Pass;
    let got = pairs(&data, &gate);
    assert_eq!((got.verdict, got.exit), (Verdict::Undecided, Exit::Pass));
    assert_eq!(
        got.policy.as_deref(),
        Some("`incomparable: pass` in the spec decides")
    );
    gate.no_baseline = Policy::Fail;
    let got = of(&[], &data.candidate, &[], &gate);
    assert_eq!(state(&got, "ttft.p95"), CellState::New);
    assert_eq!(got.exit, Exit::Regression);
}

#[test]
fn blocked_runs_are_never_convicted_or_acquitted() {
    let side = |session: &str, start: u32, y: f64| -> Vec<Run> {
        (0..3)
            .map(|i| {
                let mut run = run(session, start + i);
                set(&mut run, Metric::Ttft, (y + 0.003 * f64::from(i)).exp());
                run
            })
            .collect()
    };
    let base = side("a", 1, 0.0);
    for (y, expected) in [(0.0, CellState::Inconclusive), (0.5, CellState::Suspect)] {
        let got = of(&base, &side("b", 10, y), &[], &gate(&GATES[..1]));
        assert_eq!(state(&got, "ttft.p95"), expected);
        assert_eq!((got.exit, got.next), (Exit::Undecided, NextLook::Stop));
    }
}

#[test]
fn a_noisy_session_drops_the_archive() {
    let wild = [0.3, -0.3, 0.02];
    let data = Pairs::new(3)
        .shift(Metric::Ttft, &wild)
        .shift(Metric::Tpot, &wild)
        .shift(Metric::E2e, &wild);
    let got = pairs(&data, &gate(&GATES));
    assert!(got.caveats.iter().any(|text| text.contains("noisier")));
    assert_eq!(got.exit, Exit::Undecided);
}

#[test]
fn a_proven_regression_is_not_hidden_by_a_missing_cell() {
    let cells = [GATES[0], ("itl.p95", worse_by(0.1))];
    let got = pairs(&shifted(Metric::Ttft, 0.5), &gate(&cells));
    assert_eq!(state(&got, "itl.p95"), CellState::Missing);
    assert_eq!(
        (got.exit, got.verdict),
        (Exit::Regression, Verdict::Regression)
    );
}

#[test]
fn a_judgement_survives_json() {
    let got = pairs(&shifted(Metric::Ttft, 0.2), &gate(&GATES));
    let json = serde_json::to_string(&got).unwrap();
    assert_eq!(serde_json::from_str::<Judgement>(&json).unwrap(), got);
}

/// What a user of the exit code sees, from good to bad.
const fn badness(exit: Exit) -> u8 {
    match exit {
        Exit::Pass => 0,
        Exit::Undecided | Exit::Invalid | Exit::Usage => 1,
        Exit::Regression => 2,
    }
}

fn random_pairs() -> impl Strategy<Value = Pairs> {
    let d = || prop::collection::vec(-0.3..0.3_f64, 10);
    (0..11_u32, d(), d(), d()).prop_map(|(count, ttft, tpot, e2e)| {
        Pairs::new(count)
            .shift(Metric::Ttft, &ttft)
            .shift(Metric::Tpot, &tpot)
            .shift(Metric::E2e, &e2e)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn comparing_with_itself_is_never_a_finding(data in random_pairs(), copies in 1..4_usize) {
        let x = &data.candidate[..copies.min(data.candidate.len())];
        let same = of(x, x, &[], &gate(&GATES));
        prop_assert!(same.findings.iter().all(|f| f.state != CellState::Regressed));
        prop_assert_eq!(same.exit, if x.is_empty() { same.exit } else { Exit::Undecided });
        // The same figures under other names are an A/A comparison without any noise.
        let twin = Pairs {
            baseline: data.candidate.iter().zip(&data.baseline).map(|(from, to)| Run {
                stages: from.stages.clone(),
                ..to.clone()
            }).collect(),
            candidate: data.candidate.clone(),
        };
        let got = pairs(&twin, &gate(&GATES));
        let worse = [CellState::Regressed, CellState::Suspect];
        prop_assert!(got.findings.iter().all(|f| !worse.contains(&f.state)));
    }

    #[test]
    fn scaling_both_sides_leaves_relative_verdicts_alone(data in random_pairs(), k in 0.1..10.0_f64) {
        let scaled = |runs: &[Run]| -> Vec<Run> {
            runs.iter().map(|run| {
                let mut run = run.clone();
                for metric in [Metric::Ttft, Metric::Tpot, Metric::E2e] {
                    let seconds = run.stages[0].pooled.distributions[&metric].mean_s;
                    set(&mut run, metric, seconds * k);
                }
                run
            }).collect()
        };
        let both = Pairs { baseline: scaled(&data.baseline), candidate: scaled(&data.candidate) };
        let states = |judgement: &Judgement| -> Vec<CellState> {
            GATES.iter().map(|(metric, _)| state(judgement, metric)).collect()
        };
        let (plain, scaled) = (pairs(&data, &gate(&GATES)), pairs(&both, &gate(&GATES)));
        prop_assert_eq!(states(&plain), states(&scaled));
        prop_assert_eq!((plain.exit, plain.next), (scaled.exit, scaled.next));
    }

    #[test]
    fn a_worse_candidate_never_turns_a_fail_into_a_pass(data in random_pairs(), more in 0.0..1.0_f64) {
        let before = pairs(&data, &gate(&GATES));
        let worse = data
            .shift(Metric::Ttft, &[more; 10])
            .shift(Metric::Tpot, &[more; 10])
            .shift(Metric::E2e, &[more; 10]);
        let after = pairs(&worse, &gate(&GATES));
        prop_assert!(badness(after.exit) >= badness(before.exit), "{before:?} {after:?}");
    }
}
