//! What was measured, on one line.

use crate::provenance::{Pin, Pins};
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

/// A pin's value, or why there is none.
pub(super) fn pin_value(pin: &Pin) -> Text {
    use crate::provenance::Observation;
    match (pin.value(), &pin.observed) {
        (Some(value), _) => Text::value(value),
        (None, Observation::Unknown(why)) => Text::of("unknown, ").figure(why.to_string()),
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
