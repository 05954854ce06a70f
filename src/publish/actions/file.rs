//! The files that a runner of GitHub Actions names: appended to, never replaced.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crate::publish::posted::{Channel, Posted};

/// Bytes of a step's summary, beyond which none of it is shown.
const SUMMARY: usize = 1 << 20;

/// Appends a report to the summary of the step, within what is left of it.
pub fn summary(path: &Path, report: &dyn Fn(usize) -> String) -> Posted {
    let there = path.metadata().map_or(0, |metadata| metadata.len()) as usize;
    // A unit of UTF-16 takes up to three bytes.
    let left = SUMMARY.saturating_sub(there + 2);
    let mut text = report(left);
    if text.len() > left {
        text = report(left / 3);
    }
    if text.len() > left {
        return Posted::left(Channel::Summary, "the step's summary is full");
    }
    match append(path, &format!("{}\n", text.trim_end_matches('\n'))) {
        Ok(()) => Posted::done(Channel::Summary, "written", None),
        Err(error) => Posted::failed(
            Channel::Summary,
            &format!(
                "cannot write `{}`, which `GITHUB_STEP_SUMMARY` names: {error}",
                path.display()
            ),
        ),
    }
}

/// Appends outputs of the step. Each stands between two lines of a word that nobody can guess, so that no
/// value ends early.
pub fn outputs(path: &Path, values: &[(&str, String)], word: &str) -> Posted {
    let mut text = String::new();
    for (name, value) in values {
        if value.contains(word) {
            return Posted::failed(
                Channel::Outputs,
                &format!("the output `{name}` cannot be written safely"),
            );
        }
        let _ = writeln!(text, "{name}<<{word}\n{value}\n{word}");
    }
    match append(path, &text) {
        Ok(()) => Posted::done(Channel::Outputs, "written", None),
        Err(error) => Posted::failed(
            Channel::Outputs,
            &format!(
                "cannot write `{}`, which `GITHUB_OUTPUT` names: {error}",
                path.display()
            ),
        ),
    }
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)?
        .write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_added_to_what_is_there_within_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("summary");
        std::fs::write(&path, "before\n").unwrap();
        let posted = summary(&path, &|limit| "ü".repeat(limit.min(600_000)));
        assert!(!posted.is_failed());
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("before\nü") && text.ends_with("ü\n"));
        assert!(text.len() <= SUMMARY, "{}", text.len());
        let posted = summary(&path, &|limit| "ü".repeat(limit.max(600_000)));
        assert!(
            matches!(posted.outcome, crate::publish::Outcome::Left { .. }),
            "{posted}"
        );
    }

    #[test]
    fn no_value_ends_before_its_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        let values = [
            ("verdict", "pass".to_owned()),
            ("report", "a\nb=c".to_owned()),
        ];
        assert!(!outputs(&path, &values, "w0rd").is_failed());
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "verdict<<w0rd\npass\nw0rd\nreport<<w0rd\na\nb=c\nw0rd\n"
        );
        let forged = [("report", "x\nw0rd\nevil=1".to_owned())];
        assert!(outputs(&path, &forged, "w0rd").is_failed());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        let nowhere = folder.path().join("no/such/file");
        assert!(
            outputs(&nowhere, &values, "w0rd")
                .to_string()
                .contains("GITHUB_OUTPUT")
        );
    }
}
