//! Reading a spec: a file, or a folder with `spec.yaml` in it.

use std::io::Read as _;
use std::path::Path;

use clap::Args;

use super::base::file_of;
use super::context::Context;
use super::failure::{Failure, FailureText};
use crate::diag::{Diagnostic, Source, Style, render};
use crate::exit::Exit;
use crate::spec::{self, FileAsk, FileText, Reader, Spec};
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
pub(super) fn load_spec(path: &Path, context: &mut Context) -> Result<Spec, Failure> {
    let read = read_spec(path, context)?;
    Ok(warned(read, context))
}

/// The same where nothing is sent to the target: a variable that is unset here stands for any address.
pub(super) fn load_spec_unasked(path: &Path, context: &mut Context) -> Result<Spec, Failure> {
    // That it can't be read is said below.
    let text = std::fs::read_to_string(file_of(path)).unwrap_or_default();
    let read = read_spec_where(path, &|name| any_address(name, &text, context), context)?;
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
pub(super) fn read_spec(path: &Path, context: &Context) -> Result<(Source, spec::Parsed), Failure> {
    read_spec_where(path, &|name| context.variable(name), context)
}

/// The same with these variables in place of the environment's.
pub(super) fn read_spec_where(
    path: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
    context: &Context,
) -> Result<(Source, spec::Parsed), Failure> {
    let path = file_of(path);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::usage(format!(
            "cannot read the spec `{}`: {error}",
            path.display()
        ))
    })?;
    let source = Source {
        path: path.display().to_string(),
        text,
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let parsed = parse_spec_where(&source, folder, variable, context)?;
    Ok((source, parsed))
}

/// Parses a spec whose files lie in this folder.
pub(super) fn parse_spec(
    source: &Source,
    folder: &Path,
    context: &Context,
) -> Result<spec::Parsed, Failure> {
    parse_spec_where(source, folder, &|name| context.variable(name), context)
}

fn parse_spec_where(
    source: &Source,
    folder: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
    context: &Context,
) -> Result<spec::Parsed, Failure> {
    let file = |ask: FileAsk<'_>| read_file(&folder.join(ask.file)).map(FileText::Whole);
    let mut parsed = spec::parse(source, variable, &file)
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
