//! `workload`: seed and classes.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use super::buckets::Lengths;
use super::stages::Stages;
use super::{cache, conversation, length, prompt, quality, request, rows, slo, tenants};
use crate::spec::cache::CacheRegime;
use crate::spec::class::{Cancel, Class, OutputLength, PrefixSharing};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::files::Files;
use crate::spec::model::{Api, Slo, Workload};
use crate::spec::node::Node;
use crate::spec::tenants::Tenants;
use crate::spec::values;
use crate::unit::Share;

const SHAPE: Shape = Shape {
    known: &["seed", "output_length", "cache", "tenants", "classes"],
    later: &[],
    example: "workload: {seed: 42, classes: [{name: chat, input: 1000, output: 200}]}",
};
const CLASS: Shape = Shape {
    known: &[
        "name",
        "weight",
        "input",
        "output",
        "buckets",
        "pairs",
        "dataset",
        "prompt",
        "output_length",
        "max_output",
        "prefix",
        "cancel",
        "turns",
        "think",
        "tenants",
        "request",
        "quality",
        "slo",
    ],
    later: &[],
    example: "{name: chat, weight: 8, input: 1000, output: 200, slo: {ttft: 500ms}}",
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

/// The classes as far as they could be read.
pub(super) struct Classes {
    seed: Option<u64>,
    cache: Option<CacheRegime>,
    /// Where it is declared.
    cache_span: Option<Range<usize>>,
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
        (files, api, asked): (Files<'_>, Option<Api>, &BTreeMap<String, Value>),
        out: &mut Diagnostics,
    ) -> Self {
        let mut classes = Self {
            seed: None,
            cache: None,
            cache_span: None,
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
        classes.cache = fields.or("cache", CacheRegime::default(), out, cache::lower);
        classes.cache_span = fields.key_span("cache").cloned();
        let defaults = Defaults {
            files,
            api,
            request: asked,
            max_model_len,
            output_length: fields.or("output_length", OutputLength::Pinned, out, output_length),
            tenants: fields.optional("tenants", out, tenants::lower),
        };
        let items = fields
            .need("classes", SHAPE.example, out)
            .and_then(|node| values::items(node, "`classes`", SHAPE.example, out))
            .unwrap_or_default();
        for item in items {
            let draft = class(item, &defaults, &classes, out);
            classes.drafts.push(draft);
        }
        classes
    }

    /// Warns of a regime that changes nothing.
    pub(super) fn warn_of_nothing_shared(&self, stages: &Stages, out: &mut Diagnostics) {
        if let (Some(span), Some(workload)) = (&self.cache_span, self.workload())
            && workload.cache == CacheRegime::Warm
        {
            cache::warn_of_nothing_shared(span, &workload.classes, stages, out);
        }
    }

    /// Whether every class has a name, so that another name is known to be wrong.
    pub(super) fn all_named(&self) -> bool {
        !self.drafts.is_empty() && self.drafts.iter().all(|draft| draft.name.is_some())
    }

    /// Whether requests of any class name their tenant.
    pub(super) fn have_tenants(&self) -> bool {
        let classes = self.drafts.iter().filter_map(|draft| draft.class.as_ref());
        classes.into_iter().any(|class| class.tenants.is_some())
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
            cache: self.cache.unwrap_or_default(),
            classes,
        })
    }

    /// The whole workload, where seed and classes could be read.
    pub(super) fn into_workload(self) -> Option<Workload> {
        self.seed.and(self.cache).and(self.workload())
    }
}

/// What a class has where it says nothing itself.
struct Defaults<'a> {
    files: Files<'a>,
    api: Option<Api>,
    request: &'a BTreeMap<String, Value>,
    max_model_len: Option<u32>,
    output_length: Option<OutputLength>,
    tenants: Result<Option<Tenants>, fields::Noted>,
}

fn class(node: &Node, defaults: &Defaults<'_>, before: &Classes, out: &mut Diagnostics) -> Draft {
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
    let slo = fields.or("slo", Slo::new(), out, |node, out| {
        slo::lower(node, &whole, out)
    });
    let output_length = fields
        .optional("output_length", out, output_length)
        .ok()
        .and_then(|own| own.or(defaults.output_length));
    let max_model_len = defaults.max_model_len;
    let turns = output_length
        .ok_or(fields::Noted)
        .and_then(|length| conversation::turns(&fields, &whole, length, max_model_len, out));
    let tenants = fields
        .optional("tenants", out, tenants::lower)
        .and_then(|own| match own {
            Some(own) => Ok(Some(own)),
            None => defaults.tenants.clone(),
        });
    let request = request::lower(&fields, out);
    if let Ok(Some(_)) = tenants {
        request::refuse_user(&fields, &whole, &request, out);
    }
    let rows = output_length
        .ok_or(fields::Noted)
        .and_then(|output_length| {
            let around = rows::Around {
                files: defaults.files,
                model: max_model_len,
                api: defaults.api,
                output_length,
            };
            let class = draft.name.as_deref().unwrap_or_default();
            if fields.has("prompt") {
                prompt::lower(&fields, &whole, &around, out).map(Some)
            } else {
                rows::lower(&fields, &whole, class, &around, out)
            }
        });
    let quality = fields.optional("quality", out, |node, out| {
        let rows = rows.as_ref().ok()?.as_ref();
        let around = quality::Around {
            files: defaults.files,
            rows: rows.map(|(rows, _)| rows),
            output_length: rows.map_or(output_length?, |(_, length)| *length),
            has_turns: fields.has("turns"),
            request: [&request, defaults.request],
        };
        quality::lower(node, &whole, &around, out)
    });
    let buckets = prefix
        .ok()
        .zip(output_length)
        .and_then(|(prefix, output_length)| {
            let lengths = Lengths {
                prefix,
                model: max_model_len,
                output_length,
            };
            lengths.of(&fields, &whole, out)
        });
    draft.class = (|| {
        let rows = rows.ok()?;
        Some(Class {
            name: name?,
            weight: weight?,
            lengths: if rows.is_some() { Vec::new() } else { buckets? },
            output_length: rows.as_ref().map_or(output_length?, |(_, length)| *length),
            rows: rows.map(|(rows, _)| rows),
            prefix: prefix.ok()?,
            cancel: cancel.ok()?,
            turns: turns.ok()?,
            tenants: tenants.ok()?,
            request,
            quality: quality.ok()?,
            slo: slo?,
        })
    })();
    draft
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

fn output_length(node: &Node, out: &mut Diagnostics) -> Option<OutputLength> {
    let options = [
        ("pinned", OutputLength::Pinned),
        ("natural", OutputLength::Natural),
    ];
    values::choice(node, "`output_length`", &options, &[], out)
}

pub(super) fn weight(node: &Node, out: &mut Diagnostics) -> Option<f64> {
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
