//! One kind of request: how long, what is shared, what is good.

use std::collections::BTreeMap;

use serde::Serialize;

use super::files::SchemaStamp;
use super::model::Slo;
use super::rows::{Rows, RowsKind, RowsStamp};
use super::tenants::Tenants;
use super::think::Think;
use crate::ident::Name;
use crate::quality::{Check, Quality};
use crate::unit::Nanos;

/// One kind of request: a joint distribution of input and output lengths, and its SLO.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Class {
    /// The class's name.
    pub name: Name,
    /// Its share of conversations is its weight over the sum of weights; a request that stands alone
    /// is one. Above zero.
    pub weight: f64,
    /// The lengths: at least one bucket, but where they are rows of a file.
    pub lengths: Vec<Bucket>,
    /// Lengths or whole prompts from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Rows>,
    /// Who decides where an answer ends.
    pub output_length: OutputLength,
    /// A shared system prompt.
    pub prefix: Option<PrefixSharing>,
    /// Requests that their client gives up.
    pub cancel: Option<Cancel>,
    /// How its conversations go; `None` where each request stands alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
    /// Whose requests they are; `None` where nobody asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenants: Option<Tenants>,
    /// Extra fields of its requests' bodies, which come before those of the whole spec.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub request: BTreeMap<String, serde_json::Value>,
    /// What is asked of its answers. Its prompts are then the same in every run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// Per-request limits; empty where the class has none.
    pub slo: Slo,
}

impl Class {
    /// A class of these lengths with nothing else to it.
    pub fn new(name: Name, input: Length, output: Length) -> Self {
        Self {
            name,
            weight: 1.0,
            lengths: vec![Bucket {
                weight: 1.0,
                input,
                output,
            }],
            rows: None,
            output_length: OutputLength::Pinned,
            prefix: None,
            cancel: None,
            turns: None,
            tenants: None,
            request: BTreeMap::new(),
            quality: None,
            slo: Slo::new(),
        }
    }

    /// Mean output length, in tokens, clipping left out.
    pub fn mean_output(&self) -> f64 {
        if let Some(rows) = &self.rows {
            return rows.size.mean_output();
        }
        let total: f64 = self.lengths.iter().map(|bucket| bucket.weight).sum();
        let weighted = |bucket: &Bucket| bucket.weight * bucket.output.mean();
        self.lengths.iter().map(weighted).sum::<f64>() / total
    }

    /// Mean input length of its buckets, in tokens, clipping left out; 0 where lengths are rows of a
    /// file.
    pub fn mean_input(&self) -> f64 {
        let total: f64 = self.lengths.iter().map(|bucket| bucket.weight).sum();
        let weighted = |bucket: &Bucket| bucket.weight * bucket.input.mean();
        let sum = self.lengths.iter().map(weighted).sum::<f64>();
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// Whether the plan says how long inputs are; prompts of a dataset are as long as they are.
    pub fn plans_input(&self) -> bool {
        let is_dataset = |rows: &Rows| rows.kind == RowsKind::Dataset;
        !self.rows.as_ref().is_some_and(is_dataset)
    }

    /// What a run keeps of its file.
    pub(super) fn row_stamp(&self) -> Option<RowsStamp> {
        self.rows.as_ref().map(|rows| RowsStamp {
            class: self.name.to_string(),
            digest: rows.digest,
            size: rows.size,
            pinned: self.output_length == OutputLength::Pinned,
        })
    }

    /// What a run keeps of the schemas that it takes from files.
    pub(super) fn schema_stamps(&self) -> impl Iterator<Item = SchemaStamp> {
        let checks = self.quality.iter().flat_map(|quality| &quality.checks);
        checks.filter_map(|check| match check {
            Check::JsonSchema(schema) => Some(SchemaStamp {
                file: schema.file.clone()?,
                digest: schema.digest,
            }),
            Check::Regex(_) | Check::Exact(_) => None,
        })
    }

    /// Requests of a conversation on average; one where each request stands alone.
    pub fn mean_turns(&self) -> f64 {
        self.turns.map_or(1.0, |turns| turns.count.mean())
    }

    /// The largest output length that can be drawn, in tokens.
    pub fn largest_output(&self) -> u32 {
        if let Some(rows) = &self.rows {
            return rows.size.largest_output;
        }
        let largest = |bucket: &Bucket| bucket.output.largest();
        self.lengths.iter().map(largest).max().unwrap_or(0)
    }
}

/// Input and output lengths that go together: long inputs may have short outputs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bucket {
    /// Its share of the class's requests is its weight over the sum of weights; above zero.
    pub weight: f64,
    /// Input length in tokens, prefix included.
    pub input: Length,
    /// Output length in tokens; the most there may be where it is natural.
    pub output: Length,
}

/// Who decides where an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputLength {
    /// The plan, by `ignore_eos`: every engine does the same work.
    Pinned,
    /// The model, as in production; the plan only says where it is cut.
    Natural,
}

/// A distribution of lengths, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// Always the same.
    Fixed(u32),
    /// Each whole number from `low` to `high`, both included, equally often.
    Uniform {
        /// Smallest.
        low: u32,
        /// Largest.
        high: u32,
    },
    /// Log-normal by its median and 95th percentile, rounded and clipped to [1, `max`].
    Lognormal {
        /// The median.
        p50: f64,
        /// The 95th percentile; above the median.
        p95: f64,
        /// The largest length.
        max: u32,
    },
}

impl Length {
    /// The mean, in tokens, clipping left out: `{p50: 100, p95: 200}` has 109.3.
    ///
    /// A log-normal's mean is `p50 · exp(σ²/2)` with `σ = ln(p95/p50) / 1.645`.
    pub fn mean(self) -> f64 {
        match self {
            Self::Fixed(tokens) => f64::from(tokens),
            Self::Uniform { low, high } => f64::midpoint(f64::from(low), f64::from(high)),
            Self::Lognormal { p50, p95, .. } => {
                // Stage sizes follow from this and enter digests, so it must be bit-equal on every
                // machine, which `libm` is.
                let sigma = libm::log(p95 / p50) / 1.644_853_626_951_472_2;
                p50 * libm::exp(sigma * sigma / 2.0)
            }
        }
    }

    /// The largest that can be drawn, in tokens.
    pub const fn largest(self) -> u32 {
        match self {
            Self::Fixed(tokens) => tokens,
            Self::Uniform { high, .. } => high,
            Self::Lognormal { max, .. } => max,
        }
    }
}

/// Some requests start with one of a few shared texts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PrefixSharing {
    /// Length of the shared text, counted inside the input length.
    pub tokens: u32,
    /// How many different shared texts there are; drawn uniformly.
    pub groups: u32,
    /// Share of the class's requests that carry one, from 0 to 1.
    pub share: f64,
}

impl PrefixSharing {
    /// Tokens that a request has beyond its shared prefix at the least, so that it stays distinct.
    pub const BEYOND: u32 = 16;
}

/// Conversations: requests of one user whose history each later one carries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Turns {
    /// How many turns; at least one.
    pub count: Length,
    /// From the end of an answer to the next turn; `None` leaves it to the stage.
    pub think: Option<Think>,
    /// Tokens that the model takes, where they are pinned: a conversation ends before the turn that
    /// would not fit.
    pub room: Option<u32>,
}

/// Some clients go away before they have their whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cancel {
    /// Share of the class's requests that are given up, from 0 to 1.
    pub share: f64,
    /// How long after the send; a request that has ended by then is completed.
    pub after: Nanos,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lognormal_mean_lies_above_its_median() {
        let length = Length::Lognormal {
            p50: 100.0,
            p95: 200.0,
            max: 1000,
        };
        assert!((length.mean() - 109.3).abs() < 0.05, "{}", length.mean());
    }

    #[test]
    fn buckets_weigh_in_the_mean() {
        let bucket = |weight, output| Bucket {
            weight,
            input: Length::Fixed(1),
            output: Length::Fixed(output),
        };
        let mut class = Class::new("a".parse().unwrap(), Length::Fixed(1), Length::Fixed(1));
        class.lengths = vec![bucket(3.0, 100), bucket(1.0, 500)];
        assert!((class.mean_output() - 200.0).abs() < 1e-9);
        assert_eq!(class.largest_output(), 500);
    }
}
