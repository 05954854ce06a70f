//! Requests that a class takes from a file: lengths that belong together, or whole prompts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ident::Digest;

/// The rows of a class's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rows {
    /// The path as the spec has it; the digest is what counts.
    #[serde(skip)]
    pub file: String,
    /// Digest of the file's text.
    pub digest: Digest,
    /// What the rows are.
    pub kind: RowsKind,
    /// How many there are, and how long.
    pub size: RowsSize,
    /// The rows; empty where a run's stamp stands for the file.
    #[serde(skip)]
    pub rows: Arc<[FileRow]>,
}

/// What the rows of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RowsKind {
    /// Input and output lengths, drawn with replacement.
    Pairs,
    /// Prompts, taken in a seeded order and then again from the first.
    Dataset,
}

/// How many rows a file has, and how long their answers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RowsSize {
    /// Rows that can be sent.
    pub count: u32,
    /// Output tokens of all together, the bound where an answer ends by itself.
    pub output_tokens: u64,
    /// The most output tokens.
    pub largest_output: u32,
}

/// What a run keeps of a class's rows, so that its spec can be read without the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RowsStamp {
    /// The class.
    pub class: String,
    /// Digest of the file's text.
    pub digest: Digest,
    /// How many rows there are, and how long.
    pub size: RowsSize,
    /// Whether every answer has a length of its own.
    pub pinned: bool,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Input length in tokens; of a prompt, guessed by its bytes.
    pub input_tokens: u32,
    /// Output length in tokens; the bound where the answer ends by itself.
    pub output_tokens: u32,
    /// Whether the answer has exactly that length.
    pub pinned: bool,
    /// What is said; `None` where only lengths are known.
    pub said: Option<Said>,
    /// What the answer should be, where a dataset says.
    pub expected: Option<Arc<str>>,
}

/// The prompt of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// One text.
    Prompt(String),
    /// The messages of a chat as JSON, from inside the first one's content on: what follows on
    /// `[{"content":"`, without the last bracket.
    Messages(String),
}

impl RowsSize {
    /// Of rows; all zero without any.
    pub(super) fn of(rows: &[FileRow]) -> Self {
        Self {
            count: rows.len() as u32,
            output_tokens: rows.iter().map(|row| u64::from(row.output_tokens)).sum(),
            largest_output: rows.iter().map(|row| row.output_tokens).max().unwrap_or(0),
        }
    }

    /// Output tokens of a row on average.
    pub fn mean_output(self) -> f64 {
        self.output_tokens as f64 / f64::from(self.count.max(1))
    }
}
