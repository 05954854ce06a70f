//! What a launched engine says: its output in a file, and what a command prints of it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::target::TargetError;
use crate::spec::{Launch, Word};

/// Lines that are shown, and how long each may be.
const TAIL: usize = 20;
const LONGEST: usize = 300;
/// How long the command that prints a log may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file of this label that is not there yet: `candidate-3.log`.
pub(super) fn new_log(folder: &Path, label: &str) -> Result<PathBuf, TargetError> {
    let failed = |path: &Path, source| TargetError::Log {
        path: path.to_owned(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    let mut number = 1_u32;
    loop {
        let path = folder.join(format!("{label}-{number}.log"));
        match File::create_new(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(source) => return Err(failed(&path, source)),
        }
    }
}

/// The last lines of the file, then those that the launch's `logs` prints, masked.
pub(super) async fn tail(
    path: &Path,
    launch: &Launch,
    mask: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut lines = last_lines(&last_of(path).unwrap_or_default(), &mask);
    if let Some(command) = &launch.logs {
        match printed(command, launch).await {
            Ok(text) => lines.extend(last_lines(&text, &mask)),
            Err(why) => lines.push(format!("(`logs` of the launch failed: {why})")),
        }
    }
    lines
}

fn last_lines(text: &str, mask: impl Fn(&str) -> String) -> Vec<String> {
    let lines = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    let shown = |line: &&str| {
        let masked = mask(line);
        // Whatever an engine writes must not command the terminal.
        let plain = masked.chars().map(|c| if c.is_control() { ' ' } else { c });
        plain.take(LONGEST).collect()
    };
    lines[lines.len().saturating_sub(TAIL)..]
        .iter()
        .map(shown)
        .collect()
}

/// The last part of a file, more than any tail that is shown.
fn last_of(path: &Path) -> std::io::Result<String> {
    const BYTES: u64 = 64 << 10;
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES)))?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What a command prints, on both of its outputs.
async fn printed(command: &[Word], launch: &Launch) -> Result<String, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Ok(String::new());
    };
    let folder = launch.working_folder();
    let mut command = Command::new(program.expose());
    if !folder.as_os_str().is_empty() {
        command.current_dir(folder);
    }
    let env = launch.env.iter();
    let output = command
        .args(arguments.iter().map(Word::expose))
        .envs(env.map(|(name, value)| (name, value.expose())))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    match tokio::time::timeout(PATIENCE, output).await {
        Ok(Ok(output)) => {
            let both = [output.stdout, output.stderr].concat();
            Ok(String::from_utf8_lossy(&both).into_owned())
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("it took longer than {} s", PATIENCE.as_secs())),
    }
}
