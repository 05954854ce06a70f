//! The session of a command: its folder, its runs, their progress on the terminal.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::base::file_of;
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::shard::Sharing;
use crate::access::Access;
use crate::archive::{save_run, save_text};
use crate::ident::Digest;
use crate::load::{Live, LoadEvent};
use crate::plan::{Plan, PromptCalibration, StagePlan};
use crate::probe::Asking;
use crate::provenance::Pins;
use crate::report::CellPlace;
use crate::session::{
    CutOff, Launchpad, Measured, Place, RunName, RunningTarget, Scores, Sitting, Station,
};
use crate::spec::{Extent, Spec, TargetPlace};
use crate::summary::{Run, SourceStamp};
use crate::term::{Mode, Progress, StageProgress};
use crate::unit::Nanos;

/// Where results go.
#[derive(Debug, Clone, Args)]
pub(super) struct OutArgs {
    /// Folder for runs, records and reports; each session gets a folder of its own in it
    #[arg(long, default_value = "infergate-out", value_name = "DIR")]
    pub(super) out: PathBuf,
}

/// A session with its folder.
pub(super) struct CliSitting {
    sitting: Sitting,
    folder: PathBuf,
    spec_text: String,
    access: Access,
    can_go_on: bool,
    places: Vec<CellPlace>,
}

/// Where a session keeps the runs that its noise was learnt from.
pub(super) fn archive_of(session: &Path) -> PathBuf {
    session.join("archive")
}

/// Where the session of a gate keeps the baseline's runs that it was judged against.
pub(super) fn baseline_of(session: &Path) -> PathBuf {
    session.join("baseline")
}

/// Starts a session below `--out`; its folder appears with its first run.
pub(super) fn open_sitting(
    spec: &Spec,
    out: &OutArgs,
    context: &Context,
) -> Result<CliSitting, Failure> {
    let session = new_session(spec, context);
    let folder = out.out.join(&session);
    open_sitting_in(spec, &folder, session, context)
}

/// The id of a session that begins now.
pub(super) fn new_session(spec: &Spec, context: &Context) -> String {
    let unique = context.unique("session");
    format!("{}-{}-{}", spec.name, context.stamp(), &unique[..4])
}

/// Starts a session in a folder that is given.
pub(super) fn open_sitting_in(
    spec: &Spec,
    folder: &Path,
    session: String,
    context: &Context,
) -> Result<CliSitting, Failure> {
    let access = Access::read(&spec.target.connection, |name| context.variable(name))
        .map_err(|error| Failure::usage(error.to_string()))?;
    let sitting = Sitting::new(spec.clone(), session, folder.to_owned(), access.clone());
    Ok(CliSitting {
        sitting,
        folder: folder.to_owned(),
        spec_text: spec.text.clone(),
        access,
        can_go_on: false,
        places: Vec::new(),
    })
}

impl CliSitting {
    /// Goes on, with the next run, where this one was cut off.
    pub(super) fn go_on(&mut self, cut_off: CutOff) {
        self.sitting.go_on(cut_off);
    }

    /// Gives its runs the scores that other tools measured, each side its own.
    pub(super) fn score(&mut self, scores: Scores) {
        self.sitting.score(scores);
    }

    /// Gives its runs this state of the spec's repository.
    pub(super) fn stamp(&mut self, source: Option<SourceStamp>) {
        self.sitting.stamp(source);
    }

    /// Notes where the gated cells of the spec stand in the file that it was read from.
    pub(super) fn place(&mut self, path: &Path, spec: &Spec) {
        self.places = CellPlace::of(spec, &file_of(path).display().to_string());
    }

    /// Where the gated cells stand; empty where nobody knows.
    pub(super) fn places(&self) -> &[CellPlace] {
        &self.places
    }

    /// The session's folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where this session measures; logs of a launched engine are called by the label.
    pub(super) fn station(&self, place: TargetPlace, label: &str, context: &Context) -> Station {
        let pad = Launchpad {
            program: context.program.clone(),
            logs: self.folder.join("logs"),
            access: self.access.clone(),
            asking: Asking::of(self.sitting.spec()),
        };
        let stages = &self.sitting.spec().stages;
        let anew = stages.iter().any(|stage| !stage.events.is_empty());
        Station::new(place, label, pad).starting_anew(anew)
    }

    /// What the target is, without any load.
    pub(super) async fn observe(
        &mut self,
        target: &RunningTarget,
        interrupt: &Interrupt,
    ) -> Result<Pins, Failure> {
        Ok(self.sitting.observe(target, interrupt.stop()).await?)
    }

    /// The session's id.
    pub(super) fn session(&self) -> &str {
        self.sitting.session()
    }

    /// Says that enough of this session is kept to go on with it.
    pub(super) const fn can_go_on(&mut self) {
        self.can_go_on = true;
    }

    /// The command that goes on with this session, where one does.
    pub(super) fn go_on_command(&self) -> Option<String> {
        let command = || format!("infergate ab --resume {}", self.folder.display());
        self.can_go_on.then(command)
    }

    /// Keeps the spec beside the runs.
    pub(super) fn keep_spec(&self) -> Result<(), Failure> {
        Ok(save_text(&self.folder.join("spec.yaml"), &self.spec_text)?)
    }

    /// Writes prompts as earlier runs of this session had theirs.
    pub(super) fn go_on_with(&mut self, calibration: PromptCalibration) {
        self.sitting.go_on_with(calibration);
    }

    /// Writes the candidate's prompts as the newest of these runs had theirs.
    pub(super) fn calibrate_as(&mut self, baseline: &[Run]) {
        if let Some(newest) = baseline.last() {
            self.sitting.calibrate_as(newest.prompt_calibration);
        }
    }

    /// Keeps the runs that the noise is learnt from beside the session, so that its judgement can be
    /// made again from this folder alone.
    pub(super) fn keep_archive(&self, runs: &[Run]) -> Result<(), Failure> {
        keep(&archive_of(&self.folder), runs)
    }

    /// What all runs execute.
    pub(super) fn plan(&self) -> &Plan {
        self.sitting.plan()
    }

    /// Digest of the requests that this session sends.
    pub(super) fn trace_digest(&self) -> Digest {
        self.sitting.plan().trace_digest()
    }

    /// Takes this client's part of a run that several share.
    pub(super) async fn measure_part(
        &mut self,
        target: &RunningTarget,
        shard: &Sharing,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Measured, Failure> {
        self.sitting.take_part(shard.part.clone());
        self.take(target, shard.name.clone(), true, context, interrupt)
            .await
    }

    /// Takes one run. `place` is its pair, and side or none; without `all` only gated stages are run.
    pub(super) async fn measure(
        &mut self,
        target: &RunningTarget,
        place: Option<Place>,
        all: bool,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Measured, Failure> {
        let name = RunName {
            started: context.now(),
            stamp: context.stamp(),
            unique: context.unique(&format!("run {place:?}")),
            place,
        };
        self.take(target, name, all, context, interrupt).await
    }

    async fn take(
        &mut self,
        target: &RunningTarget,
        name: RunName,
        all: bool,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Measured, Failure> {
        self.keep_spec()?;
        let mode = Mode::choose(context.draw_progress, context.quiet);
        let mut progress = Progress::new(mode, &mut context.err);
        let plan = Arc::clone(self.sitting.plan());
        let mut stage = None;
        let show = |event: LoadEvent| show(&event, &plan, &mut stage, &mut progress);
        let stop = interrupt.stop();
        // A large future, which each command would carry.
        let measured = Box::pin(self.sitting.measure(target, name, all, show, stop)).await;
        Ok(measured?)
    }
}

/// Writes runs into a folder.
pub(super) fn keep(folder: &Path, runs: &[Run]) -> Result<(), Failure> {
    for run in runs {
        save_run(folder, run)?;
    }
    Ok(())
}

/// Shows a load event as progress; `current` is the stage under way.
fn show(
    event: &LoadEvent,
    plan: &Plan,
    current: &mut Option<(usize, String)>,
    progress: &mut Progress<impl Write>,
) {
    match event {
        LoadEvent::StageStarted { stage, name } => *current = Some((*stage, name.clone())),
        LoadEvent::Pulse(_) => {}
        LoadEvent::Tick(live) => {
            if let Some(stage) = current {
                progress.update(&figures(plan, stage, live));
            }
        }
        LoadEvent::StageEnded { live, .. } => {
            if let Some(stage) = current {
                progress.finish(&figures(plan, stage, live));
            }
        }
    }
}

/// A stage that refines a sweep is in no plan that was made before.
fn figures(plan: &Plan, (index, name): &(usize, String), live: &Live) -> StageProgress {
    let stage = plan.stages().get(*index);
    let elapsed_s = live.elapsed.as_secs_f64();
    StageProgress {
        name: name.clone(),
        index: index + 1,
        of: plan.stages().len().max(index + 1),
        elapsed_s,
        expected_s: stage.and_then(expected).map(Nanos::as_secs_f64),
        sent: live.sent,
        completed: live.completed,
        in_flight: u64::from(live.in_flight),
        errors: live.errors,
        output_tps: if elapsed_s > 0.0 {
            live.output_tokens as f64 / elapsed_s
        } else {
            0.0
        },
        ttft_p50_s: live.ttft_p50.map(Nanos::as_secs_f64),
    }
}

/// How long a stage takes, where the plan says.
fn expected(stage: &StagePlan) -> Option<Nanos> {
    match (&stage.schedule, stage.stage.extent) {
        (Some(schedule), _) => Some(schedule.window_end),
        (None, Extent::Duration(window)) => Some(stage.stage.warmup.duration + window),
        (None, Extent::Requests(_)) => None,
    }
}
