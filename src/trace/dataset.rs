//! Prompts as JSON Lines: an object with `messages` or `prompt`, and perhaps `output_tokens` and
//! `expected`, the answer that is right.

use serde_json::{Map, Value};

use super::reading::{BadRow, RowFault, length};
use super::{MOST_BAD, MOST_ROWS, Percent, TraceError};
use crate::ident::Digest;

/// Bad rows that are named.
const NAMED: usize = 5;

/// The prompts of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Digest of the file's text.
    pub digest: Digest,
    /// The rows that can be sent; at least one.
    pub rows: Vec<Prompted>,
    /// Rows in the file, good and bad.
    pub read: u32,
    /// Rows that could not be read.
    pub bad: u32,
    /// The first of them.
    pub first_bad: Vec<BadRow>,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompted {
    /// What is said.
    pub said: Asked,
    /// How long its answer is, where the row says.
    pub output_tokens: Option<u32>,
    /// What the answer should be, where the row says.
    pub expected: Option<String>,
}

/// What a row says.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// One text.
    Prompt(String),
    /// The messages of a chat, at least one; the first has a text as its content.
    Messages(Vec<Map<String, Value>>),
}

/// Reads prompts; further fields are not looked at.
pub fn dataset(text: &str) -> Result<Dataset, TraceError> {
    let digest = Digest::of(text.as_bytes());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut dataset = Dataset {
        digest,
        rows: Vec::new(),
        read: 0,
        bad: 0,
        first_bad: Vec::new(),
    };
    let lines = text.lines().zip(1..);
    for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
        if dataset.read == MOST_ROWS {
            return Err(TraceError::TooManyRows);
        }
        dataset.read += 1;
        match row(line) {
            Ok(row) => dataset.rows.push(row),
            Err(fault) => {
                dataset.bad += 1;
                if dataset.first_bad.len() < NAMED {
                    dataset.first_bad.push(BadRow {
                        line: number,
                        fault,
                    });
                }
            }
        }
    }
    let Dataset { read, bad, .. } = dataset;
    if read == 0 {
        return Err(TraceError::Empty);
    }
    if f64::from(bad) > MOST_BAD * f64::from(read) {
        return Err(TraceError::TooManyBad {
            bad,
            read,
            share: Percent::of(bad, read),
            first: dataset.first_bad,
        });
    }
    Ok(dataset)
}

fn row(line: &str) -> Result<Prompted, RowFault> {
    let mut object: Map<String, Value> =
        serde_json::from_str(line).map_err(|_| RowFault::NoObject)?;
    let output_tokens = match object.get("output_tokens").filter(|value| !value.is_null()) {
        None => None,
        Some(value) => {
            let tokens = value.as_f64().and_then(length).filter(|tokens| *tokens > 0);
            Some(tokens.ok_or(RowFault::NoLength("output_tokens"))?)
        }
    };
    let expected = match object.remove("expected") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(_) => return Err(RowFault::NoExpected),
    };
    let said = match (object.remove("messages"), object.remove("prompt")) {
        (Some(messages), None) => Asked::Messages(self::messages(messages)?),
        (None, Some(Value::String(prompt))) if !prompt.is_empty() => Asked::Prompt(prompt),
        (None | Some(_), _) => return Err(RowFault::NoPrompt),
    };
    Ok(Prompted {
        said,
        output_tokens,
        expected,
    })
}

fn messages(value: Value) -> Result<Vec<Map<String, Value>>, RowFault> {
    let Value::Array(list) = value else {
        return Err(RowFault::NoMessages);
    };
    let messages: Option<Vec<Map<String, Value>>> = list
        .into_iter()
        .map(|message| match message {
            Value::Object(message) if message.get("role").is_some_and(Value::is_string) => {
                Some(message)
            }
            _ => None,
        })
        .collect();
    let messages = messages.ok_or(RowFault::NoMessages)?;
    let starts =
        |message: &Map<String, Value>| message.get("content").is_some_and(Value::is_string);
    if messages.first().is_some_and(starts) {
        Ok(messages)
    } else {
        Err(RowFault::NoMessages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_messages_or_a_prompt() {
        let text = "{\"prompt\": \"say\", \"output_tokens\": 9}\n\n\
            {\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], \"id\": 4}\n";
        let dataset = dataset(text).unwrap();
        assert_eq!(dataset.rows[0].said, Asked::Prompt("say".to_owned()));
        assert_eq!(dataset.rows[0].output_tokens, Some(9));
        assert!(matches!(&dataset.rows[1].said, Asked::Messages(list) if list.len() == 1));
        assert_eq!(dataset.rows[1].output_tokens, None);
        let expected = |value: &str| {
            let row = row(&format!("{{\"prompt\": \"a\", \"expected\": {value}}}"));
            row.unwrap().expected
        };
        assert_eq!(expected("\"forty-two\""), Some("forty-two".to_owned()));
        assert_eq!(expected("42"), Some("42".to_owned()));
        assert_eq!(expected("null"), None);
    }

    #[test]
    fn bad_rows_say_why() {
        for (line, fault) in [
            ("[]", RowFault::NoObject),
            ("{}", RowFault::NoPrompt),
            ("{\"prompt\": \"\"}", RowFault::NoPrompt),
            ("{\"prompt\": \"a\", \"messages\": []}", RowFault::NoPrompt),
            ("{\"messages\": []}", RowFault::NoMessages),
            (
                "{\"prompt\": \"a\", \"expected\": []}",
                RowFault::NoExpected,
            ),
            (
                "{\"messages\": [{\"content\": \"a\"}]}",
                RowFault::NoMessages,
            ),
            (
                "{\"messages\": [{\"role\": \"user\", \"content\": [{}]}]}",
                RowFault::NoMessages,
            ),
            (
                "{\"prompt\": \"a\", \"output_tokens\": 0}",
                RowFault::NoLength("output_tokens"),
            ),
        ] {
            assert_eq!(row(line), Err(fault), "{line}");
        }
    }

    #[test]
    fn too_many_bad_rows_are_refused() {
        let good = "{\"prompt\": \"a\"}\n".repeat(99);
        let one = dataset(&format!("{good}x\n")).unwrap();
        assert_eq!((one.bad, one.first_bad[0].line), (1, 100));
        let two = dataset(&format!("{good}x\nx\n"));
        assert!(matches!(two, Err(TraceError::TooManyBad { bad: 2, .. })));
        assert_eq!(dataset("\n"), Err(TraceError::Empty));
    }
}
