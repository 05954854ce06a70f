//! What commits say of themselves.

use serde::{Deserialize, Serialize};

use super::commit::Commit;
use super::error::GitError;
use super::repository::Repository;

/// A commit as a log shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Which.
    pub commit: Commit,
    /// The first line of its message.
    pub subject: String,
    /// Who wrote it, by name.
    pub author: String,
    /// When it was committed, RFC 3339 with the committer's offset.
    pub date: String,
}

/// Between the fields of a line; no name or subject has it.
const BETWEEN: char = '\u{1f}';

impl Repository {
    /// What a commit says of itself.
    pub fn describe(&self, commit: &Commit) -> Result<LogEntry, GitError> {
        let mut log = self.log(commit, 1)?;
        log.pop()
            .ok_or_else(|| self.strange("describe a commit", ""))
    }

    /// A commit and what came before it, newest first and children before parents, at most so many.
    pub fn log(&self, tip: &Commit, at_most: u32) -> Result<Vec<LogEntry>, GitError> {
        let doing = format!("read the log of {}", tip.short());
        let most = format!("--max-count={at_most}");
        let format = format!("--format=%H{BETWEEN}%an{BETWEEN}%cI{BETWEEN}%s");
        let words = [
            "log",
            "-z",
            "--topo-order",
            "--no-show-signature",
            "--no-color",
        ];
        let call = self.ask(&*doing).with(words);
        let out = call.with([&*most, &*format, tip.as_str(), "--"]).out()?;
        let mut found = Vec::new();
        for line in out.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let line = String::from_utf8_lossy(line);
            let fields: Vec<&str> = line.trim_end().splitn(4, BETWEEN).collect();
            let [commit, author, date, subject] = fields[..] else {
                return Err(self.strange(doing, &line));
            };
            found.push(LogEntry {
                commit: self.commit(doing.clone(), commit)?,
                subject: subject.to_owned(),
                author: author.to_owned(),
                date: date.to_owned(),
            });
        }
        Ok(found)
    }
}
