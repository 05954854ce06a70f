//! `pairs` and `dataset`: lengths or whole prompts of a class from a file.

use std::ops::Range;

use super::length;
use super::trace::{MOST_CLIPPED, fit};
use crate::spec::class::OutputLength;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::files::{FileAsk, FileText, Files, Reader};
use crate::spec::model::Api;
use crate::spec::node::{Kind, Node};
use crate::spec::rows::{FileRow, Rows, RowsKind, RowsSize, Said};
use crate::spec::values;
use crate::trace::{self, Asked, BadRow, Prompted};
use crate::unit::scale;

const PAIRS: Shape = Shape {
    known: &["file"],
    later: &[],
    example: "pairs: {file: lengths.csv}",
};
const DATASET: Shape = Shape {
    known: &["file"],
    later: &[],
    example: "dataset: {file: prompts.jsonl}",
};

/// Bytes of text that a token stands for, where nobody has counted.
const BYTES_PER_TOKEN: usize = 4;

/// What a class's file has to go with.
pub(super) struct Around<'a> {
    pub(super) files: Files<'a>,
    /// Tokens that the model takes, where they are pinned.
    pub(super) model: Option<u32>,
    pub(super) api: Option<Api>,
    pub(super) output_length: OutputLength,
}

/// The rows of a class with `pairs` or `dataset`, and who ends its answers; `None` where it has
/// neither.
pub(super) fn lower(
    fields: &Fields<'_>,
    whole: &str,
    class: &str,
    around: &Around<'_>,
    out: &mut Diagnostics,
) -> Result<Option<(Rows, OutputLength)>, fields::Noted> {
    let (key, kind, shape) = match (fields.has("pairs"), fields.has("dataset")) {
        (false, false) => return Ok(None),
        (true, _) => ("pairs", RowsKind::Pairs, &PAIRS),
        (false, true) => ("dataset", RowsKind::Dataset, &DATASET),
    };
    refuse(fields, whole, key, out)?;
    let node = fields.get(key, out).ok_or(fields::Noted)?;
    let (file, span) = file(node, key, shape, out).ok_or(fields::Noted)?;
    let most = most(fields, whole, around, out)?;
    let mut reader = Reading {
        what: "file",
        file,
        span,
        out,
    };
    let ask = FileAsk {
        reader: Reader::Class(class),
        file,
    };
    let text = (around.files)(ask).map_err(|reason| {
        let help = "its path is relative to the spec; correct it, or copy the file there";
        reader.error(
            "spec::file-unreadable",
            &format!("cannot be read: {reason}"),
            help,
        );
        fields::Noted
    })?;
    let rows = match text {
        FileText::Whole(text) if kind == RowsKind::Pairs => reader.pairs(&text, around, most),
        FileText::Whole(text) => reader.dataset(&text, around, most),
        FileText::Rows(stamp) => {
            let pinned = if stamp.pinned {
                OutputLength::Pinned
            } else {
                OutputLength::Natural
            };
            let rows = Rows {
                file: file.to_owned(),
                digest: stamp.digest,
                kind,
                size: stamp.size,
                rows: [].into(),
            };
            Some((rows, pinned))
        }
        // Whoever gives files gives a class's rows to a class.
        FileText::Replay(_) | FileText::Schema(_) => None,
    };
    rows.map(Some).ok_or(fields::Noted)
}

/// Notes fields that say again what the file says.
pub(super) fn refuse(
    fields: &Fields<'_>,
    whole: &str,
    key: &str,
    out: &mut Diagnostics,
) -> Result<(), fields::Noted> {
    let also: &[&str] = match key {
        "pairs" => &["input", "output", "buckets", "dataset"],
        "prompt" => &[
            "input", "output", "buckets", "prefix", "turns", "pairs", "dataset",
        ],
        _ => &["input", "output", "buckets", "prefix", "turns"],
    };
    let mut refused = false;
    for other in also {
        if let Some(span) = fields.key_span(other) {
            refused = true;
            out.error(
                "spec::conflicting-fields",
                span,
                format!("{whole} has both `{key}` and `{other}`"),
                format!("`{key}` gives whole requests; keep `{key}` or `{other}`"),
            );
        }
    }
    if refused { Err(fields::Noted) } else { Ok(()) }
}

/// The path: a text, or a mapping with `file`.
fn file<'n>(
    node: &'n Node,
    key: &str,
    shape: &Shape,
    out: &mut Diagnostics,
) -> Option<(&'n str, &'n Range<usize>)> {
    let node = if matches!(node.kind, Kind::Mapping(_)) {
        let fields = Fields::open(node, format!("`{key}`"), shape, out)?;
        fields.need("file", shape.example, out)?
    } else {
        node
    };
    let text = values::text(node, &format!("`{key}`"), shape.example, out)?;
    Some((text, &node.span))
}

/// The most tokens of an answer that ends by itself; `None` where nothing says.
pub(super) fn most(
    fields: &Fields<'_>,
    whole: &str,
    around: &Around<'_>,
    out: &mut Diagnostics,
) -> Result<Option<u32>, fields::Noted> {
    let most = fields.optional("max_output", out, |node, out| {
        length::tokens(node, "`max_output`", out)
    })?;
    if most.is_some() && fields.has("pairs") && around.output_length == OutputLength::Pinned {
        out.error(
            "spec::conflicting-fields",
            fields.key_span("max_output").unwrap_or(fields.span()),
            format!("{whole} has a pinned output length and `max_output`"),
            "the pairs say how long answers are; or set `output_length: natural`",
        );
        return Err(fields::Noted);
    }
    Ok(most.or(around.model.map(|model| (model / 2).max(1))))
}

/// Resolves one file, noting at its name what is wrong.
struct Reading<'r> {
    what: &'static str,
    file: &'r str,
    span: &'r Range<usize>,
    out: &'r mut Diagnostics,
}

impl Reading<'_> {
    fn pairs(
        &mut self,
        text: &str,
        around: &Around<'_>,
        most: Option<u32>,
    ) -> Option<(Rows, OutputLength)> {
        let trace = trace::pairs(text)
            .map_err(|error| self.refused(&error))
            .ok()?;
        self.warn_bad(trace.bad, trace.read, &trace.first_bad);
        let pinned = around.output_length == OutputLength::Pinned;
        let most = if pinned { Some(0) } else { most };
        let most = self.bound(most)?;
        let mut clipped = 0;
        let rows: Vec<FileRow> = trace
            .rows
            .iter()
            .map(|row| {
                let wanted = if pinned { row.output_tokens } else { most };
                let (input_tokens, output_tokens) = fit(row.input_tokens, wanted, around.model);
                let cut = input_tokens < row.input_tokens || (pinned && output_tokens < wanted);
                clipped += u32::from(cut);
                FileRow {
                    input_tokens,
                    output_tokens,
                    pinned,
                    said: None,
                    expected: None,
                }
            })
            .collect();
        if f64::from(clipped) > MOST_CLIPPED * rows.len() as f64 {
            let fault = format!(
                "has {} of {} rows that do not fit `limits.max_model_len`",
                scale::count(clipped.into()),
                scale::count(rows.len() as u64)
            );
            self.error(
                "spec::exceeds-model-length",
                &fault,
                "take another file, or raise the limit",
            );
            return None;
        }
        Some((
            self.rows(trace.digest, RowsKind::Pairs, rows),
            around.output_length,
        ))
    }

    fn dataset(
        &mut self,
        text: &str,
        around: &Around<'_>,
        most: Option<u32>,
    ) -> Option<(Rows, OutputLength)> {
        let dataset = trace::dataset(text)
            .map_err(|error| self.refused(&error))
            .ok()?;
        self.warn_bad(dataset.bad, dataset.read, &dataset.first_bad);
        let has_messages = |row: &Prompted| matches!(row.said, Asked::Messages(_));
        if around.api == Some(Api::Completions) && dataset.rows.iter().any(has_messages) {
            let help = "write `api: chat`, or give each row a `prompt`";
            self.error(
                "spec::dataset-of-chats",
                "has `messages`, which completions don't take",
                help,
            );
            return None;
        }
        let pins = |row: &Prompted| {
            row.output_tokens
                .filter(|_| around.output_length == OutputLength::Pinned)
        };
        let all_pinned = dataset.rows.iter().all(|row| pins(row).is_some());
        let most = self.bound(if all_pinned { Some(0) } else { most })?;
        let rows: Vec<FileRow> = dataset
            .rows
            .into_iter()
            .map(|row| {
                let pinned = pins(&row);
                let said = said(row.said);
                let bytes = match &said {
                    Said::Prompt(text) | Said::Messages(text) => text.len(),
                };
                FileRow {
                    input_tokens: bytes.div_ceil(BYTES_PER_TOKEN).max(1) as u32,
                    output_tokens: pinned.unwrap_or(most),
                    pinned: pinned.is_some(),
                    said: Some(said),
                    expected: row.expected.map(Into::into),
                }
            })
            .collect();
        let length = if all_pinned {
            OutputLength::Pinned
        } else {
            OutputLength::Natural
        };
        Some((self.rows(dataset.digest, RowsKind::Dataset, rows), length))
    }

    fn rows(&self, digest: crate::ident::Digest, kind: RowsKind, rows: Vec<FileRow>) -> Rows {
        Rows {
            file: self.file.to_owned(),
            digest,
            kind,
            size: RowsSize::of(&rows),
            rows: rows.into(),
        }
    }

    /// The bound of answers that end by themselves, noted where it is missing.
    fn bound(&mut self, most: Option<u32>) -> Option<u32> {
        if most.is_none() {
            self.error(
                "spec::missing-field",
                "has rows whose answers end by themselves, and nothing says where they are cut",
                "add `max_output: 1024` to the class, or pin `limits.max_model_len`",
            );
        }
        most
    }

    fn warn_bad(&mut self, bad: u32, read: u32, first: &[BadRow]) {
        if bad == 0 {
            return;
        }
        let named: Vec<String> = first
            .iter()
            .map(|row| format!("line {}: {}", row.line, row.fault))
            .collect();
        self.out.warning(
            "spec::bad-rows",
            self.span,
            format!(
                "the {} `{}` has {bad} of {} rows that can't be read",
                self.what,
                self.file,
                scale::count(read.into())
            ),
            format!("they are left out: {}", named.join("; ")),
        );
    }

    fn refused(&mut self, error: &trace::TraceError) {
        let help = "correct the file";
        self.error("spec::file-refused", &format!("is refused: {error}"), help);
    }

    fn error(&mut self, code: &'static str, fault: &str, help: &str) {
        let message = format!("the {} `{}` {fault}", self.what, self.file);
        self.out.error(code, self.span, message, help);
    }
}

/// Messages as JSON from inside the first one's content on.
fn said(asked: Asked) -> Said {
    match asked {
        Asked::Prompt(text) => Said::Prompt(text),
        Asked::Messages(mut messages) => {
            let first = messages
                .first_mut()
                .and_then(|first| first.remove("content"));
            let content = first.unwrap_or_default().to_string();
            let rest = serde_json::Value::from(messages).to_string();
            // `"text"` and `[{"role":…` become `text","role":…`: the list and the first message were
            // opened before.
            let content = content
                .get(1..content.len().saturating_sub(1))
                .unwrap_or_default();
            let rest = rest
                .get(2..rest.len().saturating_sub(1))
                .unwrap_or_default();
            Said::Messages(format!("{content}\",{rest}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_start_inside_the_first_content() {
        let row = "{\"messages\": [{\"role\": \"system\", \"content\": \"be \\\"brief\\\"\"}, \
                    {\"role\": \"user\", \"content\": \"hi\", \"name\": \"a\"}]}";
        let dataset = trace::dataset(row).unwrap();
        let Said::Messages(json) = said(dataset.rows[0].said.clone()) else {
            panic!("they are messages");
        };
        let whole = format!("[{{\"content\":\"{json}]");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&whole).unwrap(),
            serde_json::json!([
                {"role": "system", "content": "be \"brief\""},
                {"role": "user", "content": "hi", "name": "a"},
            ])
        );
    }
}
