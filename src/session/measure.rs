//! One run from the target's first answer to the file on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::error::{MeasureError, refuse_contradictions};
use super::replicas::Replicas;
use super::target::RunningTarget;
use crate::access::Access;
use crate::archive::{RecordWriter, save_run};
use crate::load::{Client, Endpoint, LoadEvent, StageJob, Stop, run_stage};
use crate::metric::{DEFINITION, Quantile, Statistic};
use crate::plan::{CalibrationSource, Plan, PromptCalibration, Prompter, Salt};
use crate::probe::{Observed, ProbeClient, ProbeError, calibrate};
use crate::provenance::Pins;
use crate::sample::{EngineQueue, RequestRecord, StageEnd, StopReason};
use crate::spec::{Spec, Stage};
use crate::summary::{
    ClientStamp, RUN_FORMAT, Run, RunEnd, Saturation, Side, SkippedStage, SpecStamp, StageContext,
    StageSummary, summarise_stage,
};

/// What tells a run from every other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunName {
    /// When it starts, RFC 3339.
    pub started: String,
    /// The same as part of a file name.
    pub stamp: String,
    /// A text that no other run has, at least four characters.
    pub unique: String,
    /// Its pair and side, where it has them.
    pub place: Option<(u32, Side)>,
}

/// A run that was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The run.
    pub run: Run,
    /// Its file.
    pub path: PathBuf,
    /// The file of its records.
    pub records: PathBuf,
}

/// Runs of one spec, taken one after another: one plan and one calibration for all of them.
#[derive(Debug)]
pub struct Sitting {
    spec: Spec,
    plan: Arc<Plan>,
    session: String,
    folder: PathBuf,
    access: Access,
    calibration: Option<PromptCalibration>,
    /// What each target was when it last answered, by its URL.
    seen: BTreeMap<String, Observed>,
}

impl Sitting {
    /// A session of this id whose runs go into `folder`; `access` is what the target asks for.
    pub fn new(spec: Spec, session: String, folder: PathBuf, access: Access) -> Self {
        let plan = Arc::new(Plan::expand(&spec));
        Self {
            spec,
            plan,
            session,
            folder,
            access,
            calibration: None,
            seen: BTreeMap::new(),
        }
    }

    /// Writes prompts by this calibration, that of the baseline's runs, so that both sides get the
    /// same text. One that is assumed or not plausible is passed over.
    pub fn calibrate_as(&mut self, calibration: PromptCalibration) {
        if calibration.source != CalibrationSource::Assumed && calibration.is_plausible() {
            self.calibration = Some(calibration);
        }
    }

    /// What all runs execute.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// What the target is, without any load. Where it contradicts the spec, nothing is to be sent.
    pub async fn observe(
        &mut self,
        target: &RunningTarget,
        stop: Stop,
    ) -> Result<Pins, MeasureError> {
        let replicas = Replicas::new(target.bases(), &self.access)?;
        match self.look(&replicas, stop).await? {
            (_, RunEnd::Interrupted) => Err(MeasureError::Interrupted),
            (observed, RunEnd::Complete | RunEnd::TargetLost { .. }) => Ok(observed.pins),
        }
    }

    /// Observes a target. One that answered before and does so no more is lost, not unknown: that
    /// is a result, and what it was then still holds.
    async fn look(
        &mut self,
        replicas: &Replicas,
        mut stop: Stop,
    ) -> Result<(Observed, RunEnd), MeasureError> {
        let answer = tokio::select! {
            answer = replicas.observe(&self.spec) => Some(answer),
            () = stop.pressed() => None,
        };
        let base = replicas.first().base();
        let before = self.seen.get(base).cloned();
        match (answer, before) {
            (Some(Ok(observed)), _) => {
                refuse_contradictions(&observed.pins)?;
                self.seen.insert(base.to_owned(), observed.clone());
                Ok((observed, RunEnd::Complete))
            }
            (
                Some(Err(MeasureError::Probe(error @ ProbeError::Unreachable { .. }))),
                Some(before),
            ) => {
                let error = error.to_string();
                Ok((before, RunEnd::TargetLost { error }))
            }
            (Some(Err(error)), _) => Err(error),
            (None, Some(before)) => Ok((before, RunEnd::Interrupted)),
            (None, None) => Err(MeasureError::Interrupted),
        }
    }

    /// The session's calibration, fitted against the first target that is measured.
    async fn calibrated(
        &mut self,
        probe: &ProbeClient,
        model: &str,
        mut stop: Stop,
    ) -> Result<PromptCalibration, MeasureError> {
        if let Some(calibration) = self.calibration {
            return Ok(calibration);
        }
        let calibration = tokio::select! {
            calibration = calibrate(probe, self.spec.target.api, model) => calibration,
            () = stop.pressed() => return Err(MeasureError::Interrupted),
        };
        self.calibration = Some(calibration);
        Ok(calibration)
    }

    /// Takes one run and keeps it: all stages, or only those with gated cells.
    pub async fn measure(
        &mut self,
        target: &RunningTarget,
        name: RunName,
        all: bool,
        progress: impl FnMut(LoadEvent),
        stop: Stop,
    ) -> Result<Measured, MeasureError> {
        let replicas = Replicas::new(target.bases(), &self.access)?;
        let (observed, end) = self.look(&replicas, stop.clone()).await?;
        let seed = self.plan.seed();
        let calibration = if end == RunEnd::Complete {
            self.calibrated(replicas.first(), &observed.model, stop.clone())
                .await?
        } else {
            self.calibration.unwrap_or(PromptCalibration::ASSUMED)
        };
        let salt = Salt::new(name.unique.clone());
        let id = format!(
            "{}-{}-{}",
            name.stamp,
            self.spec.digest().short(),
            &name.unique[..4]
        );
        let records_path = self.folder.join("records").join(format!("{id}.jsonl.gz"));
        let endpoint = Endpoint {
            base_urls: target.bases().to_vec(),
            api: self.spec.target.api,
            model: observed.model,
            access: self.access.clone(),
            extra: self.spec.request.clone(),
        };
        let mut loaded = Loaded {
            writer: RecordWriter::create(&records_path, &id)?,
            stages: Vec::new(),
            skipped: Vec::new(),
            end,
            elapsed_s: 0.0,
        };
        if loaded.end == RunEnd::Complete {
            let prompter = Prompter::new(seed, salt.clone(), calibration);
            let from = Source {
                endpoint: &endpoint,
                prompter: &Arc::new(prompter),
                replicas: &replicas,
            };
            self.load(from, all, progress, stop, &mut loaded).await?;
        }
        loaded.writer.flush()?;
        let (pair, side) = name.place.unzip();
        let run = Run {
            format: RUN_FORMAT.to_owned(),
            definition: DEFINITION.to_owned(),
            id,
            session: self.session.clone(),
            pair,
            side,
            started: name.started,
            elapsed_s: loaded.elapsed_s,
            end: loaded.end,
            spec: SpecStamp {
                name: self.spec.name.to_string(),
                digest: self.spec.digest(),
                workload_digest: self.spec.workload_digest(),
                text: self.spec.text.clone(),
                select: self.spec.select.clone(),
                replays: self.spec.replays(),
            },
            trace_digest: self.plan.trace_digest(),
            salt: salt.as_str().to_owned(),
            prompt_calibration: calibration,
            pins: observed.pins,
            client: ClientStamp {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                target: without_credentials(&target.bases().join(", ")),
            },
            stages: loaded.stages,
            skipped: loaded.skipped,
        };
        let path = save_run(&self.folder.join("runs"), &run)?;
        Ok(Measured {
            run,
            path,
            records: records_path,
        })
    }

    /// Runs the stages one after another until the target is lost or the user stops it. Between
    /// them nothing is in flight, and where the engine shows its queue, that is empty too.
    async fn load(
        &self,
        from: Source<'_>,
        all: bool,
        mut progress: impl FnMut(LoadEvent),
        mut stop: Stop,
        loaded: &mut Loaded,
    ) -> Result<(), MeasureError> {
        let quantiles = self.quantiles();
        let client = Client::new(from.endpoint, self.spec.timeouts.connect)?;
        for (index, planned) in self.plan.stages().iter().enumerate() {
            if !all && !self.spec.gate.repeats_stage(&planned.stage.name) {
                continue;
            }
            if loaded.skips(&planned.stage) {
                continue;
            }
            let mut written = Ok(());
            let job = StageJob {
                plan: &self.plan,
                stage: index,
                prompter: from.prompter,
                client: &client,
                timeouts: &self.spec.timeouts,
            };
            let keep = |record: RequestRecord| {
                if written.is_ok() {
                    written = loaded.writer.append(record);
                }
            };
            let observation = run_stage(job, keep, &mut progress, stop.clone()).await?;
            written?;
            let records = loaded.writer.flush()?;
            let context = StageContext {
                stage: &planned.stage,
                classes: self.plan.classes(),
                quantiles: &quantiles,
                token_mismatch: self.spec.gate.token_mismatch,
            };
            let mut summary = summarise_stage(context, &records, &observation)?;
            if matches!(observation.end, StageEnd::Complete | StageEnd::Stopped(_)) {
                let at_most = planned.stage.drain_timeout.to_duration();
                summary.engine_queue = Some(tokio::select! {
                    queue = from.replicas.drained(at_most) => queue,
                    () = stop.pressed() => EngineQueue::Unknown { why: "interrupted".to_owned() },
                });
            }
            loaded.take(&planned.stage, summary);
            loaded.elapsed_s += observation.window_end.as_secs_f64();
            match observation.end {
                StageEnd::Complete | StageEnd::Stopped(_) => {}
                StageEnd::Interrupted => {
                    loaded.end = RunEnd::Interrupted;
                    break;
                }
                StageEnd::TargetLost { error } => {
                    loaded.end = RunEnd::TargetLost { error };
                    break;
                }
            }
        }
        Ok(())
    }

    /// The standard quantiles and those that cells name.
    fn quantiles(&self) -> Vec<Quantile> {
        let named =
            self.spec
                .gate
                .cells
                .iter()
                .filter_map(|cell| match cell.cell.metric.statistic() {
                    Statistic::Quantile(quantile) => Some(quantile),
                    Statistic::Mean | Statistic::Value => None,
                });
        let all: BTreeSet<Quantile> = Quantile::STANDARD.into_iter().chain(named).collect();
        all.into_iter().collect()
    }
}

/// Where the requests of a run come from and go to.
#[derive(Clone, Copy)]
struct Source<'a> {
    endpoint: &'a Endpoint,
    prompter: &'a Arc<Prompter>,
    replicas: &'a Replicas,
}

/// What loading leaves behind.
struct Loaded {
    writer: RecordWriter,
    stages: Vec<StageSummary>,
    skipped: Vec<SkippedStage>,
    end: RunEnd,
    elapsed_s: f64,
}

impl Loaded {
    /// Keeps a stage that was run.
    fn take(&mut self, stage: &Stage, summary: StageSummary) {
        let overloaded = summary
            .load_state
            .is_some_and(|load| load.state == Saturation::Overloaded);
        let stops = stage.stop_when.is_some_and(|stop| stop.overload);
        self.stages.push(StageSummary {
            stopped: summary
                .stopped
                .or((overloaded && stops).then_some(StopReason::Overload)),
            ..summary
        });
    }

    /// Whether a stage is a step of a sweep that has ended; notes it then.
    fn skips(&mut self, stage: &Stage) -> bool {
        let ended = self.stages.iter().find_map(|before| {
            let same = before.name.split_once('@').map(|(sweep, _)| sweep) == stage.sweep();
            let reason = before.stopped.filter(|_| same && stage.sweep().is_some())?;
            Some(SkippedStage {
                name: stage.name.clone(),
                after: before.name.clone(),
                reason,
            })
        });
        let skips = ended.is_some();
        self.skipped.extend(ended);
        skips
    }
}

/// A URL without what stands before its host.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("//") else {
        return url.to_owned();
    };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}//{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_stay_out_of_files() {
        assert_eq!(
            without_credentials("https://me:secret@host:1/x"),
            "https://host:1/x"
        );
        assert_eq!(without_credentials("http://host/a@b"), "http://host/a@b");
        assert_eq!(without_credentials("http://host"), "http://host");
    }
}
