//! The words that make an embedded engine, on the command line and in a spec's `sim:`.

use std::num::NonZeroU32;

use clap::{Args, Parser, ValueEnum};

use crate::cli::percent::percent;
use crate::sim::fault::{DieAfter, Faults, Shares};
use crate::sim::{Machine, RoleChunk, Shape, SimError, SimOptions, Sizing, Slower, Speech, Wear};
use crate::unit::{Nanos, Rps, UnitError};

/// What changes the engine's behaviour.
#[derive(Debug, Clone, PartialEq, Args)]
pub(super) struct Switches {
    /// Serve under this model name
    #[arg(long, value_name = "NAME", value_parser = model_name, help_heading = "Engine")]
    model: Option<String>,

    /// Choose the path of the noise, and nothing else
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Engine")]
    seed: u64,

    /// Make each prompt token slower
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Engine")]
    slower_prefill: f64,

    /// Make everything but prompt tokens slower, in steps that decode
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Engine")]
    slower_decode: f64,

    /// Make every step slower
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Engine")]
    slower: f64,

    /// Take at most N sequences into a step
    #[arg(long, value_name = "N", help_heading = "Engine")]
    max_num_seqs: Option<NonZeroU32>,

    /// Have N blocks in the KV cache
    #[arg(long, value_name = "N", help_heading = "Engine")]
    kv_blocks: Option<NonZeroU32>,

    /// Compute equal prefixes anew each time
    #[arg(long, help_heading = "Engine")]
    no_prefix_cache: bool,

    /// End answers after N tokens where the limit allows more, unless `ignore_eos` is set
    #[arg(long, value_name = "N", help_heading = "Engine")]
    answer_tokens: Option<NonZeroU32>,

    /// How much the time of a step scatters, in place of the profile's noise
    #[arg(long, value_name = "P%", value_parser = percent, help_heading = "Machine")]
    step_noise: Option<f64>,

    /// How often the busy engine stalls for 50 ms and more, in place of the profile's
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Machine")]
    stalls: Option<Rps>,

    /// How much the speed of whole runs scatters; a run is told by infergate's request ids
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Machine")]
    run_noise: f64,

    /// Share of runs that are slower by 5 % to 25 %
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Machine")]
    run_outliers: f64,

    /// How much slower every step gets in a minute; below 0 faster
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = signed_percent, allow_hyphen_values = true, help_heading = "Machine")]
    drift: f64,

    /// How much memory the engine adds in a minute, as a share of what it starts with
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Faults")]
    leak: f64,

    /// Share of the KV cache that becomes useless in a minute; the longest request always fits
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Faults")]
    fragmentation: f64,

    /// Answer 429 while N requests wait
    #[arg(long, value_name = "N", help_heading = "Faults")]
    queue_limit: Option<NonZeroU32>,

    /// Share of requests answered with status 500
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Faults")]
    error_share: f64,

    /// Share of streams that break off with an error event after half of the tokens
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Faults")]
    midstream_error_share: f64,

    /// Share of streams that end after half of the tokens, without finish reason and `[DONE]`
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Faults")]
    truncate_share: f64,

    /// Share of requests that stall after half of the tokens
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Faults")]
    stall_share: f64,

    /// How long they stall
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = time, help_heading = "Faults")]
    stall_for: Nanos,

    /// Share of answers that stop after half of the tokens, unless `ignore_eos` is set
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Faults")]
    early_stop_share: f64,

    /// What answers are: words, or JSON objects like `{"n": 17, "word": "river"}` that end by themselves
    #[arg(long, value_enum, default_value = "words", help_heading = "Answers")]
    answers: AnswersWord,

    /// Share of prompts that are answered otherwise from the answer's middle on, always the same ones
    #[arg(long, value_name = "P%", default_value = "0%", value_parser = percent, help_heading = "Answers")]
    corrupt_share: f64,

    /// Freeze the whole engine once, with the Nth request
    #[arg(long, value_name = "N", help_heading = "Faults")]
    freeze_after: Option<NonZeroU32>,

    /// How long it freezes
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = time, help_heading = "Faults")]
    freeze_for: Nanos,

    /// Die abruptly after N requests (`20`) or a time (`2s`)
    #[arg(long, value_name = "N|TIME", help_heading = "Faults")]
    die_after: Option<DieAfter>,

    /// Send N tokens in each chunk
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Chunks")]
    tokens_per_chunk: NonZeroU32,

    /// Open chats with a chunk that has the role and no text
    #[arg(long, value_enum, default_value = "none", help_heading = "Chunks")]
    role_chunk: RoleChunkWord,

    /// Send the first N tokens of chats as reasoning
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Chunks")]
    reasoning: u32,

    /// Report no usage
    #[arg(long, help_heading = "Chunks")]
    no_usage: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RoleChunkWord {
    /// The role comes with the first text
    None,
    /// The role comes alone, as soon as the request is accepted
    First,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AnswersWord {
    /// Words, as many as there is room for
    Words,
    /// A JSON object
    Json,
}

/// A share that may be below zero, but leaves something.
fn signed_percent(text: &str) -> Result<f64, String> {
    let (sign, size) = match text.strip_prefix('-') {
        Some(size) => (-1.0, size),
        None => (1.0, text),
    };
    let share = sign * percent(size)?;
    if share <= -1.0 {
        return Err("leaves nothing; write it above `-100%`".to_owned());
    }
    Ok(share)
}

fn rate(text: &str) -> Result<Rps, String> {
    text.parse().map_err(|error: UnitError| error.to_string())
}

fn model_name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(char::is_whitespace) {
        return Err("is no model name: it has no letters, or a space".to_owned());
    }
    Ok(text.to_owned())
}

fn time(text: &str) -> Result<Nanos, String> {
    text.parse().map_err(|error| format!("{error}"))
}

impl Switches {
    /// The engine of this profile with these switches.
    pub(super) fn apply(&self, profile: &str) -> Result<SimOptions, SimError> {
        let mut options = SimOptions::named(profile)?;
        options.model.clone_from(&self.model);
        options.seed = self.seed;
        options.slower = Slower {
            prefill: self.slower_prefill,
            decode: self.slower_decode,
            all: self.slower,
        };
        options.sizing = Sizing {
            max_num_seqs: self.max_num_seqs,
            kv_blocks: self.kv_blocks,
            no_prefix_cache: self.no_prefix_cache,
            answer_tokens: self.answer_tokens,
        };
        options.machine = Machine {
            step_noise: self.step_noise,
            stalls_per_s: self.stalls.map(Rps::get),
            run_noise: self.run_noise,
            run_outliers: self.run_outliers,
            drift_per_min: self.drift,
        };
        options.wear = Wear {
            leak_per_min: self.leak,
            fragmentation_per_min: self.fragmentation,
        };
        options.shape = Shape {
            tokens_per_chunk: self.tokens_per_chunk,
            role_chunk: match self.role_chunk {
                RoleChunkWord::None => RoleChunk::None,
                RoleChunkWord::First => RoleChunk::First,
            },
            reasoning: self.reasoning,
            usage: !self.no_usage,
        };
        options.speech = Speech {
            json: self.answers == AnswersWord::Json,
            corrupt_share: self.corrupt_share,
        };
        options.faults = Faults {
            shares: Shares::try_new(
                self.error_share,
                self.midstream_error_share,
                self.truncate_share,
                self.stall_share,
                self.early_stop_share,
            )?,
            stall_for: self.stall_for,
            queue_limit: self.queue_limit,
            die_after: self.die_after,
            freeze_after: self.freeze_after,
            freeze_for: self.freeze_for,
        };
        options.check()?;
        Ok(options)
    }
}

/// Why the words of a `sim` target make no engine.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum WordsError {
    /// A word is unknown, or its value malformed.
    #[error("{}", first_line(.0))]
    Words(#[from] clap::Error),
    /// The words are well-formed but make no engine.
    #[error(transparent)]
    Options(#[from] SimError),
}

/// What clap says in its first line, which names the word and what is wrong with it.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// Reads a `sim` target of a spec, split at spaces: `["h100-8b", "--slower-prefill", "30%"]`.
///
/// The words are those of `infergate sim` that change what the engine does; those that say where
/// it runs (`--port`, `--truth`, …) are refused. The options display as the words again, in a
/// fixed order.
pub(in crate::cli) fn parse_words(words: &[String]) -> Result<SimOptions, WordsError> {
    #[derive(Parser)]
    #[command(no_binary_name = true, disable_help_flag = true)]
    struct Words {
        profile: String,
        #[command(flatten)]
        switches: Switches,
    }
    let words = Words::try_parse_from(words)?;
    Ok(words.switches.apply(&words.profile)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<SimOptions, WordsError> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        parse_words(&words)
    }

    #[test]
    fn words_display_in_a_fixed_order_and_read_back() {
        let all = "demo --model m --max-num-seqs 8 --kv-blocks 300 --answer-tokens 48 --no-prefix-cache --slower-prefill 30% --slower-decode 5% --slower 2.5% \
                   --error-share 1% --midstream-error-share 2% --truncate-share 3% \
                   --stall-share 4% --early-stop-share 5% --answers json --corrupt-share 6% --stall-for 1s --queue-limit 8 \
                   --die-after 2s --leak 7% --fragmentation 8% --freeze-after 9 --freeze-for 1s --tokens-per-chunk 4 --role-chunk first --reasoning 3 --no-usage";
        let options = words(all).unwrap();
        assert_eq!(options.to_string(), all);
        assert_eq!(
            words("test --slower 0% --seed 5").unwrap().to_string(),
            "test"
        );
        assert_eq!(words("test --seed 5").unwrap().seed, 5);
        let machine =
            "demo --step-noise 3% --stalls 1.2/min --run-noise 1.5% --run-outliers 4% --drift -12%";
        let options = words(machine).unwrap();
        assert_eq!(options.to_string(), "demo", "no argument of the engine");
        assert_eq!(
            options.machine,
            Machine {
                step_noise: Some(0.03),
                stalls_per_s: Some(0.02),
                run_noise: 0.015,
                run_outliers: 0.04,
                drift_per_min: -0.12,
            }
        );
    }

    #[test]
    fn wrong_words_say_what_is_wrong() {
        for (text, message) in [
            (
                "dmo",
                "there is no profile `dmo`, did you mean `demo`?; `infergate sim --list` shows all",
            ),
            ("demo --fast", "unexpected argument '--fast' found"),
            ("demo --port 1", "unexpected argument '--port' found"),
            (
                "demo --slower 30",
                "invalid value '30' for '--slower <P%>': has no known unit; write it like `5%` (units: %, pp)",
            ),
            (
                "null --slower 30%",
                "profile `null` answers at once, so `--slower` has no effect; choose another profile",
            ),
            (
                "null --drift 5%",
                "profile `null` answers at once, so `--drift` has no effect; choose another profile",
            ),
            (
                "demo --drift -100%",
                "invalid value '-100%' for '--drift <P%>': leaves nothing; write it above `-100%`",
            ),
            (
                "demo --kv-blocks 200",
                "a KV cache of 200 blocks can't hold the longest request; it needs at least 256",
            ),
            (
                "demo --error-share 60% --stall-share 60%",
                "the shares of failing requests must lie between 0% and 100% and sum to at most 100%",
            ),
        ] {
            assert_eq!(words(text).unwrap_err().to_string(), message, "{text}");
        }
    }
}
