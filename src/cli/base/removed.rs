//! Members of a suite that the base has and the candidate has not: a pull request must not get rid of a
//! regression by getting rid of who would see it.

use std::path::Path;

use super::{BaseArgs, inside, undecided};
use crate::baseline::BaseError;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::member::{Group, Member, Root, is_spec_name, members_in, read_suite};
use crate::diag::Source;
use crate::exit::Exit;
use crate::git::{GitError, Repository};
use crate::ident::Commit;

/// A member that was taken away.
pub(in crate::cli) struct Removed {
    pub(in crate::cli) member: Member,
    /// The commit that has it.
    pub(in crate::cli) commit: Commit,
}

impl BaseArgs {
    /// Those of a group's folders; none where the working tree is the base.
    pub(in crate::cli) fn removed(
        &self,
        group: &Group,
        context: &Context,
    ) -> Result<Vec<Removed>, Failure> {
        let mut removed = Vec::new();
        for root in &group.roots {
            let footing = self.look(&root.folder, context)?;
            let Some((repository, commit)) = footing.base() else {
                continue;
            };
            let before = members_at(root, (repository, commit), context)?.into_iter();
            let gone = before.filter(|member| !group.all.contains(&member.label));
            removed.extend(gone.map(|member| Removed {
                member,
                commit: commit.clone(),
            }));
        }
        Ok(removed)
    }
}

/// The members of a suite at a commit.
fn members_at(
    root: &Root,
    (repository, commit): (&Repository, &Commit),
    context: &Context,
) -> Result<Vec<Member>, Failure> {
    let wrong = |error: GitError| undecided(&BaseError::from(error));
    let (Some(folder), Some(file)) = (
        inside(repository, &root.folder),
        inside(repository, &root.file),
    ) else {
        return Ok(Vec::new());
    };
    let suite = match repository.read(commit, &file).map_err(wrong)? {
        Some(text) => {
            let source = Source {
                path: format!("{}:{file}", commit.short()),
                text,
            };
            Some(read_suite(&source, Exit::Undecided, context)?)
        }
        None => None,
    };
    let listed = suite.as_ref().and_then(|suite| suite.specs.clone());
    let specs = match listed {
        Some(specs) => specs,
        None => specs_at(repository, commit, &folder).map_err(wrong)?,
    };
    let suite = suite.as_ref().map(|suite| (&*root.file, suite));
    Ok(members_in(&root.folder, suite, &specs))
}

/// The specs in a folder at a commit.
fn specs_at(
    repository: &Repository,
    commit: &Commit,
    folder: &str,
) -> Result<Vec<String>, GitError> {
    let mut specs = Vec::new();
    for entry in repository.list(commit, folder)? {
        let is_spec = if entry.is_folder {
            let file = Path::new(folder).join(&entry.name).join("spec.yaml");
            let text = file.to_str().map(|file| repository.read(commit, file));
            !entry.name.starts_with(['_', '.']) && text.transpose()?.flatten().is_some()
        } else {
            is_spec_name(&entry.name)
        };
        if is_spec {
            specs.push(entry.name);
        }
    }
    Ok(specs)
}
