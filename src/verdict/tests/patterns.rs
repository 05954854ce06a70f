//! Cells that are seen together: what a gain buys, and what all of them say of the machine.

use super::*;
use crate::compare::synthetic::cell;
use crate::spec::Trade;

/// TTFT may lose 5 %, or 12 % if output throughput gains 15 %.
fn trading() -> Gate {
    let mut gate = gate(&[("ttft.p95", worse_by(0.05))]);
    gate.cells[0].trade = Some(Trade {
        gain: cell("output_throughput"),
        better_by: 0.15,
        up_to: 0.12,
    });
    gate
}

fn with_throughput(mut data: Pairs, d: &[f64]) -> Pairs {
    for (run, d) in data.candidate.iter_mut().zip(d) {
        let rates = &mut run.stages[0].pooled.rates;
        rates.output_tps = rates.output_tps.map(|rate| rate * d.exp());
    }
    data
}

#[test]
fn a_shown_gain_widens_the_tolerance_up_to_its_cap() {
    let gained = [0.18, 0.17, 0.175];
    let lost = |d: f64| shifted(Metric::Ttft, d);
    let judged = |data: Pairs| pairs(&data, &trading());

    let without = judged(lost(0.08));
    assert_eq!(state(&without, "ttft.p95"), CellState::Regressed);
    let reason = |judgement: &Judgement| finding(judgement, "ttft.p95").reason.clone();
    assert!(matches!(
        reason(&without),
        Some(Reason::TradeNotShown { by: Some(by), .. }) if by.abs() < 1e-9
    ));

    let with = judged(with_throughput(lost(0.06), &gained));
    assert_eq!(state(&with, "ttft.p95"), CellState::Ok, "{with:?}");
    assert!(matches!(reason(&with), Some(Reason::Traded { by, .. }) if (by - 0.191).abs() < 0.01));

    let beyond_the_cap = judged(with_throughput(lost(0.16), &gained));
    assert_eq!(state(&beyond_the_cap, "ttft.p95"), CellState::Regressed);

    let too_small = judged(with_throughput(lost(0.08), &[0.10, 0.10, 0.10]));
    assert_eq!(state(&too_small, "ttft.p95"), CellState::Regressed);

    // 17 % on average, and all over the place.
    let wild = judged(with_throughput(lost(0.08), &[0.6, -0.2, 0.1]));
    assert_eq!(state(&wild, "ttft.p95"), CellState::Regressed);

    // More tokens than asked for are no gain.
    let mut other_work = with_throughput(lost(0.08), &gained);
    for run in &mut other_work.candidate {
        run.stages[0].pooled.tokens.output_observed *= 2;
    }
    assert_ne!(state(&judged(other_work), "ttft.p95"), CellState::Ok);
}

#[test]
fn cells_that_all_move_alike_point_at_the_machine() {
    let slower = |ttft: f64, tpot: f64, e2e: f64| {
        let d = |d: f64| [d, d + 0.004, d - 0.004];
        let data = Pairs::new(3)
            .shift(Metric::Ttft, &d(ttft))
            .shift(Metric::Tpot, &d(tpot))
            .shift(Metric::E2e, &d(e2e));
        pairs(&data, &gate(&GATES)).shift
    };
    // Throughput of the closed loop has not moved, so it is no machine yet.
    assert_eq!(slower(0.10, 0.10, 0.10), None);
    let data = with_throughput(
        Pairs::new(3)
            .shift(Metric::Ttft, &[0.10; 3])
            .shift(Metric::Tpot, &[0.11; 3])
            .shift(Metric::E2e, &[0.09; 3]),
        &[-0.10; 3],
    );
    let mut data = data;
    for run in &mut data.candidate {
        let rates = &mut run.stages[0].pooled.rates;
        for rate in [&mut rates.completed_rps, &mut rates.goodput_rps] {
            *rate *= (-0.1_f64).exp();
        }
        rates.input_tps = rates.input_tps.map(|rate| rate * (-0.1_f64).exp());
    }
    let shift = pairs(&data, &gate(&GATES))
        .shift
        .expect("all moved by 9 to 11 %");
    assert!((shift.low - 0.09_f64.exp_m1()).abs() < 1e-9, "{shift:?}");
    assert!((shift.high - 0.11_f64.exp_m1()).abs() < 1e-9, "{shift:?}");
    assert!(shift.cells >= 6);
    // One phase alone is a cause of its own.
    let prefill = data.shift(Metric::Ttft, &[0.2; 3]);
    assert_eq!(pairs(&prefill, &gate(&GATES)).shift, None);
}

#[test]
fn after_a_change_of_level_only_later_sessions_are_the_baseline() {
    // Ten sessions at 1 s, then 12 % slower ones.
    let wobble = |i: usize| [0.0, 0.004, -0.003, 0.002, -0.004][i % 5];
    let history = |later: usize| -> Vec<Run> {
        let sessions: Vec<Vec<f64>> = (0..10 + later)
            .map(|i| {
                let level = if i < 10 { 0.0 } else { 0.12 };
                vec![
                    level + wobble(i),
                    level + wobble(i + 1),
                    level + wobble(i + 2),
                ]
            })
            .collect();
        archive(&sessions)
    };
    let candidate = |y: f64| -> Vec<Run> {
        (0..5)
            .map(|i| {
                let mut run = run("candidate", 1000 + i);
                for metric in [Metric::Ttft, Metric::Tpot, Metric::E2e] {
                    set(&mut run, metric, (y + wobble(i as usize)).exp());
                }
                run
            })
            .collect()
    };
    let gate = gate(&GATES);
    let judged = |later: usize, y: f64| of(&history(later), &candidate(y), &[], &gate);

    // Against all 16 sessions it would look 8 % slower; it is what the last six are.
    let firm = judged(6, 0.12);
    assert_eq!(firm.exit, Exit::Pass, "{firm:?}");
    assert!(
        firm.caveats
            .iter()
            .any(|caveat| caveat.contains("of its 16 sessions only the newest 6 count")),
        "{:?}",
        firm.caveats
    );
    // It is said where the change happened, how large it was, and that it is not the candidate's.
    let level = firm
        .levels
        .iter()
        .find(|level| level.cell.to_string().ends_with("/ttft.p95"))
        .unwrap();
    assert!(level.worse);
    assert_eq!(
        (level.last.session.as_str(), level.first.session.as_str()),
        ("s9", "s10")
    );
    assert_eq!(level.since, 6);
    let Change::Ratio {
        estimate,
        low,
        high,
    } = level.change
    else {
        panic!("a ratio");
    };
    assert!(
        low < estimate && estimate < high && high - low < 0.02,
        "{level:?}"
    );
    assert!((estimate - 0.12_f64.exp_m1()).abs() < 0.005, "{level:?}");
    assert_eq!(judged(0, 0.0).levels, []);
    let young = judged(4, 0.12);
    assert_eq!(young.exit, Exit::Undecided);
    assert!(matches!(
        &finding(&young, "ttft.p95").reason,
        Some(Reason::Advisory { what }) if what.contains("4 of the 5 sessions that a firm verdict needs since its level changed")
    ));
    assert!(
        young
            .advice
            .iter()
            .any(|advice| advice.text.contains("promote more sessions"))
    );
}

#[test]
fn what_fails_after_a_cell_has_passed_counts() {
    let gate = gate(&[("ttft.p50", worse_by(0.10)), ("tpot.p50", worse_by(0.10))]);
    // TTFT is decided at three pairs, TPOT is not.
    let wild = [0.09, -0.02, 0.12, 0.01, 0.05];
    let mut data = Pairs::new(5).shift(Metric::Tpot, &wild);
    let state = |data: &Pairs| {
        let judged = pairs(data, &gate);
        let of = |name: &str| {
            let mut findings = judged.findings.iter();
            findings.find(|f| f.cell == cell(name)).unwrap().state
        };
        (of("ttft.p50"), of("tpot.p50"))
    };
    let (ttft, tpot) = state(&data);
    assert_eq!(ttft, CellState::Ok);
    assert_ne!(tpot, CellState::Ok, "sampling went on");
    set(&mut data.candidate[4], Metric::Ttft, f64::INFINITY);
    assert_eq!(state(&data).0, CellState::Suspect);
}
