//! One thing that `doctor` saw, and what to do about it.

use serde::Serialize;

/// What a finding is about, in the order in which findings are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// Whether the target answers.
    Endpoint,
    /// How long its certificate is good for.
    Certificate,
    /// The model that requests name.
    Model,
    /// Whether requests end well.
    Requests,
    /// Whether tokens come as they are made.
    Streaming,
    /// Whether token counts are reported, and right.
    Usage,
    /// Whether answers have the length that was asked for.
    OutputLength,
    /// Whether prompts have the length that was planned.
    InputLength,
    /// Whether connections are kept.
    Connections,
    /// What the engine's metrics show.
    Metrics,
    /// What is known of model, engine and machine.
    Pins,
    /// Whether clocks agree.
    Clock,
    /// Whether the network is quick enough for the limits.
    Network,
    /// Whether the model takes the longest request.
    Context,
    /// Whether the cap on requests in flight suits the engine.
    InFlight,
    /// Whether there are sessions to judge by.
    Archive,
    /// Whether tolerances can be resolved.
    Tolerances,
    /// The GPUs.
    Gpu,
    /// The CPU that this process may use.
    Cpu,
    /// What decides the CPU's clock.
    Power,
    /// Room for records.
    Disk,
    /// The continuous integration that it runs in.
    Ci,
}

impl Topic {
    /// The words that lead a line.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Endpoint => "endpoint",
            Self::Certificate => "certificate",
            Self::Model => "model",
            Self::Requests => "requests",
            Self::Streaming => "streaming",
            Self::Usage => "usage",
            Self::OutputLength => "output length",
            Self::InputLength => "input length",
            Self::Connections => "connections",
            Self::Metrics => "metrics",
            Self::Pins => "pins",
            Self::Clock => "clock",
            Self::Network => "network",
            Self::Context => "context",
            Self::InFlight => "in flight",
            Self::Archive => "archive",
            Self::Tolerances => "tolerances",
            Self::Gpu => "gpu",
            Self::Cpu => "cpu",
            Self::Power => "power",
            Self::Disk => "disk",
            Self::Ci => "ci",
        }
    }
}

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub topic: Topic,
    /// What was seen.
    pub seen: String,
    /// How much it matters.
    #[serde(flatten)]
    pub level: Level,
}

/// How much a finding matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "level", rename_all = "kebab-case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// A run works, and says less or something else than one might think.
    Note(Advice),
    /// A run would be refused, invalid or wrong.
    Trouble(Advice),
}

/// Why a finding matters and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// What comes of it.
    pub why: String,
    /// What to do, in a line.
    pub remedy: String,
}

impl Finding {
    /// As it should be.
    pub fn ok(topic: Topic, seen: impl Into<String>) -> Self {
        let (seen, level) = (seen.into(), Level::Ok);
        Self { topic, seen, level }
    }

    /// A run works, and says less or something else than one might think.
    pub fn note(
        topic: Topic,
        seen: impl Into<String>,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (why, remedy) = (why.into(), remedy.into());
        Self {
            topic,
            seen: seen.into(),
            level: Level::Note(Advice { why, remedy }),
        }
    }

    /// A run would be refused, invalid or wrong.
    pub fn trouble(
        topic: Topic,
        seen: impl Into<String>,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (why, remedy) = (why.into(), remedy.into());
        Self {
            topic,
            seen: seen.into(),
            level: Level::Trouble(Advice { why, remedy }),
        }
    }

    /// Whether it is in the way of a run.
    pub const fn is_trouble(&self) -> bool {
        matches!(self.level, Level::Trouble(_))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Findings as lines: level, topic, what was seen, what to do.
    pub(crate) fn shown(findings: &[Finding]) -> String {
        let lines = findings.iter().map(|finding| {
            let (level, advice) = match &finding.level {
                Level::Ok => ("ok", None),
                Level::Note(advice) => ("note", Some(advice)),
                Level::Trouble(advice) => ("TROUBLE", Some(advice)),
            };
            let advice = advice.map_or(String::new(), |Advice { why, remedy }| {
                format!("\n  why: {why}\n  do:  {remedy}")
            });
            let label = finding.topic.label();
            format!("{level} {label}: {}{advice}", finding.seen)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_finding_is_flat_in_json() {
        let found = Finding::note(Topic::InFlight, "seen", "why", "remedy");
        let json = serde_json::to_string(&found).unwrap();
        let expected =
            r#"{"topic":"in-flight","seen":"seen","level":"note","why":"why","remedy":"remedy"}"#;
        assert_eq!(json, expected);
        let json = serde_json::to_string(&Finding::ok(Topic::Gpu, "seen")).unwrap();
        assert_eq!(json, r#"{"topic":"gpu","seen":"seen","level":"ok"}"#);
    }
}
