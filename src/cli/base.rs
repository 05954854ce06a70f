//! Where a command reads baselines and its gate from: the merge base in a pull request of CI, else the
//! working tree.

mod judge;
mod removed;

use std::path::{Path, PathBuf};

use clap::Args;

pub(super) use self::removed::Removed;

use self::judge::{BaseCell, BaseSpec, same, set_policies};
use super::archive::{self, ArchiveArgs};
use super::context::Context;
use super::failure::Failure;
use super::member::{Member, MemberCell};
use super::source::{embedded_spec, read_file};
use crate::archive::{save_json, save_text};
use crate::baseline::{
    AncestryError, Base, BaseError, Baseline, Keeper, Kept, Shelf, retain_ancestors,
};
use crate::event::{self, Event};
use crate::exit::Exit;
use crate::git::{GitError, Repository};
use crate::ident::Commit;
use crate::spec::{Policy, Spec};
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
    /// Whether the archive lies with the code.
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
        member: &Member,
        archive: &ArchiveArgs,
        spec: &mut Spec,
        context: &mut Context,
    ) -> Result<Footing, Failure> {
        let spec_file = file_of(&member.path);
        let mut footing = self.look(&folder_of(&spec_file), context)?;
        footing.read_spec(&spec_file, member.cell.as_ref(), spec, context)?;
        footing.open(&archive.keeper(Some(spec))?, context)?;
        Ok(footing)
    }

    /// Finds the base of what lies in a folder; nothing of it is read yet.
    fn look(&self, folder: &Path, context: &Context) -> Result<Footing, Failure> {
        let asked = self.base.as_deref();
        let event = match asked {
            Some(_) => None,
            None => event_of(context).map_err(|error| undecided(&error))?,
        };
        let mut footing = Footing::new(BaseStamp::new(None, ""), None);
        match Repository::find(folder) {
            Ok(repository) => {
                let found = Base::find(&repository, event.as_ref(), asked);
                let base = found.map_err(|error| undecided(&error))?;
                footing.stamp = BaseStamp::new(base.commit, base.why);
                footing.past = base.tip.map(|tip| (repository, tip));
            }
            // Nothing can be changed there by a pull request.
            Err(GitError::NotARepository { .. }) if asked.is_none() => {
                "it lies in no git repository".clone_into(&mut footing.stamp.why);
            }
            Err(error) if asked.is_none() && event.is_none() => {
                footing.stamp.why = error.to_string();
            }
            Err(error) => return Err(undecided(&BaseError::from(error))),
        }
        Ok(footing)
    }
}

impl Footing {
    fn new(stamp: BaseStamp, past: Option<(Repository, Commit)>) -> Self {
        Self {
            shelf: Shelf::folder(""),
            stamp,
            change: SpecChange::None,
            past,
            kept: Kept::WithTheCode,
            text: None,
        }
    }

    /// The base, where it is a commit.
    fn base(&self) -> Option<(&Repository, &Commit)> {
        let (repository, _) = self.past.as_ref()?;
        Some((repository, self.stamp.commit.as_ref()?))
    }

    /// Gives the spec what is the base's to say: its gate, its policies, what may differ between both sides,
    /// and where its archive is.
    fn read_spec(
        &mut self,
        file: &Path,
        at: Option<&MemberCell>,
        spec: &mut Spec,
        context: &Context,
    ) -> Result<(), Failure> {
        let Some((repository, commit)) = self.base() else {
            return Ok(());
        };
        let Some(path) = inside(repository, file) else {
            return Ok(());
        };
        let text = repository.read(commit, &path);
        let text = text.map_err(|error| undecided(&BaseError::from(error)))?;
        let suite = at.and_then(|at| inside(repository, &at.suite));
        let cell = BaseCell::of(at, suite, (repository, commit), context)?;
        match (text, cell) {
            (None, _) | (_, BaseCell::New) => {
                // What nobody has reviewed yet decides nothing either.
                set_policies(&mut spec.gate, [Policy::Undecided; 3]);
                self.change = SpecChange::New;
            }
            // One that extends others is never equal to what it and they say.
            (Some(text), BaseCell::Alone) if text == spec.text => {}
            (Some(text), cell) => {
                let read = BaseSpec {
                    repository,
                    commit,
                    file: &path,
                    beside: &folder_of(file),
                };
                let cell = match &cell {
                    BaseCell::In(cell) => Some(cell),
                    BaseCell::Alone | BaseCell::New => None,
                };
                let old = read.parse(&text, cell, spec, context)?;
                let archive_differs = old.archive != spec.archive;
                spec.archive.clone_from(&old.archive);
                if old.workload_digest() != spec.workload_digest() {
                    let gate = &old.gate;
                    let policies = [gate.undecided, gate.no_baseline, gate.incomparable];
                    set_policies(&mut spec.gate, policies);
                    self.change = SpecChange::Workload;
                } else if !same(&old.gate, &spec.gate) || old.under_test != spec.under_test {
                    spec.gate = old.gate;
                    spec.under_test = old.under_test;
                    self.stamp.gate_differs = true;
                    self.text = Some(old.text);
                } else if archive_differs {
                    self.text = Some(old.text);
                }
            }
        }
        Ok(())
    }

    /// Opens the archive: a folder of the repository as the base has it, a branch of its own as it is now.
    fn open(&mut self, keeper: &Keeper, context: &mut Context) -> Result<(), Failure> {
        let Keeper::Folder(folder) = keeper else {
            self.kept = Kept::Apart;
            self.shelf = archive::open(keeper, context)?;
            return Ok(());
        };
        let Some((repository, commit)) = self.base() else {
            self.shelf = Shelf::folder(folder);
            return Ok(());
        };
        if let Some(prefix) = inside(repository, folder) {
            self.shelf = Shelf::Tree {
                label: format!("`{prefix}` of commit {}", commit.short()),
                prefix,
                repository: repository.clone(),
                commit: commit.clone(),
            };
        } else {
            self.shelf = Shelf::folder(folder);
            self.stamp.why +=
                ", which is for the gate alone: the baselines lie outside of its repository";
        }
        Ok(())
    }

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

    /// Says that the candidate's runs carry another spec than this one, whose gate judges them.
    pub(super) fn judges_by(&mut self, spec: &Spec) {
        self.text.get_or_insert_with(|| spec.text.clone());
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

/// The archive as a session's base has it; as it lies where that is the working tree.
pub(super) fn shelf_of(
    folder: &Path,
    base: Option<&BaseStamp>,
    keeper: &Keeper,
    context: &mut Context,
) -> Result<Shelf, Failure> {
    let Some(commit) = base.and_then(|base| base.commit.clone()) else {
        return archive::open(keeper, context);
    };
    let repository = Repository::find(folder).map_err(|error| undecided(&error.into()))?;
    let stamp = BaseStamp::new(Some(commit.clone()), "");
    let mut footing = Footing::new(stamp, Some((repository, commit)));
    footing.open(keeper, context)?;
    Ok(footing.shelf)
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

/// Gives a session's spec the gate that judged it, and what that put under test; `run` is one of its
/// candidate's.
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
        let judge = embedded_spec(&stamp, context)?;
        (spec.gate, spec.under_test) = (judge.gate, judge.under_test);
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
