//! What a command does to an archive, as data: computed from a shelf, applied by its keeper.

use std::collections::BTreeMap;

/// Files that become new, get another text, or go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    message: String,
    files: BTreeMap<String, Option<String>>,
}

impl Change {
    /// A change that does nothing yet, with a line for the archive's history.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            files: BTreeMap::new(),
        }
    }

    /// Writes a file, by its path from the archive's top with `/`.
    pub fn write(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.insert(path.into(), Some(text.into()));
    }

    /// Takes a file away.
    pub fn remove(&mut self, path: impl Into<String>) {
        self.files.insert(path.into(), None);
    }

    /// The line for the archive's history.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Each file with its new text, or `None` where it goes, in the order in which they may be written one
    /// after another: what `reference.json` speaks of before it, and what it speaks of no more after it.
    pub fn files(&self) -> Vec<(&str, Option<&str>)> {
        let mut files: Vec<(&str, Option<&str>)> = (self.files.iter())
            .map(|(path, text)| (path.as_str(), text.as_deref()))
            .collect();
        files.sort_by_key(|(path, text)| match text {
            Some(_) if !path.ends_with("reference.json") => 0,
            Some(_) => 1,
            None => 2,
        });
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_written_after_what_they_name_and_before_what_they_name_no_more_goes() {
        let mut change = Change::new("x");
        change.remove("a/env/runs/0.json");
        change.write("a/env/reference.json", "{}");
        change.write("a/spec.yaml", "");
        change.write("a/env/runs/1.json", "{}");
        let paths: Vec<&str> = change.files().into_iter().map(|(path, _)| path).collect();
        assert_eq!(
            paths,
            [
                "a/env/runs/1.json",
                "a/spec.yaml",
                "a/env/reference.json",
                "a/env/runs/0.json"
            ]
        );
    }
}
