//! Traces as JSON Lines: an object a request.

use serde_json::{Map, Value};

use super::format::Keys;
use super::reading::{Raw, Reading, RowFault, length};
use super::{Trace, TraceError, instant};
use crate::ident::Digest;

/// Reads objects by the fields that the first of a known format has; further fields are not looked
/// at.
pub(super) fn read(text: &str, digest: Digest) -> Result<Trace, TraceError> {
    let lines = || {
        text.lines()
            .zip(1..)
            .filter(|(line, _)| !line.trim().is_empty())
    };
    let keys = lines()
        .find_map(|(line, _)| Keys::of(&object(line)?))
        .ok_or(TraceError::UnknownFormat)?;
    let mut reading = Reading::default();
    for (line, number) in lines() {
        let row = object(line)
            .ok_or(RowFault::NoObject)
            .and_then(|object| row(&object, keys));
        reading.take(number, row)?;
    }
    reading.finish(keys.format, digest)
}

fn object(line: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(line).ok()
}

fn row(object: &Map<String, Value>, keys: Keys) -> Result<Raw, RowFault> {
    let field = |key: &'static str| object.get(key).filter(|value| !value.is_null());
    let number = |key| field(key).ok_or(RowFault::Missing(key)).map(Value::as_f64);
    let tokens = |key| {
        let length = number(key)?.and_then(length);
        length.ok_or(RowFault::NoLength(key))
    };
    let at = number(keys.at)?
        .and_then(|at| instant::from_seconds(at * keys.unit))
        .ok_or(RowFault::NoTime(keys.at))?;
    let class = match keys.class.and_then(field) {
        None => None,
        Some(Value::String(class)) => Some(class.clone()),
        Some(_) => return Err(RowFault::NoClass),
    };
    let blocks = match field(keys.blocks) {
        None => Vec::new(),
        Some(value) => blocks(value).ok_or(RowFault::NoBlocks(keys.blocks))?,
    };
    Ok(Raw {
        at,
        input: tokens(keys.input)?,
        output: tokens(keys.output)?,
        class,
        blocks,
    })
}

fn blocks(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}
