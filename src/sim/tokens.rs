//! The engine's own tokenizer, and the words that it answers with.
//!
//! A piece is up to five letters or digits with the one space before them, a run of other
//! whitespace, or one other character. The answers are made of short words, so that tokenizing an
//! answer gives back exactly the tokens that were generated.

/// Most letters in one piece.
const PIECE: usize = 5;
/// Ids of pieces lie below; the chat template's own tokens from here on.
const PIECE_IDS: u32 = 131_072;
const MESSAGE_START: u32 = PIECE_IDS;
const MESSAGE_BODY: u32 = PIECE_IDS + 1;
const MESSAGE_END: u32 = PIECE_IDS + 2;

/// What the engine says: 64 words of at most five letters.
static WORDS: [&str; 64] = [
    "the", "river", "runs", "past", "old", "stone", "walls", "and", "under", "a", "small", "reeds",
    "where", "boats", "wait", "for", "rain", "to", "lift", "them", "over", "sand", "each", "year",
    "more", "birds", "come", "back", "from", "south", "with", "songs", "of", "warm", "air",
    "light", "falls", "on", "roofs", "while", "bread", "cools", "in", "open", "doors", "some",
    "men", "count", "nets", "by", "hand", "as", "women", "sort", "fish", "into", "boxes", "then",
    "night", "comes", "clear", "cold", "full", "still",
];

/// FNV-1a, 64 bits: stable on every machine and quick on short pieces.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn id(piece: &str) -> u32 {
    let hash = fnv(piece.as_bytes());
    ((hash ^ (hash >> 32)) as u32) % PIECE_IDS
}

/// Splits a text into its pieces; joined they are the text again.
///
/// `"A river, flowing"` is `"A"`, `" river"`, `","`, `" flowi"`, `"ng"`.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, tail) = rest.split_at(piece_len(rest));
        rest = tail;
        Some(piece)
    })
}

/// The length in bytes of the piece at the start of a text that is not empty.
fn piece_len(text: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric();
    let (space, word) = match text.strip_prefix(' ') {
        Some(word) if word.starts_with(is_word) => (1, word),
        _ => (0, text),
    };
    let letters: usize = word
        .chars()
        .take(PIECE)
        .take_while(|c| is_word(*c))
        .map(char::len_utf8)
        .sum();
    if letters > 0 {
        return space + letters;
    }
    let blank = text.len() - text.trim_start().len();
    // The last space of a run belongs to the word after it.
    match blank {
        0 => text.chars().next().map_or(text.len(), char::len_utf8),
        1 => 1,
        n if text[..n].ends_with(' ') && text[n..].starts_with(is_word) => n - 1,
        n => n,
    }
}

/// The ids of a text's tokens.
pub(super) fn tokenize(text: &str) -> Vec<u32> {
    pieces(text).map(id).collect()
}

/// The ids of a chat: four tokens around each message's text, and three that open the answer.
///
/// The answer of a turn, sent back as an assistant message, has the ids that it was generated
/// with, so that a conversation finds its earlier turns in the prefix cache.
pub(super) fn tokenize_chat<'a>(
    messages: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<u32> {
    let mut ids = Vec::new();
    for (role, text) in messages {
        ids.extend([MESSAGE_START, id(role), MESSAGE_BODY]);
        ids.extend(pieces(text).map(id));
        ids.push(MESSAGE_END);
    }
    ids.extend([MESSAGE_START, id("assistant"), MESSAGE_BODY]);
    ids
}

/// Chooses words by a prompt: Knuth's MMIX generator, of which the high bits choose.
struct Choice(u64);

impl Choice {
    fn of(prompt: &[u32]) -> Self {
        Self(prompt.iter().fold(0, |hash: u64, id| {
            (hash ^ u64::from(*id)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    fn next_word(&mut self) -> &'static str {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        WORDS[(self.0 >> 58) as usize]
    }
}

/// An answer as the engine generates it: one token a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// The token ids, at least one.
    pub(super) ids: Vec<u32>,
    /// The text that the client sees.
    text: String,
    /// Where the text of each token ends.
    ends: Vec<usize>,
    /// Whether a stop string ended it.
    pub(super) stopped: bool,
}

impl Answer {
    /// The answer to a prompt: the same prompt always gets the same words.
    ///
    /// It has `len` tokens, at least one, or fewer where one of the `stop` strings comes up: then
    /// the token that completes it is the last, and the text ends before it.
    ///
    /// A corrupt one has other words from its middle on.
    pub(super) fn new(prompt: &[u32], len: usize, stop: &[String], corrupt: bool) -> Self {
        let mut words = Choice::of(prompt);
        let mut answer = Self::empty(len);
        while answer.ids.len() < len.max(1) && !answer.stopped {
            if corrupt && answer.ids.len() == len.div_ceil(2) {
                words.0 ^= 0x5555_5555;
            }
            let start = answer.text.len();
            let space = if start > 0 { " " } else { "" };
            answer.say(&format!("{space}{}", words.next_word()));
            answer.cut_at_stop(stop, start);
        }
        answer
    }

    /// A JSON object of at most so many tokens, and its end; where that is ignored, words up to the
    /// last token. A corrupt one has a word in place of its last brace.
    pub(super) fn json(prompt: &[u32], (len, ignore_eos): (usize, bool), corrupt: bool) -> Self {
        let mut words = Choice::of(prompt);
        let mut answer = Self::empty(len);
        let close = if corrupt { " and" } else { "}" };
        let word = words.next_word();
        let object = format!(
            "{{\"n\": {}, \"word\": \"{word}\"{close}",
            1 + (words.0 >> 58)
        );
        let whole = pieces(&object).count();
        for piece in pieces(&object).take(len.max(1)) {
            answer.say(piece);
        }
        answer.stopped = whole <= len && !ignore_eos;
        while answer.ids.len() < len && !answer.stopped {
            answer.say(&format!(" {}", words.next_word()));
        }
        answer
    }

    fn empty(len: usize) -> Self {
        Self {
            ids: Vec::with_capacity(len),
            text: String::with_capacity(len * (PIECE + 1)),
            ends: Vec::with_capacity(len),
            stopped: false,
        }
    }

    /// Adds one token.
    fn say(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.ids.push(id(piece));
        self.ends.push(self.text.len());
    }

    fn cut_at_stop(&mut self, stop: &[String], token_start: usize) {
        let found = stop
            .iter()
            .filter(|stop| !stop.is_empty())
            .filter_map(|stop| {
                // An earlier match would have ended the answer already. Answers are ASCII.
                let from = (token_start + 1).saturating_sub(stop.len());
                self.text[from..].find(stop.as_str()).map(|at| from + at)
            })
            .min();
        if let Some(at) = found {
            self.stopped = true;
            self.text.truncate(at);
            for end in &mut self.ends {
                *end = at.min(*end);
            }
        }
    }

    /// The number of tokens.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The text of the tokens in a range of token numbers.
    pub(super) fn text(&self, tokens: std::ops::Range<usize>) -> &str {
        let at = |token: usize| match token.checked_sub(1) {
            None => 0,
            Some(previous) => self.ends[previous],
        };
        &self.text[at(tokens.start)..at(tokens.end)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<&str> {
        pieces(text).collect()
    }

    #[test]
    fn words_are_cut_after_five_letters_and_keep_their_space() {
        assert_eq!(
            split("A river, flowing"),
            ["A", " river", ",", " flowi", "ng"]
        );
        assert_eq!(split("a  b\n\nc "), ["a", " ", " b", "\n\n", "c", " "]);
        assert_eq!(split("żółw…"), ["żółw", "…"]);
        assert_eq!(split(""), [""; 0]);
    }

    #[test]
    fn the_chat_template_adds_four_a_message_and_three() {
        let ids = tokenize_chat([("system", "Be brief."), ("user", "Hi")]);
        assert_eq!(ids.len(), (4 + 3) + (4 + 1) + 3);
    }

    #[test]
    fn an_answer_tokenizes_to_its_own_ids() {
        let answer = Answer::new(&[1, 2, 3], 100, &[], false);
        assert_eq!(answer.len(), 100);
        assert_eq!(tokenize(answer.text(0..100)), answer.ids);
        assert_eq!(answer, Answer::new(&[1, 2, 3], 100, &[], false));
        assert_ne!(answer, Answer::new(&[1, 2, 4], 100, &[], false));
    }

    #[test]
    fn a_stop_string_ends_the_answer_before_itself() {
        let whole = Answer::new(&[7], 20, &[], false);
        // From the middle of one word to the middle of the next.
        let text = whole.text(0..20);
        let space = text.match_indices(' ').nth(5).unwrap().0;
        let stop = text[space - 1..space + 2].to_owned();
        let at = text.find(&stop).unwrap();
        let cut = Answer::new(&[7], 20, &["zzz".to_owned(), stop], false);
        assert!(cut.stopped && cut.len() < 20);
        assert_eq!(cut.text(0..cut.len()), &text[..at]);
    }

    proptest! {
        #[test]
        fn pieces_join_to_the_text(text in ".*") {
            prop_assert_eq!(pieces(&text).collect::<String>(), text);
        }

        #[test]
        fn pieces_are_short(text in "[a-z ,.\n]*") {
            for piece in pieces(&text) {
                prop_assert!(!piece.is_empty());
                prop_assert!(piece.trim().len() <= PIECE);
            }
        }
    }
}
