//! How the runs were taken: interleaved pairs, candidate runs against stored sessions, or neither.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Archive, Sides};
use crate::ident::Commit;
use crate::lang::{Phrase, Said, of_judged};
use crate::stats::stored::FEWEST_SESSIONS;
use crate::summary::{Run, RunEnd, Side};

/// How the runs were taken, which decides what they can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Pairs of a baseline and a candidate run that took turns.
    Interleaved,
    /// Candidate runs against sessions of the baseline.
    Stored,
    /// Both sides are the same run.
    SameRun,
    /// Neither.
    Unpaired,
}

/// Both sides in order.
pub(super) struct Arranged<'a> {
    /// How they were taken.
    pub(super) arrangement: Arrangement,
    /// Baseline runs; in step with `candidate` where interleaved.
    pub(super) baseline: Vec<&'a Run>,
    /// Candidate runs.
    pub(super) candidate: Vec<&'a Run>,
    /// Sessions of the baseline, oldest first: the baseline itself where stored, else the archive.
    pub(super) sessions: Vec<Vec<&'a Run>>,
    /// Sessions that show how much runs scatter, oldest first: those and, where stored, the archive.
    pub(super) noise: Vec<Vec<&'a Run>>,
    /// What was left out, in words.
    pub(super) caveats: Vec<Said>,
}

/// Which session it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SessionName {
    /// Its id.
    pub session: String,
    /// The commit that it was measured at, where its runs say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
}

impl Arranged<'_> {
    /// The sessions by name.
    pub(super) fn session_names(&self) -> Vec<SessionName> {
        let named = |run: &&Run| SessionName {
            session: run.session.clone(),
            commit: run.source.as_ref().map(|source| source.commit.clone()),
        };
        let first = self.sessions.iter().filter_map(|runs| runs.first());
        first.map(named).collect()
    }

    /// Days from the newest archived session to the first candidate run.
    pub(super) fn archive_age_days(&self) -> Option<f64> {
        let newest = self
            .sessions
            .last()?
            .iter()
            .filter_map(|run| start(run))
            .max()?;
        let first = self.candidate.iter().filter_map(|run| start(run)).min()?;
        Some((first.as_second() - newest.as_second()) as f64 / 86_400.0)
    }
}

/// Decides how the runs were taken.
///
/// Pairs are found by `session` and `pair` in the run files; without those (as in imported files)
/// by start times that alternate. Pairs whose baseline runs all precede their candidate runs are
/// no pairs: a drift of the machine would look like a change. Interrupted runs are left out.
pub(super) fn arrange<'a>(sides: &Sides<'a>) -> Arranged<'a> {
    let mut caveats = Vec::new();
    let mut complete = |runs: &'a [Run], left_out: Phrase| -> Vec<&'a Run> {
        let mut kept: Vec<&Run> = runs
            .iter()
            .filter(|run| !matches!(run.end, RunEnd::Interrupted))
            .collect();
        if kept.len() < runs.len() {
            let count = [(runs.len() - kept.len()).to_string()];
            caveats.push(Said::new(left_out, count));
        }
        kept.sort_by(|a, b| start(a).cmp(&start(b)).then_with(|| a.id.cmp(&b.id)));
        kept
    };
    let mut baseline = complete(sides.baseline, of_judged::INTERRUPTED_BASELINE);
    let mut candidate = complete(sides.candidate, of_judged::INTERRUPTED_CANDIDATE);

    let is_in =
        |run: &Run, side: &[&Run]| side.iter().any(|other| other.id == run.id || *other == run);
    let same = !candidate.is_empty() && candidate.iter().all(|run| is_in(run, &baseline));
    if !same {
        let both: Vec<&Run> = baseline
            .iter()
            .copied()
            .filter(|run| is_in(run, &candidate))
            .collect();
        if !both.is_empty() {
            let count = [both.len().to_string()];
            caveats.push(Said::new(of_judged::ON_BOTH_SIDES, count));
            baseline.retain(|run| !is_in(run, &both));
            candidate.retain(|run| !is_in(run, &both));
        }
    }
    let stored = stored_sessions(&baseline, &candidate);
    let (arrangement, baseline, candidate) = if same {
        (Arrangement::SameRun, baseline, candidate)
    } else if let Some(pairs) = pairs(&baseline, &candidate) {
        let (base, head) = pairs.into_iter().unzip();
        (Arrangement::Interleaved, base, head)
    } else if stored.len() >= FEWEST_SESSIONS {
        (Arrangement::Stored, stored.concat(), candidate)
    } else {
        (Arrangement::Unpaired, baseline, candidate)
    };
    let archived = archived_sessions(sides.archive, &baseline, &candidate);
    let (sessions, noise) = match arrangement {
        Arrangement::Stored => {
            let all = stored.iter().chain(&archived).flatten().copied();
            let noise = by_session(all);
            (stored, noise)
        }
        Arrangement::Interleaved | Arrangement::SameRun | Arrangement::Unpaired => {
            (archived.clone(), archived)
        }
    };
    Arranged {
        arrangement,
        baseline,
        candidate,
        sessions,
        noise,
        caveats,
    }
}

/// Kept runs alone, as they will stand beside a candidate that is not there yet.
pub(super) fn archived(arrangement: Arrangement, archive: Archive<'_>) -> Arranged<'_> {
    let Archive { stands, noise } = archive;
    let complete = |run: &&Run| run.end == RunEnd::Complete;
    let all = || stands.iter().chain(noise).filter(complete);
    let (sessions, noise) = if arrangement == Arrangement::Stored {
        (
            by_session(stands.iter().filter(complete)),
            by_session(all()),
        )
    } else {
        let own: Vec<_> = by_session(all().filter(|run| run.side != Some(Side::Candidate)));
        (own.clone(), own)
    };
    Arranged {
        arrangement,
        baseline: noise.concat(),
        candidate: Vec::new(),
        sessions,
        noise,
        caveats: Vec::new(),
    }
}

type Pair<'a> = (&'a Run, &'a Run);

fn pairs<'a>(baseline: &[&'a Run], candidate: &[&'a Run]) -> Option<Vec<Pair<'a>>> {
    let pairs = numbered(baseline, candidate)
        .or_else(|| alternating(baseline, candidate))
        .filter(|pairs| !pairs.is_empty())?;
    let last_base = pairs.iter().filter_map(|(base, _)| start(base)).max();
    let first_head = pairs.iter().filter_map(|(_, head)| start(head)).min();
    let first_base = pairs.iter().filter_map(|(base, _)| start(base)).min();
    let last_head = pairs.iter().filter_map(|(_, head)| start(head)).max();
    let blocked = pairs.len() > 1 && (last_base < first_head || last_head < first_base);
    (!blocked).then_some(pairs)
}

/// Pairs by their numbers; a pair that was run again counts as it was run last.
fn numbered<'a>(baseline: &[&'a Run], candidate: &[&'a Run]) -> Option<Vec<Pair<'a>>> {
    let by_number = |runs: &[&'a Run]| -> BTreeMap<(String, u32), &'a Run> {
        runs.iter()
            .filter_map(|run| Some(((run.session.clone(), run.pair?), *run)))
            .collect()
    };
    let (base, head) = (by_number(baseline), by_number(candidate));
    let mut pairs: Vec<Pair<'a>> = base
        .into_iter()
        .filter_map(|(number, base)| Some((base, *head.get(&number)?)))
        .collect();
    // Sessions in the order of time, not of their names.
    pairs.sort_by_key(|(base, head)| (start(base).min(start(head)), base.pair));
    (!pairs.is_empty()).then_some(pairs)
}

/// Pairs by start times that alternate: each two runs in a row are one of both sides.
fn alternating<'a>(baseline: &[&'a Run], candidate: &[&'a Run]) -> Option<Vec<Pair<'a>>> {
    let numbered = baseline
        .iter()
        .chain(candidate)
        .any(|run| run.pair.is_some());
    if numbered || baseline.len() != candidate.len() || baseline.len() < 2 {
        return None;
    }
    let mut runs: Vec<(Timestamp, Side, &Run)> = Vec::new();
    for (side, side_runs) in [(Side::Baseline, baseline), (Side::Candidate, candidate)] {
        for run in side_runs {
            runs.push((start(run)?, side, run));
        }
    }
    runs.sort_by_key(|(start, side, _)| (*start, *side));
    runs.chunks(2)
        .map(|two| match two {
            [(_, Side::Baseline, base), (_, Side::Candidate, head)]
            | [(_, Side::Candidate, head), (_, Side::Baseline, base)] => Some((*base, *head)),
            _ => None,
        })
        .collect()
}

/// The baseline's sessions other than the candidate's, oldest first.
fn stored_sessions<'a>(baseline: &[&'a Run], candidate: &[&Run]) -> Vec<Vec<&'a Run>> {
    let apart = |run: &&&Run| !candidate.iter().any(|head| head.session == run.session);
    by_session(baseline.iter().filter(apart).copied())
}

/// Sessions of the archive that ran the same workload and take no part in the comparison.
fn archived_sessions<'a>(
    archive: &'a [Run],
    baseline: &[&Run],
    candidate: &[&Run],
) -> Vec<Vec<&'a Run>> {
    let Some(model) = baseline.first().or(candidate.first()) else {
        return Vec::new();
    };
    by_session(archive.iter().filter(|run| {
        run.end == RunEnd::Complete
            && run.side != Some(Side::Candidate)
            && run.definition == model.definition
            && run.is_of_load(model)
            && !baseline
                .iter()
                .chain(candidate)
                .any(|other| other.session == run.session)
    }))
}

fn by_session<'a>(runs: impl Iterator<Item = &'a Run>) -> Vec<Vec<&'a Run>> {
    let mut sessions: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        sessions.entry(&run.session).or_default().push(run);
    }
    let mut sessions: Vec<Vec<&Run>> = sessions.into_values().collect();
    sessions.sort_by_key(|runs| runs.iter().map(|run| start(run)).min());
    sessions
}

/// When a run started; `None` where its file does not say so in RFC 3339.
fn start(run: &Run) -> Option<Timestamp> {
    run.started.parse().ok()
}
