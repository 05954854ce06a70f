//! Two capacities side by side, what to measure next, and what is no sweep.

use super::tests::{Row, SWEEP, close, planned, run};
use super::*;
use crate::compare::synthetic;

#[test]
fn a_difference_is_said_beyond_noise_alone() {
    let slower: Vec<Row> = SWEEP
        .iter()
        .map(|(users, rps, good)| (*users, rps * 0.8, *good))
        .collect();
    let side =
        |rows: &[Row]| -> Vec<Run> { (0..3).map(|minute| planned(run(rows, minute))).collect() };
    let compared = Compared::of(read(&side(&SWEEP), None), read(&side(&slower), None));
    let difference = &compared.difference;
    let rps = difference.rps.unwrap();
    assert_eq!(rps.verdict, Verdict::Less);
    close(rps.change.ratio, -0.2);
    assert!(rps.change.interval.lower > -0.25 && rps.change.interval.upper < -0.15);
    assert_eq!(difference.best.unwrap().verdict, Verdict::Less);
    assert_eq!(difference.good_request.unwrap().verdict, Verdict::More);
    close(difference.good_request.unwrap().change.ratio, 0.25);
    // 9 by 8.09 before, 11 by 10.11 after.
    assert_eq!(difference.replicas, Some(2));
    assert_eq!(difference.knee, Some(Verdict::Noise));
    assert!(difference.same_loads && compared.moved());
    let same = Compared::of(read(&side(&SWEEP), None), read(&side(&SWEEP), None));
    assert!(!same.moved());
    assert_eq!(same.difference.rps.unwrap().verdict, Verdict::Noise);
}

#[test]
fn the_next_load_lies_between_the_knee_and_its_neighbour() {
    let capacity = read(&[run(&SWEEP, 1)], None);
    // Goodput falls from 16 to 32, and both gaps are alike: the lower one first.
    assert_eq!(refine::next(&capacity.sweeps[0]), Some(11.0));
    let mut rows = SWEEP.to_vec();
    rows.insert(3, (11, 7.9, 1.0));
    let capacity = read(&[run(&rows, 1)], None);
    assert_eq!(refine::next(&capacity.sweeps[0]), Some(23.0));
}

#[test]
fn nothing_comes_of_nothing() {
    let empty = read(&[], None);
    assert_eq!(empty.carries.why(), Some(&Why::NoSweep));
    let plain = read(&[planned(synthetic::run("today", 1))], None);
    assert_eq!(plain.carries.why(), Some(&Why::NoSweep));
    assert!(plain.no_claims.contains(&NoClaim::Capacity));
    let mut stopped = run(&SWEEP, 1);
    stopped.end = crate::summary::RunEnd::Interrupted;
    assert!(read(&[stopped], None).sweeps.is_empty());
    let mut hostile = run(&SWEEP, 1);
    for (number, stage) in hostile.stages.iter_mut().enumerate() {
        stage.pooled.rates.completed_rps = [f64::NAN, -1.0, f64::INFINITY][number % 3];
        stage.pooled.rates.output_tps = Some(f64::NAN);
    }
    assert_eq!(read(&[hostile], None).carries.why(), Some(&Why::NoSweep));
}

#[test]
fn a_file_reads_back() {
    let side = || read(&[planned(run(&SWEEP, 1))], None);
    let file = CapacityFile::of_both(Compared::of(side(), side()));
    let text = serde_json::to_string(&file).unwrap();
    assert_eq!(serde_json::from_str::<CapacityFile>(&text).unwrap(), file);
}
