//! Report files as one post.

use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;
use crate::cli::source::read_file;
use crate::publish::{Ending, Key, Post};
use crate::report;
use crate::report::json::ReportFile;

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
        let mut text = String::new();
        for file in &self.files {
            let sides = report::Sides {
                title: &file.spec.name,
                baseline: &[],
                candidate: &[],
                reproduce: &[],
                places: &[],
            };
            let model = report::build(&file.clone().judgement(), &sides);
            text.push_str(&report::markdown::report(&model));
        }
        text.chars().take(limit / 2).collect()
    }

    /// As what is published.
    pub(super) fn post<'a>(
        &self,
        key: Key,
        report: &'a (dyn Fn(usize) -> String + Sync),
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
            annotations: Vec::new(),
        }
    }

    fn title(&self) -> String {
        let words = |file: &ReportFile| {
            let sides = report::Sides {
                title: &file.spec.name,
                baseline: &[],
                candidate: &[],
                reproduce: &[],
                places: &[],
            };
            report::build(&file.clone().judgement(), &sides)
                .headline
                .plain()
        };
        match self.files.as_slice() {
            [file] => words(file),
            files => {
                let broken = files
                    .iter()
                    .filter(|file| Ending::of(file.verdict, file.exit).decided() != Some(true));
                format!(
                    "{} of {} specs pass",
                    files.len() - broken.count(),
                    files.len()
                )
            }
        }
    }
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
