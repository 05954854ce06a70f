//! `quality` of the whole spec: scores that other tools measured.

use crate::metric::TaskName;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Shape};
use crate::spec::import::Import;
use crate::spec::node::Entry;
use crate::spec::values;

const SHAPE: Shape = Shape {
    known: &["import"],
    later: &[],
    example: "quality: {import: {gsm8k: {candidate: results.json, task: gsm8k, metric: exact_match}}}",
};
const IMPORTS: &str =
    "import: {gsm8k: {candidate: results.json, task: gsm8k, metric: exact_match}}";
const IMPORT: Shape = Shape {
    known: &["task", "metric", "filter", "baseline", "candidate"],
    later: &[],
    example: "gsm8k: {baseline: base.json, candidate: head.json, task: gsm8k, metric: exact_match}",
};

/// The imports as far as they could be read.
#[derive(Debug, Default)]
pub(super) struct Imports {
    /// As written.
    names: Vec<String>,
    imports: Vec<Option<Import>>,
}

impl Imports {
    /// All; `None` where one is wrong.
    pub(super) fn whole(self) -> Option<Vec<Import>> {
        self.imports.into_iter().collect()
    }

    /// Their names as written.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

pub(super) fn lower(fields: &Fields<'_>, out: &mut Diagnostics) -> Imports {
    let mut imports = Imports::default();
    if !fields.has("quality") {
        return imports;
    }
    let entries = fields.section("quality", &SHAPE, out).and_then(|quality| {
        let node = quality.need("import", IMPORTS, out)?;
        // Its keys are names of the spec's own choice.
        values::entries(node, "`import`", IMPORTS, out)
    });
    let Some(entries) = entries else {
        imports.imports.push(None);
        return imports;
    };
    for entry in entries {
        imports.names.push(entry.key.clone());
        imports.imports.push(import(entry, out));
    }
    imports
}

fn import(entry: &Entry, out: &mut Diagnostics) -> Option<Import> {
    let name = entry.key.parse::<TaskName>();
    if let Err(error) = &name {
        out.error(
            "spec::bad-name",
            &entry.key_span,
            error.to_string(),
            "cells name it as `quality.imported.NAME`: take one like `gsm8k`",
        );
    }
    let whole = format!("import `{}`", entry.key);
    let fields = Fields::open(&entry.value, whole, &IMPORT, out)?;
    let text = |key: &'static str, example: &str, out: &mut Diagnostics| {
        fields.optional(key, out, |node, out| {
            values::text(node, &format!("`{key}`"), example, out).map(str::to_owned)
        })
    };
    let task = text("task", "task: gsm8k", out);
    let filter = text("filter", "filter: strict-match", out);
    let baseline = text("baseline", "baseline: base.json", out);
    let metric = fields
        .need("metric", "metric: exact_match", out)
        .and_then(|node| values::text(node, "`metric`", "metric: exact_match", out));
    let candidate = fields
        .need("candidate", "candidate: results.json", out)
        .and_then(|node| values::text(node, "`candidate`", "candidate: results.json", out));
    Some(Import {
        name: name.ok()?,
        task: task.ok()?.unwrap_or_else(|| entry.key.clone()),
        metric: metric?.to_owned(),
        filter: filter.ok()?,
        baseline: baseline.ok()?,
        candidate: candidate?.to_owned(),
    })
}
