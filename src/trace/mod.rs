//! Recorded traffic: when requests came, and how long they were.
//!
//! [`parse`] reads the text of a trace in any of the formats that [`Format`] names, told apart by
//! their content. [`Trace::select`] takes the part that a stage replays. A row that cannot be read
//! is named by its line and left out; where they are more than [`MOST_BAD`] of all, the file is
//! refused: what is left of it would be another workload.

mod dataset;
mod format;
mod instant;
mod lines;
mod pairs;
mod reading;
mod select;
mod table;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use crate::ident::Digest;
use crate::unit::Nanos;

pub use dataset::{Asked, Dataset, Prompted, dataset};
pub use format::Format;
pub use pairs::pairs;
pub use reading::{BadRow, RowFault};
pub use select::{Selected, Selection};

/// Tokens of one prefix block, in Mooncake's traces and in ours.
pub const BLOCK_TOKENS: u32 = 512;
/// Tokens of one row's input or output at most.
pub const MOST_TOKENS: u32 = 2_000_000;
/// Share of rows that may be bad.
pub const MOST_BAD: f64 = 0.01;
/// Rows of a file at most: bounds the plan's memory.
const MOST_ROWS: u32 = 10_000_000;

/// A trace: its rows in the order of their instants.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// How it is written.
    pub format: Format,
    /// Digest of the file's text.
    pub digest: Digest,
    /// The rows that can be replayed; at least one.
    pub rows: Vec<Row>,
    /// Rows in the file, good and bad.
    pub read: u32,
    /// Rows that could not be read.
    pub bad: u32,
    /// The first of them.
    pub first_bad: Vec<BadRow>,
    /// Rows without input or without output tokens: failures where the trace was taken.
    pub empty: u32,
    /// Rows that stood after a later one.
    pub unsorted: u32,
}

/// One request of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Which of the file's rows, from 0, bad ones counted.
    pub number: u32,
    /// When it came, since the file's first.
    pub at: Nanos,
    /// Input length in tokens, 1 to [`MOST_TOKENS`].
    pub input_tokens: u32,
    /// Output length in tokens, 1 to [`MOST_TOKENS`].
    pub output_tokens: u32,
    /// The class that the row names.
    pub class: Option<String>,
    /// Ids of the blocks of [`BLOCK_TOKENS`] that the prompt starts with; no more than its input
    /// has, the last perhaps in part.
    pub blocks: Vec<u64>,
}

/// Why a file is no trace that can be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// Neither header nor first object is of a known format.
    #[error(
        "its format is not known: it starts neither with the header of an Azure or BurstGPT CSV nor \
         with an object of Mooncake's JSON Lines or our own \
         (`{{\"at_s\": 0.5, \"input_tokens\": 900, \"output_tokens\": 120}}`)"
    )]
    UnknownFormat,
    /// Neither header nor first object has lengths.
    #[error(
        "it has no lengths: a CSV starts with a header that has `input_tokens` and \
         `output_tokens`, JSON Lines with such an object"
    )]
    NoPairs,
    /// Too many rows could not be read.
    #[error(
        "{bad} of {read} rows can't be read, {share} %, and at most 1 % may: {}",
        reading::list(first)
    )]
    TooManyBad {
        /// Bad rows.
        bad: u32,
        /// All rows.
        read: u32,
        /// The share in percent.
        share: Percent,
        /// The first of them.
        first: Vec<BadRow>,
    },
    /// No row has both input and output.
    #[error("none of its {read} rows has both input and output tokens")]
    NothingToReplay {
        /// All rows.
        read: u32,
    },
    /// More rows than a plan can hold.
    #[error("it has more than {MOST_ROWS} rows; cut it")]
    TooManyRows,
}

/// A share in hundredths of a percent, so that an error can be compared; prints as percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percent(u32);

impl Percent {
    fn of(part: u32, whole: u32) -> Self {
        Self((f64::from(part) / f64::from(whole.max(1)) * 10_000.0).round() as u32)
    }
}

impl std::fmt::Display for Percent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// Reads a trace; a leading byte-order mark and either kind of line end are fine.
pub fn parse(text: &str) -> Result<Trace, TraceError> {
    let digest = Digest::of(text.as_bytes());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.trim_start();
    if start.is_empty() {
        return Err(TraceError::Empty);
    }
    if start.starts_with('{') {
        lines::read(text, digest)
    } else {
        table::read(text, digest)
    }
}
