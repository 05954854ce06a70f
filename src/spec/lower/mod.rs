//! Tree to spec: every field read, every rule checked, every mistake noted.
//!
//! Each part reads what it can although another part is wrong, so that one look shows everything;
//! a rule across parts is skipped where a part it speaks about could not be read.

mod aftermath;
mod archive;
mod arrival;
mod buckets;
mod budget;
mod cache;
mod capacity;
mod cells;
mod connection;
mod conversation;
mod defaults;
mod energy;
mod gate;
mod happenings;
mod import;
mod launch;
mod length;
mod limit;
mod metrics;
mod pins;
mod prompt;
mod quality;
mod records;
mod refine;
mod request;
mod rows;
mod sampling;
mod slo;
mod stages;
mod stopping;
mod support;
mod target;
mod targets;
mod tenants;
mod timeouts;
mod trace;
mod trade;
mod warmup;
mod wholes;
mod workload;

pub use target::base_url;

use super::connection::Answers;
use super::diagnostics::Diagnostics;
use super::fields::{self, Fields, Shape};
use super::files::Files;
use super::model::Spec;
use super::node::Node;
use super::values;
use super::written::Written;

/// The fields of a spec.
pub(super) const SHAPE: Shape = Shape {
    known: &[
        "infergate",
        "requires",
        "name",
        "target",
        "targets",
        "baseline",
        "pins",
        "under_test",
        "request",
        "workload",
        "stages",
        "gate",
        "timeouts",
        "limits",
        "cost",
        "capacity",
        "quality",
        "records",
        "archive",
        "extends",
    ],
    later: &["urls", "tls", "headers", "events", "labels", "only"],
    example: "infergate: 1",
};

/// The format that this version reads.
const FORMAT: u32 = 1;

/// The whole spec; `None` where anything is wrong, with the reasons noted.
pub(super) fn lower(
    root: &Node,
    written: Written,
    files: Files<'_>,
    out: &mut Diagnostics,
) -> Option<Spec> {
    let fields = Fields::open(root, "the spec", &SHAPE, out)?;
    format(&fields, out);
    requires(&fields, out);
    let name = fields
        .need("name", "name: chat-8b", out)
        .and_then(|node| values::name(node, "`name`", "chat-8b", out));
    let (target, beside) = targets::lower(&fields, out).unzip();
    let baseline = target::baseline(&fields, target.as_ref(), out);
    let pins = pins::lower(&fields, target.as_ref(), out);
    let request = request::lower(&fields, out);
    let cost = budget::cost(&fields, out);
    let capacity = capacity::lower(&fields, out);
    let known = cost.as_ref().ok().and_then(Option::as_ref);
    let limits = budget::limits(&fields, known, &pins.declared, out);
    let model_len = pins::max_model_len(&pins.declared);
    let api = target.as_ref().map(|target| target.api);
    let classes = workload::Classes::lower(&fields, model_len, (files, api, &request), out);
    if classes.have_tenants() {
        request::refuse_user(&fields, "the spec", &request, out);
    }
    let timeouts = timeouts::lower(&fields, &classes, out);
    let around = trace::Around {
        classes: &classes,
        model_len,
        files,
    };
    let stages = stages::Stages::lower(&fields, &around, out);
    classes.warn_of_nothing_shared(&stages, out);
    let imports = import::lower(&fields, out);
    let keep_text = records::lower(&fields, out);
    let archive = archive::lower(&fields, out);
    let gate = gate::lower(&fields, &classes, (&stages, &imports), out);
    let answers = target.as_ref().map(|target| target.connection.answers);
    if answers == Some(Answers::Whole) {
        let workload = classes.workload();
        let classes = workload
            .as_ref()
            .map_or(&[][..], |workload| &workload.classes);
        connection::refuse_unseen(&fields, classes, gate.as_ref(), out);
    }
    if let (Some(gate), Some(target), Ok(baseline)) = (&gate, &target, &baseline) {
        launch::refuse_cold(&target.place, baseline.as_ref(), gate, out);
        energy::refuse(&target.place, gate, out);
    }
    if let Some(gate) = &gate {
        stages.warn_short_warmup(gate, target.as_ref(), out);
        if stages.complete() {
            aftermath::refuse(&stages, gate, out);
        }
    }
    for target in target.iter().chain(beside.iter().flatten()) {
        stages.refuse_events_elsewhere(target, out);
    }
    if out.has_errors() {
        return None;
    }
    Some(Spec {
        name: name?,
        target: target?,
        beside: beside?,
        baseline: baseline.ok()?,
        pins: pins.declared,
        under_test: pins.under_test,
        request,
        workload: classes.into_workload()?,
        stages: stages.into_stages()?,
        gate: gate?,
        timeouts: timeouts?,
        limits: limits.ok()?,
        cost: cost.ok()?,
        capacity: capacity.ok()?,
        imports: imports.whole()?,
        archive: archive.ok()?,
        keep_text: keep_text?,
        text: written.text,
        content: written.content,
        sources: written.sources,
        select: Vec::new(),
    })
}

fn format(fields: &Fields<'_>, out: &mut Diagnostics) {
    let Some(node) = fields.need("infergate", SHAPE.example, out) else {
        return;
    };
    let format = values::whole_number(node, "`infergate`", 1..=u32::MAX, SHAPE.example, out);
    if format.is_some_and(|format| format > FORMAT) {
        out.error(
            "spec::newer-format",
            &node.span,
            format!(
                "spec format {} is newer than this version reads",
                node.describe()
            ),
            format!("use a newer infergate, or write format {FORMAT}"),
        );
    }
}

/// `requires: ">=0.3"`: the oldest version that may read the spec.
fn requires(fields: &Fields<'_>, out: &mut Diagnostics) {
    const EXAMPLE: &str = "requires: \">=0.3\"";
    let Some(node) = fields.get("requires", out) else {
        return;
    };
    let Some(text) = values::text(node, "`requires`", EXAMPLE, out) else {
        return;
    };
    let Some(wanted) = text.trim().strip_prefix(">=").and_then(version) else {
        fields::wrong_type(node, "`requires`", "a version like `>=0.3`", EXAMPLE, out);
        return;
    };
    if version(super::VERSION).is_some_and(|ours| ours < wanted) {
        out.error(
            "spec::newer-version",
            &node.span,
            format!(
                "the spec needs infergate {text}, and this is {}",
                super::VERSION
            ),
            "install that version",
        );
    }
}

/// `1`, `1.2` or `1.2.3` as numbers that sort.
fn version(text: &str) -> Option<[u64; 3]> {
    let mut parts = [0; 3];
    let mut given = text.trim().split('.');
    for part in &mut parts {
        match given.next() {
            Some(digits) => *part = digits.parse().ok()?,
            None => break,
        }
    }
    given.next().is_none().then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_sort_by_number() {
        assert!(version("0.10") > version("0.9.9"));
        assert_eq!(version("1"), Some([1, 0, 0]));
        assert_eq!(version("1.2.3.4"), None);
        assert_eq!(version("x"), None);
        assert_eq!(version(""), None);
    }
}
