//! The guard of a launched engine: this binary again, as a process between the two, which ends the
//! engine with all that it started as soon as its own standard input ends.
//!
//! That input is a pipe from the process that measures. However that one ends, by a signal, a panic
//! or a power switch of its container, the pipe closes and the engine goes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use crate::spec::StopSignal;

/// A line of the guard: the command could not be started, and why.
pub(super) const FAILED: &str = "failed: ";
/// A line of the guard: the command ended by itself, and how.
pub(super) const ENDED: &str = "ended: ";

/// What is guarded.
#[derive(Debug, Clone)]
pub struct Ward {
    /// The program, then its arguments.
    pub command: Vec<OsString>,
    /// Where its output goes.
    pub log: PathBuf,
    /// What asks it to end.
    pub signal: StopSignal,
    /// What is run first, to end what is no child of the command; nothing where it is empty.
    pub stop: Vec<OsString>,
    /// How long that, and then the command itself, may take before they are killed.
    pub grace: Duration,
}

/// Runs a command in the process group that this process leads, until standard input ends; then
/// ends the whole group, this process with it.
///
/// Standard output says how the command fared, in lines that begin with `failed: ` or `ended: `.
pub async fn guard(ward: Ward) -> io::Result<()> {
    let _heard = deafen()?;
    let mut child = match start(&ward.command, &ward.log) {
        Ok(child) => child,
        Err(error) => return say(FAILED, &error.to_string()),
    };
    let mut orphaned = end_of_input();
    let ended = tokio::select! {
        status = child.wait() => Some(status?),
        _ = &mut orphaned => None,
    };
    if let Some(status) = ended {
        // A command that only starts a container leaves it running and ends well.
        if !status.success() || ward.stop.is_empty() {
            say(ENDED, &status.to_string())?;
        }
        // Nobody else can take this group's number while it lives.
        let _ = orphaned.await;
        stop(&ward).await;
        ask_to_end(&mut child, ward.signal);
    } else {
        stop(&ward).await;
        ask_to_end(&mut child, ward.signal);
        let _ = tokio::time::timeout(ward.grace, child.wait()).await;
        // Waited for, so that its port and its memory are free when this process is gone.
        let _ = child.kill().await;
    }
    end_group();
    Ok(())
}

/// Runs the stop command to its end, or for as long as the grace; what it says goes to the log.
async fn stop(ward: &Ward) {
    if ward.stop.is_empty() {
        return;
    }
    match start(&ward.stop, &ward.log) {
        Ok(mut child) => {
            let _ = tokio::time::timeout(ward.grace, child.wait()).await;
        }
        Err(error) => {
            let program = ward.stop[0].to_string_lossy();
            let line = format!("infergate: cannot run the stop command `{program}`: {error}\n");
            let log = File::options().append(true).open(&ward.log);
            let _ = log.and_then(|mut log| log.write_all(line.as_bytes()));
        }
    }
}

fn start(command: &[OsString], log: &Path) -> io::Result<Child> {
    let log = File::options().create(true).append(true).open(log)?;
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::other("there is no command"));
    };
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
}

fn say(what: &str, how: &str) -> io::Result<()> {
    let mut out = io::stdout();
    // Without a reader the pipe's other end closes too, and that ends everything.
    match writeln!(out, "{what}{how}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Resolves when standard input ends.
fn end_of_input() -> oneshot::Receiver<()> {
    let (ended, end) = oneshot::channel();
    // A thread of its own, for a blocked read can't be given up.
    std::thread::spawn(move || {
        let mut buffer = [0; 64];
        while matches!(io::stdin().read(&mut buffer), Ok(1..)) {}
        let _ = ended.send(());
    });
    end
}

/// Keeps this process from the signals that it sends to its group; children hear them as ever.
#[cfg(unix)]
fn deafen() -> io::Result<Vec<tokio::signal::unix::Signal>> {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::quit(),
        SignalKind::hangup(),
    ];
    kinds.into_iter().map(signal).collect()
}

#[cfg(not(unix))]
fn deafen() -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn ask_to_end(_: &mut Child, signal: StopSignal) {
    use rustix::process::{Signal, kill_current_process_group};
    let signal = match signal {
        StopSignal::Term => Signal::TERM,
        StopSignal::Int => Signal::INT,
        StopSignal::Quit => Signal::QUIT,
        StopSignal::Hup => Signal::HUP,
    };
    let _ = kill_current_process_group(signal);
}

/// Without signals there is only one way.
#[cfg(not(unix))]
fn ask_to_end(child: &mut Child, _: StopSignal) {
    let _ = child.start_kill();
}

#[cfg(unix)]
fn end_group() {
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn end_group() {}

/// Kills the group that a process leads, of which the caller knows that it is not reaped yet.
#[cfg(unix)]
pub(super) fn kill_group(leader: u32) {
    let leader = i32::try_from(leader).ok();
    if let Some(group) = leader.and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
pub(super) fn kill_group(_: u32) {}
