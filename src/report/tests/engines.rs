//! What engines and GPUs say, in the report of one run and of a comparison.

use std::collections::BTreeMap;

use crate::lang::Lang;
use crate::report::{Sides, Text, build, markdown, run, text};
use crate::sample::{CacheTokens, Throttle};
use crate::summary::{
    BothCounts, BothTimes, CountOf, CrossCheck, EngineFigures, EngineTime, EngineView, Gauge,
    GpuFigures, GpuView, Run, Speculation, TimeOf,
};
use crate::verdict::Verdict;

use super::fixture::{self, healthy, judgement, runs};

fn time(mean_s: f64) -> EngineTime {
    EngineTime {
        n: 1440,
        mean_s,
        p50_s: Some(mean_s * 0.8),
        p95_s: Some(mean_s * 2.5),
    }
}

fn gauge(mean: f64, max: f64) -> Gauge {
    Gauge { mean, max }
}

/// An engine that is so many times slower in prefill.
fn figures(slow: f64) -> EngineFigures {
    EngineFigures {
        engine: "vllm".to_owned(),
        scrapes: 182,
        caveats: Vec::new(),
        queue: Some(time(0.004 * slow)),
        prefill: Some(time(0.12 * slow)),
        decode: Some(time(3.2)),
        ttft: Some(time(0.124 * slow)),
        tpot: Some(time(0.0265)),
        itl: Some(time(0.0265)),
        e2e: Some(time(3.324)),
        running: Some(gauge(41.3, 66.0)),
        waiting: Some(gauge(0.2, 7.0)),
        kv_usage: Some(gauge(0.42, 0.71)),
        preemptions: Some(3),
        prefix_cache: Some(CacheTokens {
            hits: 480_000,
            queries: 2_400_000,
        }),
        speculation: Some(Speculation {
            drafted: 800,
            accepted: 600,
        }),
        prompt_tokens: Some(2_400_000),
        output_tokens: Some(360_000),
        finished: Some(1440),
        cross_check: Some(CrossCheck {
            inexact: None,
            counts: vec![
                BothCounts {
                    of: CountOf::Requests,
                    client: 1680,
                    engine: 1680,
                },
                BothCounts {
                    of: CountOf::OutputTokens,
                    client: 420_000,
                    engine: 420_000,
                },
            ],
            times: vec![BothTimes {
                of: TimeOf::Ttft,
                client_s: 0.1262,
                engine_s: 0.124,
            }],
        }),
        unchecked: None,
    }
}

fn gpu(index: u32, clock: f64, held: f64) -> GpuFigures {
    GpuFigures {
        index,
        samples: 180,
        power_w: Some(gauge(612.0, 698.0)),
        utilization: Some(gauge(0.93, 1.0)),
        sm_clock_mhz: Some(gauge(clock, 1980.0)),
        temperature_c: Some(gauge(64.0, 71.0)),
        memory_used: Some(gauge(128.0e9, 128.0e9)),
        throttled: BTreeMap::from([(Throttle::PowerCap, held)]),
    }
}

/// Runs whose engine is so many times slower in prefill, on GPUs that run at such a clock.
fn measured(side: &str, slow: f64, clock: f64, held: f64) -> Vec<Run> {
    let mut runs = runs(side, "0.12.0", 1.0);
    for run in &mut runs {
        let stage = &mut run.stages[0];
        stage.engine = Some(EngineView::Seen(Box::new(figures(slow))));
        stage.gpus = Some(GpuView::Seen(vec![
            gpu(0, clock, held),
            gpu(1, 1980.0, 0.0),
        ]));
    }
    runs
}

#[test]
fn a_run_shows_what_its_engine_and_gpus_say() {
    let one = &measured("c", 1.0, 1740.0, 0.25)[0];
    let model = run::build(one);
    insta::assert_snapshot!("engine_run.md", markdown::run(&model));
    insta::assert_snapshot!("engine_run.txt", text::plain(&text::run(&model)));
}

#[test]
fn a_run_says_why_they_are_silent_and_where_they_disagree() {
    let mut one = fixture::run("20261129T190000Z-4f1c2a9be012-a1b2", "0.12.0", 1.0);
    let mut blind = one.stages[0].clone();
    "blind".clone_into(&mut blind.name);
    let why = |why: &str| why.to_owned();
    blind.engine = Some(EngineView::Unknown {
        why: why("engine metrics: off in the spec"),
    });
    blind.gpus = Some(GpuView::Unknown {
        why: why("the target is on another machine"),
    });
    let mut wrong = figures(1.0);
    wrong.caveats = vec![why(
        "the metrics at http://a/metrics were not read for 8.0 s of the window",
    )];
    let check = wrong.cross_check.as_mut().unwrap();
    check.counts[1].client = 105_000;
    check.times[0].client_s = 0.1;
    let mut shared = one.stages[0].clone();
    "shared".clone_into(&mut shared.name);
    let mut theirs = wrong.clone();
    theirs.caveats.clear();
    theirs.cross_check.as_mut().unwrap().counts[0].engine = 2300;
    shared.engine = Some(EngineView::Seen(Box::new(theirs)));
    let mut anew = one.stages[0].clone();
    "anew".clone_into(&mut anew.name);
    let mut restarted = figures(1.0);
    restarted.cross_check = None;
    restarted.unchecked = Some(why("its counters went back: it was started anew"));
    anew.engine = Some(EngineView::Seen(Box::new(restarted)));
    one.stages[0].engine = Some(EngineView::Seen(Box::new(wrong)));
    one.stages.extend([blind, shared, anew]);
    let model = run::build(&one);
    insta::assert_snapshot!("engine_doubts.md", markdown::run(&model));
}

#[test]
fn a_comparison_puts_both_sides_engines_and_gpus_beside_each_other() {
    let baseline = measured("b", 1.0, 1980.0, 0.0);
    let candidate = measured("c", 1.5, 1740.0, 0.25);
    let sides = Sides {
        title: "chat-8b",
        baseline: &baseline,
        candidate: &candidate,
        reproduce: &[],
        places: &[],
    };
    let model = build(&judgement(Verdict::Pass, healthy()), &sides);
    insta::assert_snapshot!("engine_comparison.md", markdown::report(&model, Lang::En));
}

#[test]
fn what_the_metrics_of_many_runs_leave_open_is_said_once() {
    let mut baseline = measured("b", 1.0, 1980.0, 0.0);
    let like = baseline[0].clone();
    baseline.resize(5, like);
    for (run, off) in (1..).zip(&mut baseline) {
        let mut seen = figures(1.0);
        let read =
            |seconds: u32| format!("the metrics were read up to 0.{seconds:03} s off the edges");
        seen.caveats = vec![read(run)];
        if run == 3 {
            seen.caveats.push("something else".to_owned());
        }
        off.stages[0].engine = Some(EngineView::Seen(Box::new(seen)));
    }
    let sides = Sides {
        title: "chat-8b",
        baseline: &baseline,
        candidate: &[],
        reproduce: &[],
        places: &[],
    };
    let model = build(&judgement(Verdict::Pass, healthy()), &sides);
    let said: Vec<String> = model.caveats.iter().map(Text::plain).collect();
    let of = |words: &str| said.iter().filter(|text| text.contains(words)).count();
    assert_eq!(
        (of("off the edges"), of("something else")),
        (1, 1),
        "{said:?}"
    );
    let first = said
        .iter()
        .find(|text| text.contains("off the edges"))
        .unwrap();
    assert!(
        first.contains("run 1, and alike of 4 others: the metrics were read up to 0.001 s"),
        "{first}"
    );
}
