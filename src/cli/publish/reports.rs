//! Report files as one post.

use std::path::{Path, PathBuf};

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::look::Look;
use crate::cli::source::read_file;
use crate::exit::Exit;
use crate::lang::{Lang, say};
use crate::publish::{Annotation, Ending, Key, Post};
use crate::report::json::ReportFile;
use crate::report::{self, Text};

use super::root::Root;

/// The key of several reports together.
const SEVERAL: &str = "all";

/// Folders below one that is named: an artifact for each job, in it a folder for each session.
const DEPTH: usize = 3;

/// Reports that are published as one.
pub(super) struct Reports {
    files: Vec<ReportFile>,
    look: Look,
    paths: Vec<PathBuf>,
}

impl Reports {
    /// Reads them; a folder stands for the `report.json` in it, else for all that lie below it.
    pub(super) fn read(paths: &[PathBuf], look: Look) -> Result<Self, Failure> {
        let mut found = Vec::new();
        for path in paths {
            let own = file_of(path);
            let below = if own.is_file() {
                Vec::new()
            } else {
                reports_below(path, DEPTH)?
            };
            found.extend(if below.is_empty() { vec![own] } else { below });
        }
        let mut files = Vec::new();
        for path in &found {
            files.extend(reports_at(path)?);
        }
        Ok(Self {
            files,
            look,
            paths: found,
        })
    }

    /// Where the report lies, as outputs of a step; several have no one place.
    pub(super) fn files(&self) -> Vec<(&'static str, String)> {
        let [json] = self.paths.as_slice() else {
            return Vec::new();
        };
        let markdown = json.with_extension("md");
        let mut files = vec![("report-json", json.display().to_string())];
        if markdown.is_file() {
            files.push(("report-md", markdown.display().to_string()));
        }
        files
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
        self.look.markdown(&self.files, limit)
    }

    /// Warns where the template fails on them.
    pub(super) fn warn(&self, context: &mut Context) {
        self.look.warn(&self.files, context);
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
                .flat_map(|file| annotations(file, root, self.look.lang))
                .collect(),
        }
    }

    fn title(&self) -> String {
        match self.files.as_slice() {
            [file] => file.model().headline.plain_in(self.look.lang),
            files => {
                let passes = |file: &&ReportFile| file.exit == Exit::Pass;
                let counts = [files.iter().filter(passes).count(), files.len()];
                let counts = counts.map(|n| Text::just(n.to_string()));
                Text::say(say::SPECS_PASS, counts).plain_in(self.look.lang)
            }
        }
    }
}

/// Remarks at the lines that declare the limits of cells that someone has to look at, the broken ones first.
fn annotations(file: &ReportFile, root: &Root, lang: Lang) -> Vec<Annotation> {
    let wanted = |broken: bool| {
        let findings = file.findings.iter().filter(|finding| finding.gated);
        findings.filter_map(move |finding| {
            let is_broken = match finding.state.is_within() {
                Some(true) => return None,
                within => within == Some(false),
            };
            let place = file.place(finding).filter(|_| is_broken == broken)?;
            Some(Annotation {
                path: root.path(&place.path)?,
                line: place.line,
                broken,
                title: finding.cell.to_string(),
                message: report::finding(finding).plain_in(lang),
            })
        })
    };
    wanted(true).chain(wanted(false)).collect()
}

fn several() -> Key {
    SEVERAL.parse().expect("a plain word is a key")
}

/// The file that a path stands for.
fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join("report.json")
    } else {
        path.to_owned()
    }
}

/// The reports below a folder, in the order of their paths.
fn reports_below(folder: &Path, depth: usize) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    // A folder that can't be read may hold the one report that fails.
    let unread = |error: std::io::Error| {
        let folder = folder.display();
        Failure::usage(format!("cannot look for reports in `{folder}`: {error}"))
    };
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let path = entry.path();
        // Links are not followed: they could lead round in circles.
        if !entry.file_type().map_err(unread)?.is_dir() {
            continue;
        }
        let own = file_of(&path);
        if own.is_file() {
            found.push(own);
        } else if depth > 1 {
            found.extend(reports_below(&path, depth - 1)?);
        }
    }
    found.sort();
    Ok(found)
}

/// The reports in a file, of one spec or of a suite.
fn reports_at(path: &Path) -> Result<Vec<ReportFile>, Failure> {
    let path = &file_of(path);
    let text = read_file(path).map_err(|why| {
        Failure::usage(format!(
            "cannot read the report `{}`: {why}",
            path.display()
        ))
    })?;
    report::suite::read(&text).map_err(|error| {
        Failure::usage(format!(
            "`{}` {}",
            path.display(),
            crate::access::causes(&error)
        ))
    })
}
