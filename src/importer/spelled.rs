//! JSON of Python's: `NaN`, `Infinity` and `-Infinity`, which JSON does not have, in quotes.

use std::io::{self, Read};

/// Bytes that are looked at together.
const BLOCK: usize = 64 << 10;
/// What is put in quotes.
const WORDS: [&[u8]; 3] = [b"NaN", b"-Infinity", b"Infinity"];
/// Bytes of the longest of them.
const LONGEST: usize = 9;

/// A reader that puts those words in quotes where they stand outside of texts.
#[derive(Debug)]
pub(super) struct Spelled<R> {
    inner: R,
    /// Bytes that are not looked at yet.
    raw: Vec<u8>,
    /// Bytes to pass on, from `at` on.
    out: Vec<u8>,
    at: usize,
    is_quoted: bool,
    is_escaped: bool,
}

impl<R: Read> Spelled<R> {
    /// Of these bytes.
    pub(super) const fn new(inner: R) -> Self {
        Self {
            inner,
            raw: Vec::new(),
            out: Vec::new(),
            at: 0,
            is_quoted: false,
            is_escaped: false,
        }
    }

    /// The next block; an empty one is the end.
    fn fill(&mut self) -> io::Result<()> {
        self.out.clear();
        self.at = 0;
        while self.out.is_empty() {
            let held = self.raw.len();
            self.raw.resize(held + BLOCK, 0);
            let read = match self.inner.read(&mut self.raw[held..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    self.raw.truncate(held);
                    continue;
                }
                other => other,
            };
            self.raw.truncate(held + *read.as_ref().unwrap_or(&0));
            let is_end = read? == 0;
            let used = self.spell(is_end);
            self.raw.drain(..used);
            if is_end {
                break;
            }
        }
        Ok(())
    }

    /// Passes on what can be told of the bytes that are there; how many those are.
    fn spell(&mut self, is_end: bool) -> usize {
        let mut at = 0;
        while at < self.raw.len() {
            let left = &self.raw[at..];
            let end = if self.is_escaped {
                self.is_escaped = false;
                1
            } else if self.is_quoted {
                let found = memchr::memchr2(b'"', b'\\', left);
                if let Some(found) = found {
                    self.is_escaped = left[found] == b'\\';
                    self.is_quoted = self.is_escaped;
                }
                found.map_or(left.len(), |found| found + 1)
            } else {
                match memchr::memchr3(b'"', b'N', b'I', left) {
                    Some(found) if left[found] == b'"' => {
                        self.is_quoted = true;
                        found + 1
                    }
                    Some(found) => {
                        let is_signed = found > 0 && left[found - 1] == b'-';
                        let start = found - usize::from(is_signed);
                        let word = &left[start..];
                        if word.len() < LONGEST && !is_end {
                            self.out.extend_from_slice(&left[..start]);
                            return at + start;
                        }
                        let known = WORDS.into_iter().find(|known| word.starts_with(known));
                        let Some(known) = known else {
                            self.out.extend_from_slice(&left[..=found]);
                            at += found + 1;
                            continue;
                        };
                        self.out.extend_from_slice(&left[..start]);
                        self.out.push(b'"');
                        self.out.extend_from_slice(known);
                        self.out.push(b'"');
                        at += start + known.len();
                        continue;
                    }
                    // A sign may belong to what comes next.
                    None if left.last() == Some(&b'-') && !is_end => {
                        self.out.extend_from_slice(&left[..left.len() - 1]);
                        return self.raw.len() - 1;
                    }
                    None => left.len(),
                }
            };
            self.out.extend_from_slice(&left[..end]);
            at += end;
        }
        at
    }
}

impl<R: Read> Read for Spelled<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.out.len() {
            self.fill()?;
        }
        let left = &self.out[self.at..];
        let n = left.len().min(into.len());
        into[..n].copy_from_slice(&left[..n]);
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives so many bytes at a time.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(into.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn spelled(text: &str, at_once: usize) -> String {
        let mut out = String::new();
        Spelled::new(Drip(text.as_bytes(), at_once))
            .read_to_string(&mut out)
            .unwrap();
        out
    }

    #[test]
    fn words_are_quoted_outside_of_texts_however_the_bytes_come() {
        let text = r#"{"rate": Infinity, "low":-Infinity,"x":[NaN,-1,-], "t\\": "NaN \" -Infinity", "y": Inf}"#;
        let quoted = r#"{"rate": "Infinity", "low":"-Infinity","x":["NaN",-1,-], "t\\": "NaN \" -Infinity", "y": Inf}"#;
        for at_once in 1..=text.len() {
            assert_eq!(spelled(text, at_once), quoted, "{at_once} at a time");
        }
        assert_eq!(spelled("-", 1), "-");
        assert_eq!(spelled("Na", 1), "Na");
        assert_eq!(spelled("NaN", 1), "\"NaN\"");
    }

    proptest! {
        #[test]
        fn json_stays_as_it_is(text in ".{0,200}", number in any::<f64>(), at_once in 1_usize..40) {
            let number = if number.is_finite() { number } else { 0.5 };
            let json = serde_json::json!({"a": text, "NaN": [number, null, true]}).to_string();
            prop_assert_eq!(spelled(&json, at_once), json);
        }
    }
}
