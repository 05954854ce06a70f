//! How often the gate fails equal sides, on runs that were really taken.
//!
//! Runs of one session differ by noise alone. So [`empirical`] pairs them at random as if they were
//! two sides, judges whole reports of such pairs, and counts the failures.

use std::collections::BTreeMap;

use rand::SeedableRng as _;
use rand::rand_core::Rng as _;
use rand::rngs::ChaCha8Rng;
use serde::Serialize;

use super::{Mode, Verdict, judge, planned_looks};
use crate::compare::{Sides, compare};
use crate::provenance::UnderTest;
use crate::spec::Gate;
use crate::stats::proportion::wilson;
use crate::summary::{Run, RunEnd, Side};

/// Fake comparisons that are made.
const REPORTS: u32 = 200;
/// Everything drawn follows from it.
const SEED: u64 = 2024;
/// Sessions under which nothing can be said of a rate of 5 %: 0 of 20 has an upper limit of 16.11 %.
pub const FEWEST: u32 = 20;
/// The session of fake pairs, which no real one is called.
const FAKE: &str = "fake pairs";

/// What became of comparisons of equal sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Empirical {
    /// Sessions with two runs at least.
    pub sessions: u32,
    /// Their runs.
    pub runs: u32,
    /// Pairs of each comparison.
    pub pairs: u32,
    /// Comparisons.
    pub reports: u32,
    /// Those that found a regression: false alarms.
    pub failed: u32,
    /// Those that passed.
    pub passed: u32,
    /// Share of false alarms.
    pub fail_rate: f64,
    /// Wilson's 95 % interval of it, by the number of sessions: comparisons share runs, so that more
    /// of them show no more.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether there are enough sessions to say something of a rate of 5 %.
    pub enough: bool,
}

/// Why there is nothing to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooLittle {
    /// No gated cell has a tolerance.
    #[error("no gated cell has a tolerance, and absolute limits raise no false alarm")]
    NoTolerance,
    /// The first look needs more pairs.
    #[error(
        "the archive gives {pairs} pairs of runs of one session, and the first look needs {needed}"
    )]
    Pairs {
        /// Pairs that there are.
        pairs: u32,
        /// Pairs of the first look.
        needed: u32,
    },
}

/// Judges comparisons of equal sides made of archived runs. The same archive gives the same answer.
pub fn empirical(
    archive: &[Run],
    gate: &Gate,
    under_test: &UnderTest,
) -> Result<Empirical, TooLittle> {
    count(archive, gate, under_test, REPORTS)
}

fn count(
    archive: &[Run],
    gate: &Gate,
    under_test: &UnderTest,
    reports: u32,
) -> Result<Empirical, TooLittle> {
    let mut gate = gate.clone();
    let tolerances = |cell: &crate::spec::GateCell| !cell.informational && cell.limit.is_relative();
    gate.cells.retain(tolerances);
    if gate.cells.is_empty() {
        return Err(TooLittle::NoTolerance);
    }
    let sessions = sessions(archive);
    let most: usize = sessions.iter().map(|runs| runs.len() / 2).sum();
    let design = planned_looks(Mode::Pairs, &gate);
    let first = design.looks().first().map_or(1, |look| look.repeats);
    let pairs = u32::try_from(most).map_or(u32::MAX, |most| most.min(design.last().repeats));
    if pairs < first {
        return Err(TooLittle::Pairs {
            pairs,
            needed: first,
        });
    }
    let mut draws = ChaCha8Rng::seed_from_u64(SEED);
    let (mut failed, mut passed) = (0, 0);
    for _ in 0..reports {
        let (baseline, candidate) = fake(&sessions, pairs, &mut draws);
        let sides = Sides {
            baseline: &baseline,
            candidate: &candidate,
            archive,
        };
        match judge(&compare(&sides, &gate, under_test), &gate).verdict {
            Verdict::Regression => failed += 1,
            Verdict::Pass => passed += 1,
            Verdict::Undecided | Verdict::Invalid => {}
        }
    }
    let count = sessions.len() as u32;
    let fail_rate = f64::from(failed) / f64::from(reports);
    let interval = wilson(fail_rate, f64::from(count), 0.95);
    Ok(Empirical {
        sessions: count,
        runs: sessions.iter().map(Vec::len).sum::<usize>() as u32,
        pairs,
        reports,
        failed,
        passed,
        fail_rate,
        low: interval.lower,
        high: interval.upper,
        enough: count >= FEWEST,
    })
}

/// Sessions with a pair of runs, each oldest first.
fn sessions(archive: &[Run]) -> Vec<Vec<&Run>> {
    let mut sessions: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in archive {
        if run.end == RunEnd::Complete && run.side != Some(Side::Candidate) {
            sessions.entry(&run.session).or_default().push(run);
        }
    }
    let mut sessions: Vec<Vec<&Run>> = sessions.into_values().collect();
    sessions.retain(|runs| runs.len() > 1);
    for runs in &mut sessions {
        runs.sort_by(|a, b| (&a.started, &a.id).cmp(&(&b.started, &b.id)));
    }
    sessions
}

/// Pairs of runs of one session each, no run twice, in turns AB BA AB as real ones are taken.
fn fake(sessions: &[Vec<&Run>], pairs: u32, draws: &mut ChaCha8Rng) -> (Vec<Run>, Vec<Run>) {
    let mut two: Vec<[&Run; 2]> = Vec::new();
    for session in sessions {
        let mut order: Vec<usize> = (0..session.len()).collect();
        shuffle(&mut order, draws);
        two.extend(order.chunks_exact(2).map(|chosen| {
            let (a, b) = (chosen[0].min(chosen[1]), chosen[0].max(chosen[1]));
            [session[a], session[b]]
        }));
    }
    shuffle(&mut two, draws);
    two.truncate(pairs as usize);
    let side = |run: &Run, pair: usize, side: Side| Run {
        session: FAKE.to_owned(),
        pair: Some(pair as u32),
        side: Some(side),
        ..run.clone()
    };
    two.iter()
        .enumerate()
        .map(|(pair, [earlier, later])| {
            let (base, head) = if pair % 2 == 0 {
                (earlier, later)
            } else {
                (later, earlier)
            };
            (
                side(base, pair, Side::Baseline),
                side(head, pair, Side::Candidate),
            )
        })
        .unzip()
}

fn shuffle<T>(items: &mut [T], draws: &mut ChaCha8Rng) {
    for i in (1..items.len()).rev() {
        let below = (u128::from(draws.next_u64()) * (i as u128 + 1)) >> 64;
        items.swap(i, below as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic::{archive, gate, worse_by};
    use crate::spec::Limit;

    fn of(sessions: &[Vec<f64>], tolerance: f64) -> Result<Empirical, TooLittle> {
        let gate = gate(&[
            ("ttft.p95", worse_by(tolerance)),
            ("ttft.p50", Limit::AtMost(1e-6)),
        ]);
        count(&archive(sessions), &gate, &UnderTest::NOTHING, 20)
    }

    fn calm(sessions: u32) -> Vec<Vec<f64>> {
        (0..sessions)
            .map(|i| {
                let y = f64::from(i * 7 % 5) * 0.004;
                vec![y, y + 0.01, y - 0.005]
            })
            .collect()
    }

    #[test]
    fn calm_sessions_raise_no_alarm_and_few_of_them_prove_nothing() {
        let four = of(&calm(4), 0.1).unwrap();
        assert_eq!((four.sessions, four.runs, four.pairs), (4, 12, 4));
        assert_eq!((four.failed, four.passed), (0, four.reports));
        assert!(!four.enough);
        let twenty = of(&calm(20), 0.1).unwrap();
        assert!(twenty.enough);
        assert_eq!(twenty.pairs, 10);
        assert!((twenty.high - 0.1611).abs() < 5e-5, "{}", twenty.high);
        assert_eq!(of(&calm(20), 0.1).unwrap(), twenty, "the same every time");
    }

    #[test]
    fn runs_that_scatter_more_than_their_archive_says_raise_alarms() {
        // Most runs of a session are equal; a third of the sessions has one that is far off.
        let sessions: Vec<Vec<f64>> = (0..24)
            .map(|i| {
                if i % 3 == 0 {
                    vec![0.0, 0.9]
                } else {
                    vec![0.0, 0.001]
                }
            })
            .collect();
        let got = of(&sessions, 0.05).unwrap();
        assert!(got.passed < got.reports, "{got:?}");
    }

    #[test]
    fn too_little_says_what_is_missing() {
        let few = of(&calm(2), 0.1).unwrap_err();
        assert_eq!(
            few,
            TooLittle::Pairs {
                pairs: 2,
                needed: 3
            }
        );
        let only_limits = gate(&[("ttft.p95", Limit::AtMost(1.0))]);
        assert_eq!(
            empirical(&archive(&calm(4)), &only_limits, &UnderTest::NOTHING).unwrap_err(),
            TooLittle::NoTolerance
        );
    }
}
