//! A text as digests: enough to tell whether two are alike, and about how far.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// What is kept of an answer: eight bytes of its SHA-256, its length, and two bytes of the digest of
/// its beginning at 4, 6, 8, 12, 16, 24, 32, … characters.
///
/// 12 bytes and two for each position: an answer of 1,000 characters takes 12 + 2 · 16 = 44 bytes.
/// Two different answers share their eight bytes once in 1.8 · 10¹⁹, two different beginnings their
/// two once in 65,536. No text can be read from it, but who guesses a short answer can prove it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    whole: [u8; 8],
    /// Characters (Unicode scalar values) of the text.
    chars: u32,
    marks: Vec<u16>,
}

/// Where beginnings are marked: the powers of two from 4 on, and halfway between them.
fn positions() -> impl Iterator<Item = u32> {
    (2..31).flat_map(|power| [1_u32 << power, 3_u32 << (power - 1)])
}

impl Fingerprint {
    /// Bytes of one without marks.
    const FIXED: usize = 12;

    /// Of a text.
    pub fn of(text: &str) -> Self {
        let mut hash = Sha256::new();
        let (mut chars, mut hashed) = (0_u32, 0);
        let mut marks = Vec::new();
        let mut positions = positions().peekable();
        for (at, c) in text.char_indices() {
            chars = chars.saturating_add(1);
            if positions.next_if_eq(&chars).is_some() {
                let end = at + c.len_utf8();
                hash.update(&text.as_bytes()[hashed..end]);
                hashed = end;
                let beginning = hash.clone().finalize();
                marks.push(u16::from_le_bytes([beginning[0], beginning[1]]));
            }
        }
        hash.update(&text.as_bytes()[hashed..]);
        let digest = hash.finalize();
        let mut whole = [0; 8];
        whole.copy_from_slice(&digest[..8]);
        Self {
            whole,
            chars,
            marks,
        }
    }

    /// How many characters from the start on are alike at the least, where the texts differ; `None`
    /// where they are the same.
    ///
    /// It is the last position at which both are marked alike, 0 before the first: texts that differ
    /// in their 30th character are alike for 24 at the least.
    pub fn alike_until(&self, other: &Self) -> Option<u32> {
        if self.whole == other.whole && self.chars == other.chars {
            return None;
        }
        let alike = self
            .marks
            .iter()
            .zip(&other.marks)
            .take_while(|(a, b)| a == b)
            .count();
        Some(alike.checked_sub(1).map_or(0, |last| {
            positions().nth(last).expect("marks stand at positions")
        }))
    }

    /// Appends its bytes.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.whole);
        bytes.extend_from_slice(&self.chars.to_le_bytes());
        for mark in &self.marks {
            bytes.extend_from_slice(&mark.to_le_bytes());
        }
    }

    /// Takes one off the front of `bytes`; `None` where there is none.
    pub(super) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (fixed, rest) = bytes.split_at_checked(Self::FIXED)?;
        let whole = fixed[..8].try_into().ok()?;
        let chars = u32::from_le_bytes(fixed[8..].try_into().ok()?);
        let count = positions()
            .take_while(|position| *position <= chars)
            .count();
        let (marks, rest) = rest.split_at_checked(2 * count)?;
        *bytes = rest;
        Some(Self {
            whole,
            chars,
            marks: marks
                .chunks_exact(2)
                .map(|two| u16::from_le_bytes([two[0], two[1]]))
                .collect(),
        })
    }
}

crate::schema::text!(Fingerprint, "^[A-Za-z0-9+/]+$");

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        serializer.serialize_str(&STANDARD_NO_PAD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("not the digests of an answer");
        let bytes = STANDARD_NO_PAD.decode(text).map_err(|_| wrong())?;
        let mut rest = bytes.as_slice();
        match Self::read(&mut rest) {
            Some(print) if rest.is_empty() => Ok(print),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_marks_before_the_first_difference_bound_it() {
        let text = "a".repeat(100);
        let mut other = text.clone();
        other.replace_range(29..30, "b");
        let alike = |a: &str, b: &str| Fingerprint::of(a).alike_until(&Fingerprint::of(b));
        assert_eq!(alike(&text, &other), Some(24), "the 30th character differs");
        assert_eq!(alike(&text, &text), None);
        assert_eq!(alike("abcd", "abce"), Some(0));
        assert_eq!(alike("abcdef", "abcdeg"), Some(4));
        // One goes on where the other ends.
        assert_eq!(alike(&text, &text[..50]), Some(48));
        assert_eq!(alike("", "x"), Some(0));
    }

    #[test]
    fn characters_count_and_not_bytes() {
        let alike = Fingerprint::of("ééééx").alike_until(&Fingerprint::of("ééééy"));
        assert_eq!(alike, Some(4));
    }

    #[test]
    fn an_answer_of_a_thousand_characters_takes_44_bytes() {
        let mut bytes = Vec::new();
        Fingerprint::of(&"x".repeat(1000)).write(&mut bytes);
        assert_eq!(bytes.len(), 44);
    }

    proptest! {
        #[test]
        fn it_survives_its_json(text in ".{0,200}") {
            let print = Fingerprint::of(&text);
            let json = serde_json::to_string(&print).unwrap();
            prop_assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), print);
        }

        #[test]
        fn the_bound_never_passes_the_first_difference(
            common in ".{0,80}", one in "[a-m].{0,40}", two in "[n-z].{0,40}",
        ) {
            let (a, b) = (format!("{common}{one}"), format!("{common}{two}"));
            let alike = Fingerprint::of(&a).alike_until(&Fingerprint::of(&b)).unwrap();
            let first = common.chars().count() as u32;
            prop_assert!(alike <= first);
            // And by the spacing of the positions, not by more than a third.
            prop_assert!(first < 4 || 3 * alike + 3 >= 2 * first, "{} of {}", alike, first);
        }

        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut rest = bytes.as_slice();
            if let Some(print) = Fingerprint::read(&mut rest) {
                let used = bytes.len() - rest.len();
                let mut again = Vec::new();
                print.write(&mut again);
                bytes.truncate(used);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
