//! What an answer's text has to be: JSON of a schema, a pattern's match, a text.

use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use regex::Regex;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::ident::Digest;
use crate::metric::Metric;

/// What is asked of a class's answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quality {
    /// What each answer's text has to be.
    pub checks: Vec<Check>,
    /// Whether answers are held against those of another run to the same prompts.
    pub agreement: bool,
}

impl Quality {
    /// The kinds of its checks.
    pub fn kinds(&self) -> impl Iterator<Item = CheckKind> {
        self.checks.iter().map(Check::kind)
    }

    /// Kinds of the checks that an answer fails, each once.
    pub fn failed(&self, answer: &str, expected: Option<&str>) -> Vec<CheckKind> {
        let fails = |check: &&Check| !check.passes(answer, expected);
        let mut failed: Vec<CheckKind> =
            self.checks.iter().filter(fails).map(Check::kind).collect();
        failed.sort_unstable();
        failed.dedup();
        failed
    }
}

/// The kinds of checks; a class's answer passes a kind where it passes all checks of that kind.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// JSON that a schema takes.
    ValidJson,
    /// A pattern is found.
    Regex,
    /// The text itself.
    Exact,
}

impl CheckKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::ValidJson, Self::Regex, Self::Exact];

    /// The kind that a metric counts; `None` where it counts none.
    pub const fn counted_by(metric: Metric) -> Option<Self> {
        match metric {
            Metric::QualityValidJson => Some(Self::ValidJson),
            Metric::QualityRegex => Some(Self::Regex),
            Metric::QualityExact => Some(Self::Exact),
            _ => None,
        }
    }

    /// The field that asks for it in a class's `quality`.
    pub const fn field(self) -> &'static str {
        match self {
            Self::ValidJson => "json_schema",
            Self::Regex => "regex",
            Self::Exact => "exact",
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    /// The whole answer is one JSON value, white space around it aside, that the schema takes. A
    /// fence of backticks around it is no JSON.
    JsonSchema(Schema),
    /// The pattern is found somewhere in the answer.
    Regex(Pattern),
    /// The answer is this text, white space at either end of both aside.
    Exact(Expected),
}

/// Where the text of an exact check comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// One text for all answers.
    Text(String),
    /// `expected` of the prompt's row in the dataset.
    OfRow,
}

impl Check {
    /// Its kind.
    pub const fn kind(&self) -> CheckKind {
        match self {
            Self::JsonSchema(_) => CheckKind::ValidJson,
            Self::Regex(_) => CheckKind::Regex,
            Self::Exact(_) => CheckKind::Exact,
        }
    }

    /// Whether an answer passes; `expected` is what its prompt's row says of it.
    pub fn passes(&self, answer: &str, expected: Option<&str>) -> bool {
        match self {
            Self::JsonSchema(schema) => schema.takes(answer),
            Self::Regex(pattern) => pattern.regex.is_match(answer),
            Self::Exact(Expected::Text(text)) => answer.trim() == text.trim(),
            Self::Exact(Expected::OfRow) => {
                expected.is_some_and(|expected| answer.trim() == expected.trim())
            }
        }
    }
}

/// Enters the workload's digest.
impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        let field = self.kind().field();
        match self {
            Self::JsonSchema(schema) => map.serialize_entry(field, &schema.digest)?,
            Self::Regex(pattern) => map.serialize_entry(field, pattern.regex.as_str())?,
            Self::Exact(Expected::Text(text)) => map.serialize_entry(field, text)?,
            Self::Exact(Expected::OfRow) => map.serialize_entry(field, &true)?,
        }
        map.end()
    }
}

/// A check that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// No schema by any draft.
    #[error("it is no JSON Schema: {reason}")]
    Schema {
        /// What the library says.
        reason: String,
    },
    /// No regular expression.
    #[error("it is no regular expression: {reason}")]
    Pattern {
        /// What the library says.
        reason: String,
    },
}

/// A JSON Schema of any draft.
#[derive(Debug, Clone)]
pub struct Schema {
    /// Of the schema's JSON, keys sorted.
    pub digest: Digest,
    /// The path from which it was read, as the spec has it; `None` where the spec has it in place.
    pub file: Option<String>,
    /// `None` where a run has kept the digest alone: then nothing is left to check.
    validator: Option<Arc<Validator>>,
}

impl Schema {
    /// Compiles a schema. Nothing is fetched: a `$ref` has to point into the schema itself.
    ///
    /// Patterns in it are matched in linear time, so those with look-around or back-references are
    /// refused.
    pub fn new(schema: &Value) -> Result<Self, CheckError> {
        let validator = jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map_err(|error| CheckError::Schema {
                reason: error.to_string(),
            })?;
        Ok(Self {
            digest: Digest::of_sorted_json(schema),
            file: None,
            validator: Some(Arc::new(validator)),
        })
    }

    /// What is left of a schema in a run's file.
    pub const fn kept(digest: Digest) -> Self {
        Self {
            digest,
            file: None,
            validator: None,
        }
    }

    /// The same, read from this file.
    #[must_use]
    pub fn from_file(mut self, file: &str) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    fn takes(&self, answer: &str) -> bool {
        let Some(validator) = &self.validator else {
            return false;
        };
        serde_json::from_str::<Value>(answer).is_ok_and(|value| validator.is_valid(&value))
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

/// A regular expression.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern in the syntax of Rust's `regex`: no look-around, no back-references, linear
    /// time.
    pub fn new(pattern: &str) -> Result<Self, CheckError> {
        let regex = Regex::new(pattern).map_err(|error| CheckError::Pattern {
            // The library draws the pattern over several lines; its last says what is wrong.
            reason: error
                .to_string()
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned(),
        })?;
        Ok(Self { regex })
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.regex.as_str() == other.regex.as_str()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_has_to_be_whole_and_of_the_schema() {
        let schema = json!({"type": "object", "required": ["n"],
                            "properties": {"n": {"type": "integer", "minimum": 1}}});
        let check = Check::JsonSchema(Schema::new(&schema).unwrap());
        for good in ["{\"n\": 1}", " \n{\"n\":2, \"more\": null}\n"] {
            assert!(check.passes(good, None), "{good}");
        }
        for bad in [
            "",
            "{}",
            "{\"n\": 0}",
            "{\"n\": 1.5}",
            "{\"n\": 1",
            "{\"n\": 1} done",
            "```json\n{\"n\": 1}\n```",
        ] {
            assert!(!check.passes(bad, None), "{bad}");
        }
    }

    #[test]
    fn schemas_reach_for_nothing_outside() {
        let remote = Schema::new(&json!({"$ref": "http://127.0.0.1:9/schema.json"}));
        assert!(matches!(remote, Err(CheckError::Schema { .. })));
        let wrong = Schema::new(&json!({"type": "objekt"}));
        assert!(matches!(wrong, Err(CheckError::Schema { .. })));
        let local = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}});
        let check = Check::JsonSchema(Schema::new(&local).unwrap());
        assert!(check.passes("null", None) && !check.passes("1", None));
    }

    #[test]
    fn a_kept_schema_is_equal_and_passes_nothing() {
        let schema = Schema::new(&json!({"type": "null", "title": "x"})).unwrap();
        let kept = Schema::kept(schema.digest);
        assert_eq!(schema, kept);
        assert!(!Check::JsonSchema(kept).passes("null", None));
    }

    #[test]
    fn patterns_are_found_anywhere_and_bad_ones_refused_with_their_reason() {
        let check = Check::Regex(Pattern::new(r"^answer: \d+$").unwrap());
        assert!(check.passes("answer: 42", None));
        assert!(!check.passes("the answer: 42", None));
        let error = Pattern::new("a(b").unwrap_err().to_string();
        assert!(error.contains("unclosed group"), "{error}");
    }

    #[test]
    fn exact_texts_forgive_white_space_at_the_ends_alone() {
        let fixed = Check::Exact(Expected::Text("yes".to_owned()));
        assert!(fixed.passes(" yes\n", None) && !fixed.passes("Yes", None));
        let of_row = Check::Exact(Expected::OfRow);
        assert!(of_row.passes("a b", Some("a b ")));
        assert!(!of_row.passes("a  b", Some("a b")));
        assert!(!of_row.passes("", None), "a row that says nothing");
    }

    #[test]
    fn a_kind_fails_once_however_many_of_its_checks_do() {
        let pattern = |text| Check::Regex(Pattern::new(text).unwrap());
        let quality = Quality {
            checks: vec![
                pattern("a"),
                Check::Exact(Expected::Text("x".to_owned())),
                pattern("b"),
            ],
            agreement: false,
        };
        assert_eq!(
            quality.failed("c", None),
            [CheckKind::Regex, CheckKind::Exact]
        );
        assert_eq!(
            quality.failed("x a", None),
            [CheckKind::Regex, CheckKind::Exact]
        );
        assert_eq!(quality.failed("ab", None), [CheckKind::Exact]);
    }
}
