//! What a look through an archive finds.

use serde::Serialize;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gravity {
    /// The archive can't be relied on, or gates nothing.
    Error,
    /// It will not be for long, or something lies there that nobody needs.
    Warning,
    /// Good to know.
    Note,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArchiveFinding {
    /// How much it matters.
    pub gravity: Gravity,
    /// What kind it is: `tampered`, `orphan`, `accept-expired`.
    pub code: &'static str,
    /// The file or folder, from the archive's top.
    pub path: String,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// An archive that was looked through.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Verification {
    /// What is wrong, worst first, then by path.
    pub findings: Vec<ArchiveFinding>,
    /// Specs with something kept.
    pub specs: u32,
    /// Their environments.
    pub environments: u32,
    /// Run files that were read whole.
    pub runs: u32,
    /// Bytes of those.
    pub run_bytes: u64,
    /// Accepts that were read.
    pub accepts: u32,
}

impl Verification {
    /// Whether something keeps the archive from being relied on.
    pub fn has_errors(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.gravity == Gravity::Error)
    }

    pub(super) fn add(
        &mut self,
        (gravity, code): (Gravity, &'static str),
        path: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.findings.push(ArchiveFinding {
            gravity,
            code,
            path: path.into(),
            what: what.into(),
            remedy: remedy.into(),
        });
    }
}
