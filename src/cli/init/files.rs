//! Where `init` writes, and that it overwrites nothing.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::archive::save_text;
use crate::cli::failure::Failure;

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Written {
    pub(super) path: PathBuf,
    /// Whether another one was there.
    pub(super) replaced: bool,
}

/// The folder that is named, else the nearest one upwards that git keeps (workflows are read at its root
/// alone), else this one.
pub(super) fn root(named: Option<&Path>) -> PathBuf {
    if let Some(named) = named {
        return named.to_owned();
    }
    let mut upwards = PathBuf::new();
    let here = std::path::absolute(".").unwrap_or_default();
    for folder in here.ancestors() {
        if folder.join(".git").exists() {
            return upwards;
        }
        upwards.push("..");
    }
    PathBuf::new()
}

/// Writes all files or none: where one is there already and may not be replaced, nothing is touched.
pub(super) fn write_new(
    root: &Path,
    files: &[(PathBuf, String)],
    force: bool,
) -> Result<Vec<Written>, Failure> {
    let written: Vec<Written> = files
        .iter()
        .map(|(path, _)| {
            let path = root.join(path);
            let replaced = path.symlink_metadata().is_ok();
            Written { path, replaced }
        })
        .collect();
    if let Some(there) = written.iter().find(|file| file.replaced && !force) {
        return Err(Failure::usage(format!(
            "`{}` is there already, and nothing was written; name the spec otherwise (`--name`), leave the \
             workflow out (`--no-workflow`), look at it first (`--stdout`), or overwrite with `--force`",
            there.path.display()
        )));
    }
    for (file, (_, text)) in written.iter().zip(files) {
        save_text(&file.path, text)?;
    }
    Ok(written)
}
