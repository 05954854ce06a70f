//! Traces as CSV: a header, then a row a request.

use csv::{ReaderBuilder, StringRecord, Trim};

use super::format::{Column, Columns};
use super::reading::{Raw, Reading, RowFault, length};
use super::{Trace, TraceError, instant};
use crate::ident::Digest;

/// Reads rows by the columns that the header names; further columns are not looked at.
pub(super) fn read(text: &str, digest: Digest) -> Result<Trace, TraceError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    let mut next = |record: &mut StringRecord| matches!(reader.read_record(record), Ok(true));
    if !next(&mut record) {
        return Err(TraceError::Empty);
    }
    let columns = Columns::of(record.iter()).ok_or(TraceError::UnknownFormat)?;
    let mut lines = Lines::new(text);
    let mut reading = Reading::default();
    while next(&mut record) {
        let start = record.position().map_or(0, csv::Position::byte);
        reading.take(lines.at(start as usize), row(&record, columns))?;
    }
    reading.finish(columns.format, digest)
}

fn row(record: &StringRecord, columns: Columns) -> Result<Raw, RowFault> {
    let field = |column: Column| {
        let text = record.get(column.index).filter(|text| !text.is_empty());
        text.ok_or(RowFault::Missing(column.name))
    };
    let tokens = |column: Column| {
        let number = field(column)?.parse().ok().and_then(length);
        number.ok_or(RowFault::NoLength(column.name))
    };
    let at = instant::parse(field(columns.at)?).ok_or(RowFault::NoTime(columns.at.name))?;
    Ok(Raw {
        at,
        input: tokens(columns.input)?,
        output: tokens(columns.output)?,
        class: None,
        blocks: Vec::new(),
    })
}

/// Line numbers of ascending offsets.
///
/// The reader has line numbers too, but ends a row at its carriage return, so with CRLF they are
/// those of the row before.
pub(super) struct Lines<'t> {
    text: &'t [u8],
    offset: usize,
    line: u64,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text: text.as_bytes(),
            offset: 0,
            line: 1,
        }
    }

    /// The line of the first byte from `start` on that ends no line.
    pub(super) fn at(&mut self, start: usize) -> u64 {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let rest = self.text.get(start..).unwrap_or_default();
        let start = start + rest.iter().take_while(|byte| is_end(byte)).count();
        let passed = self.text.get(self.offset..start).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.offset = start.max(self.offset);
        self.line
    }
}
