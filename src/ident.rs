//! Names, digests, commits and days, parsed once, then trusted; and secrets, which no text shows.

mod commit;
mod day;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use commit::{Commit, NotACommit};
pub use day::{Day, DayError};

/// Why a text is not a name; completes the sentence "`my spec` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "is not a name: use 1 to 64 letters, digits, `-`, `_` or `.`, starting with a letter or digit"
)]
pub struct NameError;

/// A name that is safe as a file name, in a cell and in a report: 1 to 64 ASCII letters, digits,
/// `-`, `_`, `.`, starting with a letter or digit.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let first = text
            .chars()
            .next()
            .is_some_and(|c| c.is_ascii_alphanumeric());
        let rest = text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if first && rest && text.len() <= 64 {
            Ok(Self(text.to_owned()))
        } else {
            Err(NameError)
        }
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A SHA-256 digest; prints its first 12 hex digits, stores all 64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Of a value's canonical JSON (maps sorted by key, no spaces).
    pub fn of_json<T: Serialize>(value: &T) -> Self {
        // A map with non-string keys is the only way for this to fail, and no stored type has one.
        let value = serde_json::to_value(value).expect("stored types serialise to JSON");
        Self::of(value.to_string().as_bytes())
    }

    /// Of a value's JSON as it is written, piece by piece, so that it need not fit in memory. The same as
    /// [`Digest::of_json`] where every object's keys come sorted.
    pub fn of_sorted_json<T: Serialize>(value: &T) -> Self {
        let mut hash = Hashing::default();
        serde_json::to_writer(&mut hash, value).expect("stored types serialise to JSON");
        hash.digest()
    }

    /// Of the canonical JSON of a list, one value at a time: the same as [`Digest::of_json`] of them all.
    pub fn of_json_list<T: Serialize>(values: impl Iterator<Item = T>) -> Self {
        let mut hash = Sha256::new();
        let mut before = "[";
        for value in values {
            hash.update(before);
            before = ",";
            let value = serde_json::to_value(value).expect("stored types serialise to JSON");
            hash.update(value.to_string());
        }
        if before == "[" {
            hash.update(before);
        }
        hash.update("]");
        Self(hash.finalize().into())
    }

    /// The first 12 hex digits: enough to tell runs apart, short enough to read.
    pub fn short(&self) -> String {
        self.hex()[..12].to_owned()
    }

    /// All 64 hex digits.
    pub fn hex(&self) -> String {
        use fmt::Write as _;
        self.0
            .iter()
            .fold(String::with_capacity(64), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            })
    }

    /// All 32 bytes, to seed a generator.
    pub fn seed(&self) -> [u8; 32] {
        self.0
    }
}

/// A writer that keeps nothing but the digest.
#[derive(Debug, Default, Clone)]
pub struct Hashing(Sha256);

impl Hashing {
    /// Takes more bytes in.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all of them.
    pub fn digest(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl std::io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

crate::schema::text!(Digest, "^[0-9a-f]{64}$");

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.hex())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hex = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("a digest has 64 hex digits");
        if hex.len() != 64 || !hex.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

/// A key or header value, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// What stands for a secret in texts.
    pub const MASK: &str = "[masked]";

    /// From the text that is secret.
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself: for the wire only.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text without the secret, which someone else may have put into it.
    pub fn mask(&self, text: &str) -> String {
        if self.0.is_empty() {
            text.to_owned()
        } else {
            text.replace(&self.0, Self::MASK)
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_as_file_names() {
        assert!("chat-8b".parse::<Name>().is_ok());
        for text in ["", ".hidden", "a/b", "a b", "../x", "-x", "ü"] {
            assert!(text.parse::<Name>().is_err(), "{text}");
        }
        assert!("x".repeat(65).parse::<Name>().is_err());
    }

    #[test]
    fn digests_survive_json_and_ignore_key_order() {
        let digest = Digest::of(b"abc");
        assert!(digest.hex().starts_with("ba7816bf8f01"));
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
        let a: serde_json::Value = serde_json::from_str(r#"{"a":1,"b":2}"#).unwrap();
        let b: serde_json::Value = serde_json::from_str(r#"{"b":2,"a":1}"#).unwrap();
        assert_eq!(Digest::of_json(&a), Digest::of_json(&b));
        assert_eq!(Digest::of_sorted_json(&a), Digest::of_json(&b));
    }

    #[test]
    fn a_list_has_the_same_digest_one_by_one() {
        for values in [vec![], vec!["a"], vec!["a", "b\n", "c"]] {
            let each = Digest::of_json_list(values.iter());
            assert_eq!(each, Digest::of_json(&values));
        }
    }
}
