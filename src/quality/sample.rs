//! What a run keeps of its answers: how many pass, and the first of them one by one.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CheckKind, Fingerprint};

/// Requests of a class and stage of which each answer is kept apart: those with the smallest numbers,
/// which are the same requests in every run.
///
/// Without agreement each takes 5 bytes, with it 17 and two for each doubling and half-doubling of its
/// length: at 1,000 characters 49, so a class's sample is 49 kB, and 66 kB in the file.
pub const SAMPLE: usize = 1000;

/// The answers of a class in a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AnswerQuality {
    /// How many pass each kind of check.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<CheckKind, PassCount>,
    /// The first answers one by one; none of classes pooled, which have theirs.
    #[serde(default, skip_serializing_if = "AnswerSample::is_empty")]
    pub sample: AnswerSample,
}

/// Answers that pass.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct PassCount {
    /// Those that do.
    pub passed: u64,
    /// All that were checked.
    pub of: u64,
}

impl AnswerQuality {
    /// Counts an answer that was checked for these kinds.
    pub fn take(&mut self, number: u32, kinds: &[CheckKind], entry: Entry) {
        for kind in kinds {
            let count = self.checks.entry(*kind).or_default();
            count.of += 1;
            count.passed += u64::from(!entry.failed.contains(kind));
        }
        self.sample.take(number, entry);
    }

    /// Adds the answers of another part of the run.
    pub fn merge(&mut self, other: Self) {
        for (kind, more) in other.checks {
            let count = self.checks.entry(kind).or_default();
            count.passed += more.passed;
            count.of += more.of;
        }
        for (number, entry) in other.sample.0 {
            self.sample.take(number, entry);
        }
    }
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Kinds of the checks that it fails.
    pub failed: Vec<CheckKind>,
    /// Of its text, where its class asks for agreement.
    pub print: Option<Fingerprint>,
}

/// Answers by their request's number, at most [`SAMPLE`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerSample(BTreeMap<u32, Entry>);

/// How two runs' answers to the same requests agree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Requests that both have an answer to.
    pub compared: u64,
    /// Of each pair that differs, the characters that are alike from the start on at the least.
    pub alike_until: Vec<u32>,
}

impl Agreement {
    /// Pairs that differ.
    pub fn differing(&self) -> u64 {
        self.alike_until.len() as u64
    }
}

/// Requests of two runs of which one passes and the other does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Discordant {
    /// Those.
    pub events: u64,
    /// Requests that both have an answer to.
    pub of: u64,
}

impl AnswerSample {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether some answer's text can be held against another's.
    pub fn has_prints(&self) -> bool {
        self.0.values().any(|entry| entry.print.is_some())
    }

    fn take(&mut self, number: u32, entry: Entry) {
        self.0.insert(number, entry);
        if self.0.len() > SAMPLE {
            self.0.pop_last();
        }
    }

    fn pairs<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (&'a Entry, &'a Entry)> {
        let both = |(number, entry)| Some((entry, other.0.get(number)?));
        self.0.iter().filter_map(both)
    }

    /// How its texts agree with another run's.
    pub fn agreement(&self, other: &Self) -> Agreement {
        let mut agreement = Agreement::default();
        for (one, two) in self.pairs(other) {
            if let (Some(one), Some(two)) = (&one.print, &two.print) {
                agreement.compared += 1;
                agreement.alike_until.extend(one.alike_until(two));
            }
        }
        agreement
    }

    /// On how many requests two runs differ in whether the answer passes.
    pub fn discordant(&self, kind: CheckKind, other: &Self) -> Discordant {
        let mut discordant = Discordant::default();
        for (one, two) in self.pairs(other) {
            discordant.of += 1;
            let differ = one.failed.contains(&kind) != two.failed.contains(&kind);
            discordant.events += u64::from(differ);
        }
        discordant
    }

    fn read(mut bytes: &[u8]) -> Option<Self> {
        let mut sample = BTreeMap::new();
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_at_checked(5)?;
            bytes = rest;
            let number = u32::from_le_bytes(head[..4].try_into().ok()?);
            let flags = head[4];
            let failed = CheckKind::ALL.into_iter().zip(0..);
            let failed = failed.filter(|(_, bit)| flags & (1 << bit) != 0);
            let print = if flags & PRINTED == 0 {
                None
            } else {
                Some(Fingerprint::read(&mut bytes)?)
            };
            let entry = Entry {
                failed: failed.map(|(kind, _)| kind).collect(),
                print,
            };
            sample.insert(number, entry);
        }
        Some(Self(sample))
    }
}

/// The flag of an entry with a fingerprint; the lowest bits are those of failed kinds.
const PRINTED: u8 = 0x80;

crate::schema::text!(AnswerSample, "^[A-Za-z0-9+/]*$");

impl Serialize for AnswerSample {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        for (number, entry) in &self.0 {
            bytes.extend_from_slice(&number.to_le_bytes());
            let kinds = CheckKind::ALL.into_iter().zip(0..);
            let failed = kinds.filter(|(kind, _)| entry.failed.contains(kind));
            let flags = failed.fold(0, |flags, (_, bit)| flags | (1 << bit));
            bytes.push(flags | if entry.print.is_some() { PRINTED } else { 0 });
            if let Some(print) = &entry.print {
                print.write(&mut bytes);
            }
        }
        serializer.serialize_str(&STANDARD_NO_PAD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for AnswerSample {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD_NO_PAD.decode(text).ok();
        bytes
            .and_then(|bytes| Self::read(&bytes))
            .ok_or_else(|| serde::de::Error::custom("not a sample of answers"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(failed: &[CheckKind], text: Option<&str>) -> Entry {
        Entry {
            failed: failed.to_vec(),
            print: text.map(Fingerprint::of),
        }
    }

    fn quality(answers: &[(u32, Entry)]) -> AnswerQuality {
        let mut quality = AnswerQuality::default();
        for (number, entry) in answers {
            quality.take(*number, &[CheckKind::Regex], entry.clone());
        }
        quality
    }

    #[test]
    fn agreement_is_over_requests_that_both_answered() {
        let one = quality(&[
            (0, entry(&[], Some("the same"))),
            (1, entry(&[], Some("begins alike, then not"))),
            (2, entry(&[], Some("alone"))),
        ]);
        let two = quality(&[
            (0, entry(&[], Some("the same"))),
            (1, entry(&[], Some("begins alike, and not"))),
            (3, entry(&[], Some("alone"))),
        ]);
        let agreement = one.sample.agreement(&two.sample);
        assert_eq!(agreement.compared, 2);
        assert_eq!(agreement.alike_until, [12], "they differ in character 15");
    }

    #[test]
    fn discordant_requests_pass_on_one_side_alone() {
        let fails = || entry(&[CheckKind::Regex], None);
        let passes = || entry(&[], None);
        let one = quality(&[(0, fails()), (1, fails()), (2, passes()), (3, passes())]);
        let two = quality(&[(0, fails()), (1, passes()), (2, fails()), (3, passes())]);
        let discordant = one.sample.discordant(CheckKind::Regex, &two.sample);
        assert_eq!(discordant, Discordant { events: 2, of: 4 });
        // The shares are the same: only the pairs tell.
        let passed = |quality: &AnswerQuality| quality.checks[&CheckKind::Regex];
        assert_eq!(passed(&one), PassCount { passed: 2, of: 4 });
        assert_eq!(passed(&one), passed(&two));
    }

    #[test]
    fn the_smallest_numbers_stay_whatever_the_order() {
        let numbers = 0..2 * SAMPLE as u32;
        let forth: Vec<_> = numbers.clone().map(|n| (n, Entry::default())).collect();
        let back: Vec<_> = numbers.rev().map(|n| (n, Entry::default())).collect();
        let (forth, back) = (quality(&forth), quality(&back));
        assert_eq!(forth, back);
        assert_eq!(forth.sample.0.len(), SAMPLE);
        assert_eq!(forth.checks[&CheckKind::Regex].of, 2 * SAMPLE as u64);
    }

    #[test]
    fn a_full_sample_of_long_answers_is_66_kb_of_text() {
        let text = "x".repeat(1000);
        let answers: Vec<_> = (0..1000).map(|n| (n, entry(&[], Some(&text)))).collect();
        let json = serde_json::to_string(&quality(&answers).sample).unwrap();
        assert_eq!(json.len(), (49 * 1000_usize * 4).div_ceil(3) + 2);
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole_and_survive_json(
            answers in prop::collection::btree_map(any::<u32>(), (any::<bool>(), ".{0,20}"), 0..40),
            cut in 0_usize..40,
        ) {
            let answers: Vec<(u32, Entry)> = answers
                .into_iter()
                .map(|(n, (fails, text))| {
                    let failed: &[CheckKind] = if fails { &[CheckKind::Regex] } else { &[] };
                    (n, entry(failed, (text.len() % 2 == 0).then_some(&text)))
                })
                .collect();
            let whole = quality(&answers);
            let (left, right) = answers.split_at(cut.min(answers.len()));
            let mut parts = quality(right);
            parts.merge(quality(left));
            prop_assert_eq!(&parts, &whole);
            let json = serde_json::to_string(&whole).unwrap();
            prop_assert_eq!(serde_json::from_str::<AnswerQuality>(&json).unwrap(), whole);
        }
    }
}
