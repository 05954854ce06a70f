//! `nvidia-smi`, which comes with the driver and which a static binary can run.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::table::{Table, refused};

/// How long it may take: without its daemon a driver of eight GPUs needs seconds to wake up.
const LIMIT: Duration = Duration::from_secs(20);
/// The longest complaint that is repeated.
const LONGEST: usize = 200;

/// Why there is nothing to be said about GPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// The driver's tool is not there.
    #[error("no `nvidia-smi` on the PATH")]
    NoTool,
    /// The tool gave up.
    #[error("`nvidia-smi` failed: {said}")]
    Failed {
        /// The first line that it said.
        said: String,
    },
    /// The tool did not end.
    #[error("`nvidia-smi` did not answer within {} s", LIMIT.as_secs())]
    Silent,
    /// No GPU, or none that may be used.
    #[error("{why}")]
    NoGpu {
        /// Why there is none.
        why: &'static str,
    },
    /// The driver's library is no help either.
    #[error("{tool}; {library}")]
    Neither {
        /// What became of `nvidia-smi`.
        tool: String,
        /// What became of NVML.
        library: String,
    },
}

/// The tool.
#[derive(Debug, Clone)]
pub(super) struct Smi {
    program: PathBuf,
}

impl Smi {
    /// As the PATH has it.
    pub(super) fn new() -> Self {
        Self {
            program: PathBuf::from("nvidia-smi"),
        }
    }

    /// One at this place.
    #[cfg(test)]
    pub(super) fn at(program: PathBuf) -> Self {
        Self { program }
    }

    /// A command that ends with its handle.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// What it prints.
    pub(super) async fn run(&self, words: &[&str]) -> Result<String, GpuError> {
        let output = tokio::time::timeout(LIMIT, self.command(words).output()).await;
        let output = output.map_err(|_| GpuError::Silent)?;
        let output = output.map_err(|error| not_run(&error))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        // It complains on standard output.
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        if output.status.success() {
            return Ok(out);
        }
        let said = [out, err].concat();
        if said.contains("No devices were found") {
            return Err(GpuError::NoGpu {
                why: "`nvidia-smi` finds no GPU",
            });
        }
        Err(GpuError::Failed { said: shown(&said) })
    }

    /// The rows that a switch like `--query-gpu` gives, and the fields that its driver knows: of
    /// those that it does not know it is asked no more.
    pub(super) async fn query(
        &self,
        switch: &str,
        fields: &[&'static str],
    ) -> Result<(Table, Vec<&'static str>), GpuError> {
        let mut fields = fields.to_vec();
        loop {
            let query = format!("{switch}={}", fields.join(","));
            match self.run(&[&query, "--format=csv,noheader,nounits"]).await {
                Ok(text) => return Ok((Table::parse(&fields, &text), fields)),
                Err(GpuError::Failed { said }) => {
                    let before = fields.len();
                    if let Some(unknown) = refused(&said) {
                        fields.retain(|field| *field != unknown);
                    }
                    if fields.len() == before || fields.is_empty() {
                        return Err(GpuError::Failed { said });
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Why it could not be run.
pub(super) fn not_run(error: &std::io::Error) -> GpuError {
    match error.kind() {
        std::io::ErrorKind::NotFound => GpuError::NoTool,
        _ => GpuError::Failed {
            said: shown(&error.to_string()),
        },
    }
}

/// The first line with a text, without what would command a terminal.
fn shown(said: &str) -> String {
    let line = said.lines().find(|line| !line.trim().is_empty());
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let line: String = line
        .unwrap_or("it said nothing")
        .chars()
        .take(LONGEST)
        .map(plain)
        .collect();
    line.trim().to_owned()
}
