//! The procedure against an independent implementation, to the last digits that it wrote down.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::moderated::{Evidence, Look, look};
use super::noise::{LOG_FLOOR, Noise, Prior, is_noisy};
use super::sequential::{Decision, Design, Outlook, Sequential};

/// Written by the reference implementation.
const VECTORS: &str = include_str!("../../tests/fixtures/statistics/vectors.json");

/// All of it, but for the numbered looks, which are read by name.
#[derive(Deserialize)]
struct Vectors {
    sigma_run: SigmaRun,
    decide1: Decided,
    decide2: Decided,
}

#[derive(Deserialize)]
struct SigmaRun {
    arch: Vec<Vec<f64>>,
    sigma0: f64,
    nu0: f64,
}

#[derive(Deserialize)]
struct OneLook {
    d: Vec<f64>,
    s0: f64,
    nu0: f64,
    tau: f64,
    out: Expected,
}

#[derive(Deserialize)]
struct Expected {
    m: f64,
    v: f64,
    ratio: f64,
    vm: f64,
    se: f64,
    df: f64,
    p_reg: f64,
    p_pass: f64,
    p_imp: f64,
    lo95: f64,
    hi95: f64,
}

#[derive(Deserialize)]
struct Decided {
    inp: BTreeMap<String, Gate>,
    verdict: BTreeMap<String, String>,
    trace: Vec<Step>,
}

#[derive(Deserialize)]
struct Gate {
    d: Vec<f64>,
    arch: Vec<Vec<f64>>,
    tau: f64,
}

#[derive(Deserialize)]
struct Step {
    k: usize,
    noisy: bool,
    med_ratio: f64,
    stats: BTreeMap<String, Expected>,
    adj: BTreeMap<String, f64>,
    verdicts: BTreeMap<String, Option<String>>,
}

/// Equal but for the last of some ten digits.
#[track_caller]
fn same(got: f64, expected: f64) {
    let within = 1e-9 * expected.abs().max(1e-6);
    assert!(
        (got - expected).abs() <= within,
        "got {got}, expected {expected}"
    );
}

#[track_caller]
fn check(look: &Look, prior: Prior, expected: &Expected) {
    let interval = look.interval(0.95);
    let moderated = look.standard_error.powi(2) * look.repeats as f64;
    for (got, expected) in [
        (look.estimate, expected.m),
        (look.variance, expected.v),
        (look.variance / prior.variance, expected.ratio),
        (moderated, expected.vm),
        (look.standard_error, expected.se),
        (look.df, expected.df),
        (look.p_worse, expected.p_reg),
        (look.p_within, expected.p_pass),
        // The reference calls the share of the distribution below so.
        (1.0 - look.p_better, 1.0 - expected.p_imp),
        (interval.lower, expected.lo95),
        (interval.upper, expected.hi95),
    ] {
        same(got, expected);
    }
}

fn word(decision: Decision) -> Option<&'static str> {
    match decision {
        Decision::Open => None,
        Decision::Regression => Some("regression"),
        Decision::Pass => Some("pass"),
    }
}

#[test]
fn noise_and_single_looks() {
    let vectors: Vectors = serde_json::from_str(VECTORS).unwrap();
    let noise = Noise::from_sessions(&vectors.sigma_run.arch, LOG_FLOOR).unwrap();
    same(noise.sigma, vectors.sigma_run.sigma0);
    same(noise.df, vectors.sigma_run.nu0);
    let all: BTreeMap<String, serde_json::Value> = serde_json::from_str(VECTORS).unwrap();
    let looks: Vec<OneLook> = all
        .into_iter()
        .filter(|(name, _)| name.starts_with("look"))
        .map(|(_, value)| serde_json::from_value(value).unwrap())
        .collect();
    assert_eq!(looks.len(), 5);
    for one in looks {
        let (sigma, df) = (one.s0, one.nu0);
        let prior = Noise { sigma, df }.of_pair();
        let found = look(&one.d, prior, one.tau, Evidence::BeyondZero, false).unwrap();
        check(&found, prior, &one.out);
    }
}

#[test]
fn whole_decisions() {
    let vectors: Vectors = serde_json::from_str(VECTORS).unwrap();
    for decided in [vectors.decide1, vectors.decide2] {
        let names: Vec<&String> = decided.inp.keys().collect();
        let priors: Vec<Prior> = (decided.inp.values())
            .map(|gate| {
                Noise::from_sessions(&gate.arch, LOG_FLOOR)
                    .unwrap()
                    .of_pair()
            })
            .collect();
        let mut sequential = Sequential::new(Design::paired(3, 10), names.len());
        for step in &decided.trace {
            assert!(!sequential.is_settled());
            assert_eq!(sequential.next().unwrap().repeats as usize, step.k);
            let at = |noisy: bool| -> Vec<Look> {
                (decided.inp.values().zip(&priors))
                    .map(|(gate, prior)| {
                        look(
                            &gate.d[..step.k],
                            *prior,
                            gate.tau,
                            Evidence::BeyondZero,
                            noisy,
                        )
                        .unwrap()
                    })
                    .collect()
            };
            let ratios: Vec<f64> = (at(false).iter().zip(&priors))
                .map(|(look, prior)| look.variance / prior.variance)
                .collect();
            same(super::median(ratios.clone()).unwrap(), step.med_ratio);
            let noisy = is_noisy(ratios);
            assert_eq!(noisy, step.noisy);
            let looks = at(noisy);
            let outlooks: Vec<Option<Outlook>> = (looks.iter().zip(decided.inp.values()))
                .map(|(look, gate)| Some(Outlook::of(look, gate.tau)))
                .collect();
            sequential.take(&outlooks);
            for (index, name) in names.iter().enumerate() {
                check(&looks[index], priors[index], &step.stats[*name]);
                same(sequential.adjusted()[index], step.adj[*name]);
                let said = word(sequential.decisions()[index]);
                assert_eq!(said, step.verdicts[*name].as_deref(), "{name}");
            }
        }
        for (name, decision) in names.iter().zip(sequential.decisions()) {
            assert_eq!(
                word(*decision).unwrap_or("inconclusive"),
                decided.verdict[*name]
            );
        }
    }
}
