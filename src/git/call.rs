//! One call of the `git` program.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::error::GitError;

/// Variables that would make git look at another repository or index than the one that is meant; they
/// are set where infergate runs in a hook.
const ELSEWHERE: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
];

/// Settings of every call: no hook of the user's, and no housekeeping while something is measured.
const SETTINGS: [&str; 3] = [
    "core.hooksPath=/dev/null",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// A call that is being put together.
#[derive(Debug)]
pub(super) struct Call {
    folder: PathBuf,
    doing: String,
    command: Command,
    input: Option<Vec<u8>>,
}

/// What git left, however it ended.
#[derive(Debug)]
pub(super) struct Answer {
    /// Its exit status; `None` where a signal ended it.
    pub(super) code: Option<i32>,
    /// Its standard output.
    pub(super) out: Vec<u8>,
    /// Its standard error, without credentials.
    pub(super) err: String,
}

impl Call {
    /// In a folder, to do something: `read the commit` in `cannot read the commit`.
    pub(super) fn new(folder: &Path, doing: impl Into<String>) -> Self {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let mut command = Command::new("git");
        command.arg("-C").arg(folder);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        for variable in ELSEWHERE {
            command.env_remove(variable);
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0");
        Self {
            folder: folder.to_owned(),
            doing: doing.into(),
            command,
            input: None,
        }
    }

    /// With more arguments.
    pub(super) fn with<A: Into<OsString>>(
        mut self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        self.command.args(arguments.into_iter().map(Into::into));
        self
    }

    /// With a variable in its environment.
    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// With this on its standard input.
    pub(super) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Runs it, however it ends.
    pub(super) fn answer(mut self) -> Result<Answer, GitError> {
        let output = self.run().map_err(|source| {
            let doing = self.doing.clone();
            if source.kind() == io::ErrorKind::NotFound {
                GitError::NotInstalled { doing }
            } else {
                GitError::NotRun { doing, source }
            }
        })?;
        Ok(Answer {
            code: output.status.code(),
            out: output.stdout,
            err: without_credentials(&String::from_utf8_lossy(&output.stderr)),
        })
    }

    /// Runs it; anything but success is an error.
    pub(super) fn out(self) -> Result<Vec<u8>, GitError> {
        let (doing, folder) = (self.doing.clone(), self.folder.clone());
        let answer = self.answer()?;
        if answer.code == Some(0) {
            Ok(answer.out)
        } else {
            Err(answer.failed(doing, &folder))
        }
    }

    /// Runs it and reads its output as one line.
    pub(super) fn line(self) -> Result<String, GitError> {
        let out = self.out()?;
        Ok(String::from_utf8_lossy(&out).trim_end().to_owned())
    }

    fn run(&mut self) -> io::Result<Output> {
        let command = &mut self.command;
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let Some(input) = self.input.take() else {
            return command.stdin(Stdio::null()).output();
        };
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take();
        // Git may answer before it has read everything, so both go on at once.
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // One that ends early says why itself.
                let _ = stdin.as_mut().map(|stdin| stdin.write_all(&input));
            });
            child.wait_with_output()
        })
    }
}

impl Answer {
    /// The error that it is.
    pub(super) fn failed(&self, doing: impl Into<String>, repository: &Path) -> GitError {
        GitError::Failed {
            doing: doing.into(),
            repository: repository.to_owned(),
            why: self.why(),
        }
    }

    /// Git's own words: the line that calls itself an error, else the last one.
    pub(super) fn why(&self) -> String {
        let lines = || {
            self.err
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
        };
        let said = lines().find_map(|line| {
            line.strip_prefix("fatal: ")
                .or_else(|| line.strip_prefix("error: "))
        });
        match (said.or_else(|| lines().next_back()), self.code) {
            (Some(line), _) => line.to_owned(),
            (None, Some(code)) => format!("nothing (it ended with {code})"),
            (None, None) => "nothing (a signal ended it)".to_owned(),
        }
    }
}

/// A text in which no URL names a user or password.
pub(super) fn without_credentials(text: &str) -> String {
    let mut rest = text;
    let mut clean = String::with_capacity(text.len());
    while let Some(start) = rest.find("://") {
        let (before, after) = rest.split_at(start + 3);
        clean.push_str(before);
        let end = after
            .find(|c: char| c == '/' || c.is_whitespace() || c == '\'' || c == '"')
            .unwrap_or(after.len());
        rest = match after[..end].rfind('@') {
            Some(at) => &after[at + 1..],
            None => after,
        };
    }
    clean + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lose_their_credentials_and_nothing_else() {
        let cases = [
            ("https://user:secret@host/a@b", "https://host/a@b"),
            (
                "fatal: 'https://x-access-token:ghs_1@github.com/a/b/' and ssh://git@host:22/c",
                "fatal: 'https://github.com/a/b/' and ssh://host:22/c",
            ),
            (
                "git@host:path me@example.org",
                "git@host:path me@example.org",
            ),
            ("https://host/ x@y", "https://host/ x@y"),
        ];
        for (text, clean) in cases {
            assert_eq!(without_credentials(text), clean);
        }
    }

    #[test]
    fn gits_own_line_is_told() {
        let told = |err: &str| {
            Answer {
                code: Some(1),
                out: Vec::new(),
                err: err.to_owned(),
            }
            .why()
        };
        assert_eq!(
            told("hint: x\nfatal: no such ref\nhint: y\n"),
            "no such ref"
        );
        assert_eq!(told("one\ntwo\n"), "two");
        assert_eq!(told(""), "nothing (it ended with 1)");
    }
}
