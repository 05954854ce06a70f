//! The states that a bisection goes through: commits of an engine, or versions.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::BisectArgs;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::interrupt::Interrupt;
use crate::cli::member::Member;
use crate::cli::source::{read_file, read_spec_where};
use crate::exit::Exit;
use crate::git::{GitError, Repository, Worktree};
use crate::ident::{Commit, Digest};
use crate::spec::{Launch, Spec, TargetPlace, Word};

/// All states, the good end first and the bad one last.
pub(super) struct States {
    /// The spec as it is read for no state.
    path: PathBuf,
    select: super::SelectArgs,
    kind: Kind,
}

enum Kind {
    Commits {
        repository: Repository,
        commits: Vec<Commit>,
        build: Vec<String>,
        /// Where the good end is checked out, once it is.
        good: Option<Worktree>,
        /// Where the others are.
        step: Option<Worktree>,
    },
    Versions(Vec<String>),
}

/// A state that was to be measured.
pub(super) enum Tried {
    /// The spec whose baseline is the good end and whose target is the state.
    Built(Box<Spec>),
    /// Its engine does not build, and why.
    Unbuilt(String),
}

impl States {
    /// Those that are asked for, at least two.
    pub(super) fn find(args: &BisectArgs, context: &Context) -> Result<Self, Failure> {
        let kind = match (&args.repository, &args.versions) {
            (Some(folder), _) => {
                let repository = Repository::find(folder)?;
                let (good, bad) = (
                    repository.resolve(&args.good)?,
                    repository.resolve(&args.bad)?,
                );
                let after = repository.commits_between(&good, &bad)?;
                let commits = [vec![good], after].concat();
                Kind::Commits {
                    repository,
                    commits,
                    build: args.build.clone(),
                    good: None,
                    step: None,
                }
            }
            (None, list) => Kind::Versions(between(list.as_deref().unwrap_or_default(), args)?),
        };
        let states = Self {
            path: args.spec.clone(),
            select: args.select.clone(),
            kind,
        };
        if states.last() == 0 {
            return Err(Failure::usage(format!(
                "`{}` does not come after `{}`, so there is nothing between them; GOOD is the older one",
                args.bad, args.good
            )));
        }
        states.place(0, context)?;
        Ok(states)
    }

    /// The bad end.
    pub(super) const fn last(&self) -> usize {
        let count = match &self.kind {
            Kind::Commits { commits, .. } => commits.len(),
            Kind::Versions(versions) => versions.len(),
        };
        count.saturating_sub(1)
    }

    /// What tells this row of states from others.
    pub(super) fn digest(&self) -> Digest {
        match &self.kind {
            Kind::Commits { commits, .. } => Digest::of_json(commits),
            Kind::Versions(versions) => Digest::of_json(versions),
        }
    }

    /// A state for people.
    pub(super) fn name(&self, state: usize) -> String {
        match &self.kind {
            Kind::Commits {
                repository,
                commits,
                ..
            } => {
                let commit = &commits[state];
                let entry = repository.describe(commit);
                let subject = entry.map_or_else(|_| String::new(), |entry| entry.subject);
                format!("{} {subject}", commit.short())
                    .trim_end()
                    .to_owned()
            }
            Kind::Versions(versions) => versions[state].clone(),
        }
    }

    /// The spec of a state, its target where the spec has it.
    pub(super) fn spec(&self, state: usize, context: &Context) -> Result<Spec, Failure> {
        let version = match &self.kind {
            Kind::Commits { .. } => None,
            Kind::Versions(versions) => Some(versions[state].as_str()),
        };
        let variable = |name: &str| match (name, version) {
            ("VERSION", Some(version)) => Some(version.to_owned()),
            _ => context.variable(name),
        };
        let (_, parsed) = read_spec_where(&Member::of(&self.path), &variable, context)?;
        self.select.apply_gated(parsed.spec)
    }

    /// Where a state's engine is launched, but for its folder.
    fn place(&self, state: usize, context: &Context) -> Result<(String, Box<Launch>), Failure> {
        let TargetPlace::Launched { url, launch } = self.spec(state, context)?.target.place else {
            return Err(Failure::usage(
                "the spec launches no engine, and a bisection has to start each state; give its `target` a \
                 `launch: {command: [...]}`",
            ));
        };
        let launch = match &self.kind {
            Kind::Commits { .. } => launch,
            Kind::Versions(versions) => Box::new(of_version(*launch, &versions[state])),
        };
        Ok((url, launch))
    }

    /// Brings a state and the good end to where they can be launched.
    pub(super) async fn bring(
        &mut self,
        state: usize,
        folder: &Path,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Tried, Failure> {
        let mut spec = self.spec(state, context)?;
        let ((good_url, mut old), (url, mut new)) =
            (self.place(0, context)?, self.place(state, context)?);
        if let Kind::Commits {
            repository,
            commits,
            build: words,
            good,
            step,
        } = &mut self.kind
        {
            let place = |name: &str| folder.join(name);
            if good.is_none() {
                let opened = Worktree::open(repository, &place("good"), &commits[0])?;
                if let Some(why) = build(words, opened.folder(), folder, interrupt).await {
                    let text = format!("the good end can't be built: {why}");
                    return Err(Failure::new(Exit::Invalid, text));
                }
                *good = Some(opened);
            }
            *step = Some(Worktree::open(repository, &place("step"), &commits[state])?);
            if let Some(why) = build(words, &place("step"), folder, interrupt).await {
                return Ok(Tried::Unbuilt(why));
            }
            old = Box::new(old.in_folder(&place("good")));
            new = Box::new(new.in_folder(&place("step")));
        }
        spec.baseline = Some(TargetPlace::Launched {
            url: good_url,
            launch: old,
        });
        spec.target.place = TargetPlace::Launched { url, launch: new };
        Ok(Tried::Built(Box::new(spec)))
    }

    /// Takes away what was checked out; what can't be stays, and does no harm.
    pub(super) fn close(self) {
        if let Kind::Commits { good, step, .. } = self.kind {
            for worktree in [good, step].into_iter().flatten() {
                let _ = worktree.remove();
            }
        }
    }
}

/// Builds a checkout; why that failed, if it did.
async fn build(
    words: &[String],
    checkout: &Path,
    folder: &Path,
    interrupt: &Interrupt,
) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let path = folder.join("build.log");
    let failed = |why: String| Some(format!("`{}` failed: {why}", words.join(" ")));
    let log = std::fs::File::create(&path).and_then(|log| Ok((log.try_clone()?, log)));
    let (out, err) = match log {
        Ok(both) => both,
        Err(error) => return failed(format!("`{}`: {error}", path.display())),
    };
    let mut command = tokio::process::Command::new(program);
    let child = command
        .args(arguments)
        .current_dir(checkout)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .kill_on_drop(true)
        .status();
    tokio::select! {
        ended = child => match ended {
            Ok(status) if status.success() => None,
            Ok(status) => failed(format!("{status}; it says in `{}` why", path.display())),
            Err(error) => failed(error.to_string()),
        },
        () = interrupt.wait() => failed("interrupted".to_owned()),
    }
}

/// The part of a list, or of a file with one a line, that goes from GOOD to BAD.
fn between(list: &str, args: &BisectArgs) -> Result<Vec<String>, Failure> {
    let path = Path::new(list);
    let text = if path.is_file() {
        read_file(path).map_err(|why| Failure::usage(format!("cannot read `{list}`: {why}")))?
    } else {
        list.replace(',', "\n")
    };
    let lines = text.lines().map(str::trim);
    let versions: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let at = |wanted: &str| {
        versions.iter().position(|version| *version == wanted).ok_or_else(|| {
            Failure::usage(format!(
                "`{wanted}` is not in `--versions`; list all from GOOD to BAD, oldest first: {}",
                versions.join(", ")
            ))
        })
    };
    let (good, bad) = (at(&args.good)?, at(&args.bad)?);
    let row = versions.get(good..=bad.max(good)).unwrap_or_default();
    Ok(row.iter().map(|version| (*version).to_owned()).collect())
}

/// A launch with a version where it says `{version}`.
fn of_version(mut launch: Launch, version: &str) -> Launch {
    let fill = |text: &mut String| *text = text.replace("{version}", version);
    let stop = launch.stop.command.iter_mut().flatten();
    let logs = launch.logs.iter_mut().flatten();
    let words = launch.command.iter_mut().chain(launch.env.values_mut());
    for word in words.chain(stop).chain(logs) {
        if let Word::Written(text) = word {
            fill(text);
        }
    }
    launch.image.iter_mut().for_each(fill);
    if let Some(dir) = &mut launch.dir
        && let Some(text) = dir.to_str()
    {
        *dir = PathBuf::from(text.replace("{version}", version));
    }
    launch
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        Self::usage(error.to_string())
    }
}
