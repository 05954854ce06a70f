//! Prompts: real text of a planned length, unique where the spec shares nothing.

use serde::{Deserialize, Serialize};

use super::calibration::PromptCalibration;
use super::request::{Phase, PlannedRequest, Prefix};
use super::seed::Draws;
use super::words::{Spellings, WORDS};
use crate::spec::{CacheRegime, Class};
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

/// Words at the start of each prompt or shared prefix that carry the salt: of a given number of letters
/// each, 6 words tell apart 2^48 of them.
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
    cache: CacheRegime,
    /// By class, whether its prompts are the same in every run.
    fixed: Vec<bool>,
}

impl Prompter {
    /// For one run: the plan's seed, the run's salt, the comparison's calibration.
    pub fn new(seed: u64, salt: Salt, calibration: PromptCalibration) -> Self {
        Self {
            seed: seed.to_string(),
            salt,
            calibration,
            cache: CacheRegime::default(),
            fixed: Vec::new(),
        }
    }

    /// The same under another regime of the prefix cache.
    #[must_use]
    pub fn under(mut self, cache: CacheRegime) -> Self {
        self.cache = cache;
        self
    }

    /// With the prompts of classes that ask something of their answers the same in every run: those of
    /// a dataset as they stand there, made-up ones with the salt of no run. Within a run each is as new
    /// to a prefix cache as it would be; a cache that outlives the run finds it in the next.
    #[must_use]
    pub fn with_fixed(mut self, classes: &[Class]) -> Self {
        self.fixed = classes
            .iter()
            .map(|class| class.quality.is_some())
            .collect();
        self
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
                    user: self.after_blocks((stage, request.class), blocks, &place, words),
                }
            }
            Some(Prefix { group, tokens }) => {
                let shared = self.calibration.words(f64::from(tokens));
                // What rounding gave the prefix, or took from it, is the prompt's own.
                let theirs = f64::from(shared) * self.calibration.tokens_per_word;
                let total = total - self.calibration.prefix_tokens;
                let own = self.calibration.words(total - theirs);
                // A tenant's groups are its own.
                let whose = match request.tenant {
                    Some(tenant) => format!("{}/tenant-{tenant}", request.class),
                    None => request.class.to_string(),
                };
                Prompt {
                    system: Some(self.shared_text(
                        &format!("prefix/{whose}/{group}"),
                        (&place, request.class),
                        shared,
                    )),
                    user: self.salted_text(&place, request.class, own),
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
        let mut spellings = Spellings::from(body.bits());
        text((0..words).map(|_| spellings.word(|n| body.below(n))))
    }

    /// So many words, the first of them from blocks.
    fn after_blocks(
        &self,
        (stage, class): (&str, u32),
        blocks: &[u64],
        place: &str,
        words: u32,
    ) -> String {
        let whole = self.calibration.words(f64::from(BLOCK_TOKENS));
        let mut left = words;
        let mut parts = Vec::with_capacity(blocks.len() + 1);
        for block in blocks {
            let part = whole.min(left);
            if part == 0 {
                break;
            }
            left -= part;
            parts.push(self.shared_text(&format!("{stage}/block/{block}"), (place, class), part));
        }
        if left > 0 {
            parts.push(self.salted_text(place, class, left));
        }
        parts.join(". ")
    }

    /// The words that stand before a prompt of a dataset, with a full stop after them: the same for all
    /// of a class's in a run, so that what they share is still shared. None under `warm`: then prompts
    /// are sent as they stand in the file, as they always are where something is asked of answers.
    pub fn before(&self, stage: &str, request: &PlannedRequest) -> String {
        if self.is_fixed(request.class) {
            return String::new();
        }
        let dataset = format!("dataset/{}", request.class);
        let mut salt = match self.cache {
            CacheRegime::Cold => self.salt_of(&place(stage, request), request.class),
            CacheRegime::Realistic => self.salt_of(&dataset, request.class),
            CacheRegime::Warm => return String::new(),
        };
        let mut spellings = Spellings::from(salt.bits());
        let words = text((0..SALT_WORDS).map(|_| spellings.word(|n| salt.below(n))));
        format!("{words}. ")
    }

    /// A text of one request of exactly so many words; texts of different `place`s differ.
    fn salted_text(&self, place: &str, class: u32, words: u32) -> String {
        self.text_after(Some(place), place, class, words)
    }

    /// A text that requests share: with the salt of the run, of the request or none.
    fn shared_text(&self, place: &str, (request, class): (&str, u32), words: u32) -> String {
        let own = format!("{place}/of/{request}");
        let salt = match self.cache {
            CacheRegime::Cold => Some(own.as_str()),
            CacheRegime::Realistic => Some(place),
            CacheRegime::Warm => None,
        };
        self.text_after(salt, place, class, words)
    }

    /// So many words of the text at `place`, the first of them instead from the salt of another.
    fn text_after(&self, salt: Option<&str>, place: &str, class: u32, words: u32) -> String {
        let mut salt = salt.map(|place| self.salt_of(place, class));
        let mut body = Draws::new(&self.seed, &format!("text/{place}"), 0);
        // Those of the salt too: it has as many letters whichever run's it is.
        let mut spellings = Spellings::from(body.bits());
        text((0..words).map(|number| match &mut salt {
            Some(salt) if number < SALT_WORDS => spellings.word(|n| salt.below(n)),
            _ => spellings.word(|n| body.below(n)),
        }))
    }

    fn salt_of(&self, place: &str, class: u32) -> Draws {
        let salt = if self.is_fixed(class) {
            &self.seed
        } else {
            self.salt.as_str()
        };
        Draws::new(salt, &format!("salt/{place}"), 0)
    }

    fn is_fixed(&self, class: u32) -> bool {
        self.fixed.get(class as usize).copied().unwrap_or(false)
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

/// The same words in four prompts with a shared prefix: the first eighth of the list before the second,
/// and so on.
pub fn prefix_calibration_texts() -> Vec<(u32, Prompt)> {
    let parts: Vec<&[&str]> = WORDS.chunks(WORDS.len().div_ceil(8)).collect();
    let said = |words: &[&'static str]| text(words.iter().copied());
    let pairs = parts.chunks_exact(2).map(|pair| {
        let prompt = Prompt {
            system: Some(said(pair[0])),
            user: said(pair[1]),
        };
        ((pair[0].len() + pair[1].len()) as u32, prompt)
    });
    pairs.collect()
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
mod tests;
