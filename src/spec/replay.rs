//! The replayed traffic of a stage.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ident::Digest;
use crate::trace::{BLOCK_TOKENS, Selection};
use crate::unit::Nanos;

/// What a run keeps of a stage's replay, so that its spec can be read without the trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReplayStamp {
    /// The stage.
    pub stage: String,
    /// Digest of the file's text.
    pub digest: Digest,
    /// How long the replay takes.
    pub span_ns: Nanos,
    /// What each class has of it.
    pub classes: BTreeMap<String, Played>,
}

/// A class's part of a replay.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Played {
    /// Requests.
    pub requests: u32,
    /// Their output tokens.
    pub output_tokens: u64,
}

/// The rows of a trace that a stage sends, once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replay {
    /// The path as the spec has it; the digest is what counts.
    #[serde(skip)]
    pub file: String,
    /// Digest of the file's text.
    pub digest: Digest,
    /// Which rows, and how fast.
    pub selection: Selection,
    /// How long they take; above zero.
    pub span: Nanos,
    /// What each class has of it; some requests at the least.
    pub classes: BTreeMap<String, Played>,
    /// Largest `input + output` that the model takes, where it is pinned: rows were cut to it.
    pub model_len: Option<u32>,
    /// The rows in order; empty where a run's stamp stands for the trace. File, selection and
    /// model length stand for them in digests.
    #[serde(skip)]
    pub rows: Arc<[ReplayRow]>,
    /// What became of the file's rows.
    #[serde(skip)]
    pub account: Account,
}

/// A request to replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayRow {
    /// When it is due, since the window's start.
    pub at: Nanos,
    /// Index of its class in the workload.
    pub class: u32,
    /// Input length in tokens, blocks included.
    pub input_tokens: u32,
    /// Output length in tokens.
    pub output_tokens: u32,
    /// Ids of the blocks that its prompt starts with.
    pub blocks: Vec<u64>,
}

/// What became of a trace's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Account {
    /// The format's name; empty where a stamp stands for the trace.
    pub format: &'static str,
    /// Rows in the file.
    pub read: u32,
    /// Rows that could not be read.
    pub bad: u32,
    /// Rows without input or output tokens.
    pub empty: u32,
    /// Rows before or after the window.
    pub outside: u32,
    /// Rows that thinning took.
    pub thinned: u32,
    /// Rows beyond the limit.
    pub beyond_limit: u32,
    /// Rows whose lengths were cut to the model's.
    pub clipped: u32,
}

impl Replay {
    /// How many requests it sends.
    pub fn requests(&self) -> u32 {
        self.classes.values().map(|played| played.requests).sum()
    }

    /// Requests per second on average.
    pub fn mean_rate(&self) -> f64 {
        f64::from(self.requests()) / self.span.as_secs_f64()
    }

    /// Output tokens of an average request of a class, or of all; `None` where there is none.
    pub fn mean_output(&self, class: Option<&str>) -> Option<f64> {
        let (requests, tokens) = self
            .classes
            .iter()
            .filter(|(name, _)| class.is_none_or(|class| class == name.as_str()))
            .fold((0, 0), |(requests, tokens), (_, played)| {
                (requests + played.requests, tokens + played.output_tokens)
            });
        (requests > 0).then(|| tokens as f64 / f64::from(requests))
    }

    /// What a run keeps of it.
    pub fn stamp(&self, stage: &str) -> ReplayStamp {
        ReplayStamp {
            stage: stage.to_owned(),
            digest: self.digest,
            span_ns: self.span,
            classes: self.classes.clone(),
        }
    }

    /// Share of input tokens that stand in blocks with which an earlier prompt began too: what a
    /// prefix cache without limits could save. `None` where no row names blocks.
    ///
    /// Inputs of 1,024 and 1,536 tokens that share their first block have 512 of 2,560, 20 %.
    pub fn ideal_cached_share(&self) -> Option<f64> {
        if self.rows.iter().all(|row| row.blocks.is_empty()) {
            return None;
        }
        let mut seen = HashSet::new();
        let (mut cached, mut total) = (0_u64, 0_u64);
        for row in self.rows.iter() {
            let mut path = Digest::of(b"");
            let mut is_seen = true;
            let mut left = row.input_tokens;
            for block in &row.blocks {
                let tokens = left.min(BLOCK_TOKENS);
                left -= tokens;
                // A block is the same only after the same blocks; a last part has its length.
                path = Digest::of(format!("{path:?}/{block}/{tokens}").as_bytes());
                is_seen &= !seen.insert(path);
                cached += u64::from(tokens) * u64::from(is_seen);
            }
            total += u64::from(row.input_tokens);
        }
        Some(cached as f64 / total.max(1) as f64)
    }
}
