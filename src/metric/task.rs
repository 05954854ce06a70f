//! The name that a spec gives an imported score.

use std::fmt;
use std::str::FromStr;

/// Bytes that a name has at the most.
const LONGEST: usize = 32;

/// The name of an imported score, as in `quality.imported.gsm8k`: lower-case letters, digits, `_` and
/// `-`, a letter first, at most 32 bytes.
///
/// It lies in place, so that whatever names a cell stays a plain value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskName {
    /// Unused bytes are 0, so that names sort as their texts do.
    bytes: [u8; LONGEST],
    len: u8,
}

/// The text is no such name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` names no score: take lower-case letters, digits, `_` and `-`, a letter first, at most {LONGEST} in all"
)]
pub struct TaskNameError {
    name: String,
}

impl TaskName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)])
            .expect("only ASCII goes into a name")
    }
}

impl FromStr for TaskName {
    type Err = TaskNameError;

    fn from_str(text: &str) -> Result<Self, TaskNameError> {
        let takes = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        let starts = text.starts_with(|c: char| c.is_ascii_lowercase());
        if !starts || text.len() > LONGEST || !text.bytes().all(takes) {
            return Err(TaskNameError {
                name: text.to_owned(),
            });
        }
        let mut bytes = [0; LONGEST];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self {
            bytes,
            len: text.len() as u8,
        })
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

crate::schema::text!(TaskName, "^[a-z][a-z0-9_-]{0,31}$");

impl serde::Serialize for TaskName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for TaskName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: String = serde::Deserialize::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain_and_sort_as_texts() {
        let name = |text: &str| text.parse::<TaskName>();
        for good in ["gsm8k", "mmlu_pro-5", "a", &"a".repeat(32)] {
            assert_eq!(name(good).unwrap().as_str(), good);
        }
        for bad in ["", "8k", "GSM8K", "a.b", "a b", "é", &"a".repeat(33)] {
            assert!(name(bad).is_err(), "{bad}");
        }
        assert!(name("ab").unwrap() < name("abc").unwrap());
        assert!(name("abc").unwrap() < name("b").unwrap());
    }
}
