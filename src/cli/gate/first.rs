//! A gate without anything to hold its candidate against: what it measures all the same, and its report.

use std::path::Path;

use super::ground::{Groundlessness, LEAST_SESSIONS};
use crate::cli::base::Footing;
use crate::cli::budget::{Ledger, keep_stop};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::interrupt::Interrupt;
use crate::cli::judge::{Evidence, Show};
use crate::cli::sitting::CliSitting;
use crate::exit::Exit;
use crate::lang::Said;
use crate::report::CellPlace;
use crate::session::Station;
use crate::spec::Spec;
use crate::summary::{Run, RunEnd};
use crate::verdict::{Advice, Judgement};

/// Runs of a first session: the fewest that can be promoted.
const RUNS: usize = 2;

/// A gate without a baseline.
pub(super) struct First<'a> {
    /// Where the spec was read.
    pub(super) path: &'a Path,
    pub(super) spec: &'a Spec,
    pub(super) footing: &'a Footing,
    pub(super) groundless: Groundlessness,
    pub(super) show: &'a Show,
}

impl First<'_> {
    /// Measures a session that can become the baseline, and reports it.
    pub(super) async fn measure(
        self,
        sitting: &mut CliSitting,
        station: &mut Station,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Exit, Failure> {
        self.groundless.tell(context);
        context.note(&format!(
            "measuring {RUNS} runs all the same, so that there is a session to begin with"
        ));
        let mut evidence = self.evidence(Vec::new());
        let mut ledger = Ledger::open(self.spec, sitting.plan(), [], context);
        let mut stop = None;
        while evidence.candidate.len() < RUNS && !interrupt.asked() {
            let number = evidence.candidate.len();
            if let Some(why) = ledger.stops(1, context) {
                keep_stop(sitting.folder(), &why, number)?;
                context.note(&why);
                stop = Some(why);
                break;
            }
            context.note(&format!("candidate run {} of {RUNS}", number + 1));
            let target = station.up(interrupt.stop()).await?;
            let measured = sitting
                .measure(target, None, number == 0, context, interrupt)
                .await?;
            station.rest().await;
            ledger.took(&measured.run);
            let whole = measured.run.end == RunEnd::Complete;
            evidence.candidate.push(measured.run);
            if !whole {
                break;
            }
        }
        self.footing.keep(sitting.folder())?;
        let mut judgement = self.judge(&evidence, sitting.folder());
        judgement.caveats.splice(0..0, stop.map(Said::from));
        evidence.conclude(
            &judgement, self.spec, sitting, self.show, context, interrupt,
        )
    }

    /// Reports runs that were measured before, or that none were.
    pub(super) fn report(
        self,
        runs: Vec<Run>,
        folder: &Path,
        places: &[CellPlace],
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        self.groundless.tell(context);
        let evidence = self.evidence(runs);
        let judgement = self.judge(&evidence, folder);
        evidence.publish(
            &judgement,
            self.spec,
            Some(folder),
            (&[], places),
            self.show,
            context,
        )
    }

    fn evidence(&self, candidate: Vec<Run>) -> Evidence {
        Evidence {
            candidate,
            base: Some(self.footing.stamp.clone()),
            ..Evidence::default()
        }
    }

    fn judge(&self, evidence: &Evidence, folder: &Path) -> Judgement {
        let (why, ruling) = (self.groundless.words(), self.groundless.ruling);
        if evidence.candidate.is_empty() {
            let gated = self
                .spec
                .gate
                .cells
                .iter()
                .filter(|cell| !cell.informational);
            let gated = u32::try_from(gated.count()).unwrap_or(u32::MAX);
            return Judgement::of_nothing(gated, why, ruling.exit());
        }
        // Cells that have nothing to be held against are this policy's, whichever it is.
        let mut spec = self.spec.clone();
        spec.gate.no_baseline = ruling.policy;
        let mut judgement = evidence.judge(&spec).without_ground(why, ruling);
        if self.groundless.can_begin {
            judgement.advice.insert(0, self.beginning(evidence, folder));
        }
        judgement
    }

    /// How there comes to be a baseline.
    fn beginning(&self, evidence: &Evidence, folder: &Path) -> Advice {
        let path = self.path.display();
        let is_accepted = |run: &Run| {
            let request = run.source.as_ref().and_then(|source| source.pull_request);
            request.is_none() && !run.untrusted
        };
        if evidence.candidate.len() < RUNS || !evidence.candidate.iter().all(is_accepted) {
            return Advice {
                text: Said::from(format!(
                    "when this has landed, measure and promote {LEAST_SESSIONS} sessions of what then is there"
                )),
                command: Some(format!(
                    "infergate run {path} --repeats {RUNS} && infergate baseline promote SESSION --reason TEXT"
                )),
            };
        }
        Advice {
            text: Said::from(format!(
                "make this session the baseline, if it is what others are to be held against; a gate needs \
                 {LEAST_SESSIONS} sessions, best of different days"
            )),
            command: Some(format!(
                "infergate baseline promote {} --reason TEXT",
                folder.display()
            )),
        }
    }
}
