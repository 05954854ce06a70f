//! What stands beside the baseline of a gate: accepted cells, and the pinned release. It is kept with the
//! session, so that its judgement can be made again anywhere.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::baseline::{kept, runs_of};
use super::failure::Failure;
use super::source::read_file;
use crate::archive::{save_json, save_run};
use crate::baseline::{Baseline, excuses};
use crate::compare::{Arrangement, Comparison, Sides, compare};
use crate::ident::Day;
use crate::lang::{Said, of_judged};
use crate::spec::Spec;
use crate::summary::Run;
use crate::verdict::{
    Excuse, Judgement, NoRelease, Release, judge_accepting, judge_drift, without_drift,
};

/// Format tag of `standing.json`.
const FORMAT: &str = "infergate.standing/1";
/// The file in a session's folder.
const FILE: &str = "standing.json";
/// The folder beside it with the release's runs.
const RELEASE: &str = "release";

/// What stands beside a baseline, as of the day of its gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Standing {
    format: String,
    /// Cells that may be worse for a while.
    accepts: Vec<Excuse>,
    /// Those whose new level has become the baseline: they still say what changed since a release.
    settled: Vec<Excuse>,
    /// What the pinned release is called; `None` without one.
    release: Option<String>,
    #[serde(skip)]
    runs: Vec<Run>,
}

impl Default for Standing {
    fn default() -> Self {
        Self {
            format: FORMAT.to_owned(),
            accepts: Vec::new(),
            settled: Vec::new(),
            release: None,
            runs: Vec::new(),
        }
    }
}

impl Standing {
    /// Of a baseline, today.
    pub(super) fn of(baseline: &Baseline, today: Day) -> Self {
        let of = |settled: bool| {
            let those = baseline.accepts.iter().filter(|one| one.settled == settled);
            excuses(those, today)
        };
        let release = baseline.release.as_ref();
        Self {
            accepts: of(false),
            settled: of(true),
            release: release.map(|release| release.label.to_string()),
            runs: runs_of(release.map(|release| release.session.clone())),
            ..Self::default()
        }
    }

    /// Keeps it in a session's folder, where there is anything.
    pub(super) fn keep(&self, session: &Path) -> Result<(), Failure> {
        if *self == Self::default() {
            return Ok(());
        }
        save_json(&session.join(FILE), self)?;
        for run in &self.runs {
            save_run(&session.join(RELEASE), run)?;
        }
        Ok(())
    }

    /// What a session has kept; nothing of one without.
    pub(super) fn read(session: &Path) -> Result<Self, Failure> {
        let path = session.join(FILE);
        if !path.is_file() {
            return Ok(Self::default());
        }
        let wrong =
            |why: String| Failure::usage(format!("cannot read `{}`: {why}", path.display()));
        let text = read_file(&path).map_err(wrong)?;
        let mut standing: Self =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if standing.format != FORMAT {
            let found = standing.format.escape_debug();
            return Err(wrong(format!(
                "its format is `{found}`, this version reads `{FORMAT}`; use a newer infergate"
            )));
        }
        standing.runs = kept(&session.join(RELEASE))?;
        Ok(standing)
    }

    /// Judges by the gate of this spec, with what is excused, and with the drift that it asks for.
    pub(super) fn judge(
        &self,
        comparison: &Comparison,
        candidate: &[Run],
        spec: &Spec,
    ) -> Judgement {
        let gate = &spec.gate;
        let mut judgement = judge_accepting(comparison, gate, &self.accepts);
        let Some(drift) = gate.anchor else {
            return judgement;
        };
        let missing = match &self.release {
            _ if comparison.arrangement != Arrangement::Stored => {
                judgement
                    .caveats
                    .push(Said::plain(of_judged::DRIFT_BY_GATE));
                return judgement;
            }
            None => NoRelease::NotPinned,
            Some(_) if self.runs.is_empty() => NoRelease::OtherWorkload,
            Some(label) => {
                let sides = Sides {
                    baseline: &self.runs,
                    candidate,
                    archive: &[],
                };
                let release = Release {
                    label,
                    comparison: &compare(&sides, gate, &spec.under_test),
                    drift,
                };
                let all: Vec<Excuse> = [&*self.accepts, &*self.settled].concat();
                return judge_drift(judgement, comparison, release, gate, &all);
            }
        };
        without_drift(judgement, missing, gate)
    }
}
