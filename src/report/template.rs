//! Templates of users: tried before anything is measured, and never in the way of a verdict.

use std::collections::BTreeSet;
use std::fmt;

use crate::diag::suggest;
use crate::lang::{Lang, say};
use crate::unit::scale;

use super::comment::comment;
use super::engine::sandbox::{Fault, Sandbox};
use super::json::ReportFile;
use super::span::Text;
use super::view::View;
use super::{build, headline, markdown, suite};

pub use super::engine::sandbox::{Finder, Kind};

/// A template of a user.
#[derive(Debug)]
pub struct Template {
    sandbox: Sandbox,
    name: String,
    kind: Kind,
    lang: Lang,
}

/// Why a template can't be used, or failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    fault: Fault,
    meant: Option<String>,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault {
            file,
            line,
            part,
            what,
            ..
        } = &self.fault;
        if let Some(file) = file {
            write!(f, "`{file}`")?;
            if let Some(line) = line {
                write!(f, ", line {line}")?;
            }
            if let Some(part) = part.as_ref().filter(|part| !what.contains(*part)) {
                write!(f, ", at `{part}`")?;
            }
            write!(f, ": ")?;
        }
        f.write_str(what)?;
        match &self.meant {
            Some(meant) => write!(f, "; did you mean `{meant}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for TemplateError {}

impl Template {
    /// Parses a template and tries it on an example of each verdict; `finder` is asked for what it includes.
    ///
    /// # Errors
    /// Where it is no template, asks for what no view has, or takes too much. What it asks of values that only
    /// a real report has is not known here.
    pub fn parse(
        name: &str,
        source: String,
        (kind, lang): (Kind, Lang),
        finder: Finder,
    ) -> Result<Self, TemplateError> {
        let sandbox = Sandbox::new(name, source, (kind, lang), finder).map_err(explained)?;
        let top = top_fields();
        if let Some(unknown) = sandbox
            .asked_for()
            .into_iter()
            .find(|asked| !top.contains(asked))
        {
            return Err(TemplateError {
                meant: suggest(&unknown, top.iter().map(String::as_str)).map(str::to_owned),
                fault: Fault {
                    file: Some(name.to_owned()),
                    line: None,
                    part: None,
                    what: format!(
                        "`{unknown}` is nothing that a view has at its top (`infergate schema view` lists its fields)"
                    ),
                    is_undefined: true,
                },
            });
        }
        for view in View::examples(lang) {
            match sandbox.render(&view) {
                Ok(_) => {}
                // It may look for a cell that the example does not have.
                Err(fault) if fault.is_undefined && unknown_field(&fault).is_none() => {}
                Err(fault) => return Err(explained(fault)),
            }
        }
        Ok(Self {
            sandbox,
            name: name.to_owned(),
            kind,
            lang,
        })
    }

    /// What it makes.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// What it makes of reports, behind the verdict where that is Markdown or plain text.
    ///
    /// # Errors
    /// Where it fails.
    pub fn render(&self, reports: &[ReportFile]) -> Result<String, TemplateError> {
        let text = self
            .sandbox
            .render(&View::of(reports, self.lang))
            .map_err(explained)?;
        let text = text.trim_end();
        Ok(match self.kind {
            Kind::Markdown => format!(
                "{}{text}\n",
                markdown::first_lines(&first_lines(reports), self.lang)
            ),
            Kind::Plain => {
                let lines = first_lines(reports);
                let lines = lines.iter().map(|line| line.plain_in(self.lang) + "\n");
                format!("{}\n{text}\n", lines.collect::<String>())
            }
            Kind::Html => format!("{text}\n"),
        })
    }

    /// The same in so many UTF-16 units; our own report, and why, where it fails or does not fit.
    pub fn page(&self, reports: &[ReportFile], limit: usize) -> String {
        let name = Text::value(&self.name);
        let why = match self.render(reports) {
            Ok(text) => match units(&text) {
                fitting if fitting <= limit => return text,
                long => {
                    let counts = [long, limit].map(|n| Text::just(scale::count(n as u64)));
                    let [long, limit] = counts;
                    Text::say(say::TEMPLATE_UNFIT, [name, long, limit])
                }
            },
            Err(error) => {
                let why = Text::default().prose(&error.to_string());
                Text::say(say::TEMPLATE_FAILED, [name, why])
            }
        };
        let note = format!("\n{}\n", markdown::sentence(&why, self.lang));
        match limit.checked_sub(units(&note)) {
            Some(rest) if rest > limit / 2 => {
                comment(reports, rest, self.lang).text.trim_end().to_owned() + "\n" + &note
            }
            _ => comment(reports, limit, self.lang).text,
        }
    }
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// What no template can leave out: the verdict, that figures can't be trusted, what a policy made of it.
fn first_lines(reports: &[ReportFile]) -> Vec<Text> {
    let mut lines = match reports {
        [report] => vec![report.model().headline],
        reports => vec![suite::build(reports).headline],
    };
    for report in reports {
        let said = [
            build::untrusted(&report.facts),
            headline::policy(report.exit, report.policy.as_ref()),
        ];
        for text in said.into_iter().flatten() {
            let text = match reports {
                [_] => text,
                _ => Text::clauses([Text::value(&report.spec.name), text]),
            };
            lines.push(text);
        }
    }
    lines
}

/// The same with what was probably meant.
fn explained(fault: Fault) -> TemplateError {
    let unknown = unknown_field(&fault);
    let fields = fields();
    let meant = unknown.and_then(|unknown| {
        suggest(&unknown, fields.iter().map(String::as_str)).map(str::to_owned)
    });
    TemplateError { fault, meant }
}

/// A field that is asked for and that nothing in a view has.
fn unknown_field(fault: &Fault) -> Option<String> {
    if !fault.is_undefined {
        return None;
    }
    let fields = fields();
    // What stands in quotes names no field.
    let part = fault.part.as_deref()?;
    let code: String = part.split(['\'', '"']).step_by(2).collect();
    let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let asked = code.split('.').skip(1);
    let mut asked = asked.filter_map(|rest| rest.split(ends).next());
    let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic());
    asked
        .find(|word| is_name(word) && !fields.contains(*word))
        .map(str::to_owned)
}

/// The fields at a view's top.
fn top_fields() -> BTreeSet<String> {
    let schema = schemars::schema_for!(View);
    keys(schema.get("properties"))
}

/// All fields of a view and of what is in it, but for the inside of texts.
pub(super) fn fields() -> BTreeSet<String> {
    let schema = schemars::schema_for!(View);
    let mut all = keys(schema.get("properties"));
    let inner = schema.get("$defs").and_then(serde_json::Value::as_object);
    for (name, inner) in inner.into_iter().flatten() {
        if !["Text", "Span", "Phrased"].contains(&name.as_str()) {
            all.extend(keys(inner.get("properties")));
        }
    }
    all
}

fn keys(properties: Option<&serde_json::Value>) -> BTreeSet<String> {
    let properties = properties.and_then(serde_json::Value::as_object);
    properties
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default()
}
