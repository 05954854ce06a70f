//! An `nvidia-smi` that answers from files.

use std::fs;
use std::path::{Path, PathBuf};

use super::smi::Smi;

/// A folder with the fake tool and what a machine's driver says; gone with the test.
pub(super) struct Fake {
    folder: tempfile::TempDir,
}

impl Fake {
    /// The machine of this name below `tests/fixtures/gpu`.
    pub(super) fn new(machine: &str) -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gpu");
        let folder = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(fixtures.join(machine)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        // A link, for a program that was just written may be busy.
        let (tool, link) = (
            fixtures.join("nvidia-smi"),
            folder.path().join("nvidia-smi"),
        );
        std::os::unix::fs::symlink(tool, link).unwrap();
        Self { folder }
    }

    /// Its tool.
    pub(super) fn smi(&self) -> Smi {
        Smi::at(self.path("nvidia-smi"))
    }

    /// Whether the tool that goes on has printed its rounds.
    pub(super) fn has_looked(&self) -> bool {
        self.path("looked").exists()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
