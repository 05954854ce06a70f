//! Values of a file without what makes them large: texts of prompts and answers, and long lists.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::secrets;

/// Texts of prompts and answers: nothing is made of them, and they are most of a file.
const TEXTS: [&str; 8] = [
    "generated_texts",
    "generated_text",
    "input_texts",
    "output_text",
    "request",
    "request_args",
    "response",
    "response_chunks",
];
/// Longest text that is kept.
const LONGEST: usize = 8192;
/// Secrets that are kept at most.
const MOST_SECRETS: usize = 10_000;

/// How much of lists is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Elements of a list that are no objects.
    pub(super) plain: usize,
    /// Objects of a list.
    pub(super) objects: usize,
    /// Values in all.
    pub(super) values: usize,
}

impl Limits {
    /// Of a whole file: what is in long lists is gone through on its own.
    pub(super) const FILE: Self = Self {
        plain: 32,
        objects: 4096,
        values: 500_000,
    };
    /// Of one request.
    pub(super) const REQUEST: Self = Self {
        plain: 2_000_000,
        objects: 256,
        values: 2_100_000,
    };
}

/// Lists of requests, of which the first few are enough to see what they are.
const REQUESTS: [&str; 4] = [
    "successful",
    "errored",
    "incomplete",
    "individual_request_metrics",
];
const FEW: usize = 4;

/// What is gathered on the way.
#[derive(Debug)]
pub(super) struct Gathered {
    limits: Limits,
    left: usize,
    /// Values of fields that are called like secrets.
    pub(super) secrets: BTreeSet<String>,
    /// Whether more than a file of results has was left out.
    pub(super) is_cut: bool,
}

impl Gathered {
    /// Nothing yet.
    pub(super) const fn new(limits: Limits) -> Self {
        Self {
            limits,
            left: limits.values,
            secrets: BTreeSet::new(),
            is_cut: false,
        }
    }

    fn secret(&mut self, text: &str) {
        if self.secrets.len() < MOST_SECRETS
            && let Some(secret) = secrets::worth_masking(text)
            && !self.secrets.contains(secret)
        {
            self.secrets.insert(secret.to_owned());
        }
    }
}

/// Reads a value without its bulk.
#[derive(Debug)]
pub(super) struct Lean<'g> {
    gathered: &'g mut Gathered,
    /// Whether it is of a field that is called like a secret.
    is_secret: bool,
    /// Objects that are kept where it is a list.
    objects: usize,
}

impl<'g> Lean<'g> {
    /// A value on its own.
    pub(super) const fn new(gathered: &'g mut Gathered) -> Self {
        let objects = gathered.limits.objects;
        Self {
            gathered,
            is_secret: false,
            objects,
        }
    }

    /// The value of this field.
    pub(super) fn field(gathered: &'g mut Gathered, key: &str, is_secret: bool) -> Self {
        let few = REQUESTS.contains(&key);
        Self {
            is_secret: is_secret || secrets::is_name(key),
            objects: if few { FEW } else { gathered.limits.objects },
            gathered,
        }
    }
}

/// Whether the value of a field is left out unread.
pub(super) fn is_text(key: &str) -> bool {
    TEXTS.contains(&key)
}

impl<'de> DeserializeSeed<'de> for Lean<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Lean<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        self.deserialize(inner)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        if self.is_secret {
            self.gathered.secret(text);
        }
        let mut end = text.len().min(LONGEST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Ok(Value::String(text[..end].to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let Self {
            gathered,
            is_secret,
            objects,
        } = self;
        let mut out: Vec<Value> = Vec::new();
        loop {
            let most = match out.last() {
                Some(Value::Object(_)) => objects,
                _ => gathered.limits.plain,
            };
            if out.len() >= most || gathered.left == 0 {
                break;
            }
            gathered.left -= 1;
            let element = Lean {
                is_secret,
                ..Lean::new(gathered)
            };
            match list.next_element_seed(element)? {
                Some(value) => out.push(value),
                None => return Ok(Value::Array(out)),
            }
        }
        let is_of_requests = objects == FEW;
        let mut more = false;
        while let Some(()) = list.next_element_seed(Skim {
            gathered: &mut *gathered,
            is_secret,
        })? {
            more = true;
        }
        let is_of_objects = matches!(out.last(), Some(Value::Object(_)));
        gathered.is_cut |= more && is_of_objects && !is_of_requests;
        Ok(Value::Array(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let Self {
            gathered,
            is_secret,
            ..
        } = self;
        let mut out = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if is_text(&key) {
                map.next_value::<IgnoredAny>()?;
            } else if gathered.left == 0 {
                gathered.is_cut = true;
                map.next_value_seed(Skim::field(gathered, &key, is_secret))?;
            } else {
                gathered.left -= 1;
                let value = map.next_value_seed(Lean::field(gathered, &key, is_secret))?;
                out.insert(key, value);
            }
        }
        Ok(Value::Object(out))
    }
}

/// Goes through a value for the secrets in it.
#[derive(Debug)]
pub(super) struct Skim<'g> {
    gathered: &'g mut Gathered,
    is_secret: bool,
}

impl<'g> Skim<'g> {
    /// A value on its own.
    pub(super) const fn new(gathered: &'g mut Gathered) -> Self {
        Self {
            gathered,
            is_secret: false,
        }
    }

    fn field(gathered: &'g mut Gathered, key: &str, is_secret: bool) -> Self {
        Self {
            gathered,
            is_secret: is_secret || secrets::is_name(key),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Skim<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Skim<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<(), D::Error> {
        self.deserialize(inner)
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if self.is_secret {
            self.gathered.secret(text);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self {
            gathered,
            is_secret,
        } = self;
        while let Some(()) = list.next_element_seed(Skim {
            gathered: &mut *gathered,
            is_secret,
        })? {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if is_text(&key) {
                map.next_value::<IgnoredAny>()?;
            } else {
                let value = Skim::field(&mut *self.gathered, &key, self.is_secret);
                map.next_value_seed(value)?;
            }
        }
        Ok(())
    }
}
