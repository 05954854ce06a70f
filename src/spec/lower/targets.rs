//! `target`, or `targets`: the engine and what stands in front of it.

use super::target;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{Fields, Shape};
use crate::spec::model::{Layer, Target};
use crate::spec::node::{Entry, Kind, Node};
use crate::spec::place::TargetPlace;
use crate::spec::values;

const SHAPE: Shape = Shape {
    known: &["engine", "front"],
    later: &[],
    example: "targets: {engine: {url: \"${ENGINE_URL}\"}, front: {url: \"${FRONT_URL}\"}}",
};

/// What both layers are asked: where one says it, it holds for the other. How each is reached (TLS,
/// HTTP, compression) is its own.
const SHARED: [&str; 6] = [
    "api",
    "model",
    "api_key_env",
    "api_key_file",
    "headers",
    "streaming",
];
/// Two ways to say one thing.
const KEYS: [&str; 2] = ["api_key_env", "api_key_file"];

/// The target that is judged, and the other layer where there are two.
pub(super) fn lower(
    fields: &Fields<'_>,
    out: &mut Diagnostics,
) -> Option<(Target, Option<Target>)> {
    let judged = judged(fields, out);
    let Some(place) = fields.key_span("targets") else {
        let node = fields.need("target", target::SHAPE.example, out)?;
        return Some((target::lower(node, "target", None, out)?, None));
    };
    if fields.has("target") {
        out.error(
            "spec::conflicting-fields",
            place,
            "the spec has both `target` and `targets`",
            "keep `target` for one layer, or `targets` for the engine and its front",
        );
        return None;
    }
    let node = fields.get("targets", out)?;
    let layers = Fields::open(node, "`targets`", &SHAPE, out)?;
    let engine = layers.need("engine", "engine: {url: \"${ENGINE_URL}\"}", out);
    let front = layers.need("front", "front: {url: \"${FRONT_URL}\"}", out);
    let lowered = |own: Option<&Node>, other: Option<&Node>, name, layer, out: &mut Diagnostics| {
        let node = filled(own?, other);
        refuse_sim(&node, out);
        target::lower(&node, name, Some(layer), out)
    };
    let below = lowered(engine, front, "engine", Layer::Engine, out);
    let above = lowered(front, engine, "front", Layer::EndToEnd, out);
    let (below, above) = (below?, above?);
    let place = layers.key_span("front").unwrap_or(place);
    refuse_unlike(&below, &above, place, out);
    Some(match judged? {
        Layer::Engine => (below, Some(above)),
        Layer::EndToEnd => (above, Some(below)),
    })
}

/// Which layer gates: the front, which is what users see, unless the gate names the engine.
fn judged(fields: &Fields<'_>, out: &mut Diagnostics) -> Option<Layer> {
    let gate = fields.get("gate", out).map(|node| &node.kind);
    let field = match gate {
        Some(Kind::Mapping(entries)) => entries.iter().find(|entry| entry.key == "layer"),
        _ => None,
    };
    let Some(field) = field else {
        return Some(Layer::EndToEnd);
    };
    if !fields.has("targets") {
        out.error(
            "spec::conflicting-fields",
            &field.key_span,
            "the gate names a `layer`, and the spec has one target",
            format!("leave it out, or name both layers: `{}`", SHAPE.example),
        );
        return None;
    }
    let options = [("front", Layer::EndToEnd), ("engine", Layer::Engine)];
    values::choice(&field.value, "`layer`", &options, &[], out)
}

/// A layer with what only the other one says of the requests.
fn filled(own: &Node, other: Option<&Node>) -> Node {
    let mut node = own.clone();
    let (Kind::Mapping(mine), Some(Kind::Mapping(theirs))) =
        (&mut node.kind, other.map(|other| &other.kind))
    else {
        return node;
    };
    let has = |key: &str| mine.iter().any(|entry| entry.key == key);
    let keyed = KEYS.iter().any(|key| has(key));
    let lent = theirs.iter().filter(|entry| {
        let key = entry.key.as_str();
        SHARED.contains(&key) && !has(key) && !(keyed && KEYS.contains(&key))
    });
    let lent: Vec<Entry> = lent.cloned().collect();
    mine.extend(lent);
    node
}

fn refuse_sim(layer: &Node, out: &mut Diagnostics) {
    let Kind::Mapping(entries) = &layer.kind else {
        return;
    };
    if let Some(sim) = entries.iter().find(|entry| entry.key == "sim") {
        out.error(
            "spec::conflicting-fields",
            &sim.key_span,
            "the embedded engine of a `sim` takes any free port, so nothing can stand in front of it",
            "start one by `infergate sim PROFILE --port 8000`, and give its `url` here",
        );
    }
}

/// Two layers are one service twice: the same requests, by different ways.
fn refuse_unlike(
    engine: &Target,
    front: &Target,
    place: &std::ops::Range<usize>,
    out: &mut Diagnostics,
) {
    let mut refuse = |message: &str, help: &str| {
        out.error("spec::contradiction", place, message, help);
    };
    if urls(&engine.place)
        .iter()
        .any(|url| urls(&front.place).contains(url))
    {
        refuse(
            "`front` is at a URL of `engine`",
            "name the engine's own address and the gateway's: between a URL and itself there is no gap",
        );
    }
    if engine.api != front.api {
        refuse(
            "`engine` and `front` speak different `api`s",
            "give both the same: the gap between two APIs says nothing of what stands between",
        );
    }
    if engine.connection.answers != front.connection.answers {
        refuse(
            "`streaming` differs between `engine` and `front`",
            "give both the same: a whole answer has one instant, and a streamed one many",
        );
    }
}

fn urls(place: &TargetPlace) -> &[String] {
    match place {
        TargetPlace::Urls(urls) => urls,
        TargetPlace::Launched { url, .. } => std::slice::from_ref(url),
        TargetPlace::Sim { .. } => &[],
    }
}
