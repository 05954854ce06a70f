//! Pairs of runs, one after another, until the judgement needs no more.

use super::forecast::Forecast;
use super::sides::{Stations, name, order};
use crate::archive::save_run;
use crate::cli::budget::{Ledger, keep_stop, stopped};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::interrupt::Interrupt;
use crate::cli::judge::Evidence;
use crate::cli::sitting::CliSitting;
use crate::exit::Exit;
use crate::session::{Measured, Place};
use crate::spec::Spec;
use crate::summary::{InvalidReason, Run, RunEnd};
use crate::verdict::{Judgement, NextLook};

/// How often a pair is taken again when the client or the harness spoilt it.
pub(super) const RETAKES: u32 = 2;

/// Pairs that are being taken.
pub(super) struct Pairs<'a> {
    pub(super) stations: Stations,
    pub(super) sitting: &'a mut CliSitting,
    pub(super) evidence: Evidence,
    pub(super) forecast: Forecast,
    pub(super) ledger: Ledger,
    /// Pairs that stand.
    pub(super) done: u32,
    /// How often the next pair was taken before.
    pub(super) retakes: u32,
}

/// What became of a pair.
enum Taken {
    Both(Vec<Measured>),
    /// The client or the harness was at fault, with the runs that there are.
    Spoilt(Vec<Measured>, String),
}

impl Pairs<'_> {
    pub(super) async fn take_all(
        &mut self,
        spec: &Spec,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Judgement, Failure> {
        let mut wanted = 1;
        loop {
            while self.done < wanted {
                if let Some(why) = self.ledger.stops(2, context) {
                    let runs = self.evidence.candidate.len();
                    keep_stop(self.sitting.folder(), &why, runs)?;
                    return Ok(stopped(self.evidence.judge(spec), why, context));
                }
                let over = self.take_pair(context, interrupt).await?;
                if over {
                    return Ok(self.evidence.judge(spec));
                }
                if self.done < wanted {
                    context.note(&self.forecast.after(self.done, wanted));
                }
            }
            let judgement = self.evidence.judge(spec);
            match judgement.next {
                NextLook::Repeats(repeats) if repeats > self.done => {
                    let headline = &judgement.headline;
                    if self.done > 1 {
                        context.note(&format!(
                            "after {} pairs: {} of {} gated cells decided",
                            self.done,
                            headline.passed + headline.regressed,
                            headline.gated,
                        ));
                    }
                    context.note(&self.forecast.after(self.done, repeats));
                    wanted = repeats;
                }
                NextLook::Repeats(_) | NextLook::Stop => return Ok(judgement),
            }
        }
    }

    /// Takes the next pair; true where sampling cannot go on. A pair that the client or the harness
    /// spoilt is taken again, both sides together; what the target did is data.
    async fn take_pair(
        &mut self,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<bool, Failure> {
        let number = self.done;
        loop {
            let last = self.retakes >= RETAKES;
            let (taken, what) = match self.take_sides(number, last, context, interrupt).await? {
                Taken::Both(taken) => {
                    let lost = taken.iter().any(|run| run.run.end != RunEnd::Complete);
                    let spoilt = taken.iter().find_map(|measured| fault(&measured.run));
                    match spoilt.filter(|_| !lost && !last) {
                        Some(what) => (taken, what.to_owned()),
                        None => return Ok(self.keep(taken) || interrupt.asked()),
                    }
                }
                Taken::Spoilt(taken, what) => (taken, what),
            };
            self.retakes += 1;
            context.note(&format!("pair {} is taken again: {what}", number + 1));
            for measured in taken {
                set_aside(self.sitting, &measured.run)?;
            }
        }
    }

    /// Takes both sides in their order, each on an engine of its own where it is launched.
    async fn take_sides(
        &mut self,
        number: u32,
        last: bool,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Taken, Failure> {
        let mut taken = Vec::new();
        for side in order(number) {
            context.note(&format!("pair {}, {}", number + 1, name(side)));
            let began = context.seconds();
            let station = self.stations.of(side);
            let target = match station.up(interrupt.stop()).await {
                Ok(target) => target,
                Err(error) if error.may_pass() && !last => {
                    return Ok(Taken::Spoilt(taken, error.to_string()));
                }
                Err(error) => return Err(error.into()),
            };
            let place = Some(Place {
                pair: number,
                side: Some(side),
            });
            let measured = self
                .sitting
                .measure(target, place, number == 0, context, interrupt)
                .await?;
            station.rest().await;
            self.forecast.took(number, context.seconds() - began);
            self.ledger.took(&measured.run);
            taken.push(measured);
            if interrupt.asked() {
                break;
            }
        }
        Ok(Taken::Both(taken))
    }

    /// Takes runs as evidence; true where a target was lost, or the user stopped one.
    fn keep(&mut self, taken: Vec<Measured>) -> bool {
        let lost = taken.iter().any(|run| run.run.end != RunEnd::Complete);
        for measured in taken {
            self.evidence.take(measured.run);
        }
        self.done += 1;
        self.retakes = 0;
        lost
    }
}

/// Moves a run that does not count out of the folder that `compare` reads.
pub(in crate::cli) fn set_aside(sitting: &CliSitting, run: &Run) -> Result<(), Failure> {
    save_run(&sitting.folder().join("set-aside"), run)?;
    let path = sitting
        .folder()
        .join("runs")
        .join(format!("{}.json", run.id));
    std::fs::remove_file(&path).map_err(|error| {
        Failure::new(
            Exit::Invalid,
            format!("cannot remove `{}`: {error}", path.display()),
        )
    })
}

/// What the client or the harness did wrong in a run. Tokens off the plan are no accident that
/// another run would mend.
pub(in crate::cli) fn fault(run: &Run) -> Option<&'static str> {
    run.stages
        .iter()
        .flat_map(|stage| &stage.invalid)
        .find_map(|reason| match reason {
            InvalidReason::Late { .. } => Some("requests left too late"),
            InvalidReason::SentShort { .. } => Some("too few requests were sent"),
            InvalidReason::ClientCpu { .. } => Some("the client used too much CPU"),
            InvalidReason::TokensOffPlan { .. }
            | InvalidReason::NoRequests
            | InvalidReason::Interrupted
            | InvalidReason::Event { .. }
            | InvalidReason::Shard { .. } => None,
        })
}
