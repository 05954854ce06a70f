//! What every engine shows, and the two that show little else.

use super::answers::Source;
use super::rule::{Read, Rule};

/// Of every engine.
pub(super) const ANY: &[Rule] = &[
    Rule::new(
        "model.name",
        Source::Models,
        Read::Made(|_, model| Some(model.to_owned())),
    ),
    Rule::new(
        "limits.max_model_len",
        Source::Models,
        Read::At("/max_model_len"),
    ),
];

/// The embedded engine.
pub(super) const EMBEDDED: &[Rule] = &[
    Rule::new("engine.version", Source::Version, Read::At("/version")),
    Rule::new("engine.args", Source::Version, Read::At("/args")),
];

/// An engine that nobody here knows.
pub(super) const OTHER: &[Rule] = &[
    Rule::new("engine.version", Source::Version, Read::At("/version")),
    Rule::new("engine.args", Source::Version, Read::At("/args")),
];
