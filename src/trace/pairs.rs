//! Lengths that belong together: a trace without instants, as CSV or JSON Lines.

use csv::{ReaderBuilder, StringRecord, Trim};
use serde_json::{Map, Value};

use super::reading::{Raw, Reading, RowFault, length};
use super::table::Lines;
use super::{Trace, TraceError};
use crate::ident::Digest;

/// The names that both columns or fields may have.
const NAMES: [(&str, &str); 3] = [
    ("input_tokens", "output_tokens"),
    ("input", "output"),
    ("ContextTokens", "GeneratedTokens"),
];

/// Reads input and output lengths; whatever else a row has is not looked at.
pub fn pairs(text: &str) -> Result<Trace, TraceError> {
    let digest = Digest::of(text.as_bytes());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.trim_start();
    if start.is_empty() {
        return Err(TraceError::Empty);
    }
    let mut reading = Reading::default();
    if start.starts_with('{') {
        objects(text, &mut reading)?;
    } else {
        table(text, &mut reading)?;
    }
    reading.finish(super::Format::Pairs, digest)
}

fn objects(text: &str, reading: &mut Reading) -> Result<(), TraceError> {
    let lines = || {
        text.lines()
            .zip(1..)
            .filter(|(line, _)| !line.trim().is_empty())
    };
    let object = |line: &str| serde_json::from_str::<Map<String, Value>>(line).ok();
    let names = lines()
        .find_map(|(line, _)| {
            let object = object(line)?;
            let has = |(input, output): &&(&str, &str)| {
                object.contains_key(*input) && object.contains_key(*output)
            };
            NAMES.iter().find(has)
        })
        .ok_or(TraceError::NoPairs)?;
    for (line, number) in lines() {
        let row = object(line).ok_or(RowFault::NoObject).and_then(|object| {
            let tokens = |key: &'static str| {
                let value = object.get(key).ok_or(RowFault::Missing(key))?;
                value
                    .as_f64()
                    .and_then(length)
                    .ok_or(RowFault::NoLength(key))
            };
            Ok(raw(tokens(names.0)?, tokens(names.1)?))
        });
        reading.take(number, row)?;
    }
    Ok(())
}

fn table(text: &str, reading: &mut Reading) -> Result<(), TraceError> {
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
    let place = |name: &str| record.iter().position(|header| header == name);
    let (names, input, output) = NAMES
        .iter()
        .find_map(|names| Some((names, place(names.0)?, place(names.1)?)))
        .ok_or(TraceError::NoPairs)?;
    let mut lines = Lines::new(text);
    while next(&mut record) {
        let start = record.position().map_or(0, csv::Position::byte);
        let tokens = |index: usize, name: &'static str| {
            let text = record.get(index).filter(|text| !text.is_empty());
            let text = text.ok_or(RowFault::Missing(name))?;
            text.parse()
                .ok()
                .and_then(length)
                .ok_or(RowFault::NoLength(name))
        };
        let row = tokens(input, names.0).and_then(|input| Ok(raw(input, tokens(output, names.1)?)));
        reading.take(lines.at(start as usize), row)?;
    }
    Ok(())
}

const fn raw(input: u32, output: u32) -> Raw {
    Raw {
        at: 0,
        input,
        output,
        class: None,
        blocks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(text: &str) -> Vec<(u32, u32)> {
        let rows = pairs(text).unwrap().rows;
        rows.iter()
            .map(|row| (row.input_tokens, row.output_tokens))
            .collect()
    }

    #[test]
    fn pairs_come_as_csv_or_json_lines() {
        let expected = [(900, 120), (40, 7)];
        assert_eq!(
            lengths("input_tokens,output_tokens\n900,120\n40,7\n"),
            expected
        );
        assert_eq!(
            lengths("id,output,input\r\na,120,900\r\nb,7,40\r\n"),
            expected
        );
        assert_eq!(
            lengths("{\"input\": 900, \"output\": 120}\n{\"input\": 40, \"output\": 7}"),
            expected
        );
    }

    #[test]
    fn bad_rows_are_named_by_their_line_and_too_many_refused() {
        let mut text = "input,output\n".to_owned();
        text.push_str(&"10,20\n".repeat(200));
        text.push_str("x,5\n");
        let trace = pairs(&text).unwrap();
        assert_eq!((trace.read, trace.bad), (201, 1));
        assert_eq!(trace.first_bad[0].line, 202);
        text.push_str(&"x,5\n".repeat(9));
        assert!(matches!(
            pairs(&text),
            Err(TraceError::TooManyBad { bad: 10, .. })
        ));
        assert_eq!(pairs("a,b\n1,2\n"), Err(TraceError::NoPairs));
        assert_eq!(pairs(" \n"), Err(TraceError::Empty));
    }
}
