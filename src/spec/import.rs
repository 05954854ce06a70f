//! Scores that other tools measured, and where each side's file is.

use std::path::Path;

use crate::metric::TaskName;

/// One score of lm-evaluation-harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// What cells call it: `quality.imported.NAME`.
    pub name: TaskName,
    /// The task or group in the file.
    pub task: String,
    /// The metric there.
    pub metric: String,
    /// The filter after the metric's comma; `None` takes the only one there is.
    pub filter: Option<String>,
    /// The baseline's file, relative to the spec; only `ab` has that side.
    pub baseline: Option<String>,
    /// The file of what is under test, relative to the spec: the candidate of `ab`, and what `run` and
    /// `gate` measure.
    pub candidate: String,
}

impl Import {
    /// With its files found from this folder.
    pub(super) fn in_folder(self, folder: &Path) -> Self {
        let found = |file: String| folder.join(file).to_string_lossy().into_owned();
        Self {
            candidate: found(self.candidate),
            baseline: self.baseline.map(found),
            ..self
        }
    }
}
