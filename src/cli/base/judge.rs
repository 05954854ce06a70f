//! The spec of the base, read for its gate.

use std::path::Path;

use crate::cli::context::Context;
use crate::cli::failure::{Failure, FailureText};
use crate::cli::source::{any_address, read_file, selected, style};
use crate::diag::{Source, render};
use crate::exit::Exit;
use crate::git::Repository;
use crate::ident::Commit;
use crate::spec::{self, FileText, Gate, Policy, Spec};

/// A spec of the base.
pub(super) struct BaseSpec<'a> {
    pub(super) repository: &'a Repository,
    pub(super) commit: &'a Commit,
    pub(super) file: &'a str,
    /// The folder of the spec that is measured.
    pub(super) beside: &'a Path,
}

impl BaseSpec<'_> {
    pub(super) fn parse(
        &self,
        text: &str,
        spec: &Spec,
        context: &Context,
    ) -> Result<Spec, Failure> {
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
    let variable = |name: &str| any_address(name, &source.text, context);
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
