//! What all commands need that go on with a session which was cut off.

use std::fs::{File, TryLockError};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::context::Context;
use super::failure::Failure;
use super::sitting::CliSitting;
use crate::compare::pins::changed;
use crate::exit::Exit;
use crate::ident::Digest;
use crate::metric::DEFINITION;
use crate::provenance::Pins;
use crate::spec::Spec;
use crate::summary::Run;

/// Keeps others from a session while this is there.
#[derive(Debug)]
pub(super) struct Hold(#[expect(dead_code, reason = "its lock ends with it")] File);

/// Holds a session by one of its files.
pub(super) fn hold(session: &Path, file: &str) -> Result<Hold, Failure> {
    let path = session.join(file);
    let file = File::open(&path)
        .map_err(|error| Failure::usage(format!("cannot open `{}`: {error}", path.display())))?;
    // Where the file system has no locks, nobody is kept out.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(Failure::usage(format!(
            "the session `{}` is still running in another process; let it end, or stop it first",
            session.display()
        )));
    }
    Ok(Hold(file))
}

/// What a session was asked for, from its file of this format; `how` says what to name instead where it has
/// none.
pub(super) fn read_stamp<T: DeserializeOwned>(
    session: &Path,
    file: &str,
    format: &str,
    how: &str,
) -> Result<T, Failure> {
    let path = session.join(file);
    let wrong = |why: String| {
        Failure::usage(format!(
            "cannot go on with `{}`: {why}; {how}",
            session.display()
        ))
    };
    let damaged =
        |error: serde_json::Error| wrong(format!("`{}` is damaged: {error}", path.display()));
    let text = std::fs::read_to_string(&path)
        .map_err(|error| wrong(format!("cannot read `{}`: {error}", path.display())))?;
    let stamp: Value = serde_json::from_str(&text).map_err(damaged)?;
    if let Some(other) = stamp["format"].as_str().filter(|other| *other != format) {
        return Err(wrong(format!(
            "its format is `{other}`, this version reads `{format}`"
        )));
    }
    serde_json::from_value(stamp).map_err(damaged)
}

/// The text of a spec.
pub(super) fn spec_text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!(
            "cannot read the spec `{}`: {error}",
            path.display()
        ))
    })
}

/// Refuses another spec than that of the session; `other` is its text.
pub(super) fn refuse_spec(
    given: &Path,
    other: &str,
    session: &Path,
    text: &str,
) -> Result<(), Failure> {
    if other == text {
        return Ok(());
    }
    let digest = |text: &str| Digest::of(text.as_bytes());
    Err(Failure::usage(format!(
        "`{}` is not the spec of `{}` ({} against {}); give the same one or none, or start a new \
         session without `--resume`",
        given.display(),
        session.display(),
        digest(other),
        digest(text),
    )))
}

/// Refuses runs that those to come could not be put beside.
pub(super) fn refuse_others(
    runs: &[Run],
    spec: &Spec,
    sitting: &CliSitting,
) -> Result<(), Failure> {
    let differs = |run: &Run| {
        if run.session != sitting.session() {
            Some(format!("is of the session `{}`", run.session))
        } else if run.spec.workload_digest != spec.workload_digest()
            || run.trace_digest != sitting.trace_digest()
        {
            Some(
                "sent other requests than the spec gives now: one of its traces or datasets changed"
                    .to_owned(),
            )
        } else if run.definition != DEFINITION {
            Some("has metrics by another definition: it was taken by another version".to_owned())
        } else {
            None
        }
    };
    match runs.iter().find_map(|run| Some((run, differs(run)?))) {
        Some((run, what)) => Err(Failure::new(
            Exit::Undecided,
            format!(
                "cannot go on with `{}`: its run `{}` {what}; start a new session",
                sitting.folder().display(),
                run.id
            ),
        )),
        None => Ok(()),
    }
}

/// Refuses to go on with a target, called `whose`, that is not what it was.
pub(super) fn refuse_changed(whose: &str, before: &Pins, now: &Pins) -> Result<(), Failure> {
    let differences = changed(before, now);
    if differences.is_empty() {
        return Ok(());
    }
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let each: Vec<String> = differences
        .iter()
        .map(|pin| {
            let (was, is) = (shown(&pin.baseline), shown(&pin.candidate));
            format!("`{}` was `{was}` and is `{is}`", pin.pin)
        })
        .collect();
    Err(Failure::new(
        Exit::Undecided,
        format!(
            "the {whose} is not what it was when the session was cut off: {}; bring it back, or start a new \
             session",
            each.join(", ")
        ),
    ))
}

/// The folder of a session that is given by its path or, below `out`, by its name.
pub(super) fn session_of(given: &Path, out: &Path) -> std::path::PathBuf {
    if given.is_dir() {
        given.to_owned()
    } else {
        out.join(given)
    }
}

/// A path that still holds in another folder.
pub(super) fn whole(path: &Path) -> std::path::PathBuf {
    // An empty path is the current folder, which `absolute` refuses.
    std::path::absolute(Path::new(".").join(path)).unwrap_or_else(|_| path.to_owned())
}

/// Says what is gone on with.
pub(super) fn say(context: &mut Context, session: &Path, what: &str) {
    context.note(&format!("going on with `{}`: {what}", session.display()));
}
