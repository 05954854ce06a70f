//! What the engine says: plain words, or small JSON objects; and which prompts it answers otherwise.

use super::tokens::Answer;

/// What the engine says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Speech {
    /// Whether an answer is a JSON object, after which the model stops unless it is told to ignore its
    /// end of text: then words follow.
    pub json: bool,
    /// Share of prompts whose answer is another from its middle on, and no whole JSON: always the same
    /// prompts, as other weights would have it.
    pub corrupt_share: f64,
}

impl Speech {
    /// The answer to a prompt of at most `len` tokens; the same prompt always gets the same.
    pub(super) fn answer(
        self,
        prompt: &[u32],
        (len, ignore_eos): (usize, bool),
        stop: &[String],
    ) -> Answer {
        let corrupt = self.corrupts(prompt);
        if self.json {
            Answer::json(prompt, (len, ignore_eos), corrupt)
        } else {
            Answer::new(prompt, len, stop, corrupt)
        }
    }

    fn corrupts(self, prompt: &[u32]) -> bool {
        // FNV-1a over the ids, its bits mixed so that near prompts lie far apart.
        let hash = prompt.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, id| {
            (hash ^ u64::from(*id)).wrapping_mul(0x0100_0000_01b3)
        });
        let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed as f64 / 2f64.powi(64)) < self.corrupt_share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(speech: Speech, prompt: u32, len: usize, ignore_eos: bool) -> (String, bool) {
        let answer = speech.answer(&[1, prompt], (len, ignore_eos), &[]);
        (answer.text(0..answer.len()).to_owned(), answer.stopped)
    }

    #[test]
    fn json_ends_by_itself_and_runs_on_where_its_end_is_ignored() {
        let speech = Speech {
            json: true,
            corrupt_share: 0.0,
        };
        let (text, stopped) = said(speech, 7, 100, false);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(
            stopped && value["n"].is_u64() && value["word"].is_string(),
            "{text}"
        );
        let (longer, stopped) = said(speech, 7, 100, true);
        assert!(!stopped && longer.starts_with(&text) && longer.len() > text.len());
        let (cut, stopped) = said(speech, 7, 3, false);
        assert!(!stopped && text.starts_with(&cut), "the limit came first");
    }

    #[test]
    fn the_same_prompts_are_answered_otherwise_from_the_middle_on() {
        let plain = Speech::default();
        let other = Speech {
            json: false,
            corrupt_share: 0.2,
        };
        let differ: Vec<u32> = (0..1000)
            .filter(|&prompt| said(plain, prompt, 20, false) != said(other, prompt, 20, false))
            .collect();
        assert!((150..250).contains(&differ.len()), "{}", differ.len());
        let one = differ[0];
        let (a, b) = (said(plain, one, 20, false).0, said(other, one, 20, false).0);
        let alike = a.split(' ').zip(b.split(' ')).take_while(|(a, b)| a == b);
        assert!((10..15).contains(&alike.count()), "{a} / {b}");
        let broken = Speech {
            json: true,
            corrupt_share: 1.0,
        };
        let (text, _) = said(broken, one, 100, false);
        assert!(
            serde_json::from_str::<serde_json::Value>(&text).is_err(),
            "{text}"
        );
    }
}
