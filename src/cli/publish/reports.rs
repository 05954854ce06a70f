//! Report files as one post.

use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;
use crate::cli::source::read_file;
use crate::exit::Exit;
use crate::publish::{Annotation, Ending, Key, Post};
use crate::report;
use crate::report::json::ReportFile;
use crate::verdict::CellState;

use super::root::Root;

/// The key of several reports together.
const SEVERAL: &str = "all";

/// Reports that are published as one.
pub(super) struct Reports {
    files: Vec<ReportFile>,
}

impl Reports {
    /// Reads them; a folder stands for the `report.json` in it.
    pub(super) fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let files = paths
            .iter()
            .map(|path| report_at(path))
            .collect::<Result<_, _>>()?;
        Ok(Self { files })
    }

    /// What tells them apart from others: the spec's name where it is one.
    pub(super) fn key(&self) -> Key {
        let name = match self.files.as_slice() {
            [file] => file.spec.name.as_str(),
            _ => SEVERAL,
        };
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        };
        let plain: String = name.chars().map(plain).take(64).collect();
        plain.parse().unwrap_or_else(|_| several())
    }

    /// As Markdown in so many UTF-16 units.
    pub(super) fn render(&self, limit: usize) -> String {
        report::comment(&self.files, limit).text
    }

    /// As what is published; `root` is where the repository lies, with paths as commands were given them.
    pub(super) fn post<'a>(
        &self,
        key: Key,
        report: &'a (dyn Fn(usize) -> String + Sync),
        root: &Root,
    ) -> Post<'a> {
        let endings = self
            .files
            .iter()
            .map(|file| Ending::of(file.verdict, file.exit));
        Post {
            key,
            title: self.title(),
            ending: endings.fold(Ending::Pass, Ending::worst),
            report,
            annotations: self
                .files
                .iter()
                .flat_map(|file| annotations(file, root))
                .collect(),
        }
    }

    fn title(&self) -> String {
        match self.files.as_slice() {
            [file] => file.model().headline.plain(),
            files => {
                let passes = |file: &&ReportFile| file.exit == Exit::Pass;
                format!(
                    "{} of {} specs pass",
                    files.iter().filter(passes).count(),
                    files.len()
                )
            }
        }
    }
}

/// Remarks at the lines that declare the limits of cells that someone has to look at, the broken ones first.
fn annotations(file: &ReportFile, root: &Root) -> Vec<Annotation> {
    let wanted = |broken: bool| {
        let findings = file.findings.iter().filter(|finding| finding.gated);
        findings.filter_map(move |finding| {
            let said = match finding.state {
                CellState::Regressed => true,
                CellState::Ok | CellState::Improved | CellState::Accepted => return None,
                CellState::Invalid
                | CellState::Missing
                | CellState::Incomparable
                | CellState::Suspect
                | CellState::Implausible
                | CellState::Inconclusive
                | CellState::NotResolvable
                | CellState::NotFinished
                | CellState::New => false,
            };
            let place = file.place(finding).filter(|_| said == broken)?;
            Some(Annotation {
                path: root.path(&place.path)?,
                line: place.line,
                broken,
                title: finding.cell.to_string(),
                message: report::finding(finding).plain(),
            })
        })
    };
    wanted(true).chain(wanted(false)).collect()
}

fn several() -> Key {
    SEVERAL.parse().expect("a plain word is a key")
}

fn report_at(path: &Path) -> Result<ReportFile, Failure> {
    let inside = path.join("report.json");
    let path = if path.is_dir() { &inside } else { path };
    let text = read_file(path).map_err(|why| {
        Failure::usage(format!(
            "cannot read the report `{}`: {why}",
            path.display()
        ))
    })?;
    ReportFile::parse(&text).map_err(|error| {
        Failure::usage(format!(
            "`{}` {}",
            path.display(),
            crate::access::causes(&error)
        ))
    })
}
