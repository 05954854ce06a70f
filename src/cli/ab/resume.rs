//! Sessions that were cut off and go on: what a session leaves of itself, and what is read of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::counted;
use super::pairs::{RETAKES, fault, set_aside};
use super::sides::{SideArgs, name, order};
use crate::archive::{load_runs, save_json};
use crate::baseline::Keeper;
use crate::cli::archive::ArchiveArgs;
use crate::cli::base::{file_of, kept_stamp, kept_text};
use crate::cli::baseline::kept_archive;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::judge::Evidence;
use crate::cli::member::Member;
use crate::cli::origin::source_of;
use crate::cli::reopen::{
    self, Hold, hold, refuse_changed as same_target, refuse_others, refuse_spec, spec_text, whole,
};
use crate::cli::scores;
use crate::cli::sitting::{CliSitting, open_sitting_in};
use crate::cli::source::{merged, parse_spec, read_spec, selected};
use crate::diag::Source;
use crate::provenance::Pins;
use crate::spec::{BranchName, Spec};
use crate::summary::{Run, RunEnd, Side};

const FORMAT: &str = "infergate.session/1";
const FILE: &str = "session.json";

/// What a session was asked for, so that it can go on without the words of its command.
#[derive(Debug, Serialize, Deserialize)]
struct SessionStamp {
    format: String,
    session: String,
    /// Where the spec's files are.
    folder: PathBuf,
    /// The spec, as the command was given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spec: Option<PathBuf>,
    select: Vec<String>,
    sides: SideArgs,
    /// The folder in which promoted sessions were looked for, where it was one.
    baselines: Option<PathBuf>,
    /// The branch, where the command named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    archive_branch: Option<BranchName>,
    /// Whether they were not looked for at all: the noise was assumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    noise_assumed: bool,
}

/// Leaves what it takes to go on with a session.
pub(super) fn begin(
    sitting: &mut CliSitting,
    spec: &Spec,
    spec_path: &Path,
    sides: &SideArgs,
    archive: Option<&ArchiveArgs>,
) -> Result<Hold, Failure> {
    sitting.keep_spec()?;
    let folder = if spec_path.is_dir() {
        spec_path
    } else {
        spec_path.parent().unwrap_or(Path::new(""))
    };
    let baselines = match archive.map(|archive| archive.keeper(Some(spec))) {
        Some(keeper) => match keeper? {
            Keeper::Folder(folder) => Some(whole(&folder)),
            Keeper::Branch(_) => None,
        },
        None => None,
    };
    let stamp = SessionStamp {
        format: FORMAT.to_owned(),
        session: sitting.session().to_owned(),
        folder: whole(folder),
        spec: Some(spec_path.to_owned()),
        select: spec.select.clone(),
        sides: sides.clone(),
        baselines,
        archive_branch: archive.and_then(|archive| archive.archive_branch.clone()),
        noise_assumed: archive.is_none(),
    };
    save_json(&sitting.folder().join(FILE), &stamp)?;
    sitting.can_go_on();
    hold(sitting.folder(), FILE)
}

/// A session that goes on.
pub(super) struct Resumed {
    pub(super) spec: Spec,
    /// Where the spec's files are.
    pub(super) folder: PathBuf,
    pub(super) sitting: CliSitting,
    pub(super) sides: SideArgs,
    pub(super) archive: Option<ArchiveArgs>,
    pub(super) progress: Progress,
    pub(super) hold: Hold,
}

/// How far a session has come.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) evidence: Evidence,
    /// Pairs that stand.
    pub(super) done: u32,
    /// How often the next one was taken already.
    pub(super) retakes: u32,
}

/// Opens a session again; `given` is a spec that has to be the session's.
pub(super) fn reopen(
    session: &Path,
    given: Option<&Path>,
    context: &mut Context,
) -> Result<Resumed, Failure> {
    let stamp = read_stamp(session)?;
    let hold = hold(session, FILE)?;
    let kept = session.join("spec.yaml");
    let text = spec_text(&kept)?;
    if let Some(given) = given {
        let given = file_of(given);
        let other = merged(&Member::of(&given), context)?.text;
        refuse_spec(&given, &other, session, &text)?;
    }
    let source = Source {
        path: kept.display().to_string(),
        text,
    };
    let parsed = parse_spec(&source, &stamp.folder, context)?;
    let mut spec = selected(parsed.spec, &stamp.select)?;
    let declared = spec.clone();
    if let Some(text) = kept_text(session)? {
        let path = format!("the base of `{}`", session.display());
        let parsed = parse_spec(&Source { path, text }, &stamp.folder, context)?;
        let judge = selected(parsed.spec, &stamp.select)?;
        (spec.gate, spec.under_test) = (judge.gate, judge.under_test);
        spec.archive = judge.archive;
    }
    let mut sitting = open_sitting_in(&spec, session, stamp.session, context)?;
    // What was put together from several files stands in them, if they still say so.
    let now = stamp
        .spec
        .as_ref()
        .map(|path| (path, read_spec(&Member::of(path), context)));
    match now {
        Some((path, Ok((_, now)))) if now.spec.text == declared.text => {
            sitting.place(path, &now.spec);
        }
        Some((path, Err(_))) if spec_text(&file_of(path)).is_ok_and(|now| now == declared.text) => {
            sitting.place(path, &declared);
        }
        Some(_) | None => {}
    }
    sitting.score(scores::of_both(&spec)?);
    sitting.can_go_on();
    sitting.stamp(source_of(&stamp.folder.join("spec.yaml"), context));
    let mut progress = progress(&spec, &mut sitting, context)?;
    progress.evidence.base = kept_stamp(session)?;
    Ok(Resumed {
        spec,
        folder: stamp.folder,
        sitting,
        sides: stamp.sides,
        archive: (!stamp.noise_assumed).then_some(ArchiveArgs {
            baselines: stamp.baselines,
            archive_branch: stamp.archive_branch,
        }),
        progress,
        hold,
    })
}

fn read_stamp(session: &Path) -> Result<SessionStamp, Failure> {
    let how =
        "name the folder of a session of `ab`, as in `infergate ab --resume infergate-out/SESSION`";
    reopen::read_stamp(session, FILE, FORMAT, how)
}

/// What stands of a session: whole pairs from the first on. What is left of a pair that was cut off
/// is set aside, for its sides belong together.
fn progress(
    spec: &Spec,
    sitting: &mut CliSitting,
    context: &mut Context,
) -> Result<Progress, Failure> {
    let session = sitting.folder().to_owned();
    let runs = runs_in(&session.join("runs"))?;
    refuse_others(&runs, spec, sitting)?;
    let before = runs_in(&session.join("set-aside"))?;
    let retaken = |pair: u32| {
        let [_, second] = order(pair);
        let same = |run: &&Run| run.pair == Some(pair) && run.side == Some(second);
        u32::try_from(before.iter().filter(same).count()).unwrap_or(u32::MAX)
    };
    let found = runs.len();
    let mut pairs: BTreeMap<u32, Vec<Run>> = BTreeMap::new();
    let mut loose = Vec::new();
    for run in runs {
        match (run.pair, run.side) {
            (Some(pair), Some(_)) => pairs.entry(pair).or_default().push(run),
            _ => loose.push(run),
        }
    }
    let mut whole: Vec<Vec<Run>> = Vec::new();
    for (number, pair) in pairs {
        if number as usize == whole.len() && is_whole(&pair) {
            whole.push(pair);
        } else {
            loose.extend(pair);
        }
    }
    let number = |whole: &[Vec<Run>]| u32::try_from(whole.len()).unwrap_or(u32::MAX);
    let mut retakes = retaken(number(&whole));
    // The process may have ended between a spoilt pair and its being taken again.
    let lost = |run: &Run| run.end != RunEnd::Complete;
    if let Some(last) = whole.last()
        && last.iter().any(|run| fault(run).is_some())
        && !last.iter().any(lost)
        && retaken(number(&whole) - 1) < RETAKES
    {
        loose.extend(whole.pop().into_iter().flatten());
        retakes = retaken(number(&whole)) + 1;
    }
    for run in &loose {
        set_aside(sitting, run)?;
    }
    context.note(&format!(
        "going on with `{}`: {} of its {found} runs make {}{}",
        session.display(),
        found - loose.len(),
        counted(number(&whole), "whole pair", "whole pairs"),
        if loose.is_empty() {
            ""
        } else {
            ", the rest is set aside and taken again"
        },
    ));
    let mut progress = Progress {
        done: number(&whole),
        retakes,
        ..Progress::default()
    };
    for run in whole.into_iter().flatten() {
        progress.evidence.take(run);
    }
    if progress.done > 0 {
        progress.evidence.archive = kept_archive(&session)?;
    }
    let fitted = progress.evidence.baseline.iter().find(|run| !lost(run));
    if let Some(run) = fitted {
        sitting.go_on_with(run.prompt_calibration);
    }
    Ok(progress)
}

fn runs_in(folder: &Path) -> Result<Vec<Run>, Failure> {
    let empty = !std::fs::read_dir(folder).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.path().extension().is_some_and(|end| end == "json"))
    });
    if empty {
        return Ok(Vec::new());
    }
    Ok(load_runs(folder)?)
}

fn is_whole(pair: &[Run]) -> bool {
    let of = |side| pair.iter().filter(|run| run.side == Some(side)).count() == 1;
    let ended = |run: &Run| run.end != RunEnd::Interrupted;
    of(Side::Baseline) && of(Side::Candidate) && pair.iter().all(ended)
}

/// Refuses to go on with a side that is not what it was.
pub(super) fn refuse_changed(runs: &[Run], side: Side, now: &Pins) -> Result<(), Failure> {
    let Some(before) = runs.last() else {
        return Ok(());
    };
    same_target(name(side), &before.pins, now)
}
