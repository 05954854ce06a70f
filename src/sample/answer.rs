//! An answer's text on its way to what is kept of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Outcome, RequestRecord};
use crate::quality::{CheckKind, Entry, Fingerprint};
use crate::spec::{Class, KeepText};

/// What was heard of a request and is still to be examined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// What the model said, reasoning left out.
    pub answer: String,
    /// What it should have said, where its row tells.
    pub expected: Option<Arc<str>>,
    /// The request's body, where the spec keeps those.
    pub body: Option<String>,
}

/// What a record keeps of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AnswerRecord {
    /// Kinds of the checks that it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<CheckKind>,
    /// Digests of its text, where its class asks for agreement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub print: Option<Fingerprint>,
    /// Its text, where the spec keeps answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The request's body, where the spec keeps all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl AnswerRecord {
    /// What a run keeps of it.
    pub fn entry(&self) -> Entry {
        Entry {
            failed: self.failed.clone(),
            print: self.print.clone(),
        }
    }
}

/// Turns what was heard into what is kept. It takes its time, so it belongs on no lane.
#[derive(Debug, Clone)]
pub struct Examiner {
    classes: Arc<[Class]>,
    keep: KeepText,
}

impl Examiner {
    /// By these classes.
    pub fn new(classes: &[Class], keep: KeepText) -> Self {
        Self {
            classes: classes.into(),
            keep,
        }
    }

    /// Whether the answers of a class are heard at all.
    pub fn hears(class: &Class, keep: KeepText) -> bool {
        class.quality.is_some() || keep != KeepText::None
    }

    /// Examines the answer of a record that has one. A completed answer that fails a check is an
    /// invalid output from here on.
    pub fn examine(&self, record: &mut RequestRecord) {
        let Some(heard) = record.heard.take() else {
            return;
        };
        let Some(class) = self.classes.get(record.class as usize) else {
            return;
        };
        let heard = *heard;
        let mut answer = AnswerRecord::default();
        if let Some(quality) = &class.quality {
            answer.failed = quality.failed(&heard.answer, heard.expected.as_deref());
            answer.print = quality.agreement.then(|| Fingerprint::of(&heard.answer));
        }
        if record.outcome == Outcome::Completed && !answer.failed.is_empty() {
            record.outcome = Outcome::InvalidOutput;
        }
        answer.body = heard.body;
        answer.text = match self.keep {
            KeepText::None => None,
            KeepText::Answers | KeepText::All => Some(heard.answer),
        };
        record.answer = Some(Box::new(answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::{Check, Expected, Quality};
    use crate::sample::record::tests::record;
    use crate::spec::Length;

    fn examined(keep: KeepText, quality: Quality, outcome: Outcome) -> RequestRecord {
        let mut class = Class::new("a".parse().unwrap(), Length::Fixed(1), Length::Fixed(1));
        class.quality = Some(quality);
        let mut record = record(outcome);
        record.heard = Some(Box::new(Heard {
            answer: "no secret".to_owned(),
            expected: None,
            body: None,
        }));
        Examiner::new(&[class], keep).examine(&mut record);
        record
    }

    fn exact(text: &str, agreement: bool) -> Quality {
        Quality {
            checks: vec![Check::Exact(Expected::Text(text.to_owned()))],
            agreement,
        }
    }

    #[test]
    fn texts_are_kept_only_where_the_spec_asks() {
        for (keep, kept) in [(KeepText::None, false), (KeepText::Answers, true)] {
            let record = examined(keep, exact("no secret", true), Outcome::Completed);
            assert_eq!(record.outcome, Outcome::Completed);
            let json = serde_json::to_string(&record).unwrap();
            assert_eq!(json.contains("secret"), kept, "{json}");
            assert!(json.contains("\"print\""), "{json}");
            assert_eq!(
                serde_json::from_str::<RequestRecord>(&json).unwrap(),
                record
            );
        }
    }

    #[test]
    fn an_answer_that_fails_is_an_invalid_output_but_a_truncated_one_stays_that() {
        let failed = |outcome| {
            let record = examined(KeepText::None, exact("yes", false), outcome);
            let answer = record.answer.unwrap();
            assert_eq!(answer.print, None, "nobody asked for agreement");
            (record.outcome, answer.failed)
        };
        let kinds = vec![CheckKind::Exact];
        assert_eq!(
            failed(Outcome::Completed),
            (Outcome::InvalidOutput, kinds.clone())
        );
        assert_eq!(failed(Outcome::Truncated), (Outcome::Truncated, kinds));
    }
}
