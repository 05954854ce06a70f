//! Two capacities side by side, what to measure next, and what is no sweep.

use super::tests::{Row, SWEEP, close, planned, run};
use super::*;
use crate::compare::synthetic;
use crate::summary::{TenantCounts, TenantSummary, Tenants};

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
fn the_gap_above_the_load_within_the_slo_is_cut_too() {
    // Goodput is still best at 64 users, of whom 60 % are well served; 95 % are at 8 alone.
    let rows = [(2, 2.0, 1.0), (8, 6.4, 0.99), (64, 12.8, 0.6)];
    let capacity = read(&[run(&rows, 1)], None);
    let sweep = &capacity.sweeps[0];
    assert!(matches!(sweep.knee.why(), Some(Why::NotReached { .. })));
    close(sweep.within_slo.figure().unwrap().load, 8.0);
    assert_eq!(refine::next(sweep), Some(23.0));
    let rows = [
        (2, 2.0, 1.0),
        (7, 6.4, 0.99),
        (8, 6.5, 0.6),
        (64, 12.8, 0.6),
    ];
    let capacity = read(&[run(&rows, 1)], None);
    assert_eq!(
        refine::next(&capacity.sweeps[0]),
        None,
        "7 and 8 have nothing between them"
    );
}

#[test]
fn loads_that_may_be_the_largest_within_the_slo_are_a_set() {
    let set = |rows: &[Row], runs: u32| {
        let runs: Vec<Run> = (0..runs).map(|minute| run(rows, minute)).collect();
        let capacity = read(&runs, None);
        capacity.sweeps[0].within_slo.figure().unwrap().set.clone()
    };
    // 990 of 1,000 are surely over 95 %, 700 surely under.
    assert_eq!(set(&SWEEP, 1), [16.0]);
    // 950 of 1,000 at φ = 2: 0.928 to 0.967.
    let close = SWEEP.map(|(users, rps, good)| (users, rps, if users == 16 { 0.95 } else { good }));
    assert_eq!(set(&close, 1), [8.0, 16.0]);
    // Ten times the runs that all agree leave less open, and 940 of 1,000 is not enough then.
    let under = SWEEP.map(|(users, rps, good)| (users, rps, if users == 16 { 0.93 } else { good }));
    assert_eq!(set(&under, 10), [8.0]);
}

#[test]
fn replicas_have_a_range() {
    let capacity = read(&[planned(run(&SWEEP, 1))], None);
    // 2,670 tok/s, 9.1 % less or 10 % more: 50 × 300 × 1.44 by 2,427 to 2,937 is 8.9 to 7.35.
    let range = capacity.replicas.figure().unwrap().range.unwrap();
    assert_eq!((range.least, range.most), (8, 9));
}

#[test]
fn shares_of_cost_are_by_tenant_where_requests_have_one() {
    let counts = |tokens: u64| TenantCounts {
        requests: 100,
        input_tokens: tokens / 2,
        output_tokens: tokens - tokens / 2,
        ..TenantCounts::default()
    };
    let tenant = |tenant: u32, tokens: u64| TenantSummary {
        tenant,
        counts: counts(tokens),
        ttft: None,
        e2e: None,
    };
    let with = |top: Vec<TenantSummary>| {
        let mut run = planned(run(&SWEEP, 1));
        for stage in &mut run.stages {
            stage.tenants = Some(Tenants {
                top: top.clone(),
                others: 2,
                of_others: counts(30_000_000),
                of_none: counts(0),
            });
        }
        run
    };
    // 30 of 130 million bear 443.08 of 1,920; here the fleet costs 9 × 3.50 × 24 = 756 a day.
    let run_of = with(vec![tenant(7, 40_000_000), tenant(3, 60_000_000)]);
    let capacity = read(&[run_of], None);
    let tenants = &capacity.cost.figure().unwrap().tenants;
    let told: Vec<(&str, Whose)> = tenants
        .iter()
        .map(|share| (share.of.as_str(), share.whose))
        .collect();
    assert_eq!(
        told,
        [
            ("tenant-3", Whose::Tenant),
            ("tenant-7", Whose::Tenant),
            ("", Whose::OtherTenants(2))
        ]
    );
    close(tenants[2].share, 3.0 / 13.0);
    close(tenants[2].day.unwrap(), 756.0 * 3.0 / 13.0);
    // What one run keeps apart and the other does not is among the others of both.
    let runs = [
        with(vec![tenant(7, 40_000_000), tenant(3, 60_000_000)]),
        with(vec![tenant(7, 40_000_000), tenant(4, 60_000_000)]),
    ];
    let capacity = read(&runs, None);
    let tenants = &capacity.cost.figure().unwrap().tenants;
    assert_eq!(tenants.len(), 2);
    assert_eq!(tenants[1].whose, Whose::OtherTenants(3));
    close(tenants[1].share, 180.0 / 260.0);
    // Files of earlier versions have no tokens of tenants.
    let mut early = with(vec![tenant(7, 0)]);
    for stage in &mut early.stages {
        stage.tenants.as_mut().unwrap().of_others = counts(0);
    }
    let capacity = read(&[early], None);
    assert!(capacity.cost.figure().unwrap().tenants.is_empty());
}

#[test]
fn users_who_go_on_in_step_are_a_claim_less() {
    let claims = |in_step: &[&str]| {
        let mut run = run(&SWEEP, 1);
        run.spec.in_step = in_step.iter().map(|name| (*name).to_owned()).collect();
        read(&[run], None).no_claims.contains(&NoClaim::Waves)
    };
    assert!(claims(&["sweep@2", "sweep@4"]));
    assert!(!claims(&[]));
    assert!(!claims(&["steady"]), "another stage");
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
