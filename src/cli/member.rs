//! What a command is asked to judge: one spec, or several as a suite.

use std::path::{Path, PathBuf};

use clap::Args;

use super::base::{file_of, folder_of};
use super::context::Context;
use super::failure::{Failure, FailureText};
use super::source::{read_file, style};
use crate::diag::{Source, render};
use crate::exit::Exit;
use crate::spec::{MOST_MEMBERS, Suite, SuiteCell};
use crate::unit::Nanos;

/// The file that makes a folder a suite.
const SUITE: &str = "suite.yaml";

/// Which members of a suite count.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct OnlyArgs {
    /// Of a suite these members alone: by name, with `*` for anything, or by a value of its matrix as in
    /// `engine=vllm`; several are alternatives
    #[arg(long, value_name = "MEMBER")]
    only: Vec<String>,
}

/// One spec that is judged.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// The spec, or a folder with `spec.yaml` in it.
    pub(super) path: PathBuf,
    /// What it is called before it was read.
    pub(super) label: String,
    /// Where it is of a matrix.
    pub(super) cell: Option<MemberCell>,
}

/// A spec's cell in a suite's matrix.
#[derive(Debug, Clone)]
pub(super) struct MemberCell {
    /// The suite's file.
    pub(super) suite: PathBuf,
    /// The spec, as that file or its folder names it.
    pub(super) spec: String,
    pub(super) cell: SuiteCell,
}

impl Member {
    /// A spec as it is.
    pub(super) fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            label: label_of(path),
            cell: None,
        }
    }

    /// Its cell.
    pub(super) fn cell(&self) -> Option<&SuiteCell> {
        self.cell.as_ref().map(|at| &at.cell)
    }

    fn is(&self, wanted: &str) -> bool {
        let values = self.cell().into_iter().flat_map(|cell| &cell.values);
        match wanted.split_once('=') {
            Some((axis, value)) => {
                let mut values = values;
                values.any(|own| own.axis == axis && matches(value, &own.value))
            }
            None => matches(wanted, &self.label),
        }
    }
}

/// A folder whose specs are judged as one.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) folder: PathBuf,
    /// Where its suite is, or would be.
    pub(super) file: PathBuf,
}

/// Several specs that are judged as one.
#[derive(Debug)]
pub(super) struct Group {
    /// What they are called together.
    pub(super) name: String,
    /// Those that are judged.
    pub(super) members: Vec<Member>,
    /// What all are called, those too that were not asked for.
    pub(super) all: Vec<String>,
    /// The folders that they are from.
    pub(super) roots: Vec<Root>,
    /// What they may take together, by the clock.
    pub(super) time: Option<Nanos>,
}

/// What is judged.
#[derive(Debug)]
pub(super) enum Asked {
    One(Member),
    Several(Group),
}

impl OnlyArgs {
    /// What these paths stand for: each a spec, a folder with one, a suite, or a folder of specs.
    pub(super) fn members(&self, paths: &[PathBuf], context: &Context) -> Result<Asked, Failure> {
        let several = paths.len() > 1 || !self.only.is_empty();
        let mut members = Vec::new();
        let mut roots = Vec::new();
        let mut time: Option<Nanos> = None;
        for path in paths {
            match found(path, context)? {
                Found::Spec if !several => return Ok(Asked::One(Member::of(path))),
                Found::Spec => members.push(Member::of(path)),
                Found::Suite(of, limit) => {
                    members.extend(of);
                    roots.push(Root::of(path));
                    time = [time, limit].into_iter().flatten().reduce(|a, b| a + b);
                }
            }
        }
        if members.len() > MOST_MEMBERS {
            return Err(Failure::usage(format!(
                "a suite has {MOST_MEMBERS} members at most, and these are {}; leave some out by `exclude`, or \
                 name some by `--only`",
                members.len()
            )));
        }
        let all: Vec<String> = members.iter().map(|member| member.label.clone()).collect();
        if let Some(none) = self
            .only
            .iter()
            .find(|only| !members.iter().any(|one| one.is(only)))
        {
            return Err(Failure::usage(format!(
                "no member is `{none}`; there are `{}`",
                all.join("`, `")
            )));
        }
        if !self.only.is_empty() {
            members.retain(|member| self.keeps(member));
        }
        let name = match paths {
            [path] => label_of(path),
            _ => "all".to_owned(),
        };
        Ok(Asked::Several(Group {
            name,
            members,
            all,
            roots,
            time,
        }))
    }

    /// Whether a member was asked for.
    pub(super) fn keeps(&self, member: &Member) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| member.is(only))
    }
}

impl Root {
    fn of(path: &Path) -> Self {
        if path.is_dir() {
            return Self {
                folder: path.to_owned(),
                file: path.join(SUITE),
            };
        }
        Self {
            folder: folder_of(path),
            file: path.to_owned(),
        }
    }
}

enum Found {
    Spec,
    Suite(Vec<Member>, Option<Nanos>),
}

fn found(path: &Path, context: &Context) -> Result<Found, Failure> {
    if path.is_dir() {
        let file = path.join(SUITE);
        if file.is_file() {
            return suite(&file, context);
        }
        if file_of(path).is_file() {
            return Ok(Found::Spec);
        }
        let specs = specs_in(path)?;
        let members = specs.iter().map(|spec| Member::of(&path.join(spec)));
        return Ok(Found::Suite(members.collect(), None));
    }
    let is_suite = path.file_name().is_some_and(|name| name == SUITE)
        || read_file(path).is_ok_and(|text| {
            text.lines()
                .any(|line| line.starts_with("infergate-suite:"))
        });
    if is_suite {
        suite(path, context)
    } else {
        Ok(Found::Spec)
    }
}

/// The members of a suite's file.
fn suite(file: &Path, context: &Context) -> Result<Found, Failure> {
    let text = read_file(file).map_err(|why| {
        Failure::usage(format!("cannot read the suite `{}`: {why}", file.display()))
    })?;
    let source = Source {
        path: file.display().to_string(),
        text,
    };
    let suite = read_suite(&source, Exit::Usage, context)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let specs = match &suite.specs {
        Some(specs) => specs.clone(),
        None => specs_in(folder)?,
    };
    let members = members_in(folder, Some((file, &suite)), &specs);
    if members.is_empty() {
        return Err(Failure::usage(format!(
            "the suite `{}` has no member: all of its cells are excluded",
            file.display()
        )));
    }
    Ok(Found::Suite(members, suite.time))
}

/// A suite of a text; one with mistakes ends the command so.
pub(super) fn read_suite(source: &Source, exit: Exit, context: &Context) -> Result<Suite, Failure> {
    Suite::parse(source).map_err(|mistakes| Failure {
        exit,
        text: FailureText::Diagnostics(format!(
            "{}\nthe suite `{}` can't be read, so none of its members was judged\n",
            render(&mistakes, source, style(context)),
            source.path
        )),
    })
}

/// The members of a folder with these specs, once in each cell of its suite where it has one.
pub(super) fn members_in(
    folder: &Path,
    suite: Option<(&Path, &Suite)>,
    specs: &[String],
) -> Vec<Member> {
    let Some((file, suite)) = suite else {
        let each = specs.iter();
        return each.map(|spec| Member::of(&folder.join(spec))).collect();
    };
    let each = suite.members(specs).into_iter().map(|member| {
        let path = folder.join(&member.spec);
        let label = label_of(&path);
        Member {
            label: match &member.cell {
                Some(cell) => format!("{label}-{}", cell.label()),
                None => label,
            },
            cell: member.cell.map(|cell| MemberCell {
                suite: file.to_owned(),
                spec: member.spec,
                cell,
            }),
            path,
        }
    });
    each.collect()
}

/// Whether a file of this name is a spec of its folder.
pub(super) fn is_spec_name(name: &str) -> bool {
    let is_yaml = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    is_yaml && name != SUITE && !name.starts_with(['_', '.'])
}

/// The specs of a folder: each YAML file in it, but for what begins with `_` or `.` and is there to be
/// extended, and each folder with `spec.yaml` in it.
fn specs_in(folder: &Path) -> Result<Vec<String>, Failure> {
    let unread = |error: std::io::Error| {
        let shown = Path::new(".").join(folder);
        Failure::usage(format!(
            "cannot look for specs in `{}`: {error}",
            shown.display()
        ))
    };
    let mut specs = Vec::new();
    for entry in std::fs::read_dir(Path::new(".").join(folder)).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        let has_spec = !name.starts_with(['_', '.']) && path.join("spec.yaml").is_file();
        if has_spec || (path.is_file() && is_spec_name(name)) {
            specs.push(name.to_owned());
        }
    }
    specs.sort();
    if specs.is_empty() {
        return Err(Failure::usage(format!(
            "there is no spec in `{}`: a folder stands for `spec.yaml` in it, or for all of its YAML files whose \
             names do not begin with `_`; write a first spec with `infergate init`",
            folder.display()
        )));
    }
    Ok(specs)
}

/// A file's name without its end, `spec.yaml` by its folder.
fn label_of(path: &Path) -> String {
    let named = |path: &Path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        stem.map(str::to_owned)
    };
    let is_folder = path.is_dir();
    let own = if is_folder {
        path.file_name()
            .and_then(|name| name.to_str())
            .map(str::to_owned)
    } else {
        named(path)
    };
    let folder = || {
        let whole = std::path::absolute(path).ok()?;
        let folder = if is_folder { &*whole } else { whole.parent()? };
        folder.file_name()?.to_str().map(str::to_owned)
    };
    match own {
        Some(own) if !matches!(&*own, "spec" | "suite") && own != "." => own,
        _ => folder().unwrap_or_else(|| "suite".to_owned()),
    }
}

/// Whether a text is what a pattern says, in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.any(|at| matches(rest, &text[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, wanted) in [
            ("chat", "chat", true),
            ("chat", "chat-vllm", false),
            ("chat-*", "chat-vllm-fp8", true),
            ("*-fp8", "chat-vllm-fp8", true),
            ("*vllm*", "chat-vllm-fp8", true),
            ("*", "", true),
            ("a*b*c", "abab", false),
        ] {
            assert_eq!(matches(pattern, text), wanted, "{pattern} and {text}");
        }
    }
}
