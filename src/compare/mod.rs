//! Two sides of runs to cells with their values; never decides.
//!
//! Before any number come the questions that forbid one: are both sides the same run, did they run
//! the same traffic, do pins differ that nobody put under test ([`pins`])? Then how the runs were
//! taken ([`pairing`]), and the value of every cell in every run ([`measure`]), declared or not
//! ([`cells`]). [`verdict`](crate::verdict) goes on from there.

mod aftermath;
mod cache;
pub mod cells;
mod cold_start;
mod definitions;
mod energy;
mod fault;
mod max_goodput;
pub mod measure;
pub mod pairing;
pub mod pins;
mod quality;

#[cfg(test)]
pub(crate) mod synthetic;
#[cfg(test)]
mod tests;

use crate::ident::Digest;
use crate::lang::{Said, of_judged};
use crate::provenance::UnderTest;
use crate::spec::{CacheRegime, Gate};
use crate::summary::{Run, RunEnd};

pub use cells::{ComparedCell, Reductions, held, measures};
pub use measure::{Measure, Unfit, Value};
pub use pairing::{Arrangement, SessionName};
pub use pins::PinDifference;
pub use quality::Alike;

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'a> {
    /// Runs of the baseline, in any order.
    pub baseline: &'a [Run],
    /// Runs of the candidate, in any order.
    pub candidate: &'a [Run],
    /// Earlier runs of the baseline, from which the noise of this machine is learnt and nothing else;
    /// may be empty, and runs of the sessions under comparison in it don't count.
    pub archive: &'a [Run],
}

/// Why two sides are not comparable, other than a pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// Metrics are defined differently.
    Definition {
        /// Tag of the baseline.
        baseline: String,
        /// Tag of the candidate.
        candidate: String,
    },
    /// Something of the workload that both sides know, where neither has a spec.
    Setting {
        /// What.
        what: String,
        /// The baseline's.
        baseline: String,
        /// The candidate's.
        candidate: String,
    },
    /// Workload, stages, SLO or API differ.
    Workload {
        /// Digest of the baseline.
        baseline: Digest,
        /// Digest of the candidate.
        candidate: Digest,
    },
    /// A prefix cache finds more on one side than on the other, by what prompts share.
    CacheRegime {
        /// The baseline's.
        baseline: CacheRegime,
        /// The candidate's.
        candidate: CacheRegime,
    },
    /// Lengths, instants or groups of the requests differ.
    Trace {
        /// Digest of the baseline.
        baseline: Digest,
        /// Digest of the candidate.
        candidate: Digest,
    },
}

impl Mismatch {
    /// As a sentence.
    pub fn said(&self) -> Said {
        let (phrase, both) = match self {
            Self::Definition {
                baseline,
                candidate,
            } => (
                of_judged::DEFINITIONS_DIFFER,
                [baseline.clone(), candidate.clone()],
            ),
            Self::Setting {
                what,
                baseline,
                candidate,
            } => {
                let args = [what, baseline, candidate].map(Clone::clone);
                return Said::new(of_judged::SETTINGS_DIFFER, args);
            }
            Self::Workload {
                baseline,
                candidate,
            } => (
                of_judged::WORKLOADS_DIFFER,
                [baseline, candidate].map(ToString::to_string),
            ),
            Self::CacheRegime {
                baseline,
                candidate,
            } => {
                let names = [baseline.name(), candidate.name()];
                (of_judged::CACHES_DIFFER, names.map(str::to_owned))
            }
            Self::Trace {
                baseline,
                candidate,
            } => (
                of_judged::TRACES_DIFFER,
                [baseline, candidate].map(ToString::to_string),
            ),
        };
        Said::new(phrase, both)
    }
}

/// Both sides, side by side, with nothing decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// How the runs were taken.
    pub arrangement: Arrangement,
    /// Pins that differ.
    pub pins: Vec<PinDifference>,
    /// What forbids the comparison beside pins.
    pub mismatches: Vec<Mismatch>,
    /// The declared cells in the order of the spec, then all others that were observed.
    pub cells: Vec<ComparedCell>,
    /// Archived sessions under the baseline (stored), or behind the noise (else).
    pub sessions: u32,
    /// Those sessions, oldest first, in step with each cell's.
    pub session_names: Vec<SessionName>,
    /// Days from the newest archived session to the candidate's first run, where both say when.
    pub archive_age_days: Option<f64>,
    /// Whose target was lost in some run: no noise of a machine, so one run shows it.
    pub lost: Lost,
    /// Reasons to trust the whole less, in words.
    pub caveats: Vec<Said>,
}

/// Whose target stopped answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lost {
    /// The baseline's.
    pub baseline: bool,
    /// The candidate's.
    pub candidate: bool,
}

impl Comparison {
    /// Whether the sides may be compared at all.
    pub fn is_comparable(&self) -> bool {
        self.mismatches.is_empty() && !self.pins.iter().any(|pin| pin.blocks)
    }
}

/// Puts both sides side by side: total, whatever the runs hold.
pub fn compare(sides: &Sides<'_>, gate: &Gate, under_test: &UnderTest) -> Comparison {
    let arranged = pairing::arrange(sides);
    let (pins, mut caveats) = pins::compare(&arranged.baseline, &arranged.candidate, under_test);
    caveats.splice(0..0, arranged.caveats.iter().cloned());
    caveats.extend(cache::caveats(&arranged.baseline, &arranged.candidate));
    caveats.extend(definitions::caveats(
        &arranged.baseline,
        &arranged.candidate,
    ));
    Comparison {
        arrangement: arranged.arrangement,
        pins,
        mismatches: mismatches(&arranged.baseline, &arranged.candidate),
        cells: cells::all(&arranged, gate),
        sessions: arranged.sessions.len() as u32,
        session_names: arranged.session_names(),
        archive_age_days: arranged.archive_age_days(),
        lost: Lost {
            baseline: any_lost(&arranged.baseline),
            candidate: any_lost(&arranged.candidate),
        },
        caveats,
    }
}

/// The runs of both sides as they are compared: interrupted ones left out, in step where interleaved.
#[derive(Debug, Clone)]
pub struct InOrder<'a> {
    /// How they were taken.
    pub arrangement: Arrangement,
    /// The baseline's.
    pub baseline: Vec<&'a Run>,
    /// The candidate's.
    pub candidate: Vec<&'a Run>,
}

/// Puts the runs of both sides in order.
pub fn in_order<'a>(sides: &Sides<'a>) -> InOrder<'a> {
    let arranged = pairing::arrange(sides);
    InOrder {
        arrangement: arranged.arrangement,
        baseline: arranged.baseline,
        candidate: arranged.candidate,
    }
}

fn any_lost(runs: &[&Run]) -> bool {
    runs.iter()
        .any(|run| matches!(run.end, RunEnd::TargetLost { .. }))
}

/// Runs of a baseline that were kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct Archive<'a> {
    /// Those that stand as a baseline.
    pub stands: &'a [Run],
    /// Those that show the noise alone.
    pub noise: &'a [Run],
}

/// The declared cells of a gate in kept runs, with no candidate: what a comparison will have to go by.
pub fn archived(arrangement: Arrangement, archive: Archive<'_>, gate: &Gate) -> Vec<ComparedCell> {
    cells::declared(&pairing::archived(arrangement, archive), gate)
}

/// Each way in which some run differs from the first run of the baseline, once.
fn mismatches(baseline: &[&Run], candidate: &[&Run]) -> Vec<Mismatch> {
    let mut found = Vec::new();
    let Some(base) = baseline.first() else {
        return found;
    };
    for run in baseline.iter().chain(candidate) {
        let mut note = |mismatch: Mismatch| {
            if !found.contains(&mismatch) {
                found.push(mismatch);
            }
        };
        if !definitions::meet(&base.definition, &run.definition) {
            note(Mismatch::Definition {
                baseline: base.definition.clone(),
                candidate: run.definition.clone(),
            });
        }
        if let (Some(ours), Some(theirs)) = (&base.spec.settings, &run.spec.settings) {
            for (what, baseline) in ours {
                if let Some(candidate) = theirs.get(what).filter(|other| *other != baseline) {
                    note(Mismatch::Setting {
                        what: what.clone(),
                        baseline: baseline.clone(),
                        candidate: candidate.clone(),
                    });
                }
            }
        } else if run.spec.cache != base.spec.cache {
            // The workload differs by it too.
            note(Mismatch::CacheRegime {
                baseline: base.spec.cache,
                candidate: run.spec.cache,
            });
        } else if run.spec.workload_digest != base.spec.workload_digest {
            note(Mismatch::Workload {
                baseline: base.spec.workload_digest,
                candidate: run.spec.workload_digest,
            });
        } else if run.trace_digest != base.trace_digest {
            // Another workload has another trace anyway.
            note(Mismatch::Trace {
                baseline: base.trace_digest,
                candidate: run.trace_digest,
            });
        }
    }
    found
}
