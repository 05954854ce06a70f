use super::*;
use crate::compare::synthetic::{Pairs, run};
use crate::metric::Metric;
use crate::sample::{CacheTokens, OutcomeKind, Throttle};
use crate::summary::{EngineFigures, EngineTime, Gauge, GpuFigures, InvalidReason, Speculation};

mod gaps;

/// Requests of each run.
const N: u64 = 1000;

fn time(mean_s: f64) -> EngineTime {
    EngineTime {
        n: N,
        mean_s,
        p50_s: None,
        p95_s: None,
    }
}

fn gauge(max: f64) -> Gauge {
    let mean = max / 2.0;
    Gauge { mean, max }
}

/// What an engine says of a stage whose TTFT is 200 ms: 20 ms of queue, 170 ms of prefill, 10 ms on
/// the way.
fn figures() -> EngineFigures {
    EngineFigures {
        engine: "vllm".to_owned(),
        scrapes: 60,
        queue: Some(time(0.02)),
        prefill: Some(time(0.17)),
        decode: Some(time(1.8)),
        ttft: Some(time(0.19)),
        running: Some(gauge(8.0)),
        waiting: Some(gauge(1.0)),
        kv_usage: Some(gauge(0.5)),
        preemptions: Some(0),
        prefix_cache: Some(CacheTokens {
            hits: 60_000,
            queries: 100_000,
        }),
        speculation: Some(Speculation {
            drafted: 1000,
            accepted: 700,
        }),
        ..EngineFigures::default()
    }
}

fn gpu() -> GpuFigures {
    GpuFigures {
        index: 0,
        samples: 50,
        power_w: Some(gauge(700.0)),
        utilization: None,
        sm_clock_mhz: Some(gauge(3960.0)),
        temperature_c: Some(gauge(120.0)),
        memory_used: None,
        throttled: BTreeMap::new(),
    }
}

/// Three pairs, alike but for what is done to each run of the candidate.
fn pairs(change: impl Fn(&mut StageSummary, &mut EngineFigures)) -> Pairs {
    let mut pairs = Pairs::new(3);
    for run in &mut pairs.baseline {
        dress(run, &|_, _| {});
    }
    for run in &mut pairs.candidate {
        dress(run, &change);
    }
    pairs
}

fn dress(run: &mut Run, change: &dyn Fn(&mut StageSummary, &mut EngineFigures)) {
    let stage = &mut run.stages[0];
    let itl = stage.pooled.distributions[&Metric::Tpot].clone();
    stage.pooled.distributions.insert(Metric::Itl, itl);
    stage.gpus = Some(GpuView::Seen(vec![gpu()]));
    let mut engine = figures();
    change(stage, &mut engine);
    stage.engine = Some(EngineView::Seen(Box::new(engine)));
}

fn scale(stage: &mut StageSummary, metric: Metric, factor: f64) {
    let values = stage.pooled.distributions.get_mut(&metric).unwrap();
    values.mean_s = values.mean_s.map(|mean| mean * factor);
    for value in values.quantiles.values_mut() {
        value.value_s *= factor;
    }
}

/// What is said of a stage that is worse.
fn told(pairs: &Pairs, uniform: bool) -> Vec<Diagnosis> {
    let complaint = Complaint {
        stage: Some("steady".to_owned()),
        way: Way::Worse,
    };
    diagnose(&sides(pairs), &[complaint], uniform)
}

fn sides(pairs: &Pairs) -> Sides<'_> {
    Sides {
        baseline: &pairs.baseline,
        candidate: &pairs.candidate,
        archive: &[],
    }
}

fn causes(change: impl Fn(&mut StageSummary, &mut EngineFigures)) -> Vec<Cause> {
    let told = told(&pairs(change), false);
    told.iter().map(|diagnosis| diagnosis.cause).collect()
}

#[test]
fn a_slower_prefill_is_no_queue() {
    let causes = causes(|stage, engine| {
        scale(stage, Metric::Ttft, 1.3);
        engine.prefill = Some(time(0.22));
        // Who computes longer keeps others waiting.
        engine.queue = Some(time(0.03));
        engine.ttft = Some(time(0.25));
    });
    assert_eq!(causes, [Cause::Prefill]);
}

#[test]
fn a_slower_decode_shifts_all_gaps() {
    let causes = causes(|stage, engine| {
        scale(stage, Metric::Itl, 1.25);
        engine.prefill = Some(time(0.18));
    });
    assert_eq!(causes, [Cause::Decode]);
}

#[test]
fn both_parts_are_named_where_both_moved() {
    let causes = causes(|stage, engine| {
        scale(stage, Metric::Itl, 1.2);
        engine.prefill = Some(time(0.21));
    });
    assert_eq!(causes, [Cause::Prefill, Cause::Decode]);
}

#[test]
fn a_queue_alone_is_queueing() {
    let causes = causes(|stage, engine| {
        scale(stage, Metric::Ttft, 2.0);
        engine.queue = Some(time(0.2));
        engine.ttft = Some(time(0.37));
        engine.running = Some(gauge(4.0));
    });
    assert_eq!(causes, [Cause::Queueing]);
}

#[test]
fn roots_hide_their_consequences() {
    let slower = |stage: &mut StageSummary, engine: &mut EngineFigures| {
        scale(stage, Metric::Ttft, 1.5);
        scale(stage, Metric::Itl, 1.5);
        engine.prefill = Some(time(0.26));
        engine.queue = Some(time(0.05));
        engine.ttft = Some(time(0.3));
    };
    let cold = causes(|stage, engine| {
        slower(stage, engine);
        engine.prefix_cache.as_mut().unwrap().hits = 0;
    });
    assert_eq!(cold, [Cause::PrefixCache]);
    let refused = causes(|stage, engine| {
        slower(stage, engine);
        engine.speculation.as_mut().unwrap().accepted = 400;
    });
    assert_eq!(refused, [Cause::Speculation]);
    let full = causes(|stage, engine| {
        slower(stage, engine);
        engine.preemptions = Some(300);
    });
    assert_eq!(full, [Cause::KvPressure]);
    let throttled = causes(|stage, engine| {
        slower(stage, engine);
        let mut held = gpu();
        held.sm_clock_mhz = Some(gauge(3000.0));
        held.throttled = BTreeMap::from([(Throttle::PowerCap, 0.9)]);
        stage.gpus = Some(GpuView::Seen(vec![held]));
    });
    assert_eq!(throttled, [Cause::Throttling]);
    let client = causes(|stage, engine| {
        slower(stage, engine);
        stage.invalid = vec![InvalidReason::ClientCpu { share: 0.97 }];
    });
    assert_eq!(client, [Cause::Client]);
}

#[test]
fn clocks_that_somebody_set_are_not_held_back() {
    let set = causes(|stage, _| {
        scale(stage, Metric::Ttft, 1.5);
        let mut set = gpu();
        set.throttled = BTreeMap::from([(Throttle::ClocksSetting, 1.0)]);
        stage.gpus = Some(GpuView::Seen(vec![set]));
    });
    assert_eq!(
        set,
        [Cause::Outside],
        "200 of 300 ms, and the engine saw 190"
    );
}

#[test]
fn what_the_engine_does_not_see_is_outside() {
    let causes = causes(|stage, _| scale(stage, Metric::Ttft, 1.4));
    assert_eq!(causes, [Cause::Outside]);
}

#[test]
fn other_work_is_named_first() {
    let longer = causes(|stage, _| {
        scale(stage, Metric::E2e, 1.4);
        stage.pooled.tokens.output_observed = 70_000;
    });
    assert_eq!(longer, [Cause::OutputLength]);
    let template = causes(|stage, engine| {
        stage.pooled.tokens.input_observed = 120_000;
        engine.prefill = Some(time(0.21));
        engine.ttft = Some(time(0.23));
        scale(stage, Metric::Ttft, 1.2);
    });
    assert_eq!(template, [Cause::Tokenization, Cause::Prefill]);
    let cut = causes(|stage, _| {
        stage.pooled.outcomes =
            BTreeMap::from([(OutcomeKind::Completed, 800), (OutcomeKind::Truncated, 200)]);
        stage.pooled.tokens.output_observed = 40_000;
    });
    assert_eq!(cut, [Cause::Truncation]);
}

#[test]
fn a_part_explains_nothing_where_the_whole_stood_still() {
    let longer = causes(|stage, engine| {
        stage.pooled.tokens.output_observed = 70_000;
        // More answers at once wait a little more; the first token is hardly later for it.
        engine.queue = Some(time(0.03));
        scale(stage, Metric::Ttft, 1.03);
    });
    assert_eq!(longer, [Cause::OutputLength]);
}

#[test]
fn without_evidence_it_says_so() {
    let mut pairs = pairs(|stage, _| scale(stage, Metric::Ttft, 1.4));
    for run in pairs.baseline.iter_mut().chain(&mut pairs.candidate) {
        let why = "/metrics answers 404".to_owned();
        run.stages[0].engine = Some(EngineView::Unknown { why });
        run.stages[0].gpus = None;
    }
    let told = told(&pairs, false);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].cause, Cause::BeforeFirstToken);
    assert!(matches!(&told[0].lacks[..], [Lack::Engine { why }] if why.contains("404")));

    let nothing = causes(|stage, _| scale(stage, Metric::E2e, 1.4));
    assert_eq!(nothing, [Cause::Unclear]);
}

#[test]
fn a_shift_of_everything_is_one_cause() {
    let pairs = pairs(|stage, engine| {
        scale(stage, Metric::Ttft, 1.1);
        scale(stage, Metric::Itl, 1.1);
        engine.prefill = Some(time(0.187));
        engine.queue = Some(time(0.022));
        engine.ttft = Some(time(0.209));
    });
    let told = told(&pairs, true);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].cause, Cause::Uniform);
}

#[test]
fn what_got_better_has_a_cause_too() {
    let pairs = pairs(|stage, engine| {
        scale(stage, Metric::Ttft, 0.7);
        engine.prefill = Some(time(0.11));
        engine.ttft = Some(time(0.13));
    });
    let complaint = Complaint {
        stage: None,
        way: Way::Better,
    };
    let told = diagnose(&sides(&pairs), &[complaint], false);
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].cause, told[0].worse), (Cause::Prefill, false));
    assert!(told[0].evidence[0].change < -0.3);
}

#[test]
fn nothing_is_asked_of_stages_without_complaint() {
    let pairs = pairs(|stage, _| scale(stage, Metric::Ttft, 2.0));
    assert!(diagnose(&sides(&pairs), &[], false).is_empty());
    let other = Complaint {
        stage: Some("peak".to_owned()),
        way: Way::Worse,
    };
    assert!(diagnose(&sides(&pairs), &[other], false).is_empty());
}

#[test]
fn runs_that_are_no_pairs_are_compared_as_sides() {
    let base = [run("monday", 0), run("monday", 1), run("monday", 2)];
    let mut head = [run("friday", 900), run("friday", 901)];
    for run in &mut head {
        scale(&mut run.stages[0], Metric::Ttft, 1.5);
    }
    let sides = Sides {
        baseline: &base,
        candidate: &head,
        archive: &[],
    };
    let complaint = Complaint {
        stage: None,
        way: Way::Worse,
    };
    let told = diagnose(&sides, &[complaint], false);
    assert_eq!(told[0].cause, Cause::BeforeFirstToken);
    assert_eq!(told[0].lacks, [Lack::EngineTimes]);
}

#[test]
fn what_the_client_could_not_measure_is_laid_to_it_alone() {
    let told = |change: &dyn Fn(&mut StageSummary)| {
        let pairs = pairs(|stage, _| {
            scale(stage, Metric::Ttft, 1.4);
            change(stage);
        });
        let complaint = Complaint {
            stage: None,
            way: Way::Unmeasured,
        };
        let told = diagnose(&sides(&pairs), &[complaint], false);
        told.iter().map(|told| told.cause).collect::<Vec<_>>()
    };
    let busy = |stage: &mut StageSummary| {
        stage.invalid = vec![InvalidReason::ClientCpu { share: 0.97 }];
    };
    assert_eq!(told(&busy), [Cause::Client]);
    assert_eq!(told(&|_| {}), []);
    let late = |stage: &mut StageSummary| stage.health.as_mut().unwrap().lateness_p99_s = 0.06;
    assert_eq!(told(&late), [Cause::Client], "60 of 80 ms");
    let blind =
        |stage: &mut StageSummary| stage.health.as_mut().unwrap().loop_lag_p99_s = Some(0.02);
    assert_eq!(told(&blind), [], "nobody knows the baseline's");
}

#[test]
fn a_client_that_wakes_later_than_tokens_come_is_named() {
    let mut pairs = pairs(|stage, engine| {
        scale(stage, Metric::Ttft, 1.6);
        engine.queue = Some(time(0.14));
        stage.health.as_mut().unwrap().loop_lag_p99_s = Some(0.021);
    });
    for run in &mut pairs.baseline {
        run.stages[0].health.as_mut().unwrap().loop_lag_p99_s = Some(0.001);
    }
    let named = told(&pairs, false);
    assert_eq!(named[0].cause, Cause::Client);
    for run in &mut pairs.candidate {
        run.stages[0].health.as_mut().unwrap().loop_lag_p99_s = Some(0.019);
    }
    let named = told(&pairs, false);
    assert_eq!(named[0].cause, Cause::Queueing, "a gap is 20 ms");
}
