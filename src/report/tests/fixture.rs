//! Runs and judgements to render: round numbers, so that a reader can check a snapshot by eye.

use std::collections::BTreeMap;

use crate::exit::Exit;
use crate::ident::Digest;
use crate::metric::{Cell, Metric, Quantile};
use crate::provenance::{Observation, Pin, PinPath, Why};
use crate::sample::{FinishReason, OutcomeKind, TokenSource};
use crate::spec::{Limit, SloClause};
use crate::summary::{
    Attainment, ClassSummary, ClauseCount, ClientHealth, ClientStamp, Distribution, QuantileValue,
    Rates, Run, RunEnd, SpecStamp, StageSummary, TokenTotals,
};
use crate::verdict::{
    Advice, CellState, Change, Design, Evidence, Finding, Headline, Judgement, NextLook,
    PinDifference, Reading, Reason, Verdict,
};

/// A run of `chat-8b` with one open-loop stage `steady`, 1,440 requests in 180 s.
pub(in crate::report) fn run(id: &str, version: &str, slow: f64) -> Run {
    let text = "infergate: 1\nname: chat-8b\n".to_owned();
    let mut run = Run {
        format: "infergate.run/1".to_owned(),
        definition: crate::metric::DEFINITION.to_owned(),
        id: id.to_owned(),
        session: "20261129T190000Z".to_owned(),
        pair: Some(0),
        side: None,
        started: "2026-11-29T19:00:00Z".to_owned(),
        elapsed_s: 214.0,
        end: RunEnd::Complete,
        spec: SpecStamp {
            name: "chat-8b".to_owned(),
            digest: Digest::of(text.as_bytes()),
            workload_digest: Digest::of(b"workload"),
            text,
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
        salt: "harbour lantern".to_owned(),
        prompt_calibration: crate::plan::PromptCalibration::ASSUMED,
        pins: BTreeMap::new(),
        cold_start: None,
        network: None,
        client: ClientStamp {
            version: "0.1.0".to_owned(),
            target: "http://127.0.0.1:8000".to_owned(),
        },
        stages: vec![stage("steady", slow)],
        skipped: Vec::new(),
        shard: None,
        merged: Vec::new(),
        imported: BTreeMap::new(),
        origin: None,
    };
    for (path, value) in [
        ("model.name", "meta-llama/Llama-3.1-8B-Instruct"),
        ("precision.weights", "fp8"),
        ("engine.name", "vllm"),
        ("engine.version", version),
        ("hardware.gpu", "NVIDIA H200"),
        ("hardware.count", "1"),
    ] {
        run.pins.insert(path.parse().unwrap(), seen(value));
    }
    let unseen = Pin {
        declared: None,
        observed: Observation::Unknown(Why::NotReported),
    };
    run.pins.insert("hardware.driver".parse().unwrap(), unseen);
    run
}

pub(in crate::report) fn seen(value: &str) -> Pin {
    Pin {
        declared: None,
        observed: Observation::Seen {
            value: value.to_owned(),
            source: "spec".to_owned(),
        },
    }
}

pub(in crate::report) fn stage(name: &str, slow: f64) -> StageSummary {
    StageSummary {
        name: name.to_owned(),
        from_schedule: true,
        users: None,
        rate_rps: Some(8.0),
        window_s: 180.0,
        health: Some(ClientHealth {
            lateness_p50_s: 0.000_04,
            lateness_p99_s: 0.000_3,
            lateness_max_s: 0.001_2,
            cpu_share: Some(0.12),
            loop_lag_p99_s: Some(0.000_2),
            in_flight_mean: 41.3,
            in_flight_max: 66,
            cap_hits: 0,
            resent: 0,
            connections: Some(70),
            bytes: 48_000_000,
            backlog: 0,
        }),
        pooled: class(1440, slow),
        windows: Vec::new(),
        ..crate::compare::synthetic::stage(name)
    }
}

/// A class whose TTFT misses its clause more often as it slows; nothing fails.
pub(in crate::report) fn class(n: u64, slow: f64) -> ClassSummary {
    let missed = (17.0 * slow * slow * slow) as u64;
    ClassSummary {
        scheduled: n,
        sent: n,
        outcomes: BTreeMap::from([(OutcomeKind::Completed, n)]),
        finish: BTreeMap::from([(FinishReason::Stop, n - 9), (FinishReason::Length, 9)]),
        good: n - missed,
        attainment: Some(Attainment {
            good: n - missed,
            of: n,
            clauses: BTreeMap::from([
                (
                    SloClause::Ttft,
                    ClauseCount {
                        met: n - missed,
                        of: n,
                    },
                ),
                (SloClause::Tpot, ClauseCount { met: n - 2, of: n }),
            ]),
        }),
        tokens: TokenTotals {
            input_planned: 1500 * n,
            input_observed: 1500 * n,
            output_planned: 300 * n,
            output_observed: 300 * n,
            cached: 0,
            output_source: Some(TokenSource::Usage),
        },
        rates: Rates {
            offered_rps: 8.0,
            sent_rps: 8.0,
            completed_rps: 7.96,
            goodput_rps: (n - missed) as f64 / 180.0,
            output_tps: Some(2392.0),
            input_tps: Some(11_960.0),
        },
        distributions: BTreeMap::from([
            (Metric::Ttft, distribution(n, 0, 0.120 * slow)),
            (Metric::Tpot, distribution(n, 0, 0.011)),
            (Metric::E2e, distribution(n, 0, 3.4 * slow)),
        ]),
        errors: BTreeMap::new(),
        untold: BTreeMap::new(),
        quality: None,
    }
}

/// Quantiles at 1, 2, 2.5 and 4 times the median.
pub(in crate::report) fn distribution(n: u64, failed: u64, p50: f64) -> Distribution {
    let share = failed as f64 / (n + failed) as f64;
    Distribution {
        n,
        failed,
        min_s: Some(p50 / 3.0),
        mean_s: Some(p50 * 1.2),
        max_s: Some(p50 * 6.0),
        summary: None,
        quantiles: Quantile::STANDARD
            .into_iter()
            .zip([1.0, 2.0, 2.5, 4.0])
            .map(|(q, times)| {
                let value_s = p50 * times;
                let finite = q.fraction() < 1.0 - share;
                let adjusted_s = finite.then_some(value_s * (1.0 + share));
                (
                    q,
                    QuantileValue {
                        value_s,
                        adjusted_s,
                    },
                )
            })
            .collect(),
        hdr: None,
    }
}

pub(in crate::report) fn runs(side: &str, version: &str, slow: f64) -> Vec<Run> {
    (0..3)
        .map(|i| {
            run(
                &format!("20261129T19{i}000Z-4f1c2a9be012-{side}{i}"),
                version,
                slow,
            )
        })
        .collect()
}

pub(in crate::report) fn cell(stage: &str, metric: &str) -> Cell {
    Cell {
        stage: Some(stage.to_owned()),
        class: None,
        metric: metric.parse().unwrap(),
    }
}

pub(in crate::report) fn evidence(resolvable: f64) -> Evidence {
    Evidence {
        repeats: 3,
        p_regression: 0.5,
        p_adjusted: 1.0,
        p_pass: 0.001,
        resolvable: Some(resolvable),
        beyond_tolerance: false,
    }
}

/// A gated finding whose candidate is `1 + estimate` times the baseline.
pub(in crate::report) fn finding(
    metric: &str,
    state: CellState,
    base: f64,
    estimate: f64,
) -> Finding {
    let cell = cell("steady", metric);
    let worse_by = |ratio, floor| Limit::WorseBy { ratio, floor };
    let limit = match cell.metric.metric() {
        Metric::ErrorRatio => Limit::AtMost(0.005),
        Metric::Goodput => worse_by(0.03, None),
        Metric::Ttft => worse_by(0.15, Some(0.01)),
        _ => worse_by(0.1, None),
    };
    Finding {
        alike: None,
        since: None,
        cell,
        state,
        gated: true,
        limit: Some(limit),
        baseline: Some(Reading {
            value: Some(base),
            n: 4320,
        }),
        candidate: Some(Reading {
            value: Some(base * (1.0 + estimate)),
            n: 4320,
        }),
        change: Some(Change::Ratio {
            estimate,
            low: estimate - 0.033,
            high: estimate + 0.034,
        }),
        evidence: Some(evidence(0.063)),
        reason: None,
    }
}

pub(in crate::report) fn error_ratio(state: CellState, base: f64, cand: f64) -> Finding {
    Finding {
        change: Some(Change::Points {
            estimate: cand - base,
            low: cand - base - 0.001,
            high: cand - base + 0.001,
        }),
        candidate: Some(Reading {
            value: Some(cand),
            n: 4320,
        }),
        ..finding("error_ratio", state, base, 0.0)
    }
}

/// The gated cells of a healthy comparison.
pub(in crate::report) fn healthy() -> Vec<Finding> {
    vec![
        finding("goodput", CellState::Ok, 7.91, -0.002),
        error_ratio(CellState::Ok, 0.0, 0.0002),
        finding("ttft.p95", CellState::Ok, 0.3, 0.012),
        finding("tpot.p95", CellState::Improved, 0.0275, -0.14),
        finding("e2e.p95", CellState::Ok, 8.5, -0.004),
    ]
}

pub(in crate::report) fn version_pin() -> PinDifference {
    PinDifference {
        pin: PinPath::covered_by("engine.version")[0],
        baseline: Some("0.11.0".to_owned()),
        candidate: Some("0.12.0".to_owned()),
        under_test: true,
        blocks: false,
    }
}

pub(in crate::report) fn judgement(verdict: Verdict, findings: Vec<Finding>) -> Judgement {
    let count = |states: &[CellState]| {
        findings
            .iter()
            .filter(|f| f.gated && states.contains(&f.state))
            .count() as u32
    };
    let headline = Headline {
        gated: findings.iter().filter(|f| f.gated).count() as u32,
        regressed: count(&[CellState::Regressed]),
        passed: count(&[CellState::Ok, CellState::Improved]),
        improved: count(&[CellState::Improved]),
        accepted: count(&[CellState::Accepted]),
        undecided: count(&[
            CellState::Suspect,
            CellState::Inconclusive,
            CellState::Implausible,
            CellState::NotResolvable,
            CellState::NotFinished,
        ]),
        unmeasured: count(&[
            CellState::Invalid,
            CellState::Missing,
            CellState::Incomparable,
        ]),
    };
    Judgement {
        verdict,
        exit: match verdict {
            Verdict::Pass => Exit::Pass,
            Verdict::Regression => Exit::Regression,
            Verdict::Undecided => Exit::Undecided,
            Verdict::Invalid => Exit::Invalid,
        },
        policy: None,
        headline,
        design: Design::Interleaved {
            pairs: 3,
            looks: vec![3, 5, 7, 10],
        },
        proof: crate::stats::moderated::Evidence::BeyondZero,
        noise_ratio: Some(1.1),
        shift: None,
        base: None,
        levels: Vec::new(),
        diagnoses: Vec::new(),
        pins: vec![version_pin()],
        findings,
        caveats: vec!["Noise of 1.4 % a run is taken from 5 sessions of this environment".into()],
        advice: Vec::new(),
        next: NextLook::Stop,
        unjudged: None,
    }
}

pub(in crate::report) fn regression() -> Judgement {
    let mut findings = healthy();
    findings[0] = finding("goodput", CellState::Suspect, 7.91, -0.031);
    findings[2] = finding("ttft.p95", CellState::Regressed, 0.3, 0.312);
    findings.swap(0, 2);
    findings.swap(1, 2);
    findings.push(Finding {
        gated: false,
        reason: Some(Reason::Informational),
        ..finding("ttft.p50", CellState::Regressed, 0.12, 0.31)
    });
    let mut judgement = judgement(Verdict::Regression, findings);
    judgement.advice = vec![
        advice(
            "See the runs behind the worst cell",
            Some("infergate explain steady/ttft.p95"),
        ),
        advice(
            "If the change is wanted, accept it with a reason; the file is reviewed like code",
            Some("infergate baseline accept chat-8b --cell steady/ttft.p95 --reason WHY"),
        ),
    ];
    judgement
}

pub(in crate::report) fn advice(text: &str, command: Option<&str>) -> Advice {
    Advice {
        text: text.into(),
        command: command.map(str::to_owned),
    }
}
