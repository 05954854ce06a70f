//! What was measured, on one line.

use crate::provenance::{Observation, Pin, Pins, Why};
use crate::summary::Side;

use super::span::Text;

/// Model, precision, engine and hardware, as far as they are known.
pub(super) fn line(pins: &Pins) -> Text {
    let value = |path: &str| {
        pins.iter()
            .find(|(pin, _)| pin.as_str() == path)
            .and_then(|(_, pin)| pin.value())
    };
    let join = |paths: &[&str]| {
        Text::join(
            paths.iter().filter_map(|path| value(path)).map(Text::value),
            " ",
        )
    };
    let hardware = match (value("hardware.count"), value("hardware.gpu")) {
        (Some(count), Some(gpu)) => Text::just(count).words(" × ").quoted(gpu),
        (None, Some(gpu)) => Text::value(gpu),
        (_, None) => Text::default(),
    };
    let parts = [
        ("model ", join(&["model.name", "model.revision"])),
        ("weights ", join(&["precision.weights"])),
        ("engine ", join(&["engine.name", "engine.version"])),
        ("on ", hardware),
    ];
    Text::join(
        parts
            .into_iter()
            .filter(|(_, known)| !known.is_empty())
            .map(|(label, known)| Text::of(label).then(known)),
        ", ",
    )
}

/// What was seen or declared, a line for each group of pins: `engine: name vllm, version 0.11`.
pub(super) fn known(pins: &Pins) -> Vec<Text> {
    let mut groups: Vec<(&'static str, Vec<Text>)> = Vec::new();
    for (path, pin) in pins {
        let Some(value) = pin.value() else {
            continue;
        };
        let group = path.group();
        let name = path.as_str().strip_prefix(group).unwrap_or_default();
        let text = match name.strip_prefix('.') {
            Some(name) => Text::of(name).words(" ").quoted(value),
            None => Text::value(value),
        };
        match groups.last_mut() {
            Some((last, texts)) if *last == group => texts.push(text),
            _ => groups.push((group, vec![text])),
        }
    }
    let line = |(group, texts): (&'static str, Vec<Text>)| {
        Text::of(group).words(": ").then(Text::join(texts, ", "))
    };
    groups.into_iter().map(line).collect()
}

/// What is unknown, a line for each reason; a group that is unknown as a whole goes by its name.
pub(super) fn unknown(pins: &Pins) -> Vec<Text> {
    let mut reasons: Vec<(&Why, Vec<&'static str>)> = Vec::new();
    for (path, pin) in pins {
        let Some(why) = why(pin) else { continue };
        let mut siblings = pins
            .iter()
            .filter(|(other, _)| other.group() == path.group());
        let name = if siblings.all(|(_, pin)| self::why(pin) == Some(why)) {
            path.group()
        } else {
            path.as_str()
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    let line = |(why, names): (&Why, Vec<&'static str>)| {
        Text::of("unknown, ")
            .prose(&why.to_string())
            .words(": ")
            .then(Text::join(names.into_iter().map(Text::of), ", "))
    };
    reasons.into_iter().map(line).collect()
}

fn why(pin: &Pin) -> Option<&Why> {
    match (pin.value(), &pin.observed) {
        (None, Observation::Unknown(why)) => Some(why),
        _ => None,
    }
}

/// A pin's value, or why there is none.
pub(super) fn pin_value(pin: &Pin) -> Text {
    match (pin.value(), &pin.observed) {
        (Some(value), _) => Text::value(value),
        (None, Observation::Unknown(why)) => Text::of("unknown, ").prose(&why.to_string()),
        (None, Observation::Seen { .. }) => Text::of("unknown"),
    }
}

/// A value or `unknown`.
pub(super) fn optional(value: Option<&str>) -> Text {
    value.map_or_else(|| Text::of("unknown"), Text::value)
}

/// `baseline` or `candidate`.
pub(super) const fn side(side: Side) -> &'static str {
    match side {
        Side::Baseline => "baseline",
        Side::Candidate => "candidate",
    }
}
