//! The reference decisions, and what an archive can and can't support.

mod accepts;
mod conditions;
mod max_goodput;
mod patterns;
mod properties;
mod quality;
mod rules;
mod rulings;
mod totality;

use super::*;
use crate::compare::synthetic::{Pairs, archive, gate, reference_archive, run, set, worse_by};
use crate::compare::{Sides, compare};
use crate::exit::Exit;
use crate::metric::Metric;
use crate::provenance::UnderTest;
use crate::spec::Limit;
use crate::stats::tests::close;
use crate::summary::Run;

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
    judge(&compare(&sides, gate, &UnderTest::NOTHING), gate)
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
fn noise_sessions_widen_a_stored_verdict_and_never_move_its_centre() {
    let stored = archive(&vec![vec![4.60, 4.61]; 6]);
    let mut noise = archive(&vec![vec![5.0, 5.1, 5.2]; 8]);
    for run in &mut noise {
        run.session = format!("noise-{}", run.session);
        run.id = format!("noise-{}", run.id);
    }
    let heads: Vec<Run> = (0..3)
        .map(|i| {
            let mut head = run("today", 900 + i);
            for metric in [Metric::Ttft, Metric::Tpot, Metric::E2e] {
                set(&mut head, metric, 4.61_f64.exp());
            }
            head
        })
        .collect();
    let resolvable = |archive: &[Run]| {
        let got = of(
            &stored,
            &heads,
            archive,
            &gate(&[("ttft.p95", worse_by(0.5))]),
        );
        let found = finding(&got, "ttft.p95").clone();
        let Some(Change::Ratio { estimate, .. }) = found.change else {
            panic!("{found:?}");
        };
        close(estimate, 0.005_f64.exp_m1());
        found.evidence.unwrap().resolvable.unwrap()
    };
    assert!(resolvable(&noise) > 3.0 * resolvable(&[]));
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
