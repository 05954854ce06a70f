//! What a command has taken of the spec's limits, and when it stops.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::context::Context;
use super::failure::Failure;
use crate::archive::{ArchiveError, save_json};
use crate::plan::Plan;
use crate::spec::{Outlay, Spec};
use crate::summary::Run;
use crate::summary::outlay::{least, taken};
use crate::verdict::Judgement;

/// What a command has taken of the spec's limits.
#[derive(Debug, Clone)]
pub(super) struct Ledger {
    spec: Spec,
    /// One run of a later pair, before there is any.
    planned: Outlay,
    /// The clock when the command began to measure.
    began_s: f64,
    /// What earlier commands of the session took.
    before: Outlay,
    runs: u32,
    used: Outlay,
}

impl Ledger {
    /// From now on; `before` are runs of a session that goes on.
    pub(super) fn open<'r>(
        spec: &Spec,
        plan: &Plan,
        before: impl IntoIterator<Item = &'r Run>,
        context: &Context,
    ) -> Self {
        let before = before
            .into_iter()
            .fold(Outlay::default(), |sum, run| sum.plus(taken(spec, run)));
        Self {
            spec: spec.clone(),
            planned: least(spec, plan, false),
            began_s: context.seconds(),
            before,
            runs: 0,
            used: Outlay::default(),
        }
    }

    /// Notes a run, whether it counts or not.
    pub(super) fn took(&mut self, run: &Run) {
        self.runs += 1;
        self.used = self.used.plus(taken(&self.spec, run));
    }

    /// Why there may not be so many more runs, each as long as those so far; `None` where there may.
    pub(super) fn stops(&self, more: u32, context: &Context) -> Option<String> {
        let limits = self.spec.limits.as_ref()?;
        // By the clock, since starts and drains take time too.
        let used = Outlay {
            seconds: context.seconds() - self.began_s,
            ..self.used
        };
        let each = if self.runs == 0 {
            self.planned
        } else {
            used.times(1.0 / f64::from(self.runs))
        };
        let all = self.before.plus(used).plus(each.times(f64::from(more)));
        let broken = limits.broken_by(all)?;
        Some(format!(
            "stopped by its budget: going on would take {broken}"
        ))
    }
}

const FORMAT: &str = "infergate.stop/1";
const FILE: &str = "stop.json";

/// Why a session has no more runs than it has.
#[derive(Debug, Serialize, Deserialize)]
struct StopStamp {
    format: String,
    why: String,
    /// Candidate runs that there were: with more of them it went on.
    runs: usize,
}

/// The judgement of a comparison that its budget has stopped: what is open stays open.
pub(super) fn stopped(mut judgement: Judgement, why: String, context: &mut Context) -> Judgement {
    context.note(&why);
    judgement.caveats.insert(0, why.into());
    judgement
}

/// Keeps why a session of so many candidate runs was stopped, for who judges it again.
pub(super) fn keep_stop(session: &Path, why: &str, runs: usize) -> Result<(), Failure> {
    let stamp = StopStamp {
        format: FORMAT.to_owned(),
        why: why.to_owned(),
        runs,
    };
    Ok(save_json(&session.join(FILE), &stamp)?)
}

/// Why a session of so many candidate runs was stopped; `None` where it was not, or went on.
pub(super) fn stop_of(session: &Path, runs: usize) -> Result<Option<String>, Failure> {
    let path = session.join(FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let wrong = |why: String| Failure::usage(format!("cannot read `{}`: {why}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let stamp: StopStamp = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if stamp.format != FORMAT {
        return Err(ArchiveError::UnknownFormat {
            path,
            found: stamp.format,
            known: FORMAT,
        }
        .into());
    }
    Ok((stamp.runs == runs).then_some(stamp.why))
}
