//! Broken, partial, mismatched, empty and huge runs: no panic, no pass of what was not measured,
//! and no way out of a regression by getting worse.

mod flaw;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use super::*;
use crate::compare::compare;
use crate::compare::synthetic::cell;
use crate::diagnosis::{Diagnosis, diagnose};
use crate::lang::Lang;
use crate::provenance::UnderTest;
use crate::report;
use crate::sample::OutcomeKind;
use crate::spec::Trade;
use flaw::flaw;

/// Runs of both sides and an archive, some of them marred.
#[derive(Debug, Clone)]
struct Case {
    data: Pairs,
    archive: Vec<Run>,
    gate: Gate,
}

fn limits() -> impl Strategy<Value = Gate> {
    let all: Vec<(&str, Limit)> = vec![
        ("ttft.p95", worse_by(0.1)),
        ("ttft.p99", Limit::AtMost(0.3)),
        ("tpot.p50", worse_by(0.05)),
        (
            "e2e.p95",
            Limit::WorseBy {
                ratio: 0.1,
                floor: Some(0.05),
            },
        ),
        ("e2e.mean", worse_by(0.2)),
        ("itl.p95", worse_by(0.1)),
        ("goodput", worse_by(0.03)),
        ("output_throughput", worse_by(0.05)),
        ("output_throughput", Limit::AtLeast(900.0)),
        ("attainment", Limit::WorseByPoints(0.02)),
        ("attainment", Limit::AtLeast(0.95)),
        ("error_ratio", Limit::AtMost(0.01)),
        ("error_ratio", Limit::WorseByPoints(0.005)),
    ];
    let cells = prop::sample::subsequence(all, 1..=13);
    (
        cells,
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        prop::option::of((1..6_u32, 0..9_u32)),
    )
        .prop_map(|(cells, strict, trades, informational, repeats)| {
            let mut gate = gate(&cells);
            if strict {
                gate.evidence = crate::stats::moderated::Evidence::BeyondTolerance;
            }
            gate.repeats = repeats.map(|(min, more)| Repeats {
                min,
                max: min + more,
            });
            if trades && matches!(gate.cells[0].limit, Limit::WorseBy { .. }) {
                gate.cells[0].trade = Some(Trade {
                    gain: cell("output_throughput"),
                    better_by: 0.1,
                    up_to: 0.3,
                });
            }
            if informational && gate.cells.len() > 1 {
                gate.cells[0].informational = true;
            }
            gate
        })
}

fn case() -> impl Strategy<Value = Case> {
    let d = || prop::collection::vec(-0.3..0.3_f64, 10);
    let flaws = || prop::collection::vec((0..30_usize, flaw()), 0..6);
    (0..8_u32, d(), d(), flaws(), limits(), 0..4_u8).prop_map(
        |(count, ttft, e2e, flaws, gate, history)| {
            let mut data = Pairs::new(count)
                .shift(Metric::Ttft, &ttft)
                .shift(Metric::E2e, &e2e);
            let mut archive = match history {
                0 => Vec::new(),
                1 => archive(&[vec![0.0], vec![0.1]]),
                _ => reference_archive(),
            };
            if history == 3 {
                // Stored sessions in place of pairs.
                data.baseline = std::mem::take(&mut archive);
                data.baseline.extend(archive_of_two());
                for run in &mut data.candidate {
                    run.pair = None;
                }
            }
            for (at, flaw) in flaws {
                let all = data.baseline.len() + data.candidate.len() + archive.len();
                if all > 0 {
                    let mut runs = data
                        .baseline
                        .iter_mut()
                        .chain(&mut data.candidate)
                        .chain(&mut archive);
                    if let Some(run) = runs.nth(at % all) {
                        flaw.mar(run);
                    }
                }
            }
            Case {
                data,
                archive,
                gate,
            }
        },
    )
}

fn archive_of_two() -> Vec<Run> {
    let mut more = archive(&[vec![0.0, 0.01], vec![0.02, 0.0]]);
    for run in &mut more {
        run.session = format!("later-{}", run.session);
        run.id = format!("later-{}", run.id);
    }
    more
}

impl Case {
    fn judged(&self) -> Judgement {
        of(
            &self.data.baseline,
            &self.data.candidate,
            &self.archive,
            &self.gate,
        )
    }

    /// Everything that the judgement has to stand.
    fn check(&self) -> Result<(), TestCaseError> {
        let judged = self.judged();
        let gated = || judged.findings.iter().filter(|finding| finding.gated);
        let declared = self
            .gate
            .cells
            .iter()
            .filter(|cell| !cell.informational)
            .count();
        prop_assert_eq!(gated().count(), declared, "no declared cell is lost");
        if judged.exit == Exit::Pass {
            for finding in gated() {
                let value = finding.candidate.and_then(|reading| reading.value);
                let fine = matches!(
                    finding.state,
                    CellState::Ok | CellState::Improved | CellState::NotResolvable
                );
                prop_assert!(fine && value.is_some_and(f64::is_finite), "{finding:?}");
                prop_assert!(
                    finding.evidence.is_some() || finding.reason == Some(Reason::OnThisRun),
                    "{finding:?}"
                );
            }
            prop_assert!(gated().any(|finding| finding.state != CellState::NotResolvable));
        }
        // Numbers that JSON can't hold would be lost.
        let json = serde_json::to_string(&judged).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Judgement>(&json).unwrap(), &judged);
        self.show(&judged);
        Ok(())
    }

    /// Report and explanations of everything; they must only not panic.
    fn show(&self, judged: &Judgement) {
        let sides = report::Sides {
            title: "chat-8b",
            baseline: &self.data.baseline,
            candidate: &self.data.candidate,
            reproduce: &[],
            places: &[],
        };
        let page = report::markdown::report(&report::build(judged, &sides), Lang::En);
        assert!(!page.is_empty());
        let sides = Sides {
            baseline: &self.data.baseline,
            candidate: &self.data.candidate,
            archive: &self.archive,
        };
        let told = diagnose(&sides, &judged.complaints(), judged.shift.is_some());
        let json = serde_json::to_string(&told).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Diagnosis>>(&json).unwrap(), told);
        let comparison = compare(&sides, &self.gate, &UnderTest::NOTHING);
        for finding in &judged.findings {
            for explained in explain(&comparison, &self.gate, &finding.cell) {
                assert!(!report::explain::explanation(&explained, Lang::En).is_empty());
            }
        }
    }

    /// The candidate gets worse in every way: slower by a factor, more requests fail.
    fn worsened(&self, slower: f64, failing: u64) -> Self {
        let mut worse = self.clone();
        for stage in worse
            .data
            .candidate
            .iter_mut()
            .flat_map(|run| &mut run.stages)
        {
            let pooled = &mut stage.pooled;
            for values in pooled.distributions.values_mut() {
                values.mean_s = values.mean_s.map(|mean| mean * slower);
                for quantile in values.quantiles.values_mut() {
                    quantile.adjusted_s = quantile.adjusted_s.map(|seconds| seconds * slower);
                }
            }
            let rates = &mut pooled.rates;
            rates.output_tps = rates.output_tps.map(|rate| rate / slower);
            rates.goodput_rps /= slower;
            let completed = pooled.outcomes.entry(OutcomeKind::Completed).or_default();
            let failing = failing.min(*completed);
            *completed -= failing;
            pooled.good = pooled.good.saturating_sub(failing);
            *pooled.outcomes.entry(OutcomeKind::HttpError).or_default() += failing;
        }
        worse
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn any_runs_are_judged_and_nothing_unmeasured_passes(case in case()) {
        case.check()?;
    }

    #[test]
    fn a_failing_candidate_does_not_pass_by_getting_worse(
        case in case(), slower in 1.0..3.0_f64, failing in 0..400_u64,
    ) {
        let before = case.judged();
        let after = case.worsened(slower, failing).judged();
        prop_assert!(
            (before.exit, after.exit) != (Exit::Regression, Exit::Pass),
            "{before:#?} {after:#?}"
        );
    }
}

#[test]
fn the_cases_reach_every_exit() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = case();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..400 {
        let tree = strategy.new_tree(&mut runner).unwrap();
        let case = tree.current();
        seen.insert(case.judged().exit.code());
    }
    assert_eq!(seen, [0, 1, 3, 4].into());
}
