//! One run from the target's first answer to the file on disk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::cut_off::CutOff;
use super::error::{MeasureError, refuse_contradictions};
use super::loaded::Loaded;
use super::replicas::Replicas;
use super::sending::{endpoint, without_credentials};
use super::stages::Source;
use super::target::RunningTarget;
use crate::access::Access;
use crate::archive::{Begun, Journal, RecordWriter, save_run};
use crate::load::{Appointment, LoadEvent, Stop};
use crate::metric::{DEFINITION, TaskName};
use crate::plan::{CalibrationSource, Plan, PromptCalibration, Prompter, Salt, Share};
use crate::probe::{Observed, ProbeClient, ProbeError, calibrate, network, skew};
use crate::provenance::Pins;
use crate::quality::Score;
use crate::sample::Examiner;
use crate::spec::Spec;
use crate::summary::{
    ClientStamp, Network, RUN_FORMAT, Run, RunEnd, ShardStamp, Side, SourceStamp, SpecStamp,
};
use crate::unit::Nanos;

/// What tells a run from every other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunName {
    /// When it starts, RFC 3339.
    pub started: String,
    /// The same as part of a file name.
    pub stamp: String,
    /// A text that no other run has, at least four characters.
    pub unique: String,
    /// Where it stands, where it has a pair.
    pub place: Option<Place>,
}

/// Where a run stands among those of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its pair, from 0.
    pub pair: u32,
    /// Its side; `None` of two layers, which their pins tell apart.
    pub side: Option<Side>,
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
    pub(super) spec: Spec,
    pub(super) plan: Arc<Plan>,
    session: String,
    folder: PathBuf,
    access: Access,
    calibration: Option<PromptCalibration>,
    /// What each target was when it last answered, by what tells it from others.
    seen: BTreeMap<String, Observed>,
    pub(super) shard: Option<Part>,
    scores: Scores,
    source: Option<SourceStamp>,
    /// The run that is gone on with by the next one that is taken.
    cut_off: Option<Box<CutOff>>,
}

/// What other tools measured of each side, by the names that cells have for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores {
    /// Of the baseline of `ab`.
    pub baseline: BTreeMap<TaskName, Score>,
    /// Of what is under test.
    pub candidate: BTreeMap<TaskName, Score>,
}

impl Scores {
    /// Those of the run at this place.
    fn of(&self, place: Option<Place>) -> &BTreeMap<TaskName, Score> {
        match place.and_then(|place| place.side) {
            Some(Side::Baseline) => &self.baseline,
            Some(Side::Candidate) | None => &self.candidate,
        }
    }
}

/// What this client does of a run that several share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its share.
    pub share: Share,
    /// When the run begins, RFC 3339.
    pub start_at: String,
    /// The same.
    pub begin: Appointment,
    /// When each stage begins after that.
    pub starts: Vec<Nanos>,
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
            shard: None,
            scores: Scores::default(),
            source: None,
            cut_off: None,
        }
    }

    /// Goes on, with the next run that is taken, where this one was cut off.
    pub fn go_on(&mut self, cut_off: CutOff) {
        self.calibration = Some(cut_off.journalled.begun.run.prompt_calibration);
        self.cut_off = Some(Box::new(cut_off));
    }

    /// Takes part in runs that several clients share.
    pub fn take_part(&mut self, part: Part) {
        self.shard = Some(part);
    }

    /// Gives its runs these scores, each side its own.
    pub fn score(&mut self, scores: Scores) {
        self.scores = scores;
    }

    /// Gives its runs this state of the repository that the spec lies in.
    pub fn stamp(&mut self, source: Option<SourceStamp>) {
        self.source = source;
    }

    /// Writes prompts by this calibration, that of the baseline's runs, so that both sides get the
    /// same text. One that is assumed or not plausible is passed over.
    pub fn calibrate_as(&mut self, calibration: PromptCalibration) {
        if calibration.source != CalibrationSource::Assumed && calibration.is_plausible() {
            self.calibration = Some(calibration);
        }
    }

    /// Writes prompts as earlier runs of this session had theirs, whatever they were fitted by.
    pub fn go_on_with(&mut self, calibration: PromptCalibration) {
        self.calibration = Some(calibration);
    }

    /// The id that all its runs carry.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// What is measured.
    pub const fn spec(&self) -> &Spec {
        &self.spec
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
        let replicas = Replicas::new(target.bases(), &self.spec.target.metrics, &self.access)?;
        match self.look(target, &replicas, stop).await? {
            (_, RunEnd::Interrupted) => Err(MeasureError::Interrupted),
            (observed, RunEnd::Complete | RunEnd::TargetLost { .. }) => Ok(observed.pins),
        }
    }

    /// Observes a target. One that answered before and does so no more is lost, not unknown: that
    /// is a result, and what it was then still holds.
    async fn look(
        &mut self,
        target: &RunningTarget,
        replicas: &Replicas,
        mut stop: Stop,
    ) -> Result<(Observed, RunEnd), MeasureError> {
        let origin = target.origin();
        let answer = tokio::select! {
            answer = replicas.observe(&self.spec, &origin) => Some(answer),
            () = stop.pressed() => None,
        };
        let identity = target.identity();
        let before = self.seen.get(&identity).cloned();
        match (answer, before) {
            (Some(Ok(mut observed)), _) => {
                target.complete(&mut observed.pins);
                refuse_contradictions(&observed.pins)?;
                self.seen.insert(identity, observed.clone());
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
        let prefixes = self
            .plan
            .classes()
            .iter()
            .any(|class| class.prefix.is_some());
        let calibration = tokio::select! {
            calibration = calibrate(probe, self.spec.target.api, model, prefixes) => calibration,
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
        let replicas = Replicas::new(target.bases(), &self.spec.target.metrics, &self.access)?;
        let (observed, end) = self.look(target, &replicas, stop.clone()).await?;
        let seed = self.plan.seed();
        let calibration = if end == RunEnd::Complete {
            self.calibrated(replicas.first(), &observed.model, stop.clone())
                .await?
        } else {
            self.calibration.unwrap_or(PromptCalibration::ASSUMED)
        };
        let salt = Salt::new(name.unique.clone());
        let digest = self.spec.digest().short();
        let mut id = format!("{}-{digest}-{}", name.stamp, &name.unique[..4]);
        if let Some(Part { share, .. }) = self.shard {
            id = format!("{id}-{}of{}", share.index(), share.count());
        }
        let records_path = self.folder.join("records").join(format!("{id}.jsonl.gz"));
        let endpoint = endpoint(&self.spec, target.bases(), observed.model, &self.access);
        let examiner = Examiner::new(self.plan.classes(), self.plan.keep_text());
        let writer = RecordWriter::create(&records_path, &id, Some(examiner))?;
        let mut loaded = Loaded::new(writer, end);
        let mut run = Run {
            format: RUN_FORMAT.to_owned(),
            definition: DEFINITION.to_owned(),
            id,
            session: self.session.clone(),
            pair: name.place.map(|place| place.pair),
            side: name.place.and_then(|place| place.side),
            started: name.started.clone(),
            elapsed_s: 0.0,
            end: RunEnd::Interrupted,
            spec: SpecStamp::of(&self.spec, self.plan.cache()),
            source: self.source.clone(),
            untrusted: false,
            trace_digest: self.plan.trace_digest(),
            salt: salt.as_str().to_owned(),
            prompt_calibration: calibration,
            pins: observed.pins,
            cold_start: target.cold_start().cloned(),
            network: None,
            client: ClientStamp {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                target: without_credentials(&target.bases().join(", ")),
            },
            stages: Vec::new(),
            skipped: Vec::new(),
            shard: None,
            merged: Vec::new(),
            origin: None,
            imported: self.scores.of(name.place).clone(),
        };
        if let Some(cut_off) = self.cut_off.take() {
            run.started
                .clone_from(&cut_off.journalled.begun.run.started);
            loaded.elapsed_s = cut_off.measured_s();
            cut_off.take_over(&self.plan, &mut loaded)?;
        }
        // Pairs go on by whole pairs, and shards by nobody.
        if name.place.is_none() && self.shard.is_none() && loaded.end == RunEnd::Complete {
            let begun = Begun::new(run.clone(), name.started, all);
            loaded.journal = Some(Journal::create(&self.folder, &begun)?);
            loaded.journal_all()?;
        }
        let clock = match &self.shard {
            Some(_) => skew(replicas.first()).await,
            None => None,
        };
        if loaded.end == RunEnd::Complete {
            run.network = way(replicas.first(), stop.clone()).await;
            let prompter = Prompter::new(seed, salt.clone(), calibration)
                .under(self.plan.cache())
                .with_fixed(self.plan.classes());
            let from = Source {
                endpoint: &endpoint,
                prompter: &Arc::new(prompter),
                replicas: &replicas,
                origin: &target.origin(),
            };
            self.load(from, all, progress, stop, &mut loaded).await?;
        }
        loaded.writer.flush()?;
        loaded.end = ended(loaded.end, target).await;
        run.shard = self.shard.as_ref().map(|part| ShardStamp {
            index: part.share.index(),
            count: part.share.count(),
            start_at: part.start_at.clone(),
            clock,
            observations: loaded.observations,
        });
        (run.end, run.elapsed_s) = (loaded.end, loaded.elapsed_s);
        (run.stages, run.skipped) = (loaded.stages, loaded.skipped);
        let path = save_run(&self.folder.join("runs"), &run)?;
        if let Some(journal) = loaded.journal.filter(|_| run.end != RunEnd::Interrupted) {
            journal.close()?;
        }
        Ok(Measured {
            run,
            path,
            records: records_path,
        })
    }
}

/// What the way to the target takes, where nobody stops it.
async fn way(probe: &ProbeClient, mut stop: Stop) -> Option<Network> {
    tokio::select! {
        network = network(probe) => network,
        () = stop.pressed() => None,
    }
}

/// How a run ended, with what a launched engine said when it died.
async fn ended(end: RunEnd, target: &RunningTarget) -> RunEnd {
    let lost = matches!(end, RunEnd::TargetLost { .. });
    match (target.obituary(lost).await, end) {
        (None, end) | (Some(_), end @ RunEnd::Interrupted) => end,
        (Some(how), RunEnd::TargetLost { error }) => RunEnd::TargetLost {
            error: format!("{error}; {how}"),
        },
        (Some(error), RunEnd::Complete) => RunEnd::TargetLost { error },
    }
}
