//! The lists of a run's requests that vLLM and SGLang write side by side, packed as they are read.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::found::{FoundRequest, last_line, outcome_of};
use super::lean::{Gathered, Lean, Limits, is_text};
use crate::sample::Outcome;

/// Gaps between tokens, in seconds. Single precision keeps a gap of 10 ms to within a nanosecond.
pub(super) type Gaps = Box<[f32]>;

/// Longest text of an error that is kept: the end of it, where Python says what happened.
const LONGEST: usize = 2048;

/// The lists, by request; each as long as it is.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Times to first token; `None` where there is no such list.
    pub(super) ttfts: Option<Vec<f64>>,
    /// Gaps of each request; `None` of one that has no list.
    pub(super) itls: Option<Vec<Option<Gaps>>>,
    /// Input tokens.
    pub(super) input_lens: Vec<f64>,
    /// Output tokens.
    pub(super) output_lens: Vec<f64>,
    /// When each was sent.
    pub(super) start_times: Vec<f64>,
    /// End-to-end latencies.
    pub(super) latencies: Vec<f64>,
    /// What each failed with; empty of a good one.
    pub(super) errors: Vec<Box<str>>,
}

/// Which output tokens a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tokens {
    /// Those that the tool tells.
    Told,
    /// Those, but no more than events came, where it credits what was asked for.
    AtMostEvents,
}

impl Lists {
    /// The requests, where the lists were written.
    pub(super) fn requests(self, tokens: Tokens) -> Vec<FoundRequest> {
        let (Some(ttfts), Some(itls)) = (self.ttfts, self.itls) else {
            return Vec::new();
        };
        let nth = |list: &[f64], index: usize| list.get(index).copied().filter(|n| !n.is_nan());
        let count = |list: &[f64], index: usize| {
            let count = nth(list, index).filter(|n| (0.0..1e9).contains(n));
            count.map(|n| n as u32)
        };
        let mut itls = itls.into_iter();
        ttfts
            .into_iter()
            .enumerate()
            .map(|(index, ttft)| {
                let error = self.errors.get(index).map_or("", |error| error);
                let gaps = itls.next().flatten();
                let ttft = (ttft > 0.0).then_some(ttft);
                let told = count(&self.output_lens, index);
                let output = match tokens {
                    Tokens::Told => told,
                    Tokens::AtMostEvents => {
                        let came = gaps.as_ref().map_or(0, |gaps| gaps.len()) as u32 + 1;
                        told.map(|told| told.min(came))
                    }
                };
                let outcome = if !error.is_empty() {
                    outcome_of(None, error)
                } else if ttft.is_some() {
                    Outcome::Completed
                } else {
                    Outcome::Empty
                };
                FoundRequest {
                    start_s: nth(&self.start_times, index),
                    ttft_s: ttft,
                    e2e_s: nth(&self.latencies, index).filter(|seconds| *seconds > 0.0),
                    gaps_s: gaps,
                    input: count(&self.input_lens, index),
                    output,
                    error: last_line(error),
                    ..FoundRequest::new(outcome)
                }
            })
            .collect()
    }
}

/// One run of a file: what it says, and its lists.
#[derive(Debug)]
pub(super) struct Row {
    /// Without its lists.
    pub(super) value: Value,
    /// Those.
    pub(super) lists: Lists,
}

/// Reads one.
#[derive(Debug)]
pub(super) struct RowSeed;

impl<'de> DeserializeSeed<'de> for RowSeed {
    type Value = Row;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Row, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed {
    type Value = Row;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the object of a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
        let mut gathered = Gathered::new(Limits::FILE);
        let mut value = Map::new();
        let mut lists = Lists::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "ttfts" => lists.ttfts = map.next_value_seed(List(Seconds))?,
                "itls" => lists.itls = map.next_value_seed(List(Packed))?,
                "input_lens" => lists.input_lens = some(map.next_value_seed(List(Seconds))?),
                "output_lens" => lists.output_lens = some(map.next_value_seed(List(Seconds))?),
                "start_times" => lists.start_times = some(map.next_value_seed(List(Seconds))?),
                "latencies" => lists.latencies = some(map.next_value_seed(List(Seconds))?),
                "errors" => lists.errors = some(map.next_value_seed(List(Words))?),
                key if is_text(key) => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    let read = map.next_value_seed(Lean::field(&mut gathered, &key, false))?;
                    value.insert(key, read);
                }
            }
        }
        Ok(Row {
            value: Value::Object(value),
            lists,
        })
    }
}

fn some<T>(list: Option<Vec<T>>) -> Vec<T> {
    list.unwrap_or_default()
}

/// A list of what this reads; `None` of what is no list.
#[derive(Debug)]
struct List<S>(S);

impl<'de, S: DeserializeSeed<'de> + Copy> DeserializeSeed<'de> for List<S> {
    type Value = Option<Vec<S::Value>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// What every visitor here makes of values that it has no use for.
macro_rules! nothing {
    ($nothing:expr, $($name:ident: $type:ty),*) => {
        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a value")
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($nothing)
        }
        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok($nothing)
        }
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($nothing)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($nothing)
        }
        $(fn $name<E>(self, _: $type) -> Result<Self::Value, E> {
            Ok($nothing)
        })*
    };
}

impl<'de, S: DeserializeSeed<'de> + Copy> Visitor<'de> for List<S> {
    type Value = Option<Vec<S::Value>>;

    nothing!(None, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut out = Vec::new();
        while let Some(value) = list.next_element_seed(self.0)? {
            out.push(value);
        }
        out.shrink_to_fit();
        Ok(Some(out))
    }
}

/// A finite number, also in quotes; NaN of anything else.
#[derive(Debug, Clone, Copy)]
struct Seconds;

impl<'de> DeserializeSeed<'de> for Seconds {
    type Value = f64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<f64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seconds {
    type Value = f64;

    nothing!(f64::NAN,);

    fn visit_i64<E>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_u64<E>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_f64<E>(self, value: f64) -> Result<f64, E> {
        Ok(if value.is_finite() { value } else { f64::NAN })
    }

    fn visit_str<E>(self, text: &str) -> Result<f64, E> {
        let read = text.trim().parse().ok();
        Ok(read.filter(|n: &f64| n.is_finite()).unwrap_or(f64::NAN))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<f64, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(f64::NAN)
    }
}

/// The numbers of a list; what is none is left out.
#[derive(Debug, Clone, Copy)]
struct Packed;

impl<'de> DeserializeSeed<'de> for Packed {
    type Value = Option<Gaps>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let list = List(Seconds).deserialize(deserializer)?;
        Ok(list.map(|list| pack(list.into_iter())))
    }
}

/// These numbers, packed; those that are none are left out.
pub(super) fn pack(gaps: impl Iterator<Item = f64>) -> Gaps {
    gaps.filter(|gap| gap.is_finite())
        .map(|gap| gap as f32)
        .collect()
}

/// The end of a text; empty of anything else.
#[derive(Debug, Clone, Copy)]
struct Words;

impl<'de> DeserializeSeed<'de> for Words {
    type Value = Box<str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Box<str>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Words {
    type Value = Box<str>;

    nothing!(Box::default(), visit_i64: i64, visit_u64: u64, visit_f64: f64);

    fn visit_str<E>(self, text: &str) -> Result<Box<str>, E> {
        let mut start = text.len().saturating_sub(LONGEST);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        Ok(text[start..].into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Box<str>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Box::default())
    }
}
