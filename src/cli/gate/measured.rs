//! `gate --candidate`: the same judgement of runs that were measured before, by another job or on another
//! day. Nothing is sent to any target.

use std::path::Path;

use super::GateArgs;
use super::first::First;
use super::ground::{Groundless, Wanted, ground, keep_ground};
use crate::archive::load_upload;
use crate::cli::base::{Footing, file_of};
use crate::cli::baseline::archived_runs;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::foreign::runs_by;
use crate::cli::judge::Evidence;
use crate::cli::judge::Show;
use crate::cli::member::Member;
use crate::cli::sitting::{archive_of, keep, new_session};
use crate::cli::source::load_spec_unasked;
use crate::exit::Exit;
use crate::ident::{Day, Digest};
use crate::importer::Options;
use crate::plan::Plan;
use crate::report::CellPlace;
use crate::spec::{Slo, Spec};
use crate::summary::{Run, Side};

pub(super) async fn run(
    args: &GateArgs,
    show: &Show,
    member: &Member,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let spec = load_spec_unasked(member, context)?;
    let mut spec = args.select.apply_gated(spec)?;
    let places = CellPlace::of(&spec, &file_of(&member.path).display().to_string());
    let mut footing = (args.base).find(member, &args.archive, &mut spec, context)?;
    let announced = args
        .announce
        .begin(spec.name.as_str(), &show.look, context)
        .await?;
    let folder = args.out.out.join(new_session(&spec, context));
    let session = Session {
        path: &member.path,
        folder: &folder,
        places: &places,
        show,
    };
    let outcome = session.judge(args, &spec, &mut footing, context);
    announced.conclude(outcome, &folder, context).await
}

/// Where the judgement goes.
struct Session<'a> {
    /// Where the spec was read.
    path: &'a Path,
    folder: &'a Path,
    places: &'a [CellPlace],
    show: &'a Show,
}

impl Session<'_> {
    fn judge(
        &self,
        args: &GateArgs,
        spec: &Spec,
        footing: &mut Footing,
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let runs = named(args, spec, context)?;
        let newest = runs.iter().max_by(|a, b| a.started.cmp(&b.started));
        let Some(newest) = newest.cloned() else {
            return Err(Failure::usage("there is no run of a candidate"));
        };
        let trace = Plan::expand(spec).trace_digest();
        let foreign = newest.spec.settings.is_some().then_some(&newest);
        let is_other = |run: &&Run| match foreign {
            Some(foreign) => !run.is_of_load(foreign),
            None => differs(run, spec, trace),
        };
        if let Some(run) = runs.iter().find(is_other) {
            let why = match foreign {
                Some(foreign) => format!(
                    "the runs `{}` and `{}` are of different loads, by what their files tell; name runs of one load",
                    run.id, foreign.id,
                ),
                None => format!(
                    "the run `{}` ran another workload than `{}`, so neither its gate nor the baseline speak of it; \
                     measure the spec as it is now: `infergate run {1}`",
                    run.id,
                    self.path.display(),
                ),
            };
            let groundless = Groundless::incomparable(spec, why);
            return self.without_ground(groundless, Vec::new(), (spec, footing), context);
        }
        if newest.spec.text != spec.text {
            footing.judges_by(spec);
        }
        let evidence = if are_of_both(&runs)? {
            self.of_both(runs, spec, footing, context)?
        } else {
            footing.tell(context);
            if let Some(groundless) = Groundless::spec(footing, spec, self.path) {
                return self.without_ground(groundless, runs, (spec, footing), context);
            }
            let wanted = Wanted {
                spec,
                path: self.path,
                pins: &newest.pins,
                trace,
                foreign,
                day: Day::of(&newest.started),
            };
            let mut evidence = match ground(&wanted, footing, context) {
                Ok(evidence) => evidence,
                Err(groundless) => {
                    return self.without_ground(groundless, runs, (spec, footing), context);
                }
            };
            evidence.candidate = runs;
            evidence.refuse_shards()?;
            keep(&self.folder.join("runs"), &evidence.candidate)?;
            keep_ground(self.folder, &evidence, footing)?;
            evidence
        };
        let judgement = evidence.judge(spec);
        let reproduce = [format!("infergate compare {}", self.folder.display())];
        evidence.publish(
            &judgement,
            spec,
            Some(self.folder),
            (&reproduce, self.places),
            self.show,
            context,
        )
    }

    /// The report of runs that there is nothing to hold against.
    fn without_ground(
        &self,
        groundless: Groundless,
        runs: Vec<Run>,
        (spec, footing): (&Spec, &Footing),
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let groundless = match groundless {
            Groundless::Policy(groundless) => groundless,
            Groundless::Failed(failure) => return Err(failure),
        };
        keep(&self.folder.join("runs"), &runs)?;
        let first = First {
            path: self.path,
            spec,
            footing,
            groundless,
            show: self.show,
        };
        first.report(runs, self.folder, self.places, context)
    }

    /// The evidence of an `ab` session: what is compared is its own, what judges is the base's.
    fn of_both(
        &self,
        runs: Vec<Run>,
        spec: &Spec,
        footing: &Footing,
        context: &mut Context,
    ) -> Result<Evidence, Failure> {
        context.note("the runs are of both sides, so they are held against each other");
        if let Some(told) = footing.gate_told() {
            context.note(&told);
        }
        let mut evidence = Evidence {
            base: Some(footing.stamp.clone()),
            ..Evidence::default()
        };
        keep(&self.folder.join("runs"), &runs)?;
        for run in runs {
            evidence.take(run);
        }
        evidence.refuse_shards()?;
        if let Some(first) = evidence.baseline.first() {
            evidence.archive = archived_runs(&footing.shelf, spec, &first.pins)?;
        }
        keep(&archive_of(self.folder), &evidence.archive)?;
        footing.keep(self.folder)?;
        Ok(evidence)
    }
}

/// Whether runs are those of an `ab` session with both of its sides. A baseline's runs alone are nobody's
/// candidate, and beside runs of no side it is not known what is held against what.
fn are_of_both(runs: &[Run]) -> Result<bool, Failure> {
    let has = |side: Option<Side>| runs.iter().any(|run| run.side == side);
    match (
        has(Some(Side::Baseline)),
        has(Some(Side::Candidate)),
        has(None),
    ) {
        (true, true, false) => Ok(true),
        (false, _, _) => Ok(false),
        (true, false, _) => Err(Failure::usage(
            "the runs are of an `ab` session's baseline and none is of its candidate, so there is nothing to judge; \
             name the session's folder, or the candidate's run files",
        )),
        (true, true, true) => Err(Failure::usage(
            "some runs are of both sides of an `ab` session and others of none; name one session",
        )),
    }
}

fn differs(run: &Run, spec: &Spec, trace: Digest) -> bool {
    run.spec.workload_digest != spec.workload_digest()
        || run.trace_digest != trace
        || run.spec.select != spec.select
}

/// The runs that are named; requests of other tools' files are good by the limits of the spec's one class.
fn named(args: &GateArgs, spec: &Spec, context: &mut Context) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    let options = Options {
        slo: match spec.workload.classes.as_slice() {
            [class] => class.slo.clone(),
            _ => Slo::default(),
        },
        ..Options::default()
    };
    for path in &args.candidate {
        if !args.untrusted {
            runs.extend(runs_by(path, &options)?);
            continue;
        }
        let upload =
            load_upload(path).map_err(|error| Failure::new(Exit::Invalid, error.to_string()))?;
        for (path, why) in upload.ignored {
            context.note(&format!("not looked at: `{}`, for {why}", path.display()));
        }
        runs.extend(upload.runs);
    }
    Ok(runs)
}
