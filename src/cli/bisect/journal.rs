//! What became of each step, kept so that a bisection goes on where it was; and its answer.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::BisectArgs;
use super::states::States;
use crate::archive::save_json;
use crate::bisect::{Mark, Next};
use crate::cli::failure::Failure;
use crate::cli::source::read_file;
use crate::exit::Exit;
use crate::ident::Digest;
use crate::metric::Cell;

const FORMAT: &str = "infergate.bisect/1";

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    /// Its place in the row; 0 is the good end.
    pub(super) state: usize,
    /// The commit or version, for people.
    pub(super) name: String,
    /// What became of it.
    pub(super) mark: Mark,
    /// Why, in words.
    pub(super) why: String,
    /// Where its runs and its report are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<PathBuf>,
}

/// All steps so far, in a file.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) folder: PathBuf,
    pub(super) steps: Vec<Step>,
    asked: Asked,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Asked {
    good: String,
    bad: String,
    cell: String,
    /// The command that asks it.
    command: String,
}

#[derive(Serialize, Deserialize)]
struct File {
    format: String,
    #[serde(flatten)]
    asked: Asked,
    steps: Vec<Step>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
}

/// What a bisection ends with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// This is the first that is worse.
    FirstBad(String),
    /// The first that is worse is one of these: the others could not be judged.
    OneOf(Vec<String>),
    /// The bad end is not worse than the good one.
    NotWorse(String),
    /// The bad end could not be judged.
    EndUndecided(String),
}

impl Step {
    /// For people, with its line end.
    pub(super) fn line(&self) -> String {
        let mark = match self.mark {
            Mark::Good => "good",
            Mark::Bad => "bad",
            Mark::Skip => "skipped",
        };
        format!("{:<8} {}: {}\n", mark, self.name, self.why)
    }
}

impl Journal {
    /// Opens the journal of this question, which has a folder of its own below `--out`.
    pub(super) fn open(args: &BisectArgs, states: &States) -> Result<Self, Failure> {
        let asked = Asked {
            good: states.name(0),
            bad: states.name(states.last()),
            cell: args.cell.clone(),
            command: command(args),
        };
        let spec = args.spec.display().to_string();
        let question = (&args.cell, states.digest(), &args.build, spec);
        let digest = Digest::of_json(&question).short();
        let mut journal = Self {
            folder: std::path::absolute(args.out.out.join(format!("bisect-{digest}")))
                .map_err(|error| Failure::usage(format!("`--out`: {error}")))?,
            steps: Vec::new(),
            asked,
        };
        let path = journal.path();
        if path.is_file() {
            let wrong = |why: String| {
                let path = path.display();
                Failure::usage(format!(
                    "cannot go on by `{path}`: {why}; take it away to begin anew"
                ))
            };
            let text = read_file(&path).map_err(wrong)?;
            let file: File =
                serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
            if file.format != FORMAT {
                return Err(wrong(format!("its format is `{}`", file.format)));
            }
            journal.steps = file.steps;
        }
        Ok(journal)
    }

    fn path(&self) -> PathBuf {
        self.folder.join("bisect.json")
    }

    fn file(&self, answer: Option<&Answer>) -> File {
        File {
            format: FORMAT.to_owned(),
            asked: self.asked.clone(),
            steps: self.steps.clone(),
            answer: answer.cloned(),
        }
    }

    /// Takes a step down.
    pub(super) fn take(&mut self, step: Step) -> Result<(), Failure> {
        self.steps.push(step);
        Ok(save_json(&self.path(), &self.file(None))?)
    }

    /// Everything as JSON, with a line end.
    pub(super) fn as_json(&self, answer: &Answer) -> Result<String, Failure> {
        let text = serde_json::to_string_pretty(&self.file(Some(answer)));
        text.map(|text| text + "\n").map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the answer as JSON: {error}"),
            )
        })
    }
}

impl Answer {
    /// In the names of the states.
    pub(super) fn of(next: Next, states: &States) -> Self {
        let end = || states.name(states.last());
        match next {
            Next::Test(state) | Next::Found(state) => Self::FirstBad(states.name(state)),
            Next::Among(from, to) => Self::OneOf((from..=to).map(|at| states.name(at)).collect()),
            Next::NotBad => Self::NotWorse(end()),
            Next::EndSkipped => Self::EndUndecided(end()),
        }
    }

    pub(super) const fn exit(&self) -> Exit {
        match self {
            Self::FirstBad(_) => Exit::Pass,
            Self::OneOf(_) | Self::NotWorse(_) | Self::EndUndecided(_) => Exit::Undecided,
        }
    }

    /// For people.
    pub(super) fn text(&self, cell: &Cell, journal: &Journal) -> String {
        let mut text = match self {
            Self::FirstBad(name) => format!("\n`{cell}` is worse from here on: {name}\n"),
            Self::OneOf(names) => format!(
                "\n`{cell}` is worse from one of these on; those before the last could not be judged:\n  {}\n",
                names.join("\n  ")
            ),
            Self::NotWorse(name) => {
                format!(
                    "\n`{cell}` is not worse at the bad end, {name}, so there is nothing to find\n"
                )
            }
            Self::EndUndecided(name) => format!(
                "\n`{cell}` could not be decided at the bad end, {name}, so there is nothing to go by\n"
            ),
        };
        let decisive = journal.steps.iter().filter(|step| step.mark == Mark::Bad);
        let decisive = decisive.min_by_key(|step| step.state);
        if let Some(session) = decisive.and_then(|step| step.session.as_ref()) {
            let _ = writeln!(text, "its report:  infergate compare {}", session.display());
        }
        let _ = writeln!(text, "once more:   {}", journal.asked.command);
        text
    }
}

/// The command that asks this.
fn command(args: &BisectArgs) -> String {
    let word = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:@=+~^".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text.to_owned()
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    };
    let mut words = vec![
        word(&args.good),
        word(&args.bad),
        "--cell".to_owned(),
        word(&args.cell),
        "--spec".to_owned(),
        word(&args.spec.display().to_string()),
    ];
    if let Some(repository) = &args.repository {
        words.extend([
            "--repository".to_owned(),
            word(&repository.display().to_string()),
        ]);
    }
    if let Some(versions) = &args.versions {
        words.extend(["--versions".to_owned(), word(versions)]);
    }
    if args.out.out != Path::new("infergate-out") {
        words.extend([
            "--out".to_owned(),
            word(&args.out.out.display().to_string()),
        ]);
    }
    if !args.build.is_empty() {
        words.push("--build".to_owned());
        words.extend(args.build.iter().map(|text| word(text)));
    }
    format!("infergate bisect {}", words.join(" "))
}
