//! `quality` of a class: what is asked of its answers.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use super::import::Imports;
use super::request;
use crate::diag::suggest;
use crate::metric::{CellMetric, Statistic};
use crate::quality::{Check, CheckError, CheckKind, Expected, Pattern, Quality, Schema};
use crate::spec::class::{Class, OutputLength};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Shape};
use crate::spec::files::{FileAsk, FileText, Files, Reader};
use crate::spec::model::Workload;
use crate::spec::node::{Kind, Node};
use crate::spec::rows::{Rows, RowsKind};
use crate::spec::values;

const SHAPE: Shape = Shape {
    known: &["json_schema", "regex", "exact", "agreement"],
    later: &[],
    example: "quality: [{json_schema: answer.schema.json}, {agreement: true}]",
};

/// What a class's checks have to go with.
pub(super) struct Around<'a> {
    pub(super) files: Files<'a>,
    pub(super) rows: Option<&'a Rows>,
    pub(super) output_length: OutputLength,
    pub(super) has_turns: bool,
    /// Fields of its requests: its own, then the spec's.
    pub(super) request: [&'a BTreeMap<String, Value>; 2],
}

pub(super) fn lower(
    node: &Node,
    whole: &str,
    around: &Around<'_>,
    out: &mut Diagnostics,
) -> Option<Quality> {
    let items = values::items(node, "`quality`", SHAPE.example, out)?;
    let mut quality = Quality {
        checks: Vec::new(),
        agreement: false,
    };
    let mut all = true;
    for item in items {
        all &= one(item, whole, around, &mut quality, out).is_some();
    }
    if !all {
        return None;
    }
    let whole_answers = quality.checks.is_empty() || checkable(&node.span, whole, around, out);
    let alike = !quality.agreement || agreeable(&node.span, whole, around, out);
    (whole_answers && alike).then_some(quality)
}

fn one(
    item: &Node,
    whole: &str,
    around: &Around<'_>,
    quality: &mut Quality,
    out: &mut Diagnostics,
) -> Option<()> {
    let fields = Fields::open(item, format!("a check of {whole}"), &SHAPE, out)?;
    let key = fields.exactly_one(SHAPE.known, "json_schema: answer.schema.json", out)?;
    let node = fields.get(key, out)?;
    let check = match key {
        "json_schema" => Check::JsonSchema(schema(node, around, out)?),
        "regex" => {
            let text = values::text(node, "`regex`", "regex: '^\\d+$'", out)?;
            let pattern = Pattern::new(text).map_err(|error| refused(node, &error, out));
            Check::Regex(pattern.ok()?)
        }
        "exact" => Check::Exact(exact(node, around, out)?),
        _ => {
            quality.agreement = values::boolean(node, "`agreement`", "agreement: true", out)?;
            return Some(());
        }
    };
    quality.checks.push(check);
    Some(())
}

/// A schema in place, or the path of its file.
fn schema(node: &Node, around: &Around<'_>, out: &mut Diagnostics) -> Option<Schema> {
    if matches!(node.kind, Kind::Mapping(_)) {
        let value = request::json(node, "json_schema", out)?;
        return Schema::new(&value)
            .map_err(|error| refused(node, &error, out))
            .ok();
    }
    let file = values::text(
        node,
        "`json_schema`",
        "json_schema: answer.schema.json",
        out,
    )?;
    let ask = FileAsk {
        reader: Reader::Schema,
        file,
    };
    let mut wrong = |code, fault: String, help: &str| {
        out.error(
            code,
            &node.span,
            format!("the schema `{file}` {fault}"),
            help,
        );
    };
    let text = match (around.files)(ask) {
        Ok(FileText::Whole(text)) => text,
        Ok(FileText::Schema(stamp)) => return Some(Schema::kept(stamp.digest).from_file(file)),
        // Whoever gives files gives a schema to a check.
        Ok(FileText::Replay(_) | FileText::Rows(_)) => return None,
        Err(reason) => {
            wrong(
                "spec::file-unreadable",
                format!("cannot be read: {reason}"),
                "its path is relative to the spec; correct it, or copy the file there",
            );
            return None;
        }
    };
    let schema = serde_json::from_str::<Value>(&text)
        .map_err(|error| error.to_string())
        .and_then(|value| Schema::new(&value).map_err(|error| error.to_string()));
    match schema {
        Ok(schema) => Some(schema.from_file(file)),
        Err(reason) => {
            wrong(
                "spec::file-refused",
                format!("is refused: {reason}"),
                "correct the file",
            );
            None
        }
    }
}

/// A text, or `true` for what each row of the dataset expects.
fn exact(node: &Node, around: &Around<'_>, out: &mut Diagnostics) -> Option<Expected> {
    const EXAMPLE: &str = "exact: \"yes\"";
    let of_row = node
        .scalar()
        .is_some_and(|scalar| scalar.text == "true" && !scalar.quoted);
    if !of_row {
        let text = values::text(node, "`exact`", EXAMPLE, out)?;
        return Some(Expected::Text(text.to_owned()));
    }
    // A run keeps no rows, and its answers are checked.
    let rows = around.rows.map_or(&[][..], |rows| &rows.rows);
    let missing = rows.iter().filter(|row| row.expected.is_none()).count();
    if missing > 0 {
        out.error(
            "spec::needs-expected",
            &node.span,
            format!(
                "`exact: true` holds answers against `expected` of their rows, and {missing} of {} \
                 rows have none",
                rows.len()
            ),
            format!("give each row an `expected`, or write one text for all: `{EXAMPLE}`"),
        );
        return None;
    }
    Some(Expected::OfRow)
}

fn refused(node: &Node, error: &CheckError, out: &mut Diagnostics) {
    let (code, help) = match error {
        CheckError::Schema { .. } => (
            "spec::bad-schema",
            "any draft is taken; `$ref` has to stay in the schema, patterns take no look-around",
        ),
        CheckError::Pattern { .. } => (
            "spec::bad-regex",
            "the syntax is that of Rust's `regex`, without look-around and back-references",
        ),
    };
    out.error(code, &node.span, error.to_string(), help);
}

/// Whether answers say what their prompt asks for, and end where they end.
fn checkable(span: &Range<usize>, whole: &str, around: &Around<'_>, out: &mut Diagnostics) -> bool {
    let pinned_row = around
        .rows
        .is_some_and(|rows| rows.rows.iter().any(|row| row.pinned));
    if around.output_length == OutputLength::Pinned || pinned_row {
        out.error(
            "spec::contradiction",
            span,
            format!("{whole} checks its answers, and their length is pinned"),
            "a pinned answer runs on past its end (`ignore_eos`), so it is never whole: write \
             `output_length: natural` with `max_output`, and no `output_tokens` in rows",
        );
        return false;
    }
    let asks = around
        .rows
        .is_some_and(|rows| rows.kind == RowsKind::Dataset);
    if !asks {
        out.error(
            "spec::made-up-prompts",
            span,
            format!("{whole} checks its answers, and its prompts are made-up words"),
            "give it a `dataset` or a `prompt`; made-up prompts go with `agreement` alone",
        );
    }
    asks
}

/// Whether the same prompt has the same answer, as far as the engine can help.
fn agreeable(span: &Range<usize>, whole: &str, around: &Around<'_>, out: &mut Diagnostics) -> bool {
    let temperature = around
        .request
        .iter()
        .find_map(|request| request.get("temperature"));
    let is_greedy = temperature.and_then(Value::as_f64) == Some(0.0);
    if !is_greedy {
        let said = match temperature {
            None => "has no `temperature`".to_owned(),
            Some(value) => format!("has `temperature: {value}`"),
        };
        out.error(
            "spec::needs-greedy",
            span,
            format!("{whole} asks for agreement and {said}"),
            "answers that are drawn agree by chance alone: write `request: {temperature: 0}`",
        );
    }
    if around.has_turns {
        out.error(
            "spec::conflicting-fields",
            span,
            format!("{whole} asks for agreement and has `turns`"),
            "a later turn carries the earlier answers, so one difference makes all that follow; ask \
             for it in a class of single requests",
        );
    }
    is_greedy && !around.has_turns
}

/// Notes a cell of quality that nothing in the spec measures.
pub(super) fn check_cell(
    fields: &Fields<'_>,
    (metric, classes): (CellMetric, &[Option<String>]),
    (workload, imports): (Option<&Workload>, &Imports),
    place: &Range<usize>,
    out: &mut Diagnostics,
) {
    if let Statistic::Task(name) = metric.statistic() {
        for key in ["stages", "classes"] {
            if let Some(span) = fields.key_span(key) {
                out.error(
                    "spec::conflicting-fields",
                    span,
                    format!("`{metric}` is one figure of the whole side and takes no `{key}`"),
                    "leave it out",
                );
            }
        }
        if !imports.names().any(|import| import == name.as_str()) {
            let near = suggest(name.as_str(), imports.names());
            out.error(
                "spec::unknown-import",
                place,
                format!("nothing is imported as `{name}`"),
                match near {
                    Some(near) => format!("did you mean `quality.imported.{near}`?"),
                    None => format!(
                        "declare it: `quality: {{import: {{{name}: {{candidate: results.json, \
                         metric: exact_match}}}}}}`"
                    ),
                },
            );
        }
        return;
    }
    let Some(workload) = workload else {
        return;
    };
    let kind = CheckKind::counted_by(metric.metric());
    let asked = |class: &Class| match (kind, &class.quality) {
        (_, None) => false,
        (Some(kind), Some(quality)) => quality.kinds().any(|asked| asked == kind),
        (None, Some(quality)) => quality.agreement,
    };
    let (field, example) = match kind {
        None => ("agreement", "agreement: true"),
        Some(CheckKind::ValidJson) => ("json_schema", "json_schema: answer.schema.json"),
        Some(CheckKind::Regex) => ("regex", "regex: '^yes'"),
        Some(CheckKind::Exact) => ("exact", "exact: \"yes\""),
    };
    for class in classes {
        let of = |candidate: &&Class| {
            class
                .as_deref()
                .is_none_or(|class| candidate.name.as_str() == class)
        };
        if workload.classes.iter().filter(of).any(asked) {
            continue;
        }
        let who = match class {
            Some(class) => format!("class `{class}` does not ask for it"),
            None => "no class asks for it".to_owned(),
        };
        out.error(
            "spec::needs-quality",
            place,
            format!("`{metric}` counts answers by `{field}`, and {who}"),
            format!("give the class a `quality: [{{{example}}}]`"),
        );
    }
}
