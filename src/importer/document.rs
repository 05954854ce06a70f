//! Another tool's file as values, whatever dialect of JSON it is in, and of any size.
//!
//! A first pass keeps what a file is recognised by and what it says of its run: everything but long lists and
//! texts. What is made of each request is read in a second pass, one request or one run at a time.

use std::io::{self, BufReader, Cursor, Read};

use serde::de::DeserializeSeed;
use serde_json::Value;

use super::input::Input;
use super::lean::{Gathered, Lean, Limits};
use super::packed::Row;
use super::place::{Step, Walk};
use super::secrets::Secrets;
use super::spelled::Spelled;
use super::top::{FirstRows, Rows, Top};
use crate::ident::{Digest, Hashing};

/// Rows that a file is recognised by.
pub(super) const FIRST: usize = 64;
/// Bytes of a text that is no JSON: tools that write one write pages.
const MOST_TEXT: u64 = 256 << 20;
/// Bytes that tell what a file is.
const HEAD: u64 = 8192;

/// A file, and what could be read from it.
pub(super) struct Document<'a> {
    body: Body<'a>,
    /// Its text where it is no JSON, without a byte order mark.
    pub(super) text: String,
    /// Its first rows: its objects where it has one a line or a list of them, else the one that it is.
    first: Vec<Value>,
    /// How many rows it has.
    count: u64,
    is_list: bool,
    /// Why it is no JSON, where it looks as if it were to be.
    pub(super) broken: Option<String>,
    /// Whether it has more than a file of results has.
    pub(super) is_cut: bool,
    /// Of all its bytes.
    pub(super) digest: Digest,
    /// What must not be shown of it.
    pub(super) secrets: Secrets,
}

/// What its requests are read from.
enum Body<'a> {
    Json(&'a dyn Input),
    Yaml(Value),
    Text,
}

impl<'a> Document<'a> {
    /// Reads JSON, JSON lines, or JSON with the numbers that Python writes and JSON does not have.
    ///
    /// # Errors
    ///
    /// Where the file can't be read.
    pub(super) fn read(input: &'a dyn Input) -> io::Result<Self> {
        let mut hashed = Hashed {
            inner: input.open()?,
            hash: Hashing::default(),
        };
        let (head, starts) = head(&mut hashed)?;
        let mut document = Self {
            body: Body::Text,
            text: String::new(),
            first: Vec::new(),
            count: 0,
            is_list: false,
            broken: None,
            is_cut: false,
            digest: Digest::of(&[]),
            secrets: Secrets::default(),
        };
        let mut gathered = Gathered::new(Limits::FILE);
        if starts {
            document.body = Body::Json(input);
            let mut rows = FirstRows::new(&mut gathered, FIRST);
            let read = json(Cursor::new(head).chain(&mut hashed), &mut |json| {
                Top(&mut rows).deserialize(json)
            });
            document.broken = read.err().map(|error| error.to_string());
            document.first = rows.first;
            document.count = rows.count;
            document.is_list = rows.is_list;
        } else if !head.contains(&0) {
            document.read_text(Cursor::new(head).chain(&mut hashed), &mut gathered)?;
        }
        io::copy(&mut hashed, &mut io::sink())?;
        document.digest = hashed.hash.digest();
        document.is_cut = gathered.is_cut;
        document.secrets = Secrets::of(gathered.secrets);
        Ok(document)
    }

    fn read_text(&mut self, bytes: impl Read, gathered: &mut Gathered) -> io::Result<()> {
        let mut read = Vec::new();
        bytes.take(MOST_TEXT + 1).read_to_end(&mut read)?;
        if read.len() as u64 > MOST_TEXT {
            self.broken = Some("it is a text of more than 256 MiB".to_owned());
            return Ok(());
        }
        self.text = String::from_utf8_lossy(&read).into_owned();
        match super::yaml::value(&self.text) {
            Some(Ok(value)) => {
                if let Ok(lean) = Lean::new(gathered).deserialize(&value) {
                    self.first = vec![lean];
                    self.count = 1;
                }
                self.body = Body::Yaml(value);
                self.text = String::new();
            }
            Some(Err(why)) => self.broken = Some(why),
            None => {}
        }
        Ok(())
    }

    /// The one value, where there is one.
    pub(super) fn one(&self) -> Option<&Value> {
        self.first
            .first()
            .filter(|_| self.count == 1 && !self.is_list)
    }

    /// The first objects of a file that has one a line, or a list of them; one object is a list of one.
    pub(super) fn first_rows(&self) -> &[Value] {
        &self.first
    }

    /// Whether it is YAML.
    pub(super) const fn is_yaml(&self) -> bool {
        matches!(self.body, Body::Yaml(_))
    }

    /// Whether its rows are elements of a list.
    pub(super) const fn is_list(&self) -> bool {
        self.is_list
    }

    /// Whether it is no JSON, nor anything like it.
    pub(super) fn is_text(&self) -> bool {
        self.first.is_empty()
    }

    /// Shows each row with the lists of its requests, one after the other.
    ///
    /// # Errors
    ///
    /// What is said of a row, and where the file can't be read again.
    pub(super) fn each_row(
        &self,
        see: &mut dyn FnMut(Row) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut said = Ok(());
        let mut see = |row| {
            if said.is_ok() {
                said = see(row);
            }
        };
        let mut rows = Rows(&mut see);
        match &self.body {
            Body::Json(input) => {
                self.again(*input, &mut |json| Top(&mut rows).deserialize(json))?;
            }
            Body::Yaml(value) => Top(&mut rows)
                .deserialize(value)
                .map_err(|error| error.to_string())?,
            Body::Text => {}
        }
        said
    }

    /// Shows each value at a place of the file, with where that is: the number of the element of each list, and of
    /// the field where several would do.
    ///
    /// # Errors
    ///
    /// Where the file can't be read again.
    pub(super) fn each(
        &self,
        place: &[Step],
        see: &mut dyn FnMut(&[usize], &Value),
    ) -> Result<(), String> {
        let mut trail = Vec::new();
        match &self.body {
            Body::Json(input) => self.again(*input, &mut |json| {
                Walk::new(place, &mut trail, see).deserialize(json)
            }),
            Body::Yaml(value) => Walk::new(place, &mut trail, see)
                .deserialize(value)
                .map_err(|error| error.to_string()),
            Body::Text => Ok(()),
        }
    }

    /// Goes through the file again, as far as that went before.
    fn again(&self, input: &dyn Input, read: &mut One<'_>) -> Result<(), String> {
        let changed = |why: String| format!("it could not be read a second time: {why}");
        let mut bytes = input.open().map_err(|error| changed(error.to_string()))?;
        let (head, _) = head(&mut bytes).map_err(|error| changed(error.to_string()))?;
        match json(Cursor::new(head).chain(bytes), read) {
            Err(error) if self.broken.is_none() => Err(changed(error.to_string())),
            _ => Ok(()),
        }
    }
}

type Bytes<'r> = serde_json::de::IoRead<BufReader<Spelled<Box<dyn Read + 'r>>>>;
type One<'f> = dyn FnMut(&mut serde_json::Deserializer<Bytes<'_>>) -> serde_json::Result<()> + 'f;

/// Reads one value after the other.
fn json<'r>(bytes: impl Read + 'r, one: &mut One<'_>) -> serde_json::Result<()> {
    let bytes: Box<dyn Read + 'r> = Box::new(bytes);
    let bytes = BufReader::with_capacity(64 << 10, Spelled::new(bytes));
    let mut json = serde_json::Deserializer::from_reader(bytes);
    while json.end().is_err() {
        one(&mut json)?;
    }
    Ok(())
}

/// The first bytes without a byte order mark, and whether they begin as JSON does.
fn head(bytes: &mut impl Read) -> io::Result<(Vec<u8>, bool)> {
    let mut head = Vec::new();
    bytes.take(HEAD).read_to_end(&mut head)?;
    if head.starts_with("\u{feff}".as_bytes()) {
        head.drain(..3);
    }
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    let starts = first.is_some_and(|byte| matches!(byte, b'{' | b'['));
    Ok((head, starts))
}

/// Takes the digest of what is read.
struct Hashed<R> {
    inner: R,
    hash: Hashing,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.hash.update(&into[..n]);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinity_and_nan_literals_are_read() {
        let text = r#"{"rate": Infinity, "low": -Infinity, "x": NaN, "text": "NaN \" Infinity"}"#;
        let document = Document::read(&text).unwrap();
        let value = document.one().unwrap();
        assert_eq!(value["rate"], "Infinity");
        assert_eq!(value["low"], "-Infinity");
        assert_eq!(value["x"], "NaN");
        assert_eq!(value["text"], "NaN \" Infinity");
    }

    #[test]
    fn a_last_line_that_is_cut_off_leaves_those_before() {
        let text = "{\"a\":1}\n{\"a\":2}\n{\"a\":";
        let document = Document::read(&text).unwrap();
        assert_eq!(document.first_rows().len(), 2);
        assert!(document.broken.is_some());
        let mut seen = Vec::new();
        let see = &mut |row: Row| {
            seen.push(row.value["a"].as_u64().unwrap());
            Ok(())
        };
        document.each_row(see).unwrap();
        assert_eq!(seen, [1, 2]);
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let text = "\u{feff}[{}, {}]";
        let document = Document::read(&text).unwrap();
        assert_eq!(document.first_rows().len(), 2);
        assert!(document.one().is_none());
        assert_eq!(document.digest, Digest::of(text.as_bytes()));
    }

    #[test]
    fn values_at_a_place_come_with_where_they_stand() {
        let text = r#"{"x": [{"a": [1, 2]}, {"b": [3], "c": [4]}, 5], "y": [6]}"#;
        let document = Document::read(&text).unwrap();
        let place = [
            Step::Of(&["x"]),
            Step::Each,
            Step::Of(&["a", "b"]),
            Step::Each,
        ];
        let mut seen = Vec::new();
        let see = &mut |trail: &[usize], value: &Value| seen.push((trail.to_vec(), value.clone()));
        document.each(&place, see).unwrap();
        let of = |trail: [usize; 4], n: u64| (trail.to_vec(), Value::from(n));
        assert_eq!(
            seen,
            [
                of([0, 0, 0, 0], 1),
                of([0, 0, 0, 1], 2),
                of([0, 1, 1, 0], 3)
            ]
        );
    }
}
