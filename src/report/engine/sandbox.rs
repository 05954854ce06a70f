//! A template that we did not write: bounded in time, memory, depth and output, and blind to everything but
//! its view and the files that it is handed.

use std::ops::Range;
use std::sync::Arc;

use minijinja::value::{Serde, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, UndefinedBehavior, Value};
use serde::Serialize;

use super::{CUT, LONG, Place, no_list, text_of, unprintable, write};
use crate::lang::Lang;
use crate::report::escape;
use crate::report::span::Text;

/// Instructions, and 64 bytes each of what a template makes: some 20 times what our own report of 600 cells
/// takes, under a second, and 128 MB at most.
const FUEL: u64 = 2_000_000;
/// Levels of nesting; an include counts ten, a macro four.
const DEPTH: usize = 120;
/// Bytes of what a template makes.
const OUTPUT: usize = 1 << 20;

/// What a template makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `.md`, `.md.j2`
    Markdown,
    /// `.html`, `.html.j2`
    Html,
    /// `.txt`, `.txt.j2`
    Plain,
}

impl Kind {
    /// By the extension in front of `.j2`; `None` of any other.
    pub fn of(name: &str) -> Option<Self> {
        match name.strip_suffix(".j2").unwrap_or(name).rsplit_once('.')?.1 {
            "md" => Some(Self::Markdown),
            "html" => Some(Self::Html),
            "txt" => Some(Self::Plain),
            _ => None,
        }
    }

    fn text(self, text: &Text, lang: Lang) -> String {
        match self {
            Self::Markdown => Place::Markdown.text(text, lang),
            Self::Html => Place::Html.text(text, lang),
            Self::Plain => text.plain_in(lang),
        }
    }

    fn bare(self, text: &str) -> String {
        match self {
            Self::Markdown => Place::Markdown.bare(text),
            Self::Html => Place::Html.bare(text),
            Self::Plain => escape::plain(&escape::cut(text, LONG)),
        }
    }
}

/// Finds the text of a file that a template includes: none where there is none, or why it may not be read.
pub type Finder = Arc<dyn Fn(&str) -> Result<Option<String>, String> + Send + Sync>;

/// A template, parsed.
#[derive(Debug)]
pub(in crate::report) struct Sandbox {
    environment: Environment<'static>,
    name: String,
}

/// Why a template fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::report) struct Fault {
    /// The file.
    pub(in crate::report) file: Option<String>,
    /// The line, from 1.
    pub(in crate::report) line: Option<usize>,
    /// What was being parsed or rendered.
    pub(in crate::report) part: Option<String>,
    /// What is wrong with it.
    pub(in crate::report) what: String,
    /// Whether something in it has no value.
    pub(in crate::report) is_undefined: bool,
}

impl Sandbox {
    /// Parses a template; `finder` is asked for what it includes.
    pub(in crate::report) fn new(
        name: &str,
        source: String,
        (kind, lang): (Kind, Lang),
        finder: Finder,
    ) -> Result<Self, Fault> {
        let environment = environment(kind, lang, finder).and_then(|mut environment| {
            environment.add_template_owned(name.to_owned(), source)?;
            Ok(environment)
        });
        Ok(Self {
            environment: environment.map_err(|error| Fault::of(&error))?,
            name: name.to_owned(),
        })
    }

    /// Names at the template's top that neither it nor the engine declares.
    pub(in crate::report) fn asked_for(&self) -> Vec<String> {
        let Ok(template) = self.environment.get_template(&self.name) else {
            return Vec::new();
        };
        let known: Vec<&str> = self.environment.globals().map(|(name, _)| name).collect();
        let implied = ["self", "super", "loop", "caller"];
        let mut names: Vec<String> = template.undeclared_variables(false).into_iter().collect();
        names.retain(|name| !known.contains(&name.as_str()) && !implied.contains(&name.as_str()));
        names.sort();
        names
    }

    /// Renders it.
    pub(in crate::report) fn render(&self, view: &impl Serialize) -> Result<String, Fault> {
        let template = self.environment.get_template(&self.name);
        let text = template.and_then(|template| template.render(Serde(view)));
        let text = text.map_err(|error| Fault::of(&error))?;
        if text.len() > OUTPUT {
            return Err(Fault {
                file: Some(self.name.clone()),
                line: None,
                part: None,
                what: format!("it makes {} bytes, and {OUTPUT} are the most", text.len()),
                is_undefined: false,
            });
        }
        Ok(text)
    }
}

fn environment(kind: Kind, lang: Lang, finder: Finder) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let mut syntax = environment.syntax().to_builder();
    environment.set_syntax(syntax.trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEPTH);
    // For the place of an error in the text.
    environment.set_debug(true);
    // Nothing in a template may declare a string harmless, or escape it for another place.
    for filter in ["safe", "escape", "e", "tojson", "format"] {
        environment.remove_filter(filter);
    }
    environment.remove_global("debug");
    environment.add_filter("plain", move |text: &Value| {
        let text = text_of(text).ok_or_else(no_list)?;
        Ok::<_, Error>(Value::from(text.plain_in(lang)))
    });
    // What a block of the template asks for instead changes nothing: the formatter knows one place.
    environment.set_auto_escape_callback(|_| AutoEscape::Custom("infergate".into()));
    environment.set_formatter(move |out, _, value| print(out, value, kind, lang));
    environment.set_loader(move |name| {
        // Another kind than that of a file that is not there, whose reason would be lost.
        finder(name).map_err(|why| Error::new(ErrorKind::InvalidOperation, why))
    });
    Ok(environment)
}

fn print(out: &mut Output<'_>, value: &Value, kind: Kind, lang: Lang) -> Result<(), Error> {
    match value.kind() {
        ValueKind::String if value.is_safe() => write(out, value.as_str().unwrap_or_default()),
        ValueKind::String => write(out, &kind.bare(value.as_str().unwrap_or_default())),
        ValueKind::Number => write(out, &value.to_string()),
        ValueKind::Seq => {
            let text = text_of(value).ok_or_else(no_list)?;
            write(out, &kind.text(&text, lang))
        }
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        kind => Err(unprintable(kind)),
    }
}

impl Fault {
    /// Of the innermost error: that of the file that was included.
    fn of(error: &Error) -> Self {
        let mut inner = error;
        while let Some(source) = std::error::Error::source(inner)
            && let Some(error) = source.downcast_ref::<Error>()
        {
            inner = error;
        }
        let kind = inner.kind();
        let what = match (kind, inner.detail()) {
            (ErrorKind::OutOfFuel, _) => {
                "it takes too long: a template may loop over a report, not on and on".to_owned()
            }
            (kind, None) => kind.to_string(),
            (
                ErrorKind::TemplateNotFound
                | ErrorKind::InvalidOperation
                | ErrorKind::UndefinedError,
                Some(detail),
            ) => detail.to_owned(),
            (kind, Some(detail)) => format!("{kind}: {detail}"),
        };
        let place = |error: &Error| {
            let part = error.range().zip(error.template_source());
            part.and_then(|(range, source): (Range<usize>, &str)| source.get(range))
                .map(|part| escape::cut(&escape::plain(part.trim()), CUT))
                .filter(|part| !part.is_empty())
        };
        // What the loader says has no place of its own.
        let placed = if inner.line().is_some() { inner } else { error };
        Self {
            file: placed.name().map(str::to_owned),
            line: placed.line(),
            part: place(placed),
            what,
            is_undefined: kind == ErrorKind::UndefinedError,
        }
    }
}
