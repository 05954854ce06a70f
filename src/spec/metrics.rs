//! Where the metrics of a target's engines are.

use std::collections::BTreeMap;

/// Where the metrics of a target's engines are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MetricsPlace {
    /// Below the target's URL, at one of [`MetricsPlace::PATHS`].
    #[default]
    Usual,
    /// Below the target's URL, at this path.
    Path(String),
    /// At URLs of their own, by the URL of the replica that they are of. They are those of the spec's
    /// own target: what runs at another URL, such as the other side of `ab`, has its metrics below that.
    Urls(BTreeMap<String, String>),
    /// They are not read.
    Off,
}

impl MetricsPlace {
    /// Why figures of an engine are missing where its metrics are off.
    pub const OFF: &'static str = "engine metrics: off in the spec";

    /// Where engines have them: nearly all at the first; trtllm-serve has something else there, or
    /// nothing.
    pub const PATHS: [&'static str; 2] = ["/metrics", "/prometheus/metrics"];
}
