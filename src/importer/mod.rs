//! Files of other load tools, as runs.
//!
//! A file is recognised by what is in it, never by its name (`tools`). Each tool's shape stands in one
//! file and ends there: what is found goes on as seconds and counts (`found`), nothing for what the tool
//! does not tell, and as a caveat what it tells wrongly (`notes`). Where a file has its requests, they
//! become records and are summarised as ours are (`records`); else the tool's own summary is taken, and
//! says so in each distribution (`reduced`). Nothing below asks where a run came from.

mod assemble;
mod document;
mod field;
mod found;
mod instant;
mod notes;
mod own;
mod records;
mod reduced;
mod secrets;
mod spec_text;
mod tools;
mod yaml;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::ident::Digest;
use crate::provenance::PinPath;
use crate::spec::Slo;
use crate::summary::Run;

pub use notes::Code;

/// What is said beside a file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Pins that someone knows.
    pub pins: BTreeMap<PinPath, String>,
    /// Limits that a request has to keep to be good, for files that have their requests.
    pub slo: Slo,
}

/// Why a file gives no run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Nobody's.
    #[error(
        "cannot import `{file}`: {what}; looked for {}; name a result file of one of these tools",
        looked_for.join(", ")
    )]
    Unknown {
        /// Which file.
        file: String,
        /// What it is instead.
        what: String,
        /// What of each tool was looked for.
        looked_for: Vec<String>,
    },
    /// More than one tool's.
    #[error(
        "cannot import `{file}`: it could be of {}; leave in it what one of them wrote",
        tools.join(" or of ")
    )]
    Ambiguous {
        /// Which file.
        file: String,
        /// Whose it could be.
        tools: Vec<String>,
    },
    /// Of a tool, but not as any known version writes it.
    #[error("cannot import `{file}` of {tool}: {why}")]
    Shape {
        /// Which file.
        file: String,
        /// The tool.
        tool: &'static str,
        /// What is missing or wrong, and what to do.
        why: String,
    },
    /// Not one request.
    #[error("cannot import `{file}` of {tool}: it holds not one request; was the run cut off?")]
    Empty {
        /// Which file.
        file: String,
        /// The tool.
        tool: &'static str,
    },
    /// Its load can't be described.
    #[error("cannot import `{file}`: its load is none that can be described: {why}")]
    NoSpec {
        /// Which file.
        file: String,
        /// What the spec's reader says.
        why: String,
    },
}

/// Whether a text looks like one of another tool's files: of a known tool, whole or not.
pub fn is_foreign(text: &str) -> bool {
    let document = document::Document::read(text);
    tools::recognise(&document).next().is_some()
}

/// The runs of a file, one for each run of the tool that it holds.
///
/// # Errors
///
/// Where it is of no known tool or of several, and where it does not hold what its tool writes.
pub fn import(file: &str, text: &str, options: &Options) -> Result<Vec<Run>, ImportError> {
    let document = document::Document::read(text);
    let tools: Vec<&tools::Tool> = tools::recognise(&document).collect();
    let tool = match tools.as_slice() {
        [tool] => *tool,
        [] => {
            return Err(ImportError::Unknown {
                file: file.to_owned(),
                what: unknown(&document),
                looked_for: tools::looked_for(),
            });
        }
        several => {
            return Err(ImportError::Ambiguous {
                file: file.to_owned(),
                tools: several.iter().map(|tool| tool.name.to_owned()).collect(),
            });
        }
    };
    let secrets = secrets::Secrets::of(&document.values);
    let found = (tool.read)(&document).map_err(|why| ImportError::Shape {
        file: file.to_owned(),
        tool: tool.name,
        why: secrets.clean(&why),
    })?;
    let digest = Digest::of(text.as_bytes());
    found
        .into_iter()
        .enumerate()
        .map(|(index, mut found)| {
            if let Some(broken) = &document.broken {
                found.notes.doubt(
                    Code::CutOff,
                    format!("the file is not whole, what stands before is used: {broken}"),
                );
            }
            let place = assemble::Place {
                file,
                digest,
                index,
                secrets: &secrets,
            };
            assemble::run(tool, found, place, options)
        })
        .collect()
}

/// What an unknown file is.
fn unknown(document: &document::Document<'_>) -> String {
    match (&document.broken, document.values.is_empty()) {
        (Some(why), true) => format!("it is no whole JSON ({why})"),
        (_, false) => "its JSON is of no tool that is known".to_owned(),
        (None, true) if document.text.trim().is_empty() => "it is empty".to_owned(),
        (None, true) => "its text is of no tool that is known".to_owned(),
    }
}
