//! The text of another tool's file as values, whatever dialect of JSON it is in.

use serde_json::Value;

/// A file's text, and what could be read from it.
#[derive(Debug)]
pub(super) struct Document<'a> {
    /// The text, without a byte order mark.
    pub(super) text: &'a str,
    /// Its JSON values: one, or one a line; empty where it is no JSON.
    pub(super) values: Vec<Value>,
    /// Why it is no JSON, where it looks as if it were to be.
    pub(super) broken: Option<String>,
}

impl<'a> Document<'a> {
    /// Reads JSON, JSON lines, or JSON with the numbers that Python writes and JSON does not have.
    pub(super) fn read(text: &'a str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let starts = text.trim_start().starts_with(['{', '[']);
        let (values, broken) = match (
            starts,
            (!starts).then(|| super::yaml::value(text)).flatten(),
        ) {
            (true, _) => values(text),
            (false, Some(Ok(value))) => (vec![value], None),
            (false, Some(Err(why))) => (Vec::new(), Some(why)),
            (false, None) => (Vec::new(), None),
        };
        Self {
            text,
            values,
            broken,
        }
    }

    /// The one value, where there is one.
    pub(super) fn one(&self) -> Option<&Value> {
        match self.values.as_slice() {
            [value] => Some(value),
            _ => None,
        }
    }

    /// The objects of a file that has one a line, or a list of them; one object is a list of one.
    pub(super) fn rows(&self) -> Vec<&Value> {
        match self.values.as_slice() {
            [Value::Array(list)] => list.iter().collect(),
            values => values.iter().collect(),
        }
    }
}

fn values(text: &str) -> (Vec<Value>, Option<String>) {
    let strict = || -> Result<Vec<Value>, serde_json::Error> {
        serde_json::Deserializer::from_str(text)
            .into_iter()
            .collect()
    };
    if let Ok(values) = strict() {
        return (values, None);
    }
    let spelled = spelled_out(text);
    let mut found = Vec::new();
    for value in serde_json::Deserializer::from_str(&spelled).into_iter() {
        match value {
            Ok(value) => found.push(value),
            // What stands before is whole, and is used where there is one value a line.
            Err(error) => return (found, Some(error.to_string())),
        }
    }
    (found, None)
}

/// The text with `NaN`, `Infinity` and `-Infinity` in quotes.
fn spelled_out(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len() + 64);
    let (mut from, mut at, mut quoted) = (0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'N' | b'I' | b'-' if !quoted => {
                let word = ["NaN", "Infinity", "-Infinity"]
                    .into_iter()
                    .find(|word| bytes[at..].starts_with(word.as_bytes()));
                if let Some(word) = word {
                    out.push_str(&text[from..at]);
                    out.push('"');
                    out.push_str(word);
                    out.push('"');
                    at += word.len();
                    from = at;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinity_and_nan_literals_are_read() {
        let text = r#"{"rate": Infinity, "low": -Infinity, "x": NaN, "text": "NaN \" Infinity"}"#;
        let document = Document::read(text);
        let value = document.one().unwrap();
        assert_eq!(value["rate"], "Infinity");
        assert_eq!(value["low"], "-Infinity");
        assert_eq!(value["x"], "NaN");
        assert_eq!(value["text"], "NaN \" Infinity");
    }

    #[test]
    fn a_last_line_that_is_cut_off_leaves_those_before() {
        let document = Document::read("{\"a\":1}\n{\"a\":2}\n{\"a\":");
        assert_eq!(document.rows().len(), 2);
        assert!(document.broken.is_some());
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        assert_eq!(Document::read("\u{feff}[1, 2]").rows().len(), 2);
    }
}
