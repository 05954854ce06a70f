//! Reading a spec: a file, or a folder with `spec.yaml` in it.

use std::path::Path;

use super::context::Context;
use super::failure::{Failure, FailureText};
use crate::diag::{Diagnostic, Source, Style, render};
use crate::exit::Exit;
use crate::spec::{self, Spec};

/// Reads and parses; warnings go to standard error, errors are all reported at once.
pub(super) fn load_spec(path: &Path, context: &mut Context) -> Result<Spec, Failure> {
    let (source, parsed) = read_spec(path, context)?;
    if !parsed.warnings.is_empty() {
        let text = render(&parsed.warnings, &source, style(context));
        context.note(text.trim_end());
    }
    Ok(parsed.spec)
}

/// Reads and parses, and leaves warnings to the caller.
pub(super) fn read_spec(path: &Path, context: &Context) -> Result<(Source, spec::Parsed), Failure> {
    let path = if path.is_dir() {
        path.join("spec.yaml")
    } else {
        path.to_owned()
    };
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
    let parsed = spec::parse(&source, &|name| context.variable(name))
        .map_err(|diagnostics| mistakes(&diagnostics, &source, context))?;
    Ok((source, parsed))
}

/// Parses the spec that a run file carries. Its target is not used, so a variable that is unset
/// here stands for any address.
pub(super) fn embedded_spec(text: &str, context: &Context) -> Result<Spec, Failure> {
    let source = Source {
        path: "the run's spec".to_owned(),
        text: text.to_owned(),
    };
    let placeholder = |name: &str| {
        context
            .variable(name)
            .or_else(|| Some("http://127.0.0.1".to_owned()))
    };
    spec::parse(&source, &placeholder)
        .map(|parsed| parsed.spec)
        .map_err(|diagnostics| mistakes(&diagnostics, &source, context))
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
