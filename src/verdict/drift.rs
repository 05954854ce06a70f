//! The candidate against a pinned release, so that ten small losses can't hide behind each other.

use super::accepted::{Excuse, judge_excusing};
use super::model::{Headline, Judgement, NextLook, Verdict};
use crate::compare::{Arrangement, ComparedCell, Comparison};
use crate::exit::Exit;
use crate::lang::{Phrase, Said, of_judged};
use crate::spec::{Drift, Gate, Policy};

/// A pinned session beside the candidate.
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    /// What it is called: `v1.2`.
    pub label: &'a str,
    /// The release's runs against the candidate's.
    pub comparison: &'a Comparison,
    /// How far a cell may be from it.
    pub drift: Drift,
}

/// Adds to a judgement what the same candidate shows against a pinned release.
///
/// Each gated cell with a limit against the baseline has a second finding, against the release. A
/// release is one session, and days differ: how much, the stored sessions of the baseline say, so a
/// difference has to stand out of that twice, once for either side's day. With fewer sessions than a
/// verdict needs it is advisory. Both families of cells have an error of their own, so that a false
/// alarm is up to twice as likely as without a release.
#[must_use]
pub fn judge_drift(
    judgement: Judgement,
    baseline: &Comparison,
    release: Release<'_>,
    gate: &Gate,
    excuses: &[Excuse],
) -> Judgement {
    let comparison = anchored(baseline, release);
    if comparison.cells.is_empty() {
        return judgement;
    }
    let mut drift = judge_excusing(&comparison, gate, excuses);
    for finding in &mut drift.findings {
        finding.since = Some(release.label.to_owned());
    }
    joined(judgement, drift)
}

/// Why the drift that a gate asks for can't be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRelease {
    /// None is pinned.
    NotPinned,
    /// Its runs are of something else.
    OtherWorkload,
}

impl NoRelease {
    /// As a sentence.
    pub fn said(self) -> Said {
        Said::plain(self.phrase())
    }

    const fn phrase(self) -> Phrase {
        match self {
            Self::NotPinned => of_judged::NOT_PINNED,
            Self::OtherWorkload => of_judged::OTHER_RELEASE_WORKLOAD,
        }
    }

    /// Why that of this judgement was not judged, where its gate asked for it; a report's JSON keeps it
    /// among the caveats.
    pub fn of(judgement: &Judgement) -> Option<Self> {
        let said = |why: &Self| {
            judgement
                .caveats
                .iter()
                .any(|caveat| caveat.is(why.phrase()))
        };
        [Self::NotPinned, Self::OtherWorkload]
            .into_iter()
            .find(said)
    }
}

/// What becomes of a judgement whose gate asks for drift that can't be judged, for this reason: what was
/// not measured is no pass, unless the gate's `no_baseline` says so.
#[must_use]
pub fn without_drift(mut judgement: Judgement, why: NoRelease, gate: &Gate) -> Judgement {
    judgement.caveats.push(why.said());
    if judgement.verdict == Verdict::Pass {
        judgement.verdict = Verdict::Undecided;
    }
    let (exit, word) = match gate.no_baseline {
        Policy::Undecided => (Exit::Undecided, None),
        Policy::Pass => (Exit::Pass, Some("pass")),
        Policy::Fail => (Exit::Regression, Some("fail")),
    };
    judgement.exit = judgement.exit.worst(exit);
    let said = word.map(|word| Said::new(of_judged::POLICY, [format!("`no_baseline: {word}`")]));
    judgement.policy = both(judgement.policy, said);
    judgement
}

/// What policies decide, of both.
fn both(one: Option<Said>, other: Option<Said>) -> Option<Said> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => Some(match (one.phrase(), other.phrase()) {
            (Some((phrase, [one])), Some((of_judged::POLICY, [other]))) => {
                Said::new(phrase, [format!("{one}, {other}")])
            }
            _ => Said::from(format!("{one}, {other}")),
        }),
        (one, other) => one.or(other),
    }
}

/// The release's comparison as one with stored sessions whose centre is the release.
fn anchored(baseline: &Comparison, release: Release<'_>) -> Comparison {
    let mut comparison = release.comparison.clone();
    let own = |cell: &ComparedCell| {
        let same = |own: &&ComparedCell| own.gated && own.cell == cell.cell;
        baseline.cells.iter().find(same)
    };
    comparison.cells.retain_mut(|cell| {
        let limit = own(cell).and_then(|own| release.drift.limit(own.limit?));
        let (Some(own), Some(limit)) = (own(cell), limit) else {
            return false;
        };
        cell.limit = Some(limit);
        cell.trade = None;
        cell.anchored = true;
        cell.sessions.clone_from(&own.sessions);
        cell.noise.clone_from(&own.noise);
        true
    });
    comparison.arrangement = Arrangement::Stored;
    comparison.sessions = baseline.sessions;
    comparison.archive_age_days = baseline.archive_age_days;
    comparison
}

/// Both judgements as one: the worse verdict, all findings worst first.
fn joined(mut judgement: Judgement, drift: Judgement) -> Judgement {
    let rank = |verdict: Verdict| match verdict {
        Verdict::Pass => 0,
        Verdict::Undecided => 1,
        Verdict::Invalid => 2,
        Verdict::Regression => 3,
    };
    if rank(drift.verdict) > rank(judgement.verdict) {
        judgement.verdict = drift.verdict;
    }
    judgement.exit = judgement.exit.worst(drift.exit);
    judgement.policy = both(judgement.policy, drift.policy);
    judgement.headline = sum(judgement.headline, drift.headline);
    judgement.findings.extend(drift.findings);
    judgement
        .findings
        .sort_by_key(|finding| (!finding.gated, finding.state));
    let new = |text: &Said| !judgement.caveats.contains(text);
    let caveats: Vec<Said> = drift.caveats.into_iter().filter(new).collect();
    judgement.caveats.extend(caveats);
    for advice in drift.advice {
        if !judgement.advice.contains(&advice) {
            judgement.advice.push(advice);
        }
    }
    judgement.next = match (judgement.next, drift.next) {
        (NextLook::Repeats(one), NextLook::Repeats(other)) => NextLook::Repeats(one.max(other)),
        (NextLook::Stop, next) | (next, NextLook::Stop) => next,
    };
    judgement
}

fn sum(one: Headline, other: Headline) -> Headline {
    Headline {
        gated: one.gated + other.gated,
        regressed: one.regressed + other.regressed,
        passed: one.passed + other.passed,
        improved: one.improved + other.improved,
        accepted: one.accepted + other.accepted,
        undecided: one.undecided + other.undecided,
        unmeasured: one.unmeasured + other.unmeasured,
    }
}
