//! Where a command reads baselines and its gate from: the merge base in a pull request of CI, else the
//! working tree.

use std::path::{Path, PathBuf};

use clap::Args;

use super::archive::{ArchiveArgs, open};
use super::context::Context;
use super::failure::{Failure, FailureText};
use super::source::{embedded_spec, read_file, selected, style};
use crate::archive::{save_json, save_text};
use crate::baseline::{
    AncestryError, Base, BaseError, Baseline, Keeper, Kept, Shelf, retain_ancestors,
};
use crate::diag::{Source, render};
use crate::event::{self, Event};
use crate::exit::Exit;
use crate::git::{GitError, Repository};
use crate::ident::Commit;
use crate::spec::{self, FileText, Gate, Policy, Spec};
use crate::summary::{Run, SpecStamp};
use crate::verdict::BaseStamp;

/// Where a session keeps what its baseline was read from, and the spec whose gate judged it.
const STAMP: &str = "base.json";
const SPEC: &str = "base.yaml";

/// Which baselines count.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct BaseArgs {
    /// Read baselines, accepts and the gate from this commit, instead of the merge base (in a pull
    /// request of CI) or the working tree (else)
    #[arg(long, value_name = "REV")]
    base: Option<String>,
}

/// Where baselines and the gate are read from.
#[derive(Debug)]
pub(super) struct Footing {
    /// The archive.
    pub(super) shelf: Shelf,
    /// What is said of it.
    pub(super) stamp: BaseStamp,
    /// What became of the spec since the base.
    pub(super) change: SpecChange,
    /// The repository with the commit whose past counts.
    past: Option<(Repository, Commit)>,
    /// Whether the archive lies beside the code or on a branch of its own.
    kept: Kept,
    /// The base's spec, where its gate is another one.
    text: Option<String>,
}

/// How the spec that is measured differs from the base's.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SpecChange {
    /// In nothing but what may: its gate is the base's.
    None,
    /// The base has no such spec.
    New,
    /// Its workload is another one, so the base's gate says nothing of it.
    Workload,
}

impl BaseArgs {
    /// Finds where the archive and the gate of this spec are, and gives the spec the gate that judges it.
    pub(super) fn find(
        &self,
        path: &Path,
        archive: &ArchiveArgs,
        spec: &mut Spec,
        context: &mut Context,
    ) -> Result<Footing, Failure> {
        let asked = self.base.as_deref();
        let event = match asked {
            Some(_) => None,
            None => event_of(context).map_err(|error| undecided(&error))?,
        };
        let spec_file = file_of(path);
        let repository = match Repository::find(&folder_of(&spec_file)) {
            Ok(repository) => repository,
            // Nothing can be changed there by a pull request.
            Err(GitError::NotARepository { .. }) if asked.is_none() => {
                let why = "it lies in no git repository".to_owned();
                return plain(archive, spec, why, context);
            }
            Err(error) if asked.is_none() && event.is_none() => {
                return plain(archive, spec, error.to_string(), context);
            }
            Err(error) => return Err(undecided(&BaseError::from(error))),
        };
        let found = Base::find(&repository, event.as_ref(), asked);
        let base = found.map_err(|error| undecided(&error))?;
        let past = base.tip.map(|tip| (repository.clone(), tip));
        let Some(commit) = base.commit else {
            let footing = plain(archive, spec, base.why, context)?;
            return Ok(Footing { past, ..footing });
        };
        let mut stamp = BaseStamp::new(Some(commit.clone()), base.why);
        let (mut change, mut text) = (SpecChange::None, None);
        if let Some(file) = inside(&repository, &spec_file) {
            let there = repository.read(&commit, &file);
            match there.map_err(|error| undecided(&BaseError::from(error)))? {
                None => {
                    // What nobody has reviewed yet decides nothing either.
                    set_policies(&mut spec.gate, [Policy::Undecided; 3]);
                    change = SpecChange::New;
                }
                Some(there) if there == spec.text => {}
                Some(there) => {
                    let read = BaseSpec {
                        repository: &repository,
                        commit: &commit,
                        file: &file,
                        beside: &folder_of(&spec_file),
                    };
                    let old = read.parse(&there, spec, context)?;
                    // Whoever may choose the archive may choose the baseline.
                    spec.archive = old.archive.clone();
                    if old.workload_digest() != spec.workload_digest() {
                        let gate = &old.gate;
                        let policies = [gate.undecided, gate.no_baseline, gate.incomparable];
                        set_policies(&mut spec.gate, policies);
                        change = SpecChange::Workload;
                    } else if !same(&old.gate, &spec.gate) {
                        spec.gate = old.gate;
                        stamp.gate_differs = true;
                        text = Some(there);
                    }
                }
            }
        }
        let keeper = archive.keeper(Some(spec))?;
        let (shelf, kept) = match &keeper {
            Keeper::Branch(_) => (open(&keeper, context)?, Kept::Apart),
            Keeper::Folder(folder) => match inside(&repository, folder) {
                Some(prefix) => {
                    let shelf = Shelf::Tree {
                        label: format!("`{}` of commit {}", prefix, commit.short()),
                        prefix,
                        repository,
                        commit,
                    };
                    (shelf, Kept::WithTheCode)
                }
                None => {
                    stamp.why += ", which is for the gate alone: the baselines lie outside of its repository";
                    (Shelf::folder(folder), Kept::WithTheCode)
                }
            },
        };
        Ok(Footing {
            shelf,
            stamp,
            change,
            past,
            kept,
            text,
        })
    }
}

/// The archive as it is now, and the spec's own gate.
fn plain(
    archive: &ArchiveArgs,
    spec: &Spec,
    why: String,
    context: &mut Context,
) -> Result<Footing, Failure> {
    let keeper = archive.keeper(Some(spec))?;
    Ok(Footing {
        shelf: open(&keeper, context)?,
        stamp: BaseStamp::new(None, why),
        change: SpecChange::None,
        past: None,
        kept: match keeper {
            Keeper::Folder(_) => Kept::WithTheCode,
            Keeper::Branch(_) => Kept::Apart,
        },
        text: None,
    })
}

impl Footing {
    /// Leaves the sessions that stand for the base, and notes how far they are.
    pub(super) fn retain(&mut self, baseline: &mut Baseline) -> Result<(), Failure> {
        let Some((repository, tip)) = &self.past else {
            return Ok(());
        };
        retain_ancestors(baseline, repository, tip, self.kept, &mut self.stamp)
            .map_err(Failure::from)
    }

    /// Why the spec that is measured can't be held against stored sessions, where it can't.
    pub(super) fn refuses_stored(&self, path: &Path) -> Option<String> {
        let commit = self.stamp.commit.as_ref()?.short();
        let path = path.display();
        match self.change {
            SpecChange::None => None,
            SpecChange::New => Some(format!(
                "the spec `{path}` is new: commit {commit} has none, so it has no baseline yet; let it land, or \
                 compare with a second live target: `infergate ab {path} --baseline-url URL`"
            )),
            SpecChange::Workload => Some(format!(
                "the spec changed: its workload is not that of `{path}` at commit {commit}, so neither the \
                 baseline nor the gate of that speak of it; compare with a second live target: `infergate ab \
                 {path} --baseline-url URL`, or land the spec and promote sessions of it"
            )),
        }
    }

    /// What is to be known of a comparison of two live targets: whose gate it is.
    pub(super) fn gate_told(&self) -> Option<String> {
        let commit = self.stamp.commit.as_ref()?.short();
        match self.change {
            SpecChange::None if self.stamp.gate_differs => self.stamp.says().into_iter().nth(1),
            SpecChange::None => None,
            SpecChange::New => Some(format!(
                "the spec is new (commit {commit} has none), so it is judged by its own gate"
            )),
            SpecChange::Workload => Some(format!(
                "the workload is not that of commit {commit}, so it is judged by its own gate; its policies are \
                 those of the base"
            )),
        }
    }

    /// Says where the baseline is from.
    pub(super) fn tell(&self, context: &mut Context) {
        for line in self.stamp.says() {
            context.note(&line);
        }
    }

    /// Leaves what it takes to judge a session again from its folder alone.
    pub(super) fn keep(&self, session: &Path) -> Result<(), Failure> {
        save_json(&session.join(STAMP), &self.stamp)?;
        if let Some(text) = &self.text {
            save_text(&session.join(SPEC), text)?;
        }
        Ok(())
    }
}

/// What a session's baseline was read from, where it says.
pub(super) fn kept_stamp(session: &Path) -> Result<Option<BaseStamp>, Failure> {
    let path = session.join(STAMP);
    let Some(text) = kept(&path)? else {
        return Ok(None);
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Failure::usage(format!(
            "`{}` is damaged: {error}; take it away to judge the session by its own spec",
            path.display()
        ))
    })
}

/// The spec whose gate judged a session, where that is not its own.
pub(super) fn kept_text(session: &Path) -> Result<Option<String>, Failure> {
    kept(&session.join(SPEC))
}

/// Gives a session's spec the gate that judged it; `run` is one of its candidate's.
pub(super) fn judged_as(
    session: &Path,
    run: &Run,
    spec: &mut Spec,
    context: &Context,
) -> Result<(), Failure> {
    if let Some(text) = kept_text(session)? {
        let stamp = SpecStamp {
            text,
            ..run.spec.clone()
        };
        spec.gate = embedded_spec(&stamp, context)?.gate;
    }
    Ok(())
}

fn kept(path: &Path) -> Result<Option<String>, Failure> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = read_file(path);
    text.map(Some)
        .map_err(|why| Failure::usage(format!("cannot read `{}`: {why}", path.display())))
}

/// A spec of the base.
struct BaseSpec<'a> {
    repository: &'a Repository,
    commit: &'a Commit,
    file: &'a str,
    /// The folder of the spec that is measured.
    beside: &'a Path,
}

impl BaseSpec<'_> {
    fn parse(&self, text: &str, spec: &Spec, context: &Context) -> Result<Spec, Failure> {
        let folder = self.file.rsplit_once('/').map_or("", |(folder, _)| folder);
        // A large trace may be kept elsewhere than in git.
        let file = |name: &str| {
            let path = Path::new(folder).join(name);
            let path = path.to_str().filter(|path| !path.contains(".."));
            let kept = path.and_then(|path| self.repository.read(self.commit, path).ok()?);
            kept.map_or_else(|| read_file(&self.beside.join(name)), Ok)
        };
        let source = Source {
            path: format!("{}:{}", self.commit.short(), self.file),
            text: text.to_owned(),
        };
        gate_of(&source, spec, context, &file)
    }
}

/// Parses a spec for its gate: nothing is sent to its target, so a variable that is unset here stands for
/// any address.
fn gate_of(
    source: &Source,
    like: &Spec,
    context: &Context,
    file: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Spec, Failure> {
    let variable = |name: &str| {
        let set = context.variable(name);
        set.or_else(|| Some(format!("http://127.0.0.1/{name}")))
    };
    let files = |ask: spec::FileAsk<'_>| file(ask.file).map(FileText::Whole);
    let parsed = spec::parse(source, &variable, &files).map_err(|mistakes| Failure {
        exit: Exit::Undecided,
        text: FailureText::Diagnostics(format!(
            "{}\nthe gate of the base can't be read, so nothing can be judged by it; name another base: \
             `--base REV`\n",
            render(&mistakes, source, style(context)),
        )),
    })?;
    let labels = like.select.clone();
    selected(parsed.spec.clone(), &labels).or(Ok(parsed.spec))
}

const fn set_policies(gate: &mut Gate, policies: [Policy; 3]) {
    [gate.undecided, gate.no_baseline, gate.incomparable] = policies;
}

/// Whether two gates say the same, wherever it stands in their texts.
fn same(one: &Gate, other: &Gate) -> bool {
    let bare = |gate: &Gate| {
        let mut gate = gate.clone();
        for cell in &mut gate.cells {
            cell.place = None;
        }
        gate
    };
    bare(one) == bare(other)
}

/// The job of CI that this process is in.
pub(super) fn event_of(context: &Context) -> Result<Option<Event>, BaseError> {
    let variable = |name: &str| context.variable(name);
    Ok(event::read(&variable, &|path| read_file(Path::new(path)))?)
}

/// The spec's file.
pub(super) fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join("spec.yaml")
    } else {
        path.to_owned()
    }
}

pub(super) fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The path of a file or folder in a repository, with `/`; `None` where it lies outside. It need not be
/// there: what a pull request deleted lies in the base all the same.
fn inside(repository: &Repository, path: &Path) -> Option<String> {
    let top = repository.folder().canonicalize().ok()?;
    let whole = std::path::absolute(path).ok()?;
    let there = whole.ancestors().find(|path| path.exists())?;
    let rest = whole.strip_prefix(there).ok()?;
    let path = there.canonicalize().ok()?.join(rest);
    let parts: Option<Vec<&str>> = path
        .strip_prefix(&top)
        .ok()?
        .components()
        .map(|part| part.as_os_str().to_str())
        .collect();
    Some(parts?.join("/"))
}

fn undecided(error: &BaseError) -> Failure {
    Failure::new(
        Exit::Undecided,
        format!("which baseline counts can't be told: {error}"),
    )
}

impl From<AncestryError> for Failure {
    fn from(error: AncestryError) -> Self {
        Self::new(Exit::Undecided, error.to_string())
    }
}
