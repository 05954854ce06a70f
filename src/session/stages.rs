//! The stages of a run: load, records, summaries, one after another.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::beside::{Beside, of_shards, unseen};
use super::error::MeasureError;
use super::events::Events;
use super::loaded::{Loaded, Taking};
use super::measure::Sitting;
use super::refinement::Refinement;
use super::replicas::Replicas;
use super::soaking::Soaking;
use crate::archive::{ArchiveError, RecordSpan};
use crate::load::{Client, Endpoint, LoadEvent, StageJob, Stop, prime, run_stage};
use crate::metric::{Quantile, Statistic};
use crate::plan::{Plan, Prompter, Share};
use crate::probe::Origin;
use crate::sample::{
    AcrossPause, EngineQueue, EngineTrack, RequestRecord, StageEnd, StageObservation,
};
use crate::spec::{Class, Spec, Stage};
use crate::summary::{
    CacheUsage, ClientCounts, RunEnd, StageContext, StageSummary, continued, shared_share,
    summarise_stage,
};
use crate::unit::Nanos;

/// How long before a stage that begins at an agreed instant its requests are prepared.
const PREPARE: Nanos = Nanos::from_secs(2);

impl Sitting {
    /// Runs the stages one after another until the target is lost or the user stops it. Between
    /// them nothing is in flight, and where the engine shows its queue, that is empty too.
    ///
    /// Where several clients share the run, each stage begins when they have agreed, and summaries are
    /// left to the end: the next stage waits for nobody.
    pub(super) async fn load(
        &self,
        from: Source<'_>,
        all: bool,
        mut progress: impl FnMut(LoadEvent),
        stop: Stop,
        loaded: &mut Loaded,
    ) -> Result<(), MeasureError> {
        let client = Client::new(from.endpoint, self.spec.timeouts.connect)?;
        let mut later = Vec::new();
        for (index, planned) in self.plan.stages().iter().enumerate() {
            if !all && !self.spec.gate.repeats_stage(&planned.stage.name) {
                continue;
            }
            if !loaded.has(&planned.stage) && !loaded.skips(&planned.stage) {
                let rest = loaded.rest(&self.plan, index);
                let one = One {
                    plan: rest.as_ref().unwrap_or(&self.plan),
                    index,
                    client: &client,
                };
                let kept = Box::pin(self.load_one(from, one, &mut progress, &stop, loaded));
                later.extend(kept.await?);
            }
            if loaded.end != RunEnd::Complete {
                break;
            }
            // Clients that share a run would not agree on a load that each finds for itself.
            if !all || self.shard.is_some() {
                continue;
            }
            let Some(mut refinement) = Refinement::after(&self.spec, index, loaded.elapsed_s)
            else {
                continue;
            };
            while loaded.end == RunEnd::Complete
                && let Some(stage) = refinement.next(&loaded.stages, loaded.elapsed_s)
            {
                let plan = Arc::new(self.plan.with_stage(&self.spec, &stage));
                let one = One {
                    plan: &plan,
                    index: plan.stages().len() - 1,
                    client: &client,
                };
                let declared = loaded.stages.len();
                let kept = Box::pin(self.load_one(from, one, &mut progress, &stop, loaded));
                kept.await?;
                for added in &mut loaded.stages[declared..] {
                    added.refined = true;
                }
            }
        }
        for Kept {
            stage,
            records,
            observation,
        } in later
        {
            let mut summary = self.summary(&stage, &records, &observation)?;
            of_shards(&mut summary);
            loaded.take(&stage, summary, Vec::new());
            loaded.observations.push(observation);
        }
        Ok(())
    }

    /// Runs one stage. What it leaves to be summarised at the end is returned.
    async fn load_one(
        &self,
        from: Source<'_>,
        one: One<'_>,
        progress: &mut impl FnMut(LoadEvent),
        stop: &Stop,
        loaded: &mut Loaded,
    ) -> Result<Option<Kept>, MeasureError> {
        let whole = &self.plan.stages();
        let planned = whole
            .get(one.index)
            .unwrap_or(&one.plan.stages()[one.index]);
        let stage = &planned.stage;
        let mut stopped = stop.clone();
        let begin = self.shard.as_ref().and_then(|part| {
            let start = part.starts.get(one.index)?;
            Some(part.begin.after(*start))
        });
        if let Some(begin) = begin {
            tokio::select! {
                () = begin.wait(PREPARE) => {}
                () = stopped.pressed() => {
                    loaded.end = RunEnd::Interrupted;
                    return Ok(None);
                }
            }
            if begin.has_passed() {
                return Err(MeasureError::TooLate {
                    stage: stage.name.clone(),
                });
            }
        }
        let job = StageJob {
            plan: one.plan,
            stage: one.index,
            prompter: from.prompter,
            client: one.client,
            timeouts: &self.spec.timeouts,
            share: self.shard.as_ref().map_or(Share::WHOLE, |part| part.share),
            begin,
        };
        tokio::select! {
            () = prime(job) => {}
            () = stopped.pressed() => {}
        }
        // Where several clients share the run the counters hold what the others send, too.
        let mut beside = None;
        if begin.is_none() {
            beside = Beside::start(from.replicas, from.origin, stop.clone()).await;
        }
        let mut events = Events::new(&stage.events, from.replicas);
        let mut usage = CacheUsage::default();
        let mut counts = ClientCounts::default();
        let soaking = Soaking::of(one.index, planned, loaded.began).filter(|_| begin.is_none());
        let soaking = match loaded.kept_of(one.index) {
            Some(kept) => soaking.map(|soaking| {
                let after = beside.as_ref().map(Beside::engines).unwrap_or_default();
                let across = from.across(&kept.mark.engines, &after);
                soaking.after(kept, across)
            }),
            None => soaking,
        };
        let taking = RefCell::new(Taking::new(loaded, soaking));
        let keep = |record: RequestRecord| {
            usage.see(&record);
            counts.see(&record);
            taking.borrow_mut().keep(record);
        };
        let tell = |event: LoadEvent| {
            events.hear(&event);
            if let Some(beside) = &mut beside {
                beside.hear(&event);
            }
            taking.borrow_mut().hear(&event, beside.as_ref());
            progress(event);
        };
        let mut observation = run_stage(job, keep, tell, stop.clone()).await?;
        let soaking = taking.into_inner().end(observation.window_start)?;
        observation.events = events.finish(&observation, stop.clone()).await;
        let records = loaded.writer.flush()?;
        loaded.elapsed_s += observation.window_end.as_secs_f64();
        let end = observation.end.clone();
        let mut kept = None;
        if begin.is_some() {
            kept = Some(Kept {
                stage: stage.clone(),
                records,
                observation,
            });
        } else {
            let before = soaking.as_ref().and_then(Soaking::kept);
            let seen = match before {
                Some(before) => continued(before, observation.clone(), &records)?,
                None => observation.clone(),
            };
            let mut summary = self.summary(stage, &records, &seen)?;
            if matches!(end, StageEnd::Complete | StageEnd::Stopped(_)) {
                let at_most = stage.drain_timeout.to_duration();
                summary.engine_queue = Some(tokio::select! {
                    queue = from.replicas.drained(at_most) => queue,
                    () = stopped.pressed() => EngineQueue::Unknown { why: "interrupted".to_owned() },
                });
            }
            let shared = shared_share(stage, one.plan.classes());
            match beside {
                Some(beside) => {
                    let client = (usage, counts, shared);
                    let looks = before.map_or(&[][..], |before| &before.looks);
                    let looks = stage.soak.map(|_| looks);
                    beside
                        .finish(&observation, client, looks, stop.clone(), &mut summary)
                        .await;
                }
                None => unseen(&mut summary, "interrupted"),
            }
            let pauses = soaking.as_ref().map_or_else(Vec::new, Soaking::pauses);
            loaded.take(stage, summary, pauses);
            if end != StageEnd::Interrupted {
                loaded.journal_last()?;
            }
        }
        match end {
            StageEnd::Complete | StageEnd::Stopped(_) => {}
            StageEnd::Interrupted => loaded.end = RunEnd::Interrupted,
            StageEnd::TargetLost { error } => loaded.end = RunEnd::TargetLost { error },
        }
        Ok(kept)
    }

    fn summary(
        &self,
        stage: &Stage,
        records: &RecordSpan,
        observation: &StageObservation,
    ) -> Result<StageSummary, ArchiveError> {
        summarised(&self.spec, self.plan.classes(), stage, records, observation)
    }
}

/// The summary of a stage of this spec.
pub(super) fn summarised(
    spec: &Spec,
    classes: &[Class],
    stage: &Stage,
    records: &RecordSpan,
    observation: &StageObservation,
) -> Result<StageSummary, ArchiveError> {
    let context = StageContext {
        stage,
        classes,
        quantiles: &quantiles(spec),
        token_mismatch: spec.gate.token_mismatch,
    };
    summarise_stage(context, records, observation)
}

/// The standard quantiles and those that cells name.
pub(super) fn quantiles(spec: &Spec) -> Vec<Quantile> {
    let cells = spec.gate.cells.iter();
    let named = cells.filter_map(|cell| match cell.cell.metric.statistic() {
        Statistic::Quantile(quantile) => Some(quantile),
        Statistic::Mean | Statistic::Value | Statistic::Task(_) => None,
    });
    let all: BTreeSet<Quantile> = Quantile::STANDARD.into_iter().chain(named).collect();
    all.into_iter().collect()
}

/// A stage that is run.
#[derive(Clone, Copy)]
struct One<'a> {
    plan: &'a Arc<Plan>,
    index: usize,
    client: &'a Client,
}

/// A stage whose summary is left to the end.
struct Kept {
    stage: Stage,
    records: RecordSpan,
    observation: StageObservation,
}

/// Where the requests of a run come from and go to.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) prompter: &'a Arc<Prompter>,
    pub(super) replicas: &'a Replicas,
    /// How the target came to run.
    pub(super) origin: &'a Origin,
}

impl Source<'_> {
    /// What became of the engine in a pause of the run, by its metrics before and after it.
    fn across(&self, before: &[EngineTrack], after: &[EngineTrack]) -> AcrossPause {
        match self.origin {
            Origin::Elsewhere => AcrossPause::of(before, after),
            Origin::Embedded | Origin::Launched(_) => AcrossPause::Anew {
                how: "it is started for the run".to_owned(),
            },
        }
    }
}
