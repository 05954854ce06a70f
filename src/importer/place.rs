//! Values at one place of a file, one after the other, with the rest left unread.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::lean::{Gathered, Lean, Limits};

/// A step on the way from the top of a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Into one of these fields.
    Of(&'static [&'static str]),
    /// Into each element of a list.
    Each,
}

/// Goes that way.
pub(super) struct Walk<'w> {
    steps: &'w [Step],
    trail: &'w mut Vec<usize>,
    see: &'w mut dyn FnMut(&[usize], &Value),
}

impl<'w> Walk<'w> {
    /// Along these steps from here.
    pub(super) fn new(
        steps: &'w [Step],
        trail: &'w mut Vec<usize>,
        see: &'w mut dyn FnMut(&[usize], &Value),
    ) -> Self {
        Self { steps, trail, see }
    }

    /// The same from a step further.
    fn next(&mut self, at: usize) -> Walk<'_> {
        self.trail.push(at);
        Walk {
            steps: &self.steps[1..],
            trail: self.trail,
            see: self.see,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.steps.is_empty() {
            let mut gathered = Gathered::new(Limits::REQUEST);
            let value = Lean::new(&mut gathered).deserialize(deserializer)?;
            (self.see)(self.trail, &value);
            return Ok(());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let names = match self.steps.first() {
            Some(Step::Of(names)) => *names,
            _ => &[],
        };
        while let Some(key) = map.next_key::<String>()? {
            if let Some(at) = names.iter().position(|name| *name == key) {
                map.next_value_seed(self.next(at))?;
                self.trail.pop();
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        if !matches!(self.steps.first(), Some(Step::Each)) {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let mut at = 0;
        while let Some(()) = list.next_element_seed(self.next(at))? {
            self.trail.pop();
            at += 1;
        }
        self.trail.pop();
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
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

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}
