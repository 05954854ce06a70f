//! What a command has taken of the spec's limits, and when it stops.

use super::context::Context;
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

/// The judgement of a comparison that its budget has stopped: what is open stays open.
pub(super) fn stopped(mut judgement: Judgement, why: String, context: &mut Context) -> Judgement {
    context.note(&why);
    judgement.caveats.insert(0, why);
    judgement
}
