//! Runs made up for tests: one closed-loop stage of 1,000 requests, everything alike until changed.

use std::collections::BTreeMap;

use crate::ident::Digest;
use crate::metric::{Cell, DEFINITION, Metric, Quantile};
use crate::plan::PromptCalibration;
use crate::sample::{FinishReason, OutcomeKind, TokenSource};
use crate::spec::{Gate, GateCell, Limit, Policy};
use crate::stats::moderated::Evidence;
use crate::summary::{
    ClassSummary, ClientHealth, ClientStamp, Distribution, QuantileValue, RUN_FORMAT, Rates, Run,
    RunEnd, Side, SpecStamp, StageSummary, TokenTotals,
};

/// Requests of the stage.
pub(crate) const REQUESTS: u64 = 1000;

/// A run of a session, started so many minutes after midnight.
pub(crate) fn run(session: &str, minute: u32) -> Run {
    let stamp = Digest::of(b"spec");
    Run {
        format: RUN_FORMAT.to_owned(),
        definition: DEFINITION.to_owned(),
        id: format!("{session}-{minute}"),
        session: session.to_owned(),
        pair: None,
        side: None,
        started: format!("2026-03-01T{:02}:{:02}:00Z", minute / 60, minute % 60),
        elapsed_s: 50.0,
        end: RunEnd::Complete,
        spec: SpecStamp {
            name: "demo".to_owned(),
            digest: stamp,
            workload_digest: stamp,
            text: String::new(),
            select: Vec::new(),
            replays: Vec::new(),
            rows: Vec::new(),
            schemas: Vec::new(),
            cache: crate::spec::CacheRegime::default(),
            cost: None,
            settings: None,
            capacity: None,
            slos: BTreeMap::new(),
            in_step: Vec::new(),
        },
        source: None,
        untrusted: false,
        trace_digest: Digest::of(b"trace"),
        salt: format!("{minute}"),
        prompt_calibration: PromptCalibration::ASSUMED,
        pins: BTreeMap::new(),
        cold_start: None,
        network: None,
        client: ClientStamp {
            version: "0.1.0".to_owned(),
            target: "http://localhost".to_owned(),
        },
        stages: vec![stage("steady")],
        skipped: Vec::new(),
        shard: None,
        merged: Vec::new(),
        imported: BTreeMap::new(),
        origin: None,
    }
}

/// A stage in which all is well.
pub(crate) fn stage(name: &str) -> StageSummary {
    let distributions = [
        (Metric::Ttft, 0.2),
        (Metric::Tpot, 0.02),
        (Metric::E2e, 2.0),
    ]
    .map(|(metric, seconds)| (metric, distribution(seconds)))
    .into();
    StageSummary {
        name: name.to_owned(),
        from_schedule: false,
        users: Some(8),
        rate_rps: None,
        window_s: 50.0,
        refined: false,
        invalid: Vec::new(),
        settling: None,
        load_state: None,
        stopped: None,
        engine_queue: None,
        prefix_cache: None,
        engine: None,
        gpus: None,
        health: Some(ClientHealth {
            lateness_p50_s: 0.0,
            lateness_p99_s: 0.0,
            lateness_max_s: 0.0,
            cpu_share: None,
            loop_lag_p99_s: None,
            in_flight_mean: 8.0,
            in_flight_max: 8,
            cap_hits: 0,
            resent: 0,
            connections: None,
            bytes: 0,
            backlog: 0,
        }),
        pooled: ClassSummary {
            scheduled: REQUESTS,
            sent: REQUESTS,
            outcomes: BTreeMap::from([(OutcomeKind::Completed, REQUESTS)]),
            finish: BTreeMap::from([(FinishReason::Length, REQUESTS)]),
            good: REQUESTS,
            attainment: None,
            tokens: TokenTotals {
                input_planned: 100_000,
                input_observed: 100_000,
                output_planned: 50_000,
                output_observed: 50_000,
                cached: 0,
                output_source: Some(TokenSource::Usage),
            },
            rates: Rates {
                offered_rps: 20.0,
                sent_rps: 20.0,
                completed_rps: 20.0,
                goodput_rps: 20.0,
                output_tps: Some(1000.0),
                input_tps: Some(2000.0),
            },
            distributions,
            errors: BTreeMap::new(),
            untold: BTreeMap::new(),
            quality: None,
        },
        classes: BTreeMap::new(),
        tenants: None,
        events: Vec::new(),
        bursts: None,
        soak: None,
        windows: Vec::new(),
    }
}

fn distribution(seconds: f64) -> Distribution {
    let value = QuantileValue {
        value_s: seconds,
        adjusted_s: Some(seconds),
    };
    Distribution {
        n: REQUESTS,
        failed: 0,
        min_s: Some(seconds),
        mean_s: Some(seconds),
        max_s: Some(seconds),
        summary: None,
        quantiles: Quantile::STANDARD.map(|q| (q, value)).into(),
        hdr: None,
    }
}

/// All quantiles of a metric; an infinite one means that the requests failed.
pub(crate) fn set(run: &mut Run, metric: Metric, seconds: f64) {
    let mut values = distribution(seconds);
    if seconds.is_infinite() {
        values = distribution(1.0);
        values.failed = REQUESTS / 2;
        for value in values.quantiles.values_mut() {
            value.adjusted_s = None;
        }
    }
    run.stages[0].pooled.distributions.insert(metric, values);
}

/// So many requests fail and are not good.
pub(crate) fn fail(run: &mut Run, requests: u64) {
    let pooled = &mut run.stages[0].pooled;
    pooled.outcomes = BTreeMap::from([
        (OutcomeKind::Completed, REQUESTS - requests),
        (OutcomeKind::HttpError, requests),
    ]);
    pooled.good = REQUESTS - requests;
    let share = 1.0 - requests as f64 / REQUESTS as f64;
    pooled.rates.goodput_rps = 20.0 * share;
    pooled.rates.completed_rps = 20.0 * share;
}

/// Both sides of a comparison, interleaved.
#[derive(Debug, Clone)]
pub(crate) struct Pairs {
    pub(crate) baseline: Vec<Run>,
    pub(crate) candidate: Vec<Run>,
}

impl Pairs {
    /// So many pairs in which all is well, in turns AB BA AB.
    pub(crate) fn new(pairs: u32) -> Self {
        let side = |side: Side| -> Vec<Run> {
            (0..pairs)
                .map(|pair| {
                    let second = (side == Side::Candidate) == (pair % 2 == 0);
                    let mut run = run("today", 600 + 2 * pair + u32::from(second));
                    run.pair = Some(pair);
                    run.side = Some(side);
                    run
                })
                .collect()
        };
        Self {
            baseline: side(Side::Baseline),
            candidate: side(Side::Candidate),
        }
    }

    /// The candidate's values of a metric are `exp(d)` times the baseline's.
    pub(crate) fn shift(mut self, metric: Metric, d: &[f64]) -> Self {
        for (run, d) in self.candidate.iter_mut().zip(d) {
            let seconds = run.stages[0].pooled.distributions[&metric].mean_s.unwrap();
            set(run, metric, seconds * d.exp());
        }
        self
    }
}

/// Archived sessions whose latencies are `exp(y)` seconds.
pub(crate) fn archive(sessions: &[Vec<f64>]) -> Vec<Run> {
    let mut runs = Vec::new();
    for (session, ys) in sessions.iter().enumerate() {
        for y in ys {
            let minute = runs.len() as u32;
            let mut run = run(&format!("s{session}"), minute);
            for metric in [Metric::Ttft, Metric::Tpot, Metric::E2e] {
                set(&mut run, metric, y.exp());
            }
            runs.push(run);
        }
    }
    runs
}

/// The archive of the reference decisions: noise 1.57 % with 8 degrees of freedom.
pub(crate) fn reference_archive() -> Vec<Run> {
    archive(&[
        vec![0.0, 0.02, -0.01],
        vec![0.03, 0.01, 0.02],
        vec![-0.02, 0.0, -0.01],
        vec![0.01, 0.03, 0.04],
    ])
}

/// A gate with these cells, all in the stage `steady`.
pub(crate) fn gate(cells: &[(&str, Limit)]) -> Gate {
    Gate {
        repeats: None,
        cells: cells
            .iter()
            .map(|(metric, limit)| GateCell {
                cell: cell(metric),
                limit: *limit,
                informational: false,
                trade: None,
                place: None,
            })
            .collect(),
        undecided: Policy::Undecided,
        no_baseline: Policy::Undecided,
        incomparable: Policy::Undecided,
        token_mismatch: 0.05,
        evidence: Evidence::BeyondZero,
        anchor: None,
    }
}

/// A cell of the stage `steady`.
pub(crate) fn cell(metric: &str) -> Cell {
    Cell {
        stage: Some("steady".to_owned()),
        class: None,
        metric: metric.parse().unwrap(),
    }
}

/// Worse by a fraction.
pub(crate) const fn worse_by(ratio: f64) -> Limit {
    Limit::WorseBy { ratio, floor: None }
}
