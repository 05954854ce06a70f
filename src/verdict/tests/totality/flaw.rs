//! What may be wrong with a run file.

use proptest::prelude::*;

use super::super::*;
use crate::compare::synthetic::{fail, stage};
use crate::ident::Digest;
use crate::sample::OutcomeKind;
use crate::summary::{InvalidReason, LoadState, RunEnd, Saturation, Settling, StageSummary};

/// One of them.
#[derive(Debug, Clone)]
pub(super) enum Flaw {
    Latency(Metric, f64),
    Mean(Metric, f64),
    NoLatency(Metric),
    Samples(Metric, u64),
    Rate(f64),
    Window(f64),
    Failures(u64),
    Counts(u64, u64),
    Tokens(u64),
    NoStage,
    TwoStages,
    OtherStage,
    Invalid,
    Overloaded,
    Unsettled,
    Interrupted,
    Lost,
    OtherTrace,
    OtherWorkload,
    OtherDefinition,
    Started(&'static str),
    Session(&'static str),
    Id(&'static str),
    Pair(Option<u32>),
}

impl Flaw {
    pub(super) fn mar(self, run: &mut Run) {
        let value = |run: &mut Run, metric, seconds: f64| {
            if seconds.is_finite() || seconds == f64::INFINITY {
                set(run, metric, seconds);
            } else {
                set(run, metric, 1.0);
                if let Some(stage) = run.stages.first_mut()
                    && let Some(values) = stage.pooled.distributions.get_mut(&metric)
                {
                    for quantile in values.quantiles.values_mut() {
                        quantile.adjusted_s = Some(seconds);
                    }
                }
            }
        };
        if run.stages.is_empty() {
            return;
        }
        match self {
            Self::Latency(metric, seconds) => value(run, metric, seconds),
            Self::Started(text) => run.started = text.to_owned(),
            Self::Session(text) => run.session = text.to_owned(),
            Self::Id(text) => run.id = text.to_owned(),
            Self::Pair(pair) => run.pair = pair,
            Self::Interrupted => run.end = RunEnd::Interrupted,
            Self::Lost => {
                run.end = RunEnd::TargetLost {
                    error: "gone".to_owned(),
                }
            }
            Self::OtherTrace => run.trace_digest = Digest::of(b"other"),
            Self::OtherWorkload => run.spec.workload_digest = Digest::of(b"other"),
            Self::OtherDefinition => "other/1".clone_into(&mut run.definition),
            Self::NoStage => run.stages.clear(),
            Self::TwoStages => run.stages.push(stage("steady")),
            Self::OtherStage => "elsewhere".clone_into(&mut run.stages[0].name),
            Self::Failures(requests) => fail(run, requests),
            flaw => flaw.mar_stage(&mut run.stages[0]),
        }
    }

    fn mar_stage(self, stage: &mut StageSummary) {
        let pooled = &mut stage.pooled;
        match self {
            Self::Mean(metric, seconds) => {
                if let Some(values) = pooled.distributions.get_mut(&metric) {
                    values.mean_s = Some(seconds);
                }
            }
            Self::NoLatency(metric) => {
                pooled.distributions.remove(&metric);
            }
            Self::Samples(metric, n) => {
                if let Some(values) = pooled.distributions.get_mut(&metric) {
                    values.n = n;
                }
            }
            Self::Rate(rate) => {
                pooled.rates.output_tps = Some(rate);
                pooled.rates.goodput_rps = rate;
            }
            Self::Window(seconds) => stage.window_s = seconds,
            Self::Counts(scheduled, good) => {
                pooled.scheduled = scheduled;
                pooled.good = good;
                pooled.outcomes.insert(OutcomeKind::Completed, good);
            }
            Self::Tokens(tokens) => pooled.tokens.output_observed = tokens,
            Self::Invalid => stage.invalid = vec![InvalidReason::ClientCpu { share: 0.99 }],
            Self::Overloaded => {
                stage.load_state = Some(LoadState {
                    state: Saturation::Overloaded,
                    completed_by_due: 0.5,
                    backlog_growth: 0.5,
                });
            }
            Self::Unsettled => {
                stage.settling = Some(Settling {
                    metric: Metric::Ttft,
                    cut: 300,
                    of: 1000,
                    settled: false,
                });
            }
            _ => {}
        }
    }
}

fn odd() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-1.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MIN_POSITIVE),
        Just(1e-300),
        Just(1e300),
        Just(f64::MAX),
        0.05..0.8_f64,
    ]
}

fn huge() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(49),
        Just(1000),
        // Files with larger counts are refused.
        Just(1 << 48),
        0..2000_u64
    ]
}

fn metric() -> impl Strategy<Value = Metric> {
    prop_oneof![Just(Metric::Ttft), Just(Metric::Tpot), Just(Metric::E2e)]
}

pub(super) fn flaw() -> impl Strategy<Value = Flaw> {
    let number = prop_oneof![
        (metric(), odd()).prop_map(|(metric, value)| Flaw::Latency(metric, value)),
        (metric(), odd()).prop_map(|(metric, value)| Flaw::Mean(metric, value)),
        metric().prop_map(Flaw::NoLatency),
        (metric(), huge()).prop_map(|(metric, n)| Flaw::Samples(metric, n)),
        odd().prop_map(Flaw::Rate),
        odd().prop_map(Flaw::Window),
        (0..1001_u64).prop_map(Flaw::Failures),
        (huge(), huge()).prop_map(|(all, good)| Flaw::Counts(all, good)),
        huge().prop_map(Flaw::Tokens),
    ];
    let shape = prop_oneof![
        Just(Flaw::NoStage),
        Just(Flaw::TwoStages),
        Just(Flaw::OtherStage),
        Just(Flaw::Invalid),
        Just(Flaw::Overloaded),
        Just(Flaw::Unsettled),
        Just(Flaw::Interrupted),
        Just(Flaw::Lost),
        Just(Flaw::OtherTrace),
        Just(Flaw::OtherWorkload),
        Just(Flaw::OtherDefinition),
        Just(Flaw::Started("not a time")),
        Just(Flaw::Started("2099-01-01T00:00:00Z")),
        Just(Flaw::Session("other")),
        Just(Flaw::Id("same")),
        prop_oneof![Just(None), Just(Some(0)), Just(Some(u32::MAX))].prop_map(Flaw::Pair),
    ];
    prop_oneof![2 => number, 1 => shape]
}
