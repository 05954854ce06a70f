//! What comes of each row, and of all of them.

use super::format::Format;
use super::{BLOCK_TOKENS, MOST_BAD, MOST_ROWS, MOST_TOKENS, Percent, Row, Trace, TraceError};
use crate::ident::Digest;
use crate::unit::Nanos;

/// Bad rows that are named.
const NAMED: usize = 5;

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// Its line in the file, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub fault: RowFault,
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowFault {
    /// The line is no JSON object.
    #[error("no JSON object")]
    NoObject,
    /// A field is not there.
    #[error("no `{0}`")]
    Missing(&'static str),
    /// A time is no date, or below zero.
    #[error("`{0}` is no time")]
    NoTime(&'static str),
    /// A length is not from 0 to [`MOST_TOKENS`].
    #[error("`{0}` is no number of tokens from 0 to {MOST_TOKENS}")]
    NoLength(&'static str),
    /// Block ids are no list of whole numbers.
    #[error("`{0}` is no list of whole numbers")]
    NoBlocks(&'static str),
    /// There is not exactly one of the two, with a text.
    #[error("neither `messages` nor a text as `prompt`, or both")]
    NoPrompt,
    /// Messages are no list of objects with a role, or the first has no text.
    #[error("`messages` is no list of objects with a `role`, the first with a text as `content`")]
    NoMessages,
    /// What is expected is neither text nor number.
    #[error("`expected` is neither a text nor a number")]
    NoExpected,
    /// The class is no text.
    #[error("`class` is no text")]
    NoClass,
    /// More blocks than the input has.
    #[error("{blocks} blocks of {BLOCK_TOKENS} tokens are more than an input of {input} has")]
    TooManyBlocks {
        /// How many the row names.
        blocks: usize,
        /// Its input length.
        input: u32,
    },
}

/// "line 3: no JSON object; line 9: no JSON object".
pub(super) fn list(rows: &[BadRow]) -> String {
    let each: Vec<String> = rows
        .iter()
        .map(|row| format!("line {}: {}", row.line, row.fault))
        .collect();
    each.join("; ")
}

/// A row as it stands in the file.
#[derive(Debug)]
pub(super) struct Raw {
    /// Nanoseconds since the file's own zero.
    pub(super) at: i128,
    pub(super) input: u32,
    pub(super) output: u32,
    pub(super) class: Option<String>,
    pub(super) blocks: Vec<u64>,
}

/// A number of tokens, 0 included; `640.0` is one, as tables with gaps write whole numbers so.
pub(super) fn length(number: f64) -> Option<u32> {
    let whole = number.fract().abs() < f64::EPSILON;
    (whole && (0.0..=f64::from(MOST_TOKENS)).contains(&number)).then_some(number as u32)
}

/// The rows so far.
#[derive(Debug, Default)]
pub(super) struct Reading {
    rows: Vec<(i128, Row)>,
    read: u32,
    bad: u32,
    first_bad: Vec<BadRow>,
    empty: u32,
}

impl Reading {
    /// Takes the next row, which stands at this line.
    pub(super) fn take(&mut self, line: u64, row: Result<Raw, RowFault>) -> Result<(), TraceError> {
        let number = self.read;
        if number == MOST_ROWS {
            return Err(TraceError::TooManyRows);
        }
        self.read += 1;
        match row.and_then(check) {
            Ok(raw) if raw.input == 0 || raw.output == 0 => self.empty += 1,
            Ok(raw) => self.rows.push((
                raw.at,
                Row {
                    number,
                    at: Nanos::ZERO,
                    input_tokens: raw.input,
                    output_tokens: raw.output,
                    class: raw.class,
                    blocks: raw.blocks,
                },
            )),
            Err(fault) => {
                self.bad += 1;
                if self.first_bad.len() < NAMED {
                    self.first_bad.push(BadRow { line, fault });
                }
            }
        }
        Ok(())
    }

    /// The trace: in order of time, which starts at the first row.
    pub(super) fn finish(mut self, format: Format, digest: Digest) -> Result<Trace, TraceError> {
        let Self { read, bad, .. } = self;
        if read == 0 {
            return Err(TraceError::Empty);
        }
        if f64::from(bad) > MOST_BAD * f64::from(read) {
            return Err(TraceError::TooManyBad {
                bad,
                read,
                share: Percent::of(bad, read),
                first: self.first_bad,
            });
        }
        let mut latest = i128::MIN;
        let mut unsorted = 0;
        for (at, _) in &self.rows {
            unsorted += u32::from(*at < latest);
            latest = latest.max(*at);
        }
        // Stable: rows of one instant keep the file's order.
        self.rows.sort_by_key(|(at, _)| *at);
        let Some(&(zero, _)) = self.rows.first() else {
            return Err(TraceError::NothingToReplay { read });
        };
        let rows = self.rows.into_iter().map(|(at, row)| Row {
            at: Nanos::new(u64::try_from(at - zero).unwrap_or(u64::MAX)),
            ..row
        });
        Ok(Trace {
            format,
            digest,
            rows: rows.collect(),
            read,
            bad,
            first_bad: self.first_bad,
            empty: self.empty,
            unsorted,
        })
    }
}

fn check(raw: Raw) -> Result<Raw, RowFault> {
    let room = raw.input.div_ceil(BLOCK_TOKENS) as usize;
    if raw.input > 0 && raw.blocks.len() > room {
        return Err(RowFault::TooManyBlocks {
            blocks: raw.blocks.len(),
            input: raw.input,
        });
    }
    Ok(raw)
}
