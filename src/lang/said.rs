//! A sentence that a file keeps: in English for whoever reads the file, with its code for who prints it in
//! another language.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::Phrase;

/// A sentence of ours with what fills its gaps, or one that somebody else wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(from = "Form")]
#[schemars(!from)]
pub struct Said {
    /// In English, or as it was written.
    text: String,
    /// Which sentence of ours it is; absent of a text that somebody else wrote, which is in no other language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// What fills its gaps, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
}

/// Files of earlier versions have the text alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Whole {
        text: String,
        #[serde(default)]
        code: Option<String>,
        #[serde(default)]
        args: Vec<String>,
    },
}

impl From<Form> for Said {
    fn from(form: Form) -> Self {
        match form {
            Form::Text(text) => Self::from(text),
            Form::Whole { text, code, args } => Self { text, code, args },
        }
    }
}

impl Said {
    /// A sentence of ours.
    pub fn new<const N: usize>(phrase: Phrase, args: [String; N]) -> Self {
        Self {
            text: phrase.filled(&args),
            code: Some(phrase.code().to_owned()),
            args: args.into(),
        }
    }

    /// One without gaps.
    pub fn plain(phrase: Phrase) -> Self {
        Self::new(phrase, [])
    }

    /// The sentence, where this version knows it, and what fills its gaps.
    pub fn phrase(&self) -> Option<(Phrase, &[String])> {
        let phrase = Phrase::by_code(self.code.as_deref()?)?;
        Some((phrase, &self.args))
    }

    /// Whether it is this sentence, whatever fills its gaps.
    pub fn is(&self, phrase: Phrase) -> bool {
        self.code.as_deref() == Some(phrase.code())
    }
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self {
            text,
            code: None,
            args: Vec::new(),
        }
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl Deref for Said {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq<&str> for Said {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::of_judged;

    #[test]
    fn a_file_keeps_the_english_and_the_code_and_an_old_one_the_text_alone() {
        let said = Said::new(of_judged::NEXT_LOOK, ["5".to_owned()]);
        let json = serde_json::to_string(&said).unwrap();
        assert_eq!(
            json,
            r#"{"text":"the next look needs 5 repeats in all","code":"NEXT_LOOK","args":["5"]}"#
        );
        assert_eq!(serde_json::from_str::<Said>(&json).unwrap(), said);
        let old: Said = serde_json::from_str(r#""in words""#).unwrap();
        assert_eq!(old, Said::from("in words"));
        assert!(old.phrase().is_none());
    }
}
