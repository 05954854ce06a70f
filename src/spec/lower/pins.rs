//! `pins` and `under_test`: what must hold of the target, and what may differ.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, suggest};
use crate::provenance::{Declared, PinPath, UnderTest};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields};
use crate::spec::model::{DeclaredPins, Layer, Target};
use crate::spec::node::{Entry, Kind, Node};
use crate::spec::values;

const EXAMPLE: &str = "engine: {name: vllm, version: observed}";

/// Both halves.
pub(super) struct Pins {
    pub(super) declared: DeclaredPins,
    pub(super) under_test: UnderTest,
}

pub(super) fn lower(fields: &Fields<'_>, target: Option<&Target>, out: &mut Diagnostics) -> Pins {
    let mut tree = Tree {
        target,
        declared: DeclaredPins::new(),
        strict: false,
        out,
    };
    if let Some(node) = fields.get("pins", tree.out) {
        tree.walk(node, "");
    }
    let (declared, strict) = (tree.declared, tree.strict);
    let pins = fields
        .get("under_test", out)
        .map(|node| under_test(node, &declared, out))
        .unwrap_or_default();
    Pins {
        declared,
        under_test: UnderTest { pins, strict },
    }
}

/// The longest sequence of the model, where the spec pins it.
pub(super) fn max_model_len(pins: &DeclaredPins) -> Option<u32> {
    let (_, declared) = pins
        .iter()
        .find(|(path, _)| path.as_str() == "limits.max_model_len")?;
    match declared {
        Declared::Literal(text) => text.parse().ok(),
        Declared::Observed | Declared::Same => None,
    }
}

struct Tree<'t> {
    target: Option<&'t Target>,
    declared: DeclaredPins,
    /// Whether soft pins have to match too.
    strict: bool,
    out: &'t mut Diagnostics,
}

impl Tree<'_> {
    fn walk(&mut self, node: &Node, prefix: &str) {
        let Kind::Mapping(entries) = &node.kind else {
            fields::wrong_type(node, "`pins`", "a mapping", EXAMPLE, self.out);
            return;
        };
        for entry in entries {
            let path = if prefix.is_empty() {
                entry.key.clone()
            } else {
                format!("{prefix}.{}", entry.key)
            };
            if path == "strict" {
                let what = "`strict` in `pins`";
                self.strict = values::boolean(&entry.value, what, "strict: true", self.out)
                    .unwrap_or_default();
                continue;
            }
            let pins = PinPath::covered_by(&path);
            match (&entry.value.kind, path.parse::<PinPath>()) {
                (_, Err(_)) if pins.is_empty() => unknown(&entry.key_span, &path, self.out),
                (Kind::Mapping(_), Err(_)) => self.walk(&entry.value, &path),
                (_, Err(_)) => {
                    let first = pins.first().map_or("", |pin| pin.as_str());
                    let child = first.rsplit('.').next().unwrap_or_default();
                    fields::wrong_type(
                        &entry.value,
                        &format!("`{path}`"),
                        "a group of pins",
                        &format!("{}: {{{child}: observed}}", entry.key),
                        self.out,
                    );
                }
                (_, Ok(pin)) => self.declare(pin, entry),
            }
        }
    }

    fn declare(&mut self, pin: PinPath, entry: &Entry) {
        let Some(text) = self.value(pin, &entry.value) else {
            return;
        };
        let declared = match (text.as_str(), self.target) {
            // What is wrong with a target that could not be read is said there.
            ("observed", _) | ("same", None) => Declared::Observed,
            ("same", Some(target)) => {
                if pin.group() != "model" {
                    self.out.error(
                        "spec::contradiction",
                        &entry.value.span,
                        format!("`same` means what the model is called, which `{pin}` cannot be"),
                        "use `same` below `model` only, or write `observed`",
                    );
                    return;
                }
                // Without a name here it is the one that the target gives.
                let model = target.model.clone();
                model.map_or(Declared::Same, Declared::Literal)
            }
            _ => Declared::Literal(text),
        };
        self.check_against_target(pin, &declared, entry);
        if self.declared.insert(pin, declared).is_some() {
            self.out.error(
                "spec::duplicate-field",
                &entry.key_span,
                format!("pin `{pin}` is declared twice"),
                "keep one of the two",
            );
        }
    }

    /// The value as text; a list is one text with spaces, as on a command line.
    fn value(&mut self, pin: PinPath, node: &Node) -> Option<String> {
        let what = format!("pin `{pin}`");
        match &node.kind {
            Kind::Sequence(items) => {
                let mut words = Vec::new();
                for item in items {
                    words.push(values::text(item, &what, EXAMPLE, self.out)?);
                }
                Some(words.join(" "))
            }
            Kind::Null | Kind::Scalar(_) | Kind::Mapping(_) => {
                values::text(node, &what, EXAMPLE, self.out).map(str::to_owned)
            }
        }
    }

    /// Pins that the spec sets elsewhere: nothing to declare, and nothing to contradict.
    fn check_against_target(&mut self, pin: PinPath, declared: &Declared, entry: &Entry) {
        let (set_by, value) = match (pin.as_str(), self.target) {
            ("layer", Some(target)) => (
                "target.layer",
                Some(match target.layer {
                    Layer::Engine => "engine",
                    Layer::EndToEnd => "end-to-end",
                }),
            ),
            ("request.api", Some(target)) => ("target.api", Some(target.api.name())),
            ("request.sampling", _) => ("request", None),
            ("limits.max_model_len", _) => {
                if let Declared::Literal(text) = declared
                    && text.parse::<u32>().is_err()
                {
                    fields::wrong_type(
                        &entry.value,
                        "pin `limits.max_model_len`",
                        "a number of tokens",
                        "max_model_len: 16384",
                        self.out,
                    );
                }
                return;
            }
            _ => return,
        };
        match (declared, value) {
            (Declared::Literal(text), Some(value)) if text != value => self.out.error(
                "spec::contradiction",
                &entry.value.span,
                format!("pin `{pin}` says `{text}` and `{set_by}` says `{value}`"),
                format!("remove the pin: it follows from `{set_by}`"),
            ),
            _ => self.out.warning(
                "spec::dead-pin",
                &entry.key_span,
                format!("pin `{pin}` does nothing"),
                format!("remove it: it follows from `{set_by}`"),
            ),
        }
    }
}

fn under_test(node: &Node, declared: &DeclaredPins, out: &mut Diagnostics) -> Vec<PinPath> {
    let mut under_test = BTreeSet::new();
    let entries = values::one_or_many(node, "`under_test`", out);
    for entry in entries {
        let Some(path) = values::text(entry, "`under_test`", "engine.version", out) else {
            continue;
        };
        let pins = PinPath::covered_by(path);
        if pins.is_empty() {
            unknown(&entry.span, path, out);
            continue;
        }
        let before = under_test.len();
        under_test.extend(pins.iter().copied());
        if under_test.len() == before {
            out.warning(
                "spec::dead-pin",
                &entry.span,
                format!("`{path}` is under test already"),
                "remove it",
            );
        }
        for pin in pins {
            if matches!(declared.get(&pin), Some(Declared::Literal(_))) {
                out.warning(
                    "spec::dead-pin",
                    &entry.span,
                    format!(
                        "`{pin}` is under test but has a fixed value: it cannot differ in `ab`"
                    ),
                    format!("declare it as `observed`, or take `{pin}` out of `under_test`"),
                );
            }
        }
    }
    if entries.len() > 1 {
        out.warning(
            "spec::many-under-test",
            &node.span,
            format!("{} things are under test at once", entries.len()),
            "a change is explained best when it comes alone",
        );
    }
    under_test.into_iter().collect()
}

/// There is no such pin; groups are named as well as pins.
fn unknown(span: &std::ops::Range<usize>, path: &str, out: &mut Diagnostics) {
    let pins: Vec<&str> = PinPath::all().map(PinPath::as_str).collect();
    let groups: BTreeSet<&str> = pins
        .iter()
        .filter_map(|pin| pin.split_once('.').map(|(group, _)| group))
        .collect();
    let mut diagnostic =
        Diagnostic::error("spec::unknown-pin", format!("unknown pin `{path}`")).at(span.clone());
    if let Some(near) = suggest(path, pins.iter().chain(&groups).copied()) {
        diagnostic = diagnostic.label(format!("did you mean `{near}`?"));
    }
    let group = path.split('.').next().unwrap_or_default();
    let children: Vec<&str> = pins
        .iter()
        .filter_map(|pin| pin.strip_prefix(group)?.strip_prefix('.'))
        .collect();
    out.push(diagnostic.help(if children.is_empty() {
        format!("groups of pins are {}", fields::list(groups))
    } else {
        format!("`{group}` has {}", fields::list(children))
    }));
}
