//! Reading a spec: a file, or a folder with `spec.yaml` in it.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::base::file_of;
use super::context::Context;
use super::failure::{Failure, FailureText};
use super::member::Member;
use crate::diag::{Diagnostic, Source, Style, render};
use crate::exit::Exit;
use crate::spec::{self, FileAsk, FileText, Merged, Reader, Spec, SuiteCell};
use crate::summary::SpecStamp;

/// Which stages with labels run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(super) struct SelectArgs {
    /// Run the stages with this label too; without it, only those without labels run
    #[arg(long, value_name = "LABEL")]
    select: Vec<String>,
}

impl SelectArgs {
    /// The spec with the stages that run.
    pub(super) fn apply(&self, spec: Spec) -> Result<Spec, Failure> {
        selected(spec, &self.select)
    }

    /// The same, where something is to be judged.
    pub(super) fn apply_gated(&self, spec: Spec) -> Result<Spec, Failure> {
        let spec = self.apply(spec)?;
        if spec.gate.cells.iter().any(|cell| !cell.informational) {
            return Ok(spec);
        }
        Err(Failure::usage(
            "every gated cell belongs to a stage with labels; name one with `--select`",
        ))
    }
}

/// The spec with the stages that run under these labels.
pub(super) fn selected(spec: Spec, labels: &[String]) -> Result<Spec, Failure> {
    spec.select(labels)
        .map_err(|error| Failure::usage(error.to_string()))
}

/// Bytes of a file at most: some ten million rows.
const MOST_BYTES: u64 = 1 << 30;

/// Reads and parses; warnings go to standard error, errors are all reported at once.
pub(super) fn load_spec(member: &Member, context: &mut Context) -> Result<Spec, Failure> {
    let read = read_spec(member, context)?;
    Ok(warned(read, context))
}

/// The same where nothing is sent to the target: a variable that is unset here stands for any address.
pub(super) fn load_spec_unasked(member: &Member, context: &mut Context) -> Result<Spec, Failure> {
    // That it can't be read is said below.
    let text = merged_text(member).unwrap_or_default();
    let read = read_spec_where(member, &|name| any_address(name, &text, context), context)?;
    Ok(warned(read, context))
}

/// A variable of the environment; unset, what this spec's text says in its place, else an address of its own.
pub(super) fn any_address(name: &str, spec: &str, context: &Context) -> Option<String> {
    let has_default = || spec.contains(&format!("${{{name}:-"));
    let address = || (!has_default()).then(|| format!("http://127.0.0.1/{name}"));
    context.variable(name).or_else(address)
}

fn warned((source, parsed): (Source, spec::Parsed), context: &mut Context) -> Spec {
    if !parsed.warnings.is_empty() {
        let text = render(&parsed.warnings, &source, style(context));
        context.note(text.trim_end());
    }
    parsed.spec
}

/// Reads and parses, and leaves warnings to the caller.
pub(super) fn read_spec(
    member: &Member,
    context: &Context,
) -> Result<(Source, spec::Parsed), Failure> {
    read_spec_where(member, &|name| context.variable(name), context)
}

/// The same with these variables in place of the environment's.
pub(super) fn read_spec_where(
    member: &Member,
    variable: &dyn Fn(&str) -> Option<String>,
    context: &Context,
) -> Result<(Source, spec::Parsed), Failure> {
    let source = spec_source(&member.path)?;
    let place = (&*folder_beside(&member.path), member.cell());
    let parsed = parse_spec_where(&source, place, variable, context)?;
    Ok((source, parsed))
}

/// The text of a spec, without what it extends.
fn spec_source(path: &Path) -> Result<Source, Failure> {
    let path = file_of(path);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::usage(format!(
            "cannot read the spec `{}`: {error}",
            path.display()
        ))
    })?;
    Ok(Source {
        path: path.display().to_string(),
        text,
    })
}

/// The folder that a spec's files lie in; empty is the current one.
fn folder_beside(path: &Path) -> PathBuf {
    let file = file_of(path);
    file.parent().unwrap_or(Path::new("")).to_owned()
}

/// A spec with what it extends, as one text.
pub(super) fn merged(member: &Member, context: &Context) -> Result<Merged, Failure> {
    let source = spec_source(&member.path)?;
    let folder = folder_beside(&member.path);
    spec::merged(&source, member.cell(), &|ask| file_beside(&folder, ask))
        .map_err(|diagnostics| mistakes(&diagnostics, &source, context))
}

/// Its text; `None` where there is none.
fn merged_text(member: &Member) -> Option<String> {
    let source = spec_source(&member.path).ok()?;
    let folder = folder_beside(&member.path);
    let merged = spec::merged(&source, member.cell(), &|ask| file_beside(&folder, ask));
    Some(merged.ok()?.text)
}

/// A file that a spec in this folder asks for.
fn file_beside(folder: &Path, ask: FileAsk<'_>) -> Result<FileText, String> {
    let path = folder.join(ask.file);
    if ask.reader == Reader::Extends {
        stays_inside(folder, &path)?;
    }
    read_file(&path).map(FileText::Whole)
}

/// Whether a file is of the same repository as a folder, or of the same tree where there is none: below the
/// current folder, or else below the folder itself.
fn stays_inside(folder: &Path, file: &Path) -> Result<(), String> {
    let whole = |path: &Path| path.canonicalize().map_err(|error| error.to_string());
    // An empty path is the current folder.
    let folder = whole(&Path::new(".").join(folder))?;
    let repository = folder.ancestors().find(|path| path.join(".git").exists());
    let (what, top) = if let Some(top) = repository {
        ("of the repository", top.to_owned())
    } else {
        let here = whole(Path::new("."))?;
        let is_below = folder.starts_with(&here);
        ("of the folder", if is_below { here } else { folder })
    };
    if whole(file)?.starts_with(&top) {
        return Ok(());
    }
    Err(format!(
        "it lies outside {what} `{}`, so others would measure something else",
        top.display()
    ))
}

/// Parses a spec whose files lie in this folder.
pub(super) fn parse_spec(
    source: &Source,
    folder: &Path,
    context: &Context,
) -> Result<spec::Parsed, Failure> {
    let variable = |name: &str| context.variable(name);
    parse_spec_where(source, (folder, None), &variable, context)
}

fn parse_spec_where(
    source: &Source,
    (folder, cell): (&Path, Option<&SuiteCell>),
    variable: &dyn Fn(&str) -> Option<String>,
    context: &Context,
) -> Result<spec::Parsed, Failure> {
    let mut parsed = spec::parse_in(source, cell, variable, &|ask| file_beside(folder, ask))
        .map_err(|diagnostics| mistakes(&diagnostics, source, context))?;
    parsed.spec = parsed.spec.in_folder(folder);
    Ok(parsed)
}

/// The text of a file, or why there is none.
pub(super) fn read_file(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
    match read {
        Ok(bytes) if bytes as u64 > MOST_BYTES => Err("it is larger than 1 GiB".to_owned()),
        Ok(_) => Ok(text),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses the spec that a run file carries. Its target is not used, so a variable that is unset
/// here stands for any address, another for each name; of its files it has what the run has kept.
pub(super) fn embedded_spec(stamp: &SpecStamp, context: &Context) -> Result<Spec, Failure> {
    let source = Source {
        path: "the run's spec".to_owned(),
        text: stamp.text.clone(),
    };
    let kept = |ask: FileAsk<'_>| {
        let kept = match ask.reader {
            Reader::Stage(stage) => {
                let kept = stamp.replays.iter().find(|kept| kept.stage == stage);
                kept.cloned().map(FileText::Replay)
            }
            Reader::Class(class) => {
                let kept = stamp.rows.iter().find(|kept| kept.class == class);
                kept.cloned().map(FileText::Rows)
            }
            Reader::Schema => {
                let kept = stamp.schemas.iter().find(|kept| kept.file == ask.file);
                kept.cloned().map(FileText::Schema)
            }
            // Its text is what it and they said together.
            Reader::Extends => None,
        };
        kept.ok_or_else(|| "the run has kept nothing of it".to_owned())
    };
    let placeholder = |name: &str| any_address(name, &stamp.text, context);
    let parsed = spec::parse(&source, &placeholder, &kept)
        .map_err(|diagnostics| mistakes(&diagnostics, &source, context))?;
    selected(parsed.spec, &stamp.select)
}

fn mistakes(diagnostics: &[Diagnostic], source: &Source, context: &Context) -> Failure {
    let text = render(diagnostics, source, style(context));
    let n = diagnostics.len();
    let plural = if n == 1 { "" } else { "s" };
    let text = format!("{text}\n{n} mistake{plural} in `{}`\n", source.path);
    Failure {
        exit: Exit::Usage,
        text: FailureText::Diagnostics(text),
    }
}

pub(super) fn style(context: &Context) -> Style {
    if context.colour {
        Style::Coloured
    } else {
        Style::Plain
    }
}
