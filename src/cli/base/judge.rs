//! The spec of the base, read for its gate.

use std::path::Path;

use crate::cli::context::Context;
use crate::cli::failure::{Failure, FailureText};
use crate::cli::member::{MemberCell, read_suite};
use crate::cli::source::{any_address, read_file, selected, style};
use crate::diag::{Source, render};
use crate::exit::Exit;
use crate::git::Repository;
use crate::ident::Commit;
use crate::spec::{self, FileAsk, FileText, Files, Gate, Policy, Reader, Spec, SuiteCell};

/// A spec of the base.
#[derive(Clone, Copy)]
pub(super) struct BaseSpec<'a> {
    pub(super) repository: &'a Repository,
    pub(super) commit: &'a Commit,
    pub(super) file: &'a str,
    /// The folder of the spec that is measured.
    pub(super) beside: &'a Path,
}

/// A cell of the base's suite.
pub(super) enum BaseCell {
    /// None is asked for.
    Alone,
    /// What the base's suite has there.
    In(SuiteCell),
    /// It has none.
    New,
}

impl BaseCell {
    /// The base's own text of a cell, found by its values: what the candidate's suite says there could be that
    /// of a pull request.
    pub(super) fn of(
        at: Option<&MemberCell>,
        path: Option<String>,
        (repository, commit): (&Repository, &Commit),
        context: &Context,
    ) -> Result<Self, Failure> {
        let Some(at) = at else {
            return Ok(Self::Alone);
        };
        let Some(path) = path else {
            return Ok(Self::New);
        };
        let text = repository.read(commit, &path);
        let text = text.map_err(|error| Failure::new(Exit::Undecided, error.to_string()))?;
        let Some(text) = text else {
            return Ok(Self::New);
        };
        let source = Source {
            path: format!("{}:{path}", commit.short()),
            text,
        };
        let suite = read_suite(&source, Exit::Undecided, context)?;
        let members = suite.members(std::slice::from_ref(&at.spec)).into_iter();
        let mut cells = members.filter_map(|member| member.cell);
        let same = cells.find(|cell| cell.values == at.cell.values);
        Ok(same.map_or(Self::New, Self::In))
    }
}

impl BaseSpec<'_> {
    pub(super) fn parse(
        &self,
        text: &str,
        cell: Option<&SuiteCell>,
        spec: &Spec,
        context: &Context,
    ) -> Result<Spec, Failure> {
        let folder = self.file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let file = |ask: FileAsk<'_>| {
            let path = inside(folder, ask.file);
            if ask.reader == Reader::Extends {
                // Of the working tree a pull request could say there what passes.
                return self.extended(path.as_deref());
            }
            // A large trace may be kept elsewhere than in git.
            let kept = path.and_then(|path| self.repository.read(self.commit, &path).ok()?);
            kept.map_or_else(|| read_file(&self.beside.join(ask.file)), Ok)
        };
        let source = Source {
            path: format!("{}:{}", self.commit.short(), self.file),
            text: text.to_owned(),
        };
        gate_of(&source, cell, (spec, context), &|ask| {
            file(ask).map(FileText::Whole)
        })
    }

    /// The text of a file that the base's spec extends, as the base has it.
    fn extended(&self, path: Option<&str>) -> Result<String, String> {
        let path = path.ok_or("it lies outside of the repository")?;
        let read = self.repository.read(self.commit, path);
        read.map_err(|error| error.to_string())?
            .ok_or_else(|| format!("commit {} has no such file", self.commit.short()))
    }
}

/// A path from a folder of the repository, from its top; `None` where it leads out of there.
fn inside(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Parses a spec for its gate: nothing is sent to its target, so a variable that is unset here stands for
/// any address.
fn gate_of(
    source: &Source,
    cell: Option<&SuiteCell>,
    (like, context): (&Spec, &Context),
    files: Files<'_>,
) -> Result<Spec, Failure> {
    // That it can't be put together is said below.
    let text =
        spec::merged(source, cell, files).map_or_else(|_| String::new(), |merged| merged.text);
    let variable = |name: &str| any_address(name, &text, context);
    let parsed = spec::parse_in(source, cell, &variable, files).map_err(|mistakes| Failure {
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

pub(super) const fn set_policies(gate: &mut Gate, policies: [Policy; 3]) {
    [gate.undecided, gate.no_baseline, gate.incomparable] = policies;
}

/// Whether two gates say the same, wherever it stands in their texts.
pub(super) fn same(one: &Gate, other: &Gate) -> bool {
    let bare = |gate: &Gate| {
        let mut gate = gate.clone();
        for cell in &mut gate.cells {
            cell.place = None;
        }
        gate
    };
    bare(one) == bare(other)
}
