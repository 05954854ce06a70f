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
mod input;
mod instant;
mod lean;
mod notes;
mod own;
mod packed;
mod place;
mod records;
mod reduced;
mod secrets;
mod spec_text;
mod spelled;
mod tools;
mod top;
mod yaml;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::metric::Metric;
use crate::provenance::PinPath;
use crate::spec::Slo;
use crate::summary::Run;

pub use input::Input;
pub use notes::Code;

/// What is said beside a file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Pins that someone knows.
    pub pins: BTreeMap<PinPath, String>,
    /// Limits that a request has to keep to be good, for files that have their requests.
    pub slo: Slo,
    /// Which metric stands under which name of a script's own, in files of k6 and Locust.
    pub metrics: BTreeMap<String, Metric>,
}

/// Why a file gives no run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Can't be read at all.
    #[error("cannot read `{file}`: {why}")]
    Unreadable {
        /// Which file.
        file: String,
        /// What the system says.
        why: String,
    },
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

/// A file that was gone through once.
pub struct Foreign<'a> {
    file: &'a str,
    document: document::Document<'a>,
}

impl<'a> Foreign<'a> {
    /// Goes through a file of this name.
    ///
    /// # Errors
    ///
    /// Where it can't be read.
    pub fn read(file: &'a str, input: &'a dyn Input) -> Result<Self, ImportError> {
        let document =
            document::Document::read(input).map_err(|error| ImportError::Unreadable {
                file: file.to_owned(),
                why: error.to_string(),
            })?;
        Ok(Self { file, document })
    }

    /// Whether it looks like one of another tool's files: of a known tool, whole or not.
    pub fn is_known(&self) -> bool {
        tools::recognise(&self.document).next().is_some()
    }

    /// Its runs, one for each run of the tool that it holds.
    ///
    /// # Errors
    ///
    /// Where it is of no known tool or of several, and where it does not hold what its tool writes.
    pub fn runs(&self, options: &Options) -> Result<Vec<Run>, ImportError> {
        let tool = self.tool()?;
        let document = &self.document;
        let shape = |why: &str| ImportError::Shape {
            file: self.file.to_owned(),
            tool: tool.name,
            why: document.secrets.clean(why),
        };
        if document.is_cut {
            return Err(shape("it holds far more than a file of results does"));
        }
        let mut runs = Vec::new();
        let mut assemble = |found| {
            let place = assemble::Place {
                file: self.file,
                digest: document.digest,
                index: runs.len(),
                secrets: &document.secrets,
            };
            runs.push(assemble::run(tool, found, place, options));
        };
        let mut parts = Vec::new();
        let read = tool.read(document, options, &mut |mut found| {
            if let Some(broken) = &document.broken {
                found.notes.doubt(
                    Code::CutOff,
                    format!("the file is not whole, what stands before is used: {broken}"),
                );
            }
            if found.run.is_some() {
                parts.push(found);
            } else {
                assemble(found);
            }
        });
        own::join(parts).into_iter().for_each(assemble);
        read.map_err(|why| shape(&why))?;
        runs.into_iter().collect()
    }

    fn tool(&self) -> Result<&'static tools::Tool, ImportError> {
        let tools: Vec<&tools::Tool> = tools::recognise(&self.document).collect();
        match tools.as_slice() {
            [tool] => Ok(tool),
            [] => Err(ImportError::Unknown {
                file: self.file.to_owned(),
                what: unknown(&self.document),
                looked_for: tools::looked_for(),
            }),
            several => Err(ImportError::Ambiguous {
                file: self.file.to_owned(),
                tools: several.iter().map(|tool| tool.name.to_owned()).collect(),
            }),
        }
    }
}

/// The runs of a file.
///
/// # Errors
///
/// Those of [`Foreign::read`] and [`Foreign::runs`].
pub fn import(file: &str, input: &dyn Input, options: &Options) -> Result<Vec<Run>, ImportError> {
    Foreign::read(file, input)?.runs(options)
}

/// What an unknown file is.
fn unknown(document: &document::Document<'_>) -> String {
    match (&document.broken, document.is_text()) {
        (Some(why), true) => format!("it is no whole JSON ({why})"),
        (_, false) => "its JSON is of no tool that is known".to_owned(),
        (None, true) if document.text.trim().is_empty() => "it is empty".to_owned(),
        (None, true) => "its text is of no tool that is known".to_owned(),
    }
}
