//! The target of a run: a URL, or the embedded engine as a child process of its own.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::spec::TargetPlace;

/// How long the embedded engine may take to listen.
const START_LIMIT: Duration = Duration::from_secs(20);

/// Why a target could not be brought up.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The child process could not be started.
    #[error("cannot start the embedded engine (`{program} sim {words}`): {source}")]
    Spawn {
        /// This binary.
        program: String,
        /// The engine's words.
        words: String,
        /// Why.
        source: std::io::Error,
    },
    /// The child process ended, or said nothing, before it listened.
    #[error("the embedded engine (`sim {words}`) did not come up: {said}")]
    NotListening {
        /// The engine's words.
        words: String,
        /// What it said on standard error.
        said: String,
    },
}

/// A target that can be measured. An embedded engine ends with this value, and with this process.
#[derive(Debug)]
pub struct RunningTarget {
    bases: Vec<String>,
    /// Killed when dropped; its standard input stays open as long as it lives, and it watches that.
    child: Option<Child>,
}

impl RunningTarget {
    /// Takes URLs as they are, or starts the embedded engine with `program` (this binary) on a free
    /// port and waits until it listens.
    pub async fn start(place: &TargetPlace, program: &Path) -> Result<Self, TargetError> {
        match place {
            TargetPlace::Urls(urls) => Ok(Self {
                bases: urls
                    .iter()
                    .map(|url| url.trim_end_matches('/').to_owned())
                    .collect(),
                child: None,
            }),
            TargetPlace::Sim(words) => Self::start_sim(words, program).await,
        }
    }

    async fn start_sim(words: &[String], program: &Path) -> Result<Self, TargetError> {
        let text = words.join(" ");
        let mut command = Command::new(program);
        // A group of its own: the terminal's Ctrl-C is for this process, which drains first and
        // then ends the engine.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .arg("sim")
            .args(words)
            .args(["--port", "0", "--parent-watch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| TargetError::Spawn {
                program: program.display().to_string(),
                words: text.clone(),
                source,
            })?;
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let first = tokio::time::timeout(START_LIMIT, lines.next_line()).await;
        let base = first
            .ok()
            .and_then(Result::ok)
            .flatten()
            .and_then(|line| line.strip_prefix("listening on ").map(str::to_owned));
        if let Some(base) = base {
            return Ok(Self {
                bases: vec![base],
                child: Some(child),
            });
        }
        let mut said = String::new();
        let _ = child.start_kill();
        if let Some(stderr) = child.stderr.as_mut() {
            let _ = stderr.take(4096).read_to_string(&mut said).await;
        }
        let said = said.trim();
        let said = if said.is_empty() {
            "it said nothing"
        } else {
            said
        }
        .to_owned();
        Err(TargetError::NotListening { words: text, said })
    }

    /// The base URLs, without a trailing slash: several where there are replicas.
    pub fn bases(&self) -> &[String] {
        &self.bases
    }

    /// Ends an embedded engine and waits for its end.
    pub async fn stop(mut self) {
        if let Some(child) = self.child.as_mut() {
            let _ = child.kill().await;
        }
    }
}
