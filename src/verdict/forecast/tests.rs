//! Forecasts against the formulas, and against what the judgement then does.

use proptest::prelude::*;

use super::*;
use crate::compare::synthetic::{
    Pairs, REQUESTS, archive, fail, gate, reference_archive, run, worse_by,
};
use crate::compare::{Sides, compare};
use crate::provenance::UnderTest;
use crate::spec::Repeats;
use crate::stats::tests::close;
use crate::summary::Run;
use crate::verdict::power::DEMOTION_POWER;
use crate::verdict::{CellState, judge};

fn of(noise: &[Run], gate: &Gate) -> Forecast {
    forecast(Archive { stands: &[], noise }, gate)
}

fn only(noise: &[Run], limit: Limit) -> CellForecast {
    of(noise, &gate(&[("ttft.p95", limit)])).cells.remove(0)
}

fn at(cell: &CellForecast, repeats: u32) -> Option<f64> {
    let mut all = cell.pairs.iter().chain(&cell.stored);
    all.find(|told| told.repeats == repeats)?.smallest
}

#[test]
fn the_reference_archive_resolves_what_the_formula_says() {
    let cell = only(&reference_archive(), worse_by(0.1));
    let noise = cell.noise.unwrap();
    close(noise.sigma, 0.015_724_5);
    close(noise.df, 8.0);
    assert!(!noise.assumed);
    assert_eq!((cell.sessions, cell.runs), (4, 12));
    // (t.99 + t.95) of 17 degrees of freedom, times sigma and √(2/10).
    let ten = ((2.566_934 + 1.739_607) * 0.015_724_5 * 0.2_f64.sqrt()).exp_m1();
    assert!((at(&cell, 10).unwrap() - ten).abs() < 1e-6);
    assert_eq!(cell.smallest, at(&cell, 10));
    assert_eq!(cell.resolvable, Some(true));
    assert_eq!((cell.pairs_needed, cell.why), (None, None));
    let told: Vec<f64> = TOLD
        .iter()
        .map(|&k| at(&cell_of(0.1), k).unwrap())
        .collect();
    assert!(told.windows(2).all(|two| two[0] > two[1]), "{told:?}");
}

fn cell_of(tolerance: f64) -> CellForecast {
    only(&reference_archive(), worse_by(tolerance))
}

#[test]
fn what_is_too_fine_says_what_would_do() {
    let cell = cell_of(0.01);
    assert_eq!(cell.resolvable, Some(false));
    let needed = cell.pairs_needed.unwrap();
    let fixed = |pairs: u32| Gate {
        repeats: Some(Repeats {
            min: pairs,
            max: pairs,
        }),
        ..gate(&[("ttft.p95", worse_by(0.01))])
    };
    let resolvable = |pairs| of(&reference_archive(), &fixed(pairs)).cells[0].resolvable;
    assert_eq!(resolvable(needed), Some(true));
    assert_eq!(resolvable(needed - 1), Some(false));
    assert_eq!(cell_of(0.001).pairs_needed, None, "not within a hundred");
    assert!(cell.recommended.is_some_and(|usual| usual >= 0.1));
}

#[test]
fn recommendations_are_round_and_no_finer_than_resolved() {
    let loud = archive(&vec![vec![0.0, 0.12, -0.1]; 4]);
    let cell = only(&loud, worse_by(0.1));
    let (smallest, recommended) = (cell.smallest.unwrap(), cell.recommended.unwrap());
    assert!(recommended > smallest, "{recommended} against {smallest}");
    let steps = recommended / 0.005;
    assert!((steps - steps.round()).abs() < 1e-9);
    let declared = only(&loud, worse_by(recommended));
    assert_eq!(declared.resolvable, Some(true));
}

#[test]
fn without_an_archive_the_noise_is_assumed_and_the_looks_are_later() {
    let got = of(&[], &gate(&[("ttft.p95", worse_by(0.05))]));
    assert!(got.assumed);
    assert_eq!((got.sessions, got.runs), (0, 0));
    assert_eq!(got.looks, [5, 7, 10]);
    assert_eq!(got.stored_looks, [1, 3, 5]);
    let cell = &got.cells[0];
    assert_eq!((at(cell, 1), at(cell, 3)), (None, None));
    // No 5 % gate can be resolved on assumed noise.
    let smallest = cell.smallest.unwrap();
    assert!((0.055..0.06).contains(&smallest), "{smallest}");
    assert_eq!(cell.resolvable, Some(false));
    assert!(cell.noise.unwrap().assumed);
    assert_eq!(
        cell.why.as_deref(),
        Some("no archived run: the noise is assumed")
    );
    let single = [run("a", 1), run("b", 2)];
    let got = of(&single, &gate(&[("ttft.p95", worse_by(0.05))]));
    assert!(got.assumed);
    assert!(got.cells[0].why.as_ref().unwrap().contains("two runs"));
}

#[test]
fn limits_have_the_archive_s_distance_as_room() {
    // exp(0) to exp(0.04) seconds.
    let near = only(&reference_archive(), Limit::AtMost(1.02));
    assert_eq!(near.resolvable, Some(false));
    let far = only(&reference_archive(), Limit::AtMost(2.0));
    assert!((far.room.unwrap() - 0.495).abs() < 0.01, "{far:?}");
    assert_eq!(far.resolvable, Some(true));
    assert_eq!(far.recommended, None);
    // One run and not the difference of two: a factor of √2 less.
    let relative = cell_of(0.1).smallest.unwrap().ln_1p();
    let limit = -(-far.smallest.unwrap()).ln_1p();
    assert!((relative / limit - 2.0_f64.sqrt()).abs() < 1e-9);
    let broken = only(&reference_archive(), Limit::AtMost(0.5));
    assert!(broken.room.unwrap() < 0.0);
    assert_eq!(
        broken.why.as_deref(),
        Some("the archived runs break the limit")
    );
    let unresolvable = of(
        &reference_archive(),
        &gate(&[("ttft.p95", Limit::AtMost(1.02))]),
    );
    assert!(
        !unresolvable.cells[0].is_unresolvable(),
        "limits are no tolerances"
    );
}

#[test]
fn proportions_are_told_in_points_and_rare_ones_by_their_interval() {
    let failing = |events: u64| -> Vec<Run> {
        let mut runs = archive(&vec![vec![0.0, 0.01, 0.02]; 4]);
        for run in &mut runs {
            fail(run, events);
        }
        runs
    };
    let cells = [
        ("error_ratio", Limit::WorseByPoints(0.005)),
        ("error_ratio", Limit::AtMost(0.002)),
    ];
    let got = of(&failing(0), &gate(&cells));
    let [relative, limit] = &got.cells[..] else {
        panic!()
    };
    assert_eq!(relative.scale, Scale::Points);
    assert_eq!(relative.resolvable, Some(true));
    // No failure in 10,000 requests on both sides: Wilson's upper limit at one-sided 1 %.
    let z2 = 2.326_348_f64.powi(2);
    let upper = z2 / (10.0 * REQUESTS as f64 + z2);
    assert!((relative.smallest.unwrap() - upper).abs() < 1e-7);
    assert!((limit.smallest.unwrap() - upper).abs() < 1e-7);
    assert_eq!(limit.resolvable, Some(true), "10,000 are more than 1,917");
    close(limit.room.unwrap(), 0.002);
    // Frequent ones are tested: chance alone scatters 5 % of 1,000 by 0.69 points.
    let frequent = of(&failing(50), &gate(&cells)).cells.remove(0);
    let sigma = frequent.noise.unwrap().sigma;
    assert!((sigma - 0.0069).abs() < 1e-4, "{sigma}");
    assert_eq!(frequent.resolvable, Some(false));
    // Without a run there is nothing to go by.
    let none = of(&[], &gate(&cells)).cells.remove(0);
    assert_eq!((none.smallest, none.resolvable), (None, None));
    assert!(none.why.is_some());
}

#[test]
fn goodput_in_points_is_told_as_it_is_declared() {
    let mut runs = archive(&vec![vec![0.0, 0.01, 0.02]; 4]);
    for (i, run) in runs.iter_mut().enumerate() {
        fail(run, 2 + i as u64 % 3);
    }
    let cell = of(&runs, &gate(&[("goodput", worse_by(0.03))]))
        .cells
        .remove(0);
    assert_eq!(cell.scale, Scale::Ratio);
    assert!((cell.room.unwrap() - 0.03).abs() < 1e-12);
    assert_eq!(cell.resolvable, Some(true));
}

#[test]
fn stored_sessions_are_told_from_three_on_and_noise_alone_is_none() {
    let stands = archive(&vec![vec![0.0, 0.01]; 3]);
    let noise: Vec<Run> = reference_archive()
        .into_iter()
        .map(|mut run| {
            run.session = format!("noise-{}", run.session);
            run.id = format!("noise-{}", run.id);
            run
        })
        .collect();
    let gate = gate(&[("ttft.p95", worse_by(0.1))]);
    let told = |stands: &[Run]| {
        let archive = Archive {
            stands,
            noise: &noise,
        };
        forecast(archive, &gate).cells.remove(0).stored
    };
    assert_eq!(told(&stands[..4]), []);
    let told: Vec<u32> = told(&stands).iter().map(|told| told.repeats).collect();
    assert_eq!(told, [1, 3, 5]);
}

proptest! {
    #[test]
    fn the_judgement_demotes_what_the_forecast_calls_unresolvable(
        noise in 0.001..0.2_f64,
        tolerance in 0.005..0.3_f64,
        sessions in 1..6_usize,
    ) {
        let past = archive(&vec![vec![0.0, noise, -noise / 2.0]; sessions]);
        let gate = gate(&[("ttft.p95", worse_by(tolerance))]);
        let archive = Archive { stands: &[], noise: &past };
        let foreseen = forecast_with(archive, &gate, DEMOTION_POWER).cells.remove(0);
        let pairs = Pairs::new(3);
        let sides = Sides {
            baseline: &pairs.baseline,
            candidate: &pairs.candidate,
            archive: &past,
        };
        let judgement = judge(&compare(&sides, &gate, &UnderTest::NOTHING), &gate);
        let demoted = judgement.findings[0].state == CellState::NotResolvable;
        prop_assert_eq!(foreseen.resolvable, Some(!demoted));
        let accepted = forecast(archive, &gate).cells.remove(0);
        prop_assert!(accepted.resolvable == Some(false) || !demoted, "check is the stricter one");
    }
}
