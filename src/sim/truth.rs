//! What really happened to each request, as JSON Lines.
//!
//! The first line tells the format and when the server started; every other line is one request.
//! All times are µs since the server's start, on its own monotonic clock.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::json;

/// How a request ended, seen by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TruthOutcome {
    /// Answered in full.
    Ok,
    /// Refused as malformed or impossible: status 400 or 404.
    Refused,
    /// Turned away by the queue limit: status 429.
    Rejected,
    /// Status 500 on purpose.
    Error,
    /// Broken off with an error event on purpose.
    MidstreamError,
    /// Broken off without a word on purpose.
    Truncated,
    /// The client went away.
    Cancelled,
    /// The server stopped or died.
    Aborted,
}

/// What really happened to one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthRecord {
    /// The request's `x-request-id`, or one that the server gave it.
    pub id: String,
    /// When its body had been read.
    pub accepted_us: u64,
    /// When its first token was handed to the socket's writer.
    pub first_token_us: Option<u64>,
    /// When its last token was.
    pub last_token_us: Option<u64>,
    /// When all was over.
    pub done_us: u64,
    /// Tokens written.
    pub tokens: usize,
    /// Chunks with tokens that were written; 1 where the answer was not streamed.
    pub events: u32,
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Those of them that the prefix cache held.
    pub cached_tokens: usize,
    /// How often the engine preempted it.
    pub preemptions: u32,
    /// From acceptance to the start of its first step.
    pub queue_us: u64,
    /// The longest time that a token was written after the engine's step had ideally ended.
    pub late_us: u64,
    /// How it ended.
    pub outcome: TruthOutcome,
    /// When each token was written, where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_us: Option<Vec<u64>>,
    /// When each of these tokens was due, at its step's ideal end, where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_us: Option<Vec<u64>>,
}

/// Where the truth goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TruthTarget {
    /// Nowhere.
    #[default]
    Nowhere,
    /// Into memory, for [`super::Running::truth`].
    Memory,
    /// Into a file, which is replaced.
    File(PathBuf),
}

#[derive(Debug)]
enum Sink {
    Nowhere,
    Memory(Vec<TruthRecord>),
    File {
        file: BufWriter<File>,
        /// The first failure to write; told when the server stops.
        failure: Option<io::Error>,
    },
}

/// The log.
#[derive(Debug)]
pub(super) struct TruthLog(Mutex<Sink>);

impl TruthLog {
    /// Opens the target and writes the header.
    pub(super) fn open(target: &TruthTarget, unix_start_us: u64, args: &str) -> io::Result<Self> {
        let sink = match target {
            TruthTarget::Nowhere => Sink::Nowhere,
            TruthTarget::Memory => Sink::Memory(Vec::new()),
            TruthTarget::File(path) => open_file(path, unix_start_us, args)?,
        };
        Ok(Self(Mutex::new(sink)))
    }

    fn sink(&self) -> std::sync::MutexGuard<'_, Sink> {
        // A panic elsewhere leaves the log whole: each line is written in one call.
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Adds a request.
    pub(super) fn add(&self, record: TruthRecord) {
        match &mut *self.sink() {
            Sink::Nowhere => {}
            Sink::Memory(records) => records.push(record),
            Sink::File { file, failure } => {
                if failure.is_none() {
                    *failure = write_line(file, &record).err();
                }
            }
        }
    }

    /// Writes out what is buffered: complete lines only, since lines are added whole.
    pub(super) fn flush(&self) {
        if let Sink::File { file, failure } = &mut *self.sink()
            && failure.is_none()
        {
            *failure = file.flush().err();
        }
    }

    /// The first failure to write, if there was one.
    pub(super) fn take_failure(&self) -> Option<io::Error> {
        match &mut *self.sink() {
            Sink::File { failure, .. } => failure.take(),
            Sink::Nowhere | Sink::Memory(_) => None,
        }
    }

    /// The requests so far, where they are kept in memory.
    pub(super) fn records(&self) -> Vec<TruthRecord> {
        match &*self.sink() {
            Sink::Memory(records) => records.clone(),
            Sink::Nowhere | Sink::File { .. } => Vec::new(),
        }
    }
}

fn open_file(path: &Path, unix_start_us: u64, args: &str) -> io::Result<Sink> {
    let mut file = BufWriter::with_capacity(1 << 16, File::create(path)?);
    let header = json!({
        "infergate_truth": 1,
        "unix_start_us": unix_start_us,
        "version": env!("CARGO_PKG_VERSION"),
        "args": args,
    });
    write_line(&mut file, &header)?;
    file.flush()?;
    Ok(Sink::File {
        file,
        failure: None,
    })
}

fn write_line<T: Serialize>(file: &mut BufWriter<File>, value: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    // A line that does not fit the buffer any more flushes it first, so that the file never ends
    // in the middle of a line.
    if file.buffer().len() + line.len() > file.capacity() {
        file.flush()?;
    }
    file.write_all(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_header_and_a_line_a_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.jsonl");
        let log = TruthLog::open(&TruthTarget::File(path.clone()), 5, "demo").unwrap();
        let record = TruthRecord {
            id: "a".to_owned(),
            accepted_us: 1,
            first_token_us: Some(2),
            last_token_us: None,
            done_us: 4,
            tokens: 1,
            events: 1,
            prompt_tokens: 3,
            cached_tokens: 0,
            preemptions: 0,
            queue_us: 0,
            late_us: 0,
            outcome: TruthOutcome::MidstreamError,
            token_us: None,
            due_us: None,
        };
        log.add(record.clone());
        log.flush();
        assert!(log.take_failure().is_none());
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].contains("\"unix_start_us\":5"));
        assert_eq!(
            serde_json::from_str::<TruthRecord>(lines[1]).unwrap(),
            record
        );
    }
}
