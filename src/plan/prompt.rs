//! Prompts: real text of a planned length, unique where the spec shares nothing.

use serde::{Deserialize, Serialize};

use super::calibration::PromptCalibration;
use super::request::{Phase, PlannedRequest, Prefix};
use super::seed::Draws;
use super::words::WORDS;
use crate::trace::BLOCK_TOKENS;

/// What makes a run's prompts new to every prefix cache: different for each run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Salt(String);

impl Salt {
    /// From any text that no other run has, a run's id say.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The salt as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A prompt as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The shared system prompt.
    pub system: Option<String>,
    /// What the user says.
    pub user: String,
}

/// Words at the start of each prompt or shared prefix that carry the salt: 6 words of a list of
/// a thousand tell apart 2^59 of them.
const SALT_WORDS: u32 = 6;

/// A full stop after every so many words, so that a text is no endless sentence and its tokens
/// still grow in a line with its words.
const SENTENCE: usize = 12;

/// Writes the prompts of one run.
#[derive(Debug, Clone)]
pub struct Prompter {
    seed: String,
    salt: Salt,
    calibration: PromptCalibration,
}

impl Prompter {
    /// For one run: the plan's seed, the run's salt, the comparison's calibration.
    pub fn new(seed: u64, salt: Salt, calibration: PromptCalibration) -> Self {
        Self {
            seed: seed.to_string(),
            salt,
            calibration,
        }
    }

    /// The run's salt.
    pub const fn salt(&self) -> &Salt {
        &self.salt
    }

    /// The prompt of a planned request in the stage of this name.
    ///
    /// The salt stands first, in the shared prefix where there is one, else in the prompt: caches
    /// match from the first token on, so nothing that an earlier run left behind can match. What
    /// follows the salt is the same in every run.
    ///
    /// `blocks` are the ids of the texts that a replayed prompt starts with, of 512 tokens each,
    /// the last perhaps in part: equal ids are equal texts, each with a salt of its own before it,
    /// for any of them may come first. What they leave of the input is text of its own.
    pub fn prompt(&self, stage: &str, request: &PlannedRequest, blocks: &[u64]) -> Prompt {
        let place = place(stage, request);
        let total = f64::from(request.input_tokens) - self.calibration.overhead_tokens;
        match request.prefix {
            None => {
                let words = self.calibration.words(total);
                Prompt {
                    system: None,
                    user: self.after_blocks(stage, blocks, &place, words),
                }
            }
            Some(Prefix { group, tokens }) => {
                let shared = self.calibration.words(f64::from(tokens));
                let own = self.calibration.words(total - f64::from(tokens));
                // A tenant's groups are its own.
                let whose = match request.tenant {
                    Some(tenant) => format!("{}/tenant-{tenant}", request.class),
                    None => request.class.to_string(),
                };
                Prompt {
                    system: Some(self.salted_text(&format!("prefix/{whose}/{group}"), shared)),
                    user: self.salted_text(&place, own),
                }
            }
        }
    }

    /// What the user of a conversation says in a later turn. It follows on the history, which is
    /// salted already, so it is the same text in every run.
    pub fn later(&self, stage: &str, request: &PlannedRequest) -> String {
        // Its place in the chat template takes what a whole chat of one message takes.
        let total = f64::from(request.input_tokens) - self.calibration.overhead_tokens;
        let place = format!("text/{}", place(stage, request));
        let mut body = Draws::new(&self.seed, &place, 0);
        let words = self.calibration.words(total);
        text((0..words).map(|_| WORDS[body.below(WORDS.len() as u64) as usize]))
    }

    /// So many words, the first of them from blocks.
    fn after_blocks(&self, stage: &str, blocks: &[u64], place: &str, words: u32) -> String {
        let whole = self.calibration.words(f64::from(BLOCK_TOKENS));
        let mut left = words;
        let mut parts = Vec::with_capacity(blocks.len() + 1);
        for block in blocks {
            let part = whole.min(left);
            if part == 0 {
                break;
            }
            left -= part;
            parts.push(self.salted_text(&format!("{stage}/block/{block}"), part));
        }
        if left > 0 {
            parts.push(self.salted_text(place, left));
        }
        parts.join(". ")
    }

    /// A salted text of exactly so many words; texts of different `place`s differ.
    fn salted_text(&self, place: &str, words: u32) -> String {
        let mut salt = Draws::new(self.salt.as_str(), &format!("salt/{place}"), 0);
        let mut body = Draws::new(&self.seed, &format!("text/{place}"), 0);
        text((0..words).map(|number| {
            let draws = if number < SALT_WORDS {
                &mut salt
            } else {
                &mut body
            };
            WORDS[draws.below(WORDS.len() as u64) as usize]
        }))
    }
}

/// What tells the text of a request from every other: its conversation and turn, or its phase and
/// number.
fn place(stage: &str, request: &PlannedRequest) -> String {
    let phase = match request.phase {
        Phase::Warmup => "warmup",
        Phase::Measured => "measured",
    };
    match request.turn {
        Some(turn) => format!("{stage}/conversation/{}/{}", turn.conversation, turn.number),
        None => format!("{stage}/{phase}/{}", request.number),
    }
}

/// Texts to count tokens of, with their number of words: the whole word list in eight parts, then
/// in four of twice the length.
///
/// Both lengths hold every word once, so the line through their means is that of the list itself,
/// without the scatter that any choice of words would bring.
pub fn calibration_texts() -> Vec<(u32, String)> {
    let parts = |n: usize| WORDS.chunks(WORDS.len().div_ceil(n));
    parts(8)
        .chain(parts(4))
        .map(|words| (words.len() as u32, text(words.iter().copied())))
        .collect()
}

/// Words with spaces between them, and a full stop at the end of each sentence but the last.
fn text<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for (number, word) in words.enumerate() {
        if number > 0 {
            text.push_str(if number % SENTENCE == 0 { ". " } else { " " });
        }
        text.push_str(word);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::CalibrationSource;

    fn prompter(salt: &str) -> Prompter {
        let calibration = PromptCalibration {
            tokens_per_word: 1.0,
            overhead_tokens: 4.0,
            source: CalibrationSource::Usage,
        };
        Prompter::new(42, Salt::new(salt), calibration)
    }

    fn request(number: u32, prefix: Option<Prefix>) -> PlannedRequest {
        PlannedRequest {
            phase: Phase::Measured,
            number,
            class: 0,
            tenant: None,
            turn: None,
            input_tokens: 104,
            output_tokens: 8,
            output_length: crate::spec::OutputLength::Pinned,
            prefix,
            cancel_after: None,
        }
    }

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn a_prompt_has_its_planned_length() {
        let prompt = prompter("a").prompt("steady", &request(0, None), &[]);
        assert_eq!(words(&prompt.user).len(), 100);
        assert_eq!(prompt.system, None);
    }

    #[test]
    fn another_run_shares_no_beginning_but_the_same_body() {
        let (a, b) = (prompter("a"), prompter("b"));
        let (a, b) = (
            a.prompt("s", &request(0, None), &[]),
            b.prompt("s", &request(0, None), &[]),
        );
        assert_ne!(words(&a.user)[..6], words(&b.user)[..6]);
        assert_eq!(words(&a.user)[6..], words(&b.user)[6..]);
    }

    #[test]
    fn requests_of_a_run_are_unique_but_for_their_shared_prefix() {
        let prompter = prompter("a");
        let group = |group| Some(Prefix { group, tokens: 50 });
        let first = prompter.prompt("s", &request(0, group(1)), &[]);
        let same = prompter.prompt("s", &request(1, group(1)), &[]);
        let other = prompter.prompt("s", &request(2, group(2)), &[]);
        assert_eq!(first.system, same.system);
        assert_ne!(first.system, other.system);
        assert_ne!(first.user, same.user);
        assert_eq!(words(first.system.as_deref().unwrap()).len(), 50);
        assert_eq!(words(&first.user).len(), 50);
    }

    #[test]
    fn a_tenants_groups_are_its_own() {
        let prompter = prompter("a");
        let system = |tenant, number| {
            let request = PlannedRequest {
                tenant,
                ..request(
                    number,
                    Some(Prefix {
                        group: 1,
                        tokens: 50,
                    }),
                )
            };
            prompter.prompt("s", &request, &[]).system.unwrap()
        };
        assert_eq!(system(Some(3), 0), system(Some(3), 1));
        assert_ne!(system(Some(3), 0), system(Some(4), 0));
        assert_ne!(system(Some(0), 0), system(None, 0));
    }

    #[test]
    fn equal_blocks_are_equal_text_and_salted_first() {
        let prompt = |salt, number, input_tokens, blocks: &[u64]| {
            let request = PlannedRequest {
                input_tokens,
                ..request(number, None)
            };
            prompter(salt).prompt("day", &request, blocks).user
        };
        let a = prompt("a", 0, 1504, &[7, 8]);
        let b = prompt("a", 1, 1504, &[7, 9]);
        let (a, b) = (words(&a), words(&b));
        assert_eq!((a.len(), b.len()), (1500, 1500));
        assert_eq!(a[..512], b[..512]);
        assert_ne!(a[512..518], b[512..518]);
        assert_ne!(a[1024..1030], b[1024..1030]);
        // A last block in part is the whole one's beginning.
        let part = prompt("a", 2, 704, &[7, 8]);
        assert_eq!(words(&part), a[..700]);
        // Another run has nothing of it from the first word on.
        let other = prompt("b", 0, 1504, &[7, 8]);
        assert_ne!(words(&other)[..6], a[..6]);
        assert_eq!(words(&other)[6..512], a[6..512]);
    }

    #[test]
    fn calibration_texts_hold_every_word_twice() {
        let texts = calibration_texts();
        assert_eq!(texts.len(), 12);
        let total: u32 = texts.iter().map(|(words, _)| words).sum();
        assert_eq!(total as usize, 2 * WORDS.len());
        for (count, text) in texts {
            assert_eq!(words(&text).len(), count as usize);
        }
    }

    #[test]
    fn the_text_is_pinned() {
        insta::assert_snapshot!(prompter("a").prompt("steady", &request(0, None), &[]).user);
    }
}
