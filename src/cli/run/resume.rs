//! `run --resume`: a session that was cut off goes on, its soak by whole windows.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{RunArgs, take_all};
use crate::archive::{Journalled, journal_path, journals, load_run, read_journal, save_json};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::interrupt::Interrupt;
use crate::cli::member::Member;
use crate::cli::origin::source_of;
use crate::cli::reopen::{
    self, Hold, hold, refuse_changed, refuse_others, refuse_spec, say, session_of, spec_text, whole,
};
use crate::cli::scores;
use crate::cli::sitting::{CliSitting, open_sitting_in};
use crate::cli::source::{merged, parse_spec, selected};
use crate::diag::Source;
use crate::exit::Exit;
use crate::session::CutOff;
use crate::summary::RunEnd;
use crate::unit::Nanos;

const FORMAT: &str = "infergate.sitting/1";
const FILE: &str = "sitting.json";

/// What a session was asked for, so that it can go on without the words of its command.
#[derive(Debug, Serialize, Deserialize)]
struct SittingStamp {
    format: String,
    session: String,
    /// The spec, as the command was given it.
    spec: PathBuf,
    /// Where the spec's files are.
    folder: PathBuf,
    select: Vec<String>,
    /// Runs that were to be taken.
    repeats: u32,
}

/// Leaves what it takes to go on with a session, and holds it meanwhile.
pub(in crate::cli) fn begin(
    sitting: &CliSitting,
    spec: &Path,
    select: &[String],
    repeats: u32,
) -> Result<Hold, Failure> {
    let folder = if spec.is_dir() {
        spec
    } else {
        spec.parent().unwrap_or(Path::new(""))
    };
    let stamp = SittingStamp {
        format: FORMAT.to_owned(),
        session: sitting.session().to_owned(),
        spec: spec.to_owned(),
        folder: whole(folder),
        select: select.to_vec(),
        repeats,
    };
    save_json(&sitting.folder().join(FILE), &stamp)?;
    hold(sitting.folder(), FILE)
}

/// The command that goes on with a session.
pub(in crate::cli) fn command(sitting: &CliSitting) -> String {
    format!("infergate run --resume {}", sitting.folder().display())
}

pub(super) async fn go_on(
    args: &RunArgs,
    given: &Path,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let session = session_of(given, &args.out.out);
    let stamp = read_stamp(&session)?;
    let _hold = hold(&session, FILE)?;
    let kept = session.join("spec.yaml");
    let text = spec_text(&kept)?;
    if let Some(given) = &args.spec {
        let other = merged(&Member::of(given), context)?.text;
        refuse_spec(given, &other, &session, &text)?;
    }
    let source = Source {
        path: kept.display().to_string(),
        text,
    };
    let spec = parse_spec(&source, &stamp.folder, context)?.spec;
    let spec = selected(spec, &stamp.select)?;
    let places = [&spec.target.place];
    let locks = args.lock.hold(&spec, &places, false, context, interrupt);
    let _locks = locks.await?;
    let mut sitting = open_sitting_in(&spec, &session, stamp.session, context)?;
    sitting.score(scores::of_target(&spec)?);
    sitting.stamp(source_of(&stamp.folder.join("spec.yaml"), context));
    let left = Left::find(&session)?;
    let repeats = args.repeats.unwrap_or(stamp.repeats);
    let wanted = repeats.saturating_sub(left.whole);
    let mut station = sitting.station(spec.target.place.clone(), "target", context);
    let Some(cut_off) = left.furthest() else {
        if wanted == 0 {
            return Err(Failure::usage(format!(
                "nothing of `{}` was cut off: its runs have all ended; `--repeats {}` would take one more",
                session.display(),
                left.whole + 1
            )));
        }
        say(
            context,
            &session,
            &format!("{} of its {repeats} runs are whole", left.whole),
        );
        let all = (wanted, args.json);
        return take_all(all, &mut sitting, (station, None), context, interrupt).await;
    };
    let before = cut_off.begun.run.clone();
    refuse_others(std::slice::from_ref(&before), &spec, &sitting)?;
    let target = station.up(interrupt.stop()).await?;
    let now = sitting.observe(target, interrupt).await;
    let same = now.and_then(|now| refuse_changed("target", &before.pins, &now));
    if let Err(error) = same {
        station.down().await;
        return Err(error);
    }
    say(context, &session, &told(cut_off));
    let since = Context::instant(&cut_off.begun.started);
    let since_s = since.map_or(0.0, |since| context.seconds_since(&since));
    sitting.go_on(CutOff {
        journalled: cut_off.clone(),
        records: records_of(&session, &before.id),
        since_s,
    });
    let all = (wanted.max(1), args.json);
    let station = (station, Some(&left));
    take_all(all, &mut sitting, station, context, interrupt).await
}

/// What is kept, in words: `2 stages and 120 windows (2h) of a soak are kept`.
fn told(cut_off: &Journalled) -> String {
    let mut kept = Vec::new();
    match cut_off.stages.len() {
        0 => {}
        1 => kept.push("1 stage".to_owned()),
        count => kept.push(format!("{count} stages")),
    }
    if let Some(mark) = &cut_off.mark {
        let measured: Nanos = mark.measured();
        kept.push(format!("{} windows ({measured}) of a soak", mark.windows));
    }
    if kept.is_empty() {
        return "nothing of its run had ended, so it is taken anew".to_owned();
    }
    format!(
        "{} of run `{}` are kept, the rest is measured",
        kept.join(" and "),
        cut_off.begun.run.id
    )
}

fn records_of(session: &Path, run: &str) -> PathBuf {
    session.join("records").join(format!("{run}.jsonl.gz"))
}

fn read_stamp(session: &Path) -> Result<SittingStamp, Failure> {
    let how = "name the folder of a session of `run`, as in `infergate run --resume infergate-out/SESSION` (one \
               of `ab` goes on by `infergate ab --resume`)";
    reopen::read_stamp(session, FILE, FORMAT, how)
}

/// What is left of a session.
pub(super) struct Left {
    session: PathBuf,
    /// Runs that are whole.
    whole: u32,
    /// Those that were cut off.
    cut_off: Vec<Journalled>,
}

impl Left {
    fn find(session: &Path) -> Result<Self, Failure> {
        let mut cut_off = Vec::new();
        for path in journals(session)? {
            // One that ends within its first line was not begun.
            if let Ok(journalled) = read_journal(&path) {
                cut_off.push(journalled);
            }
        }
        let mut whole = 0;
        for entry in std::fs::read_dir(session.join("runs"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "json") {
                whole += u32::from(load_run(&path)?.end == RunEnd::Complete);
            }
        }
        Ok(Self {
            session: session.to_owned(),
            whole,
            cut_off,
        })
    }

    /// The run that came furthest: one that went on and was cut off at once is behind what it went on with.
    fn furthest(&self) -> Option<&Journalled> {
        let measured = |one: &&Journalled| {
            let ended: f64 = one.stages.iter().map(|stage| stage.window_s).sum();
            let windows = one.mark.as_ref().map(|mark| mark.measured().as_secs_f64());
            ended + windows.unwrap_or(0.0)
        };
        self.cut_off
            .iter()
            .max_by(|one, other| measured(one).total_cmp(&measured(other)))
    }

    /// Sets aside what is left of runs that were cut off: another has taken it over.
    pub(super) fn set_aside(&self) -> Result<(), Failure> {
        let aside = self.session.join("set-aside");
        let moved = |from: PathBuf| {
            if !from.exists() {
                return Ok(());
            }
            let to = aside.join(from.file_name().unwrap_or_default());
            std::fs::create_dir_all(&aside)
                .and_then(|()| std::fs::rename(&from, &to))
                .map_err(|error| {
                    let from = from.display();
                    Failure::new(
                        Exit::Invalid,
                        format!("cannot move `{from}` to `{}`: {error}", to.display()),
                    )
                })
        };
        for journalled in &self.cut_off {
            let id = &journalled.begun.run.id;
            moved(self.session.join("runs").join(format!("{id}.json")))?;
            moved(records_of(&self.session, id))?;
            let journal = journal_path(&self.session, id);
            moved(journal.clone())?;
            if let Some(folder) = journal.parent() {
                // Others may have theirs in it.
                let _ = std::fs::remove_dir(folder);
            }
        }
        Ok(())
    }
}
