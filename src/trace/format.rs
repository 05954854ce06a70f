//! The formats, by what a file's header or its first object has.

use serde_json::{Map, Value};

/// How a trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Azure's LLM inference traces: CSV with `TIMESTAMP`, `ContextTokens`, `GeneratedTokens`.
    Azure,
    /// `BurstGPT`: CSV with `Timestamp`, `Request tokens`, `Response tokens`, in seconds.
    BurstGpt,
    /// Mooncake: JSON Lines with `timestamp` in milliseconds, `input_length`, `output_length`,
    /// `hash_ids`.
    Mooncake,
    /// Ours: JSON Lines with `at_s`, `input_tokens`, `output_tokens`, and perhaps `class` and
    /// `prefix`.
    Infergate,
    /// Lengths without instants.
    Pairs,
}

impl Format {
    /// The name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Azure => "Azure CSV",
            Self::BurstGpt => "BurstGPT CSV",
            Self::Mooncake => "Mooncake JSON Lines",
            Self::Infergate => "infergate JSON Lines",
            Self::Pairs => "pairs of lengths",
        }
    }
}

/// A CSV column: the name in the format's own spelling, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) index: usize,
}

/// The columns of a CSV that are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) format: Format,
    pub(super) at: Column,
    pub(super) input: Column,
    pub(super) output: Column,
}

impl Columns {
    /// By a header, in any order and spelling of case, spaces and underscores.
    pub(super) fn of<'h>(header: impl Iterator<Item = &'h str>) -> Option<Self> {
        const FORMATS: [(Format, [&str; 3]); 2] = [
            (
                Format::Azure,
                ["TIMESTAMP", "ContextTokens", "GeneratedTokens"],
            ),
            (
                Format::BurstGpt,
                ["Timestamp", "Request tokens", "Response tokens"],
            ),
        ];
        let header: Vec<String> = header.map(plain).collect();
        FORMATS.into_iter().find_map(|(format, names)| {
            let column = |name: &'static str| {
                let index = header.iter().position(|known| *known == plain(name))?;
                Some(Column { name, index })
            };
            let [at, input, output] = names;
            Some(Self {
                format,
                at: column(at)?,
                input: column(input)?,
                output: column(output)?,
            })
        })
    }
}

/// `Request tokens`, `request_tokens` and `RequestTokens` are one name.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The fields of an object that are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    pub(super) format: Format,
    pub(super) at: &'static str,
    /// Seconds in one unit of `at`.
    pub(super) unit: f64,
    pub(super) input: &'static str,
    pub(super) output: &'static str,
    pub(super) blocks: &'static str,
    pub(super) class: Option<&'static str>,
}

impl Keys {
    /// By an object's fields.
    pub(super) fn of(object: &Map<String, Value>) -> Option<Self> {
        if object.contains_key("at_s") {
            return Some(Self {
                format: Format::Infergate,
                at: "at_s",
                unit: 1.0,
                input: "input_tokens",
                output: "output_tokens",
                blocks: "prefix",
                class: Some("class"),
            });
        }
        // Qwen's traces have the same fields and more, in seconds and with blocks of 16 tokens:
        // read as Mooncake's they would be another workload.
        let mooncake = object.contains_key("timestamp")
            && object.contains_key("input_length")
            && !object.contains_key("chat_id");
        mooncake.then_some(Self {
            format: Format::Mooncake,
            at: "timestamp",
            unit: 1e-3,
            input: "input_length",
            output: "output_length",
            blocks: "hash_ids",
            class: None,
        })
    }
}
