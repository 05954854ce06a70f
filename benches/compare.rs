//! How long a judgement and its report take, beside reading the run files that they come from.
//!
//! Ten pairs of a sweep of eleven stages with three classes, with an archive of sixty runs: a large
//! comparison. Then candidate runs against a history of a thousand runs in 200 sessions. Every step is
//! timed in turn in each of `N` repeats (20 unless given).
//!
//! ```sh
//! cargo bench --bench compare -- 20
//! ```

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![allow(clippy::unwrap_used, reason = "a bench has nobody to report to")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

#[allow(dead_code, reason = "each bench uses its part")]
mod rig;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use infergate::compare::{Sides, compare};
use infergate::diag::Source;
use infergate::lang::Lang;
use infergate::metric::{DEFINITION, Quantile};
use infergate::plan::{Phase, Plan, PromptCalibration};
use infergate::report;
use infergate::sample::{Outcome, RequestRecord, StageEnd, StageObservation, TokenSource};
use infergate::spec::{self, Spec};
use infergate::summary::{
    ClassSummary, ClientStamp, RUN_FORMAT, Run, RunEnd, Side, SpecStamp, StageContext,
    StageSummary, summarise_stage,
};
use infergate::unit::Nanos;
use infergate::verdict::judge;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use rig::{count, head, is_bench, machine, median, row};

const PAIRS: u32 = 10;
const ARCHIVED_SESSIONS: u32 = 20;
const RUNS_OF_A_SESSION: u32 = 3;
const REQUESTS: u32 = 900;
const HISTORY_SESSIONS: u32 = 200;
const RUNS_OF_HISTORY: u32 = 5;

const SPEC: &str = "\
infergate: 1
name: sweep
target: {url: 'http://127.0.0.1:1', api: chat}
under_test: [engine.args]
workload:
  seed: 42
  output_length: pinned
  classes:
    - {name: chat, weight: 1, input: {uniform: [32, 96]}, output: 40, slo: {ttft: 1s, tpot: 50ms}}
    - {name: code, weight: 1, input: {uniform: [32, 96]}, output: 40, slo: {ttft: 1s, tpot: 50ms}}
    - {name: summary, weight: 1, input: {uniform: [32, 96]}, output: 40, slo: {ttft: 1s, tpot: 50ms}}
stages:
  - {name: steady, open: {rate: [1/s, 2/s, 4/s, 6/s, 8/s, 10/s, 12/s, 14/s, 16/s, 18/s, 20/s]}, requests: 900, warmup: 0}
gate:
  cells:
    - {metric: ttft.p95, stages: [steady], classes: [chat, code, summary], worse_by: 10%}
    - {metric: ttft.p50, stages: [steady], classes: [chat, code, summary], worse_by: 10%}
    - {metric: tpot.p95, stages: [steady], classes: [chat, code, summary], worse_by: 10%}
    - {metric: e2e.p95, stages: [steady], classes: [chat, code, summary], worse_by: 10%}
    - {metric: error_ratio, stages: [steady], at_most: 2%}
";

fn spec() -> Spec {
    let source = Source {
        path: "the bench's spec".to_owned(),
        text: SPEC.to_owned(),
    };
    let no_traces = |_: spec::FileAsk<'_>| Err("none".to_owned());
    spec::parse(&source, &|_| None, &no_traces).unwrap().spec
}

/// A completed request, about 0.2 s to its first token and 20 ms a token.
fn record(plan: &Plan, stage: usize, number: u32, random: &mut ChaCha8Rng) -> RequestRecord {
    let planned = plan.request(stage, Phase::Measured, number);
    let schedule = plan.stages()[stage].schedule.as_ref().unwrap();
    let scheduled = schedule.measured[number as usize];
    let mut at = scheduled;
    let mut gap = |mean: u64, random: &mut ChaCha8Rng| {
        at = at + Nanos::new(random.random_range(mean / 2..mean * 3 / 2));
        at
    };
    let mut events = vec![gap(200_000_000, random)];
    for _ in 1..planned.output_tokens {
        events.push(gap(20_000_000, random));
    }
    RequestRecord {
        stage: stage as u32,
        index: number,
        class: planned.class,
        tenant: planned.tenant,
        conversation: planned.turn.map(|turn| turn.conversation),
        turn: planned.turn.map(|turn| turn.number),
        phase: Phase::Measured,
        planned_input_tokens: planned.input_tokens,
        planned_output_tokens: planned.output_tokens,
        scheduled,
        sent: Some(scheduled),
        headers: events.first().copied(),
        first_answer: events.first().copied(),
        done: events.last().copied(),
        events,
        event_tokens: Vec::new(),
        output_tokens: Some(planned.output_tokens),
        output_source: TokenSource::Usage,
        input_tokens: Some(planned.input_tokens),
        cached_tokens: None,
        finish: None,
        resent: 0,
        bytes: 10_000,
        outcome: Outcome::Completed,
        error: None,
        answer: None,
        heard: None,
    }
}

fn stages(spec: &Spec, plan: &Plan, random: &mut ChaCha8Rng) -> Vec<StageSummary> {
    let planned = plan.stages().iter().enumerate();
    planned
        .map(|(index, planned)| {
            let records: Vec<RequestRecord> = (0..REQUESTS)
                .map(|number| record(plan, index, number, random))
                .collect();
            let schedule = planned.schedule.as_ref().unwrap();
            let observation = StageObservation {
                window_start: schedule.window_start,
                window_end: schedule.window_end,
                in_flight_mean: 8.0,
                in_flight_max: 20,
                cap_hits: 0,
                cpu_share: Some(0.1),
                loop_lag_p99: Some(Nanos::ZERO),
                connections: None,
                bytes: 1,
                backlog: 0,
                end: StageEnd::Complete,
                pulses: Vec::new(),
                events: Vec::new(),
            };
            let context = StageContext {
                stage: &planned.stage,
                classes: plan.classes(),
                quantiles: &Quantile::STANDARD,
                token_mismatch: spec.gate.token_mismatch,
            };
            let Ok(summary) = summarise_stage(context, &records[..], &observation);
            summary
        })
        .collect()
}

/// All latencies times one factor.
fn scale(class: &mut ClassSummary, factor: f64) {
    for distribution in class.distributions.values_mut() {
        distribution.min_s = distribution.min_s.map(|s| s * factor);
        distribution.mean_s = distribution.mean_s.map(|s| s * factor);
        distribution.max_s = distribution.max_s.map(|s| s * factor);
        for value in distribution.quantiles.values_mut() {
            value.value_s *= factor;
            value.adjusted_s = value.adjusted_s.map(|adjusted| adjusted * factor);
        }
    }
}

/// Makes runs that are alike but for noise of about 1 %.
struct Maker {
    random: ChaCha8Rng,
    like: Run,
    made: u32,
}

impl Maker {
    fn new(spec: &Spec) -> Self {
        let plan = Plan::expand(spec);
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let like = Run {
            format: RUN_FORMAT.to_owned(),
            definition: DEFINITION.to_owned(),
            id: String::new(),
            session: String::new(),
            pair: None,
            side: None,
            started: String::new(),
            elapsed_s: 1000.0,
            end: RunEnd::Complete,
            spec: SpecStamp {
                name: spec.name.to_string(),
                digest: spec.digest(),
                workload_digest: spec.workload_digest(),
                text: spec.text.clone(),
                select: Vec::new(),
                replays: Vec::new(),
                rows: Vec::new(),
                schemas: Vec::new(),
                cache: spec::CacheRegime::default(),
                cost: None,
                settings: None,
                capacity: None,
                slos: BTreeMap::new(),
                in_step: Vec::new(),
            },
            source: None,
            untrusted: false,
            trace_digest: plan.trace_digest(),
            salt: String::new(),
            prompt_calibration: PromptCalibration::ASSUMED,
            pins: BTreeMap::new(),
            cold_start: None,
            network: None,
            client: ClientStamp {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                target: "http://127.0.0.1:1".to_owned(),
            },
            stages: stages(spec, &plan, &mut random),
            skipped: Vec::new(),
            shard: None,
            merged: Vec::new(),
            imported: BTreeMap::new(),
            origin: None,
        };
        Self {
            random,
            like,
            made: 0,
        }
    }

    fn run(&mut self, session: &str, place: Option<(u32, Side)>) -> Run {
        let mut run = self.like.clone();
        let minute = self.made;
        self.made += 1;
        run.id = format!("{minute:04}-{session}");
        session.clone_into(&mut run.session);
        let (day, hour) = (1 + minute / 1440, minute / 60 % 24);
        run.started = format!("2026-03-{day:02}T{hour:02}:{:02}:00Z", minute % 60);
        (run.pair, run.side) = place.unzip();
        for stage in &mut run.stages {
            scale(&mut stage.pooled, self.random.random_range(0.99..1.01));
            for class in stage.classes.values_mut() {
                scale(class, self.random.random_range(0.99..1.01));
            }
        }
        run
    }
}

/// Milliseconds that a step takes, and what it makes.
fn timed<T>(times: &mut Vec<f64>, step: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let made = black_box(step());
    times.push(began.elapsed().as_secs_f64() * 1e3);
    made
}

fn main() {
    if !is_bench() {
        return;
    }
    let repeats = count(20);
    let spec = spec();
    let mut maker = Maker::new(&spec);
    let archive: Vec<Run> = (0..ARCHIVED_SESSIONS)
        .flat_map(|session| (0..RUNS_OF_A_SESSION).map(move |_| session))
        .map(|session| maker.run(&format!("s{session}"), None))
        .collect();
    let (mut baseline, mut candidate) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        baseline.push(maker.run("today", Some((pair, Side::Baseline))));
        candidate.push(maker.run("today", Some((pair, Side::Candidate))));
    }
    let texts: Vec<String> = archive
        .iter()
        .chain(&baseline)
        .chain(&candidate)
        .map(|run| serde_json::to_string_pretty(run).unwrap())
        .collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let cells = spec.gate.cells.len();
    println!(
        "{PAIRS} pairs, {} stages, {} classes, {cells} gated cells, {} archived runs, {} MB of run \
         files; medians of {repeats} repeats. {}.\n",
        maker.like.stages.len(),
        spec.workload.classes.len(),
        archive.len(),
        bytes / 1_000_000,
        machine()
    );

    let sides = Sides {
        baseline: &baseline,
        candidate: &candidate,
        archive: &archive,
    };
    let shown = report::Sides {
        title: spec.name.as_str(),
        baseline: &baseline,
        candidate: &candidate,
        reproduce: &[],
        places: &[],
    };
    let mut times: [Vec<f64>; 6] = Default::default();
    for _ in 0..repeats {
        let [reading, comparing, judging, markdown, text, json] = &mut times;
        timed(reading, || {
            let runs = texts.iter().map(|text| serde_json::from_str::<Run>(text));
            runs.collect::<Result<Vec<Run>, _>>().unwrap()
        });
        let comparison = timed(comparing, || compare(&sides, &spec.gate, &spec.under_test));
        let judgement = timed(judging, || judge(&comparison, &spec.gate));
        timed(markdown, || {
            report::markdown::report(&report::build(&judgement, &shown), Lang::En)
        });
        timed(text, || {
            report::text::report(&report::build(&judgement, &shown), Lang::En)
        });
        timed(json, || {
            report::json::ReportFile::new(&judgement, &shown).render()
        });
    }
    let steps = [
        READING,
        "compare",
        "judge",
        "report in Markdown",
        "report for the terminal",
        "report in JSON",
    ];
    table(&steps, times.into());
    history(&spec, &mut maker, repeats);
}

/// What the other steps are held against.
const READING: &str = "read the run files (the reference)";

fn table(steps: &[&str], times: Vec<Vec<f64>>) {
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    head(&["Step", "ms", "by reading"], 1);
    for (step, ms) in steps.iter().zip(&medians) {
        row(&[
            (*step).to_owned(),
            format!("{ms:.2}"),
            format!("{:.3}", ms / medians[0]),
        ]);
    }
}

/// Candidate runs against a long history, of which only what stands at one level counts.
fn history(spec: &Spec, maker: &mut Maker, repeats: u32) {
    let stored: Vec<Run> = (0..HISTORY_SESSIONS)
        .flat_map(|session| (0..RUNS_OF_HISTORY).map(move |_| session))
        .map(|session| maker.run(&format!("h{session}"), None))
        .collect();
    let candidate: Vec<Run> = (0..5).map(|_| maker.run("tonight", None)).collect();
    let texts: Vec<String> = stored
        .iter()
        .map(|run| serde_json::to_string(run).unwrap())
        .collect();
    println!(
        "\n{} candidate runs against a history of {} runs in {HISTORY_SESSIONS} sessions.\n",
        candidate.len(),
        stored.len()
    );
    let sides = Sides {
        baseline: &stored,
        candidate: &candidate,
        archive: &[],
    };
    let mut times: [Vec<f64>; 3] = Default::default();
    for _ in 0..repeats {
        let [reading, comparing, judging] = &mut times;
        timed(reading, || {
            let runs = texts.iter().map(|text| serde_json::from_str::<Run>(text));
            runs.map(Result::unwrap)
                .map(|run| run.stages.len())
                .sum::<usize>()
        });
        let comparison = timed(comparing, || compare(&sides, &spec.gate, &spec.under_test));
        timed(judging, || judge(&comparison, &spec.gate));
    }
    table(&[READING, "compare", "judge"], times.into());
}
