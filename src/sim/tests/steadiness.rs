//! What the checks of a stage's steadiness say of the demo's engine, on its own clock: no machine, no
//! network, only its queue and its noise.

use crate::diag::Source;
use crate::metric::Quantile;
use crate::plan::{Phase, Plan};
use crate::sample::{Outcome, RequestRecord, StageEnd, StageObservation, TokenSource};
use crate::sim::SimOptions;
use crate::sim::engine::Job;
use crate::summary::{Saturation, StageContext, StageSummary, summarise_stage};
use crate::unit::Nanos;

/// The demo's plan with another seed, at so many requests a second.
fn plan(seed: u32, rate: u32) -> Plan {
    let text = include_str!("../../../templates/demo.yaml")
        .replace("seed: 42", &format!("seed: {seed}"))
        .replace("rate: 80/s", &format!("rate: {rate}/s"));
    let source = Source {
        path: "demo.yaml".to_owned(),
        text,
    };
    Plan::expand(
        &crate::spec::parse(&source, &|_| None, &|_| Err("no traces here".to_owned()))
            .unwrap()
            .spec,
    )
}

/// The demo's stage as the engine of this seed would serve it.
fn serve(plan: &Plan, seed: u64) -> StageSummary {
    let mut options = SimOptions::named("demo").unwrap();
    options.seed = seed;
    let mut engine = options.engine().unwrap();
    let planned = &plan.stages()[0];
    let schedule = planned.schedule.as_ref().unwrap();
    let numbered = |phase, instants: &[Nanos]| {
        let each = instants.iter().zip(0..);
        each.map(|(&at, number)| (at, plan.request(0, phase, number)))
            .collect::<Vec<_>>()
    };
    let mut due = numbered(Phase::Warmup, &schedule.warmup);
    due.extend(numbered(Phase::Measured, &schedule.measured));
    let mut records = Vec::new();
    for (id, (at, request)) in due.iter().enumerate() {
        let first = id as u32 * 10_000;
        engine.submit(Job {
            id: id as u64,
            arrival: *at,
            run: String::new(),
            prompt: (first..first + request.input_tokens).collect(),
            output: (first + 5000..first + 5000 + request.output_tokens).collect(),
        });
        records.push(RequestRecord {
            stage: 0,
            index: request.number,
            class: 0,
            tenant: None,
            conversation: None,
            turn: None,
            phase: request.phase,
            planned_input_tokens: request.input_tokens,
            planned_output_tokens: request.output_tokens,
            scheduled: *at,
            sent: Some(*at),
            headers: None,
            first_answer: None,
            done: None,
            events: Vec::new(),
            event_tokens: Vec::new(),
            output_tokens: Some(request.output_tokens),
            output_source: TokenSource::Usage,
            input_tokens: Some(request.input_tokens),
            cached_tokens: None,
            finish: None,
            resent: 0,
            bytes: 0,
            outcome: Outcome::Completed,
            error: None,
            answer: None,
            heard: None,
        });
    }
    while let Some(step) = engine.step() {
        for emission in step.emissions {
            let record = &mut records[emission.id as usize];
            record.events.push(step.end);
            record.done = Some(step.end);
        }
    }
    let observation = StageObservation {
        window_start: schedule.window_start,
        window_end: schedule.window_end,
        in_flight_mean: 1.0,
        in_flight_max: 1,
        cap_hits: 0,
        cpu_share: None,
        loop_lag_p99: None,
        connections: None,
        bytes: 0,
        backlog: 0,
        end: StageEnd::Complete,
        pulses: Vec::new(),
        events: Vec::new(),
    };
    let context = StageContext {
        stage: &planned.stage,
        classes: plan.classes(),
        quantiles: &Quantile::STANDARD,
        token_mismatch: 0.05,
    };
    let Ok(summary) = summarise_stage(context, &records[..], &observation);
    summary
}

/// Of so many seeds: those whose latencies do not settle, those near overload or over it, and those
/// over it.
fn alarms(rate: u32, seeds: u32) -> [usize; 3] {
    let stages: Vec<StageSummary> = (0..seeds)
        .map(|seed| serve(&plan(seed, rate), seed.into()))
        .collect();
    let count = |alarm: &dyn Fn(&StageSummary) -> bool| stages.iter().filter(|s| alarm(s)).count();
    let over = |stage: &StageSummary, least| stage.load_state.unwrap().state >= least;
    [
        count(&|stage| !stage.settling.unwrap().settled),
        count(&|stage| over(stage, Saturation::NearOverload)),
        count(&|stage| over(stage, Saturation::Overloaded)),
    ]
}

#[test]
fn the_demo_is_steady_whatever_its_seed() {
    let [unsettled, near, over] = alarms(80, 200);
    assert!(unsettled <= 2, "{unsettled} of 200 not settled");
    assert!(near <= 2, "{near} of 200 near overload");
    assert_eq!(over, 0);
}

#[test]
fn a_rate_beyond_capacity_is_overload_whatever_its_seed() {
    assert_eq!(alarms(400, 50)[2], 50);
}
