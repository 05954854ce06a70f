//! `workload`: seed and classes.

use std::ops::Range;

use super::length;
use crate::spec::class::{Bucket, Cancel, Class, PrefixSharing};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::model::{Slo, SloClause, Workload};
use crate::spec::node::Node;
use crate::spec::values;
use crate::unit::Share;

const SHAPE: Shape = Shape {
    known: &["seed", "output_length", "classes"],
    later: &["dataset", "turns", "max_output", "think", "tenant"],
    example: "workload: {seed: 42, classes: [{name: chat, input: 1000, output: 200}]}",
};
const CLASS: Shape = Shape {
    known: &[
        "name", "weight", "input", "output", "buckets", "prefix", "cancel", "slo",
    ],
    later: &[
        "pairs",
        "turns",
        "tenant",
        "dataset",
        "quality",
        "max_output",
        "think",
        "output_length",
    ],
    example: "{name: chat, weight: 8, input: 1000, output: 200, slo: {ttft: 500ms}}",
};
const BUCKET: Shape = Shape {
    known: &["weight", "input", "output"],
    later: &[],
    example: "{weight: 3, input: {uniform: [1, 512]}, output: 200}",
};
const PREFIX: Shape = Shape {
    known: &["tokens", "groups", "share"],
    later: &[],
    example: "{tokens: 512, groups: 8, share: 0.6}",
};
const CANCEL: Shape = Shape {
    known: &["share", "after"],
    later: &[],
    example: "{share: 5%, after: 2s}",
};
const SLO: Shape = Shape {
    known: &["ttft", "ttfa", "tpot", "itl_max", "e2e"],
    later: &[],
    example: "{ttft: 500ms, tpot: 40ms, e2e: 60s}",
};

/// The classes as far as they could be read.
pub(super) struct Classes {
    seed: Option<u64>,
    drafts: Vec<Draft>,
}

struct Draft {
    /// As written, even where it is no name.
    name: Option<String>,
    class: Option<Class>,
}

impl Classes {
    /// Reads `workload`.
    pub(super) fn lower(
        fields: &Fields<'_>,
        max_model_len: Option<u32>,
        out: &mut Diagnostics,
    ) -> Self {
        let mut classes = Self {
            seed: None,
            drafts: Vec::new(),
        };
        let Some(node) = fields.need("workload", SHAPE.example, out) else {
            return classes;
        };
        let Some(fields) = Fields::open(node, "`workload`", &SHAPE, out) else {
            return classes;
        };
        classes.seed = fields.or("seed", 0, out, |node, out| {
            values::whole_number(node, "`seed`", 0..=u64::MAX, "42", out)
        });
        if let Some(node) = fields.get("output_length", out) {
            values::choice(
                node,
                "`output_length`",
                &[("pinned", ())],
                &["natural"],
                out,
            );
        }
        let items = fields
            .need("classes", SHAPE.example, out)
            .and_then(|node| values::items(node, "`classes`", SHAPE.example, out))
            .unwrap_or_default();
        for item in items {
            let draft = class(item, max_model_len, &classes, out);
            classes.drafts.push(draft);
        }
        classes
    }

    /// Whether every class has a name, so that another name is known to be wrong.
    pub(super) fn all_named(&self) -> bool {
        !self.drafts.is_empty() && self.drafts.iter().all(|draft| draft.name.is_some())
    }

    /// The classes' names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.drafts.iter().filter_map(|draft| draft.name.as_deref())
    }

    /// The whole workload; `None` where a class could not be read.
    pub(super) fn workload(&self) -> Option<Workload> {
        let classes: Option<Vec<Class>> = self
            .drafts
            .iter()
            .map(|draft| draft.class.clone())
            .collect();
        let classes = classes.filter(|classes| !classes.is_empty())?;
        Some(Workload {
            seed: self.seed.unwrap_or_default(),
            classes,
        })
    }

    /// The whole workload, where seed and classes could be read.
    pub(super) fn into_workload(self) -> Option<Workload> {
        self.seed.and(self.workload())
    }
}

fn class(
    node: &Node,
    max_model_len: Option<u32>,
    before: &Classes,
    out: &mut Diagnostics,
) -> Draft {
    let mut draft = Draft {
        name: None,
        class: None,
    };
    let whole = named("class", node);
    let Some(fields) = Fields::open(node, whole.as_str(), &CLASS, out) else {
        return draft;
    };
    let name_node = fields.need("name", "name: chat", out);
    draft.name = name_node
        .and_then(Node::scalar)
        .map(|scalar| scalar.text.clone());
    let name = name_node.and_then(|node| {
        let name = values::name(node, "`name`", "chat", out)?;
        if before.names().any(|other| other == name.as_str()) {
            duplicate_name("class", &node.span, name.as_str(), out);
        }
        if name.as_str() == "each" {
            out.error(
                "spec::bad-name",
                &node.span,
                "`each` cannot name a class: in a cell it means every class",
                "choose another name",
            );
        }
        Some(name)
    });
    let weight = fields.or("weight", 1.0, out, weight);
    let prefix = fields.optional("prefix", out, |node, out| prefix(node, &whole, out));
    let cancel = fields.optional("cancel", out, |node, out| cancel(node, &whole, out));
    let slo = fields.or("slo", Slo::new(), out, |node, out| slo(node, &whole, out));
    let lengths = prefix.ok().map(|prefix| Lengths {
        prefix,
        model: max_model_len,
    });
    let buckets = lengths
        .as_ref()
        .and_then(|lengths| lengths.of(&fields, &whole, out));
    draft.class = (|| {
        Some(Class {
            name: name?,
            weight: weight?,
            lengths: buckets?,
            prefix: prefix.ok()?,
            cancel: cancel.ok()?,
            slo: slo?,
        })
    })();
    draft
}

/// What the lengths of a class have to go with.
struct Lengths {
    prefix: Option<PrefixSharing>,
    model: Option<u32>,
}

impl Lengths {
    /// The one pair of a class, or its buckets.
    fn of(&self, fields: &Fields<'_>, whole: &str, out: &mut Diagnostics) -> Option<Vec<Bucket>> {
        const EXAMPLE: &str = "buckets: [{weight: 3, input: 500, output: 200}]";
        if fields.has("pairs") {
            // That a later version reads them is said already.
            return None;
        }
        if !fields.has("buckets") {
            return self.pair(fields, whole, out).map(|pair| vec![pair]);
        }
        for key in ["input", "output"] {
            if let Some(place) = fields.key_span(key) {
                out.error(
                    "spec::conflicting-fields",
                    place,
                    format!("{whole} has both `buckets` and `{key}`"),
                    "each bucket has an input and an output of its own",
                );
            }
        }
        let items = values::items(fields.get("buckets", out)?, "`buckets`", EXAMPLE, out)?;
        let buckets: Vec<Option<Bucket>> = items
            .iter()
            .map(|item| {
                let whole = format!("a bucket of {whole}");
                let fields = Fields::open(item, whole.as_str(), &BUCKET, out)?;
                let weight = fields.or("weight", 1.0, out, weight);
                let pair = self.pair(&fields, &whole, out);
                Some(Bucket {
                    weight: weight?,
                    ..pair?
                })
            })
            .collect();
        buckets.into_iter().collect()
    }

    /// `input` and `output` of a class or bucket.
    fn pair(&self, fields: &Fields<'_>, whole: &str, out: &mut Diagnostics) -> Option<Bucket> {
        let mut side = |key: &str, example: &str| {
            let node = fields.need(key, example, out)?;
            let length = length::lower(node, &format!("`{key}` of {whole}"), out)?;
            Some((length, &node.span))
        };
        let input = side("input", "input: {lognormal: {p50: 1400, p95: 3500}}");
        let output = side("output", "output: {uniform: [300, 800]}");
        let ((input, input_span), (output, output_span)) = (input?, output?);
        let pair = length::Pair {
            input,
            output,
            prefix: self.prefix,
            input_span,
            output_span,
        };
        let (input, output) = pair.fit(whole, self.model, out)?;
        Some(Bucket {
            weight: 1.0,
            input,
            output,
        })
    }
}

/// "class `chat`", or "a class" where it has no name.
pub(super) fn named(what: &str, node: &Node) -> String {
    use crate::spec::node::Kind;
    let name = match &node.kind {
        Kind::Mapping(entries) => entries
            .iter()
            .find(|entry| entry.key == "name")
            .and_then(|entry| entry.value.scalar()),
        Kind::Null | Kind::Scalar(_) | Kind::Sequence(_) => None,
    };
    match name {
        Some(name) => format!("{what} `{}`", name.shown()),
        None => format!("a {what}"),
    }
}

/// Notes that a name is taken.
pub(super) fn duplicate_name(what: &str, span: &Range<usize>, name: &str, out: &mut Diagnostics) {
    out.error(
        "spec::duplicate-name",
        span,
        format!("there is a {what} `{name}` already"),
        "give each a name of its own",
    );
}

fn weight(node: &Node, out: &mut Diagnostics) -> Option<f64> {
    let weight = values::number(node, "`weight`", "weight: 8", out)?;
    if !(1e-6..=1e6).contains(&weight) {
        fields::out_of_range(
            node,
            "`weight`",
            "it must be above 0, at most 1,000,000",
            out,
        );
        return None;
    }
    Some(weight)
}

fn prefix(node: &Node, whole: &str, out: &mut Diagnostics) -> Option<PrefixSharing> {
    let fields = Fields::open(node, format!("`prefix` of {whole}"), &PREFIX, out)?;
    let tokens = fields
        .need("tokens", PREFIX.example, out)
        .and_then(|node| length::tokens(node, "`tokens`", out));
    let groups = fields.or("groups", 1, out, |node, out| {
        values::whole_number(node, "`groups`", 1..=1_000_000, "groups: 8", out)
    });
    let share = fields.or("share", 1.0, out, share);
    Some(PrefixSharing {
        tokens: tokens?,
        groups: groups?,
        share: share?,
    })
}

/// `0.05` or `5%` of the class's requests.
fn share(node: &Node, out: &mut Diagnostics) -> Option<f64> {
    const EXAMPLE: &str = "share: 5%";
    let percent = node
        .scalar()
        .is_some_and(|scalar| scalar.text.ends_with('%'));
    let share = if percent {
        match values::quantity(node, "`share`", EXAMPLE, out)? {
            Share::Percent(share) | Share::Points(share) => share,
        }
    } else {
        values::number(node, "`share`", EXAMPLE, out)?
    };
    if (0.0..=1.0).contains(&share) {
        return Some(share);
    }
    fields::out_of_range(
        node,
        "`share`",
        "it must be from 0 to 1, or 0% to 100%",
        out,
    );
    None
}

fn cancel(node: &Node, whole: &str, out: &mut Diagnostics) -> Option<Cancel> {
    let fields = Fields::open(node, format!("`cancel` of {whole}"), &CANCEL, out)?;
    let share = fields
        .need("share", CANCEL.example, out)
        .and_then(|node| share(node, out));
    let after = fields
        .need("after", CANCEL.example, out)
        .and_then(|node| values::time(node, "`after`", "after: 2s", out));
    Some(Cancel {
        share: share?,
        after: after?,
    })
}

fn slo(node: &Node, whole: &str, out: &mut Diagnostics) -> Option<Slo> {
    let fields = Fields::open(node, format!("`slo` of {whole}"), &SLO, out)?;
    let mut slo = Slo::new();
    for clause in SloClause::ALL {
        let key = clause.name();
        if let Some(node) = fields.get(key, out) {
            let example = format!("{key}: 500ms");
            if let Some(limit) = values::time(node, &format!("`{key}`"), &example, out) {
                slo.insert(clause, limit);
            }
        }
    }
    let below = |part: SloClause| match (slo.get(&part), slo.get(&SloClause::E2e)) {
        (Some(part), Some(whole)) => part > whole,
        _ => false,
    };
    for part in [SloClause::Ttft, SloClause::Ttfa] {
        if below(part) {
            let span = fields.key_span(part.name()).unwrap_or(fields.span());
            out.error(
                "spec::contradiction",
                span,
                format!("the limit of `{}` is above that of `e2e`", part.name()),
                "the whole request takes at least as long as its first token",
            );
        }
    }
    Some(slo)
}
