//! From tokens to words: a line fitted once per comparison against what the target counts.

use serde::{Deserialize, Serialize};

/// How many tokens a prompt of so many words has: `overhead + tokens_per_word × words`.
///
/// Fitted once on the baseline side and used for every run of both sides, so that both get the
/// same text; a differing tokenizer then shows as changed work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PromptCalibration {
    /// Tokens of one word of our list, with its share of spaces and full stops.
    pub tokens_per_word: f64,
    /// Tokens that a prompt has beside its words: the chat template.
    pub overhead_tokens: f64,
    /// Tokens that a prompt with a shared prefix has on top of those: a message of its own in the chat
    /// template. 0 where that was not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub prefix_tokens: f64,
    /// Where the two come from.
    pub source: CalibrationSource,
}

/// Where a calibration comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CalibrationSource {
    /// `usage.prompt_tokens` of short answers.
    Usage,
    /// The target's `/tokenize`.
    Tokenize,
    /// Nothing said, so typical values are assumed.
    Assumed,
}

impl PromptCalibration {
    /// Typical of current tokenizers on English text, for targets that report no usage.
    pub const ASSUMED: Self = Self {
        tokens_per_word: 1.2,
        overhead_tokens: 8.0,
        prefix_tokens: 0.0,
        source: CalibrationSource::Assumed,
    };

    /// Least squares through `(words, tokens)`; `None` unless there are two different word counts
    /// and the line is plausible (more than 0.2 and at most 20 tokens a word).
    ///
    /// `[(10, 25), (110, 145)]` is 1.2 tokens a word and 13 beside.
    pub fn fit(points: &[(u32, u32)], source: CalibrationSource) -> Option<Self> {
        let n = points.len() as f64;
        let (mean_x, mean_y) = points.iter().fold((0.0, 0.0), |(x, y), &(words, tokens)| {
            (x + f64::from(words) / n, y + f64::from(tokens) / n)
        });
        let (sxx, sxy) = points
            .iter()
            .fold((0.0, 0.0), |(xx, xy), &(words, tokens)| {
                let dx = f64::from(words) - mean_x;
                (xx + dx * dx, xy + dx * (f64::from(tokens) - mean_y))
            });
        let tokens_per_word = sxy / sxx;
        let fit = Self {
            tokens_per_word,
            overhead_tokens: (mean_y - tokens_per_word * mean_x).max(0.0),
            prefix_tokens: 0.0,
            source,
        };
        fit.is_plausible().then_some(fit)
    }

    /// With what `(words, tokens)` of prompts with a shared prefix have over the line, on average; as it
    /// is where there is none.
    ///
    /// By 1.2 tokens a word and 13 beside, 100 words have 133 tokens: 137 are 4 more.
    #[must_use]
    pub fn with_prefixes(self, points: &[(u32, u32)]) -> Self {
        let over = points.iter().map(|&(words, tokens)| {
            let line = self.overhead_tokens + self.tokens_per_word * f64::from(words);
            f64::from(tokens) - line
        });
        let prefix_tokens = over.sum::<f64>() / points.len() as f64;
        let with = Self {
            prefix_tokens,
            ..self
        };
        if with.is_plausible() { with } else { self }
    }

    /// Whether prompts can be written by it: more than 0.2 and at most 20 tokens a word, and no
    /// more than 100,000 tokens beside the words. A run file may hold anything.
    pub fn is_plausible(&self) -> bool {
        (0.2..=20.0).contains(&self.tokens_per_word)
            && (0.0..=1e5).contains(&self.overhead_tokens)
            && (-1e5..=1e5).contains(&self.prefix_tokens)
    }

    /// Words of a text of so many tokens, the overhead not counted; at least one.
    pub fn words(&self, tokens: f64) -> u32 {
        (tokens / self.tokens_per_word).round().max(1.0) as u32
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(tokens: &f64) -> bool {
    *tokens == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_adds_what_lies_over_the_line() {
        let fit =
            PromptCalibration::fit(&[(10, 25), (110, 145)], CalibrationSource::Usage).unwrap();
        assert_eq!(fit.with_prefixes(&[]), fit);
        let with = fit.with_prefixes(&[(100, 137), (50, 76)]);
        assert!((with.prefix_tokens - 3.5).abs() < 1e-9, "4 and 3 more");
        // Earlier run files do not have it, and files without it stay as they are.
        let text = serde_json::to_string(&fit).unwrap();
        assert!(!text.contains("prefix"), "{text}");
        assert_eq!(
            serde_json::from_str::<PromptCalibration>(&text).unwrap(),
            fit
        );
    }

    #[test]
    fn a_line_through_two_points_is_exact() {
        let fit =
            PromptCalibration::fit(&[(10, 25), (110, 145)], CalibrationSource::Usage).unwrap();
        assert!((fit.tokens_per_word - 1.2).abs() < 1e-12);
        assert!((fit.overhead_tokens - 13.0).abs() < 1e-9);
        assert_eq!(fit.words(120.0), 100);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(PromptCalibration::fit(&[], CalibrationSource::Usage).is_none());
        assert!(PromptCalibration::fit(&[(10, 25), (10, 30)], CalibrationSource::Usage).is_none());
        assert!(PromptCalibration::fit(&[(10, 25), (110, 25)], CalibrationSource::Usage).is_none());
    }
}
