//! What was measured, on one line.

use crate::lang::say;
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
        (say::MODEL, join(&["model.name", "model.revision"])),
        (say::WEIGHTS, join(&["precision.weights"])),
        (say::ENGINE, join(&["engine.name", "engine.version"])),
        (say::ON, hardware),
    ];
    let known = parts.into_iter().filter(|(_, known)| !known.is_empty());
    Text::commas(known.map(|(what, known)| Text::say(what, [known])))
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
        (None, Observation::Unknown(why)) => Text::say(say::UNKNOWN_FOR, [why_unknown(why)]),
        (None, Observation::Seen { .. }) => Text::word(say::UNKNOWN),
    }
}

/// A value or `unknown`.
pub(super) fn optional(value: Option<&str>) -> Text {
    value.map_or_else(|| Text::word(say::UNKNOWN), Text::value)
}

/// `baseline` or `candidate`.
pub(super) fn side(side: Side) -> Text {
    Text::word(match side {
        Side::Baseline => say::BASELINE,
        Side::Candidate => say::CANDIDATE,
    })
}

fn why_unknown(why: &Why) -> Text {
    match why {
        Why::NotProbed => Text::word(say::NOT_PROBED),
        Why::NotReported => Text::word(say::NOT_REPORTED),
        Why::Unreachable => Text::word(say::UNREACHABLE),
        Why::Remote => Text::word(say::REMOTE),
        Why::Placeholder(said) => Text::say(say::ENGINE_KNOWS_NOT, [Text::value(said)]),
        Why::Because(said) => Text::default().prose(said),
    }
}
