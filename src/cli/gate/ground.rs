//! What a gate holds its candidate against: the sessions that stand, of the same workload, in the base's past.

use std::io::Write as _;
use std::path::Path;

use crate::baseline::Baseline;
use crate::cli::base::{Footing, SpecChange};
use crate::cli::baseline::{runs_of, stored_runs};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::judge::Evidence;
use crate::cli::sitting::{archive_of, baseline_of, keep};
use crate::cli::standing::Standing;
use crate::exit::Exit;
use crate::ident::Day;
use crate::ident::Digest;
use crate::provenance::Pins;
use crate::spec::Spec;
use crate::summary::Run;
use crate::verdict::Ruling;

/// Stored sessions below which no verdict is given at all.
pub(super) const LEAST_SESSIONS: usize = 3;

/// The candidate that a baseline is wanted for.
pub(super) struct Wanted<'a> {
    pub(super) spec: &'a Spec,
    /// Where the spec was read.
    pub(super) path: &'a Path,
    pub(super) pins: &'a Pins,
    /// The requests that it was sent.
    pub(super) trace: Digest,
    /// A run of it that another tool measured: what its baseline has to be like. `None` of our own.
    pub(super) foreign: Option<&'a Run>,
    /// The day on which it was measured, for accepts; `None` where no clock says.
    pub(super) day: Option<Day>,
}

/// Why a candidate can't be held against stored sessions.
pub(super) enum Groundless {
    /// There are none, or they are of something else: the spec has a policy for that.
    Policy(Groundlessness),
    /// They can't be read.
    Failed(Failure),
}

/// There is nothing to hold a candidate against.
pub(super) struct Groundlessness {
    /// What the spec makes of it.
    pub(super) ruling: Ruling,
    /// Why, and what to do.
    pub(super) why: Failure,
    /// Whether sessions that are measured now can become the baseline.
    pub(super) can_begin: bool,
}

impl From<Failure> for Groundless {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Groundless {
    pub(super) fn incomparable(spec: &Spec, why: String) -> Self {
        Self::Policy(Groundlessness {
            ruling: Ruling {
                policy: spec.gate.incomparable,
                name: "incomparable",
            },
            why: Failure::new(Exit::Undecided, why),
            can_begin: false,
        })
    }

    fn no_baseline(spec: &Spec, why: Failure) -> Self {
        Self::Policy(Groundlessness {
            ruling: Ruling {
                policy: spec.gate.no_baseline,
                name: "no_baseline",
            },
            why,
            can_begin: true,
        })
    }

    /// The same where the spec is one whose sessions can become the baseline.
    fn beginning(self) -> Self {
        match self {
            Self::Policy(groundless) => Self::Policy(Groundlessness {
                can_begin: true,
                ..groundless
            }),
            Self::Failed(failure) => Self::Failed(failure),
        }
    }

    /// Where the base's spec says nothing of this one.
    pub(super) fn spec(footing: &Footing, spec: &Spec, path: &Path) -> Option<Self> {
        let why = footing.refuses_stored(path)?;
        Some(match footing.change {
            SpecChange::New => Self::no_baseline(spec, Failure::new(Exit::Undecided, why)),
            SpecChange::None | SpecChange::Workload => Self::incomparable(spec, why),
        })
    }
}

impl Groundlessness {
    /// Says it, in quiet too: an exit code that rests on no comparison says so.
    pub(super) fn tell(&self, context: &mut Context) {
        let _ = write!(context.err, "{}", self.why.render());
        if let (exit, Some(_)) = self.ruling.exit() {
            let _ = writeln!(
                context.err,
                "the spec's `{}: {}` makes this exit {}",
                self.ruling.name,
                if exit == Exit::Pass { "pass" } else { "fail" },
                exit.code()
            );
        }
    }

    /// Why, for a report.
    pub(super) fn words(&self) -> String {
        let text = self.why.render();
        let words = text.trim_start_matches("error: ").trim_end();
        words.to_owned()
    }
}

/// The evidence against which a candidate is judged, without the candidate.
pub(super) fn ground(
    wanted: &Wanted<'_>,
    footing: &mut Footing,
    context: &mut Context,
) -> Result<Evidence, Groundless> {
    let spec = wanted.spec;
    let mut baseline = match stored_runs(&footing.shelf, spec, wanted.pins) {
        Ok(baseline) => baseline,
        Err(failure) if failure.exit == Exit::Undecided => {
            return Err(Groundless::no_baseline(spec, failure));
        }
        Err(failure) => return Err(failure.into()),
    };
    retain_workload(&mut baseline, wanted, context)?;
    let said = footing.stamp.says().len();
    footing.retain(&mut baseline)?;
    for line in footing.stamp.says().into_iter().skip(said) {
        context.note(&line);
    }
    let sessions = baseline.sessions.len();
    if sessions < LEAST_SESSIONS {
        let missing = LEAST_SESSIONS - sessions;
        let why = format!(
            "the baseline `{}` has {sessions} session{} and needs {LEAST_SESSIONS}: promote {missing} more, \
             or compare with a second live target now: `infergate ab {} --baseline-url URL`",
            baseline.place,
            if sessions == 1 { "" } else { "s" },
            wanted.path.display(),
        );
        let why = Failure::new(Exit::Undecided, why);
        return Err(Groundless::no_baseline(spec, why));
    }
    let standing = wanted.day.map(|day| Standing::of(&baseline, day));
    Ok(Evidence {
        standing: standing.unwrap_or_default(),
        baseline: runs_of(baseline.sessions),
        archive: runs_of(baseline.others.into_iter().chain(baseline.noise)),
        base: Some(footing.stamp.clone()),
        ..Evidence::default()
    })
}

/// Leaves the sessions that ran this workload.
fn retain_workload(
    baseline: &mut Baseline,
    wanted: &Wanted<'_>,
    context: &mut Context,
) -> Result<(), Groundless> {
    let promoted = baseline.sessions.len();
    let workload = wanted.spec.workload_digest();
    let is_same = |run: &Run| match wanted.foreign {
        Some(foreign) => run.is_of_load(foreign),
        None => run.spec.workload_digest == workload && run.trace_digest == wanted.trace,
    };
    baseline.retain(is_same);
    let sessions = baseline.sessions.len();
    if promoted > 0
        && sessions == 0
        && let Some(foreign) = wanted.foreign
    {
        let why = format!(
            "no session of the baseline `{}` is of the load of `{}`, by what its file tells of it; promote \
             {LEAST_SESSIONS} sessions of that load: `infergate baseline promote FOLDER --reason WHY`",
            baseline.place, foreign.id,
        );
        return Err(Groundless::incomparable(wanted.spec, why));
    }
    if promoted > 0 && sessions == 0 {
        let why = format!(
            "the spec changed: no session of the baseline `{}` ran this workload; promote \
             {LEAST_SESSIONS} sessions of the spec as it is now, or compare with a second live \
             target: `infergate ab {} --baseline-url URL`",
            baseline.place,
            wanted.path.display(),
        );
        return Err(Groundless::incomparable(wanted.spec, why).beginning());
    }
    if sessions < promoted {
        context.note(&format!(
            "{} of {promoted} sessions of the baseline ran another workload and are left out",
            promoted - sessions
        ));
    }
    Ok(())
}

/// Keeps it in a session's folder, so that its judgement can be made again from there alone.
pub(super) fn keep_ground(
    session: &Path,
    evidence: &Evidence,
    footing: &Footing,
) -> Result<(), Failure> {
    keep(&baseline_of(session), &evidence.baseline)?;
    keep(&archive_of(session), &evidence.archive)?;
    footing.keep(session)?;
    evidence.standing.keep(session)
}
