//! Sweeps made up so that their reading can be worked out by hand.

use std::collections::BTreeMap;

use super::*;
use crate::compare::synthetic;
use crate::metric::Metric;
use crate::provenance::{Declared, Observation, Pin, Pins};
use crate::spec::{Cost, SloClause};
use crate::summary::{Attainment, ClauseCount, InvalidReason, LoadState, Saturation, Window};
use crate::unit::{Nanos, Rps};

/// One step: users, completed requests a second, share of good ones.
pub(crate) type Row = (u32, f64, f64);

/// 16 users are the knee and the largest load within the SLO: 16 give 8.9 good of 8.9 a second, 32 give 6.9.
pub(crate) const SWEEP: [Row; 6] = [
    (2, 1.95, 1.0),
    (4, 3.7, 1.0),
    (8, 6.4, 1.0),
    (16, 8.9, 0.99),
    (32, 9.8, 0.7),
    (64, 9.9, 0.1),
];

/// A run of a sweep in a closed loop, of 300 input and 300 output tokens a request.
pub(crate) fn run(rows: &[Row], minute: u32) -> Run {
    let mut run = synthetic::run("today", minute);
    run.spec.slos = BTreeMap::from([(
        "chat".to_owned(),
        BTreeMap::from([(SloClause::Ttft, Nanos::from_millis(500))]),
    )]);
    run.stages = rows.iter().map(|row| stage(*row)).collect();
    run
}

fn stage((users, rps, good): Row) -> StageSummary {
    let mut stage = synthetic::stage(&format!("sweep@{users}"));
    let requests = stage.pooled.scheduled;
    stage.users = Some(users);
    stage.health.as_mut().unwrap().in_flight_mean = users.into();
    let pooled = &mut stage.pooled;
    let count = (requests as f64 * good).round() as u64;
    let clause = ClauseCount {
        met: count,
        of: requests,
    };
    pooled.good = count;
    pooled.attainment = Some(Attainment {
        good: count,
        of: requests,
        clauses: BTreeMap::from([(SloClause::Ttft, clause)]),
    });
    pooled.rates.completed_rps = rps;
    pooled.rates.goodput_rps = rps * good;
    pooled.rates.output_tps = Some(rps * 300.0);
    pooled.rates.input_tps = Some(rps * 300.0);
    pooled.tokens.output_observed = 300 * requests;
    pooled.tokens.input_observed = 300 * requests;
    let mut of = |metric, seconds: f64| {
        let distribution = pooled.distributions.get_mut(&metric).unwrap();
        distribution.mean_s = Some(seconds);
        for value in distribution.quantiles.values_mut() {
            (value.value_s, value.adjusted_s) = (seconds, Some(seconds));
        }
    };
    // Little's law.
    of(Metric::E2e, f64::from(users) / rps);
    of(Metric::Ttft, 0.02 * f64::from(users));
    stage
}

/// With a peak of 50/s, one GPU at 3.50 an hour.
pub(crate) fn planned(mut run: Run) -> Run {
    run.spec.capacity = Some(CapacityPlan {
        peak_rps: Rps::try_new(50.0),
        traffic_rps: Rps::try_new(20.0),
        ..CapacityPlan::default()
    });
    run.spec.cost = Some(Cost {
        gpu_hour: 3.5,
        currency: "USD".to_owned(),
    });
    declare(&mut run.pins, "hardware.count", "1");
    run
}

/// A pin that the spec declares.
pub(crate) fn declare(pins: &mut Pins, path: &str, value: &str) {
    let pin = Pin {
        declared: Some(Declared::Literal(value.to_owned())),
        observed: Observation::Unknown(crate::provenance::Why::NotProbed),
    };
    pins.insert(path.parse().unwrap(), pin);
}

fn classes(capacity: &Capacity) -> Vec<StepClass> {
    let steps = capacity.sweeps[0].steps.iter();
    steps.map(|step| step.class).collect()
}

pub(crate) fn close(got: f64, expected: f64) {
    assert!(
        (got - expected).abs() < 1e-6 * expected.abs().max(1e-9),
        "{got}, not {expected}"
    );
}

#[test]
fn the_three_numbers_of_a_sweep() {
    let capacity = read(&[planned(run(&SWEEP, 1))], None);
    let sweep = &capacity.sweeps[0];
    // Goodputs 1.95, 3.7, 6.4, 8.81, 6.86 and 0.99: the best is at 16.
    let knee = sweep.knee.figure().unwrap();
    assert_eq!(
        (knee.load, knee.below, knee.by),
        (16.0, Some(8.0), KneeRule::Goodput)
    );
    assert_eq!(knee.set, [16.0]);
    close(knee.alert, 11.2);
    let within = sweep.within_slo.figure().unwrap();
    assert_eq!((within.load, within.is_last), (16.0, false));
    let carries = capacity.carries.figure().unwrap();
    close(carries.users, 16.0);
    close(carries.rps.value, 8.9);
    close(carries.input_tps, 2670.0);
    close(carries.output_tps.value, 2670.0);
    // 50 × (16 / 8.9) / 16 × 1.3 = 7.3; 50 × 300 / 2,670 × 1.44 = 8.09.
    let replicas = capacity.replicas.figure().unwrap();
    assert_eq!(
        (replicas.by_users, replicas.by_tokens, replicas.needed),
        (8, 9, 9)
    );
    close(replicas.peak_tps, 30_000.0);
    close(replicas.after_loss.capacity_rps, 71.2);
    assert!(replicas.after_loss.holds);
}

#[test]
fn what_it_costs() {
    let capacity = read(&[planned(run(&SWEEP, 1))], None);
    let cost = capacity.cost.figure().unwrap();
    close(cost.million_output.value, 1e6 * 3.5 / (2670.0 * 3600.0));
    close(cost.million_tokens, 1e6 * 3.5 / (5340.0 * 3600.0));
    close(
        cost.good_request.as_ref().unwrap().value,
        3.5 / (8.9 * 0.99 * 3600.0),
    );
    let fleet = cost.fleet.unwrap();
    close(fleet.day, 9.0 * 3.5 * 24.0);
    close(fleet.month, 30.0 * 756.0);
    close(fleet.request.unwrap(), 756.0 / (20.0 * 86_400.0));
    let without = |change: fn(&mut Run)| {
        let mut run = planned(run(&SWEEP, 1));
        change(&mut run);
        read(&[run], None).cost.why().cloned()
    };
    assert_eq!(without(|run| run.spec.cost = None), Some(Why::NoPrice));
    assert_eq!(without(|run| run.pins.clear()), Some(Why::NoGpus));
}

#[test]
fn goodput_is_throughput_times_attainment() {
    // 20 completed a second at 70 % are 14 good ones, 22 at 40 % are 8.8.
    for (rps, share, good) in [(20.0, 0.7, 14.0), (22.0, 0.4, 8.8)] {
        let capacity = read(&[run(&[(2, 1.0, 1.0), (8, rps, share)], 1)], None);
        let figures = capacity.sweeps[0].steps[1].figures.clone().unwrap();
        close(figures.goodput_rps.unwrap().value, good);
        close(figures.attainment.unwrap(), share);
    }
}

#[test]
fn loads_are_classed_by_what_throughput_does() {
    use StepClass::{Knee, Overloaded, Unsaturated};
    let rows = SWEEP.iter().copied().chain([(128, 8.0, 0.0)]);
    let capacity = read(&[run(&rows.collect::<Vec<_>>(), 1)], None);
    // 95 % of 9.9 are 9.4, which 32 users give; 8.0 is less than 95 % of 9.9.
    assert_eq!(
        classes(&capacity),
        [
            Unsaturated,
            Unsaturated,
            Unsaturated,
            Unsaturated,
            Knee,
            Knee,
            Overloaded
        ]
    );
    let evidence = &capacity.sweeps[0].steps[4].evidence;
    close(evidence.load_change.unwrap(), 1.0);
    close(evidence.throughput_change.unwrap(), 9.8 / 8.9 - 1.0);
    close(evidence.ttft_change.unwrap(), 1.0);
}

#[test]
fn a_growing_backlog_and_failures_are_overload() {
    let mut backlog = run(&SWEEP, 1);
    backlog.stages[2].load_state = Some(LoadState {
        state: Saturation::Overloaded,
        completed_by_due: 0.8,
        backlog_growth: 0.2,
    });
    let capacity = read(&[backlog], None);
    assert_eq!(classes(&capacity)[2], StepClass::Overloaded);
    assert_eq!(
        capacity.sweeps[0].steps[2].evidence.backlog_growth,
        Some(0.2)
    );
    let mut failing = run(&SWEEP, 1);
    let pooled = &mut failing.stages[1].pooled;
    pooled
        .outcomes
        .insert(crate::sample::OutcomeKind::HttpError, 100);
    assert_eq!(classes(&read(&[failing], None))[1], StepClass::Overloaded);
}

#[test]
fn a_stage_that_is_slow_at_first_is_cold() {
    let window = |number: u32, ttft: f64| Window {
        start_s: number.into(),
        scheduled: 10,
        completed: 10,
        output_tokens: 1,
        ttft_p50_s: Some(ttft),
        ..Window::default()
    };
    let windows = |first: f64| -> Vec<Window> {
        let ttft = |number| if number < 4 { first } else { 0.1 };
        (0..16).map(|number| window(number, ttft(number))).collect()
    };
    let mut cold = run(&SWEEP, 1);
    cold.stages[3].windows = windows(0.4);
    // Its throughput is low because of that, and is no fall.
    cold.stages[3].pooled.rates.completed_rps = 4.0;
    let capacity = read(&[cold.clone()], None);
    assert_eq!(classes(&capacity)[3], StepClass::Cold);
    let start = capacity.sweeps[0].steps[3].evidence.slow_start.unwrap();
    assert_eq!((start.first_s, start.later_s), (0.4, 0.1));
    // A rise is no slow start: that is what overload looks like.
    cold.stages[3].windows = windows(0.01);
    assert_ne!(classes(&read(&[cold], None))[3], StepClass::Cold);
}

#[test]
fn an_invalid_step_says_nothing() {
    let mut late = run(&SWEEP, 1);
    late.stages[5].invalid = vec![InvalidReason::ClientCpu { share: 0.99 }];
    let capacity = read(&[late], None);
    assert_eq!(classes(&capacity)[5], StepClass::Invalid);
    assert_eq!(capacity.sweeps[0].steps[5].figures, None);
    close(capacity.sweeps[0].knee.figure().unwrap().load, 16.0);
}

#[test]
fn without_an_slo_there_is_no_capacity_and_the_knee_is_by_throughput() {
    let mut bare = planned(run(&SWEEP, 1));
    bare.spec.slos.clear();
    for stage in &mut bare.stages {
        stage.pooled.attainment = None;
    }
    let capacity = read(&[bare], None);
    assert_eq!(capacity.carries.why(), Some(&Why::NoSlo));
    assert_eq!(capacity.replicas.why(), Some(&Why::NoLoad));
    let knee = capacity.sweeps[0].knee.figure().unwrap();
    assert_eq!((knee.load, knee.by), (32.0, KneeRule::Throughput));
    assert_eq!(knee.set, [16.0, 32.0, 64.0]);
    assert!(capacity.no_claims.contains(&NoClaim::Slo));
    // What a token costs needs no SLO, what a good request costs does.
    let cost = capacity.cost.figure().unwrap();
    assert_eq!(
        (cost.stage.as_str(), cost.good_request.is_none()),
        ("sweep@64", true)
    );
}

#[test]
fn a_sweep_that_still_rises_has_no_knee() {
    let capacity = read(&[run(&SWEEP[..4], 1)], None);
    let Some(Why::NotReached { load, gain }) = capacity.sweeps[0].knee.why() else {
        panic!("{:?}", capacity.sweeps[0].knee);
    };
    close(*load, 16.0);
    close(*gain, 8.9 * 0.99 / 6.4 - 1.0);
    let within = capacity.sweeps[0].within_slo.figure().unwrap();
    assert!(within.is_last, "at least");
    assert!(capacity.no_claims.contains(&NoClaim::Limit));
}

#[test]
fn a_first_step_beyond_the_slo_leaves_nothing_within() {
    let capacity = read(&[run(&[(2, 2.0, 0.5), (4, 3.0, 0.99)], 1)], None);
    let never = Why::NeverWithin {
        load: 2.0,
        attainment: 0.5,
    };
    assert_eq!(capacity.carries.why(), Some(&never));
}

#[test]
fn a_closed_loop_is_called_sustainable_by_an_open_one_alone() {
    let open = |rate: f64, good: f64, state: Saturation| {
        let mut run = run(&SWEEP, 1);
        let mut stage = stage((1, rate, good));
        stage.name = "sustained".to_owned();
        (stage.users, stage.rate_rps) = (None, Some(rate));
        stage.load_state = Some(LoadState {
            state,
            completed_by_due: 1.0,
            backlog_growth: 0.0,
        });
        run.stages.push(stage);
        let capacity = read(&[run], None);
        capacity.sweeps[0]
            .within_slo
            .figure()
            .unwrap()
            .sustained
            .clone()
    };
    let verified = open(8.9, 0.97, Saturation::Steady);
    assert!(
        matches!(verified, Sustained::Verified { .. }),
        "{verified:?}"
    );
    for refuted in [
        open(8.9, 0.5, Saturation::Steady),
        open(8.9, 0.97, Saturation::Overloaded),
    ] {
        assert!(matches!(refuted, Sustained::Refuted { .. }), "{refuted:?}");
    }
    // Half of the rate bears nothing out, and twice the rate refutes nothing.
    for other in [
        open(4.0, 1.0, Saturation::Steady),
        open(18.0, 0.1, Saturation::Overloaded),
    ] {
        assert_eq!(
            other,
            Sustained::NotTried {
                rate_rps: Estimate::of(vec![8.9]).unwrap().value
            }
        );
    }
}

#[test]
fn the_kv_cache_bounds_the_users() {
    let with = |blocks: &str| {
        let mut run = planned(run(&SWEEP, 1));
        declare(&mut run.pins, "limits.kv_blocks", blocks);
        declare(&mut run.pins, "limits.block_size", "16");
        declare(&mut run.pins, "limits.max_num_seqs", "64");
        read(&[run], None)
    };
    // 600 tokens take 38 blocks: 380 blocks hold 10 requests, fewer than 16 users.
    let small = with("380");
    let carries = small.carries.figure().unwrap();
    assert!(carries.bound_by_kv);
    close(carries.users, 10.0);
    close(carries.measured_users, 16.0);
    assert!(small.kv.figure().unwrap().is_exceeded());
    close(carries.rps.value, 8.9 * 10.0 / 16.0);
    // 50 × (16 / 8.9) / 10 × 1.3 = 11.7.
    assert_eq!(small.replicas.figure().unwrap().by_users, 12);
    let large = with("38000");
    assert!(!large.carries.figure().unwrap().bound_by_kv);
    assert!(!large.kv.figure().unwrap().is_exceeded());
}

#[test]
fn figures_of_two_servers_are_halved() {
    let mut two = planned(run(&SWEEP, 1));
    two.client.target = "http://a:1, http://b:1".to_owned();
    declare(&mut two.pins, "hardware.count", "2");
    let capacity = read(&[two], None);
    assert_eq!(capacity.replicas_measured, 2);
    let carries = capacity.carries.figure().unwrap();
    close(carries.rps.value, 4.45);
    close(carries.users, 8.0);
    // Twice the GPUs serve the same, so a good request costs twice as much.
    let cost = capacity.cost.figure().unwrap();
    close(cost.gpus, 1.0);
    close(
        cost.good_request.as_ref().unwrap().value,
        7.0 / (8.9 * 0.99 * 3600.0),
    );
    assert!(!capacity.no_claims.contains(&NoClaim::Balancing));
}
