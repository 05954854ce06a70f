//! The rows of a file: the values that stand one after the other, or the elements of a list of them.

use std::fmt;

use serde::Deserializer;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::lean::{Gathered, Lean, Skim};
use super::packed::{Row, RowSeed};

/// What becomes of a row.
pub(super) trait EachRow {
    /// Reads the next one.
    fn row<'de, D: Deserializer<'de>>(&mut self, row: D) -> Result<(), D::Error>;

    /// Says that the rows are elements of a list.
    fn of_list(&mut self);
}

/// Reads a value at the top of a file: a list is its elements.
pub(super) struct Top<'r, R>(pub(super) &'r mut R);

impl<'de, R: EachRow> DeserializeSeed<'de> for Top<'_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, R: EachRow> Visitor<'de> for Top<'_, R> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object or a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.of_list();
        while list.next_element_seed(Element(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.row(MapAccessDeserializer::new(map))
    }
}

struct Element<'r, R>(&'r mut R);

impl<'de, R: EachRow> DeserializeSeed<'de> for Element<'_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.row(deserializer)
    }
}

/// Keeps the first rows without their bulk, and counts them all.
pub(super) struct FirstRows<'g> {
    gathered: &'g mut Gathered,
    most: usize,
    /// Those.
    pub(super) first: Vec<Value>,
    /// How many there are.
    pub(super) count: u64,
    /// Whether they are elements of a list.
    pub(super) is_list: bool,
}

impl<'g> FirstRows<'g> {
    /// None yet.
    pub(super) const fn new(gathered: &'g mut Gathered, most: usize) -> Self {
        Self {
            gathered,
            most,
            first: Vec::new(),
            count: 0,
            is_list: false,
        }
    }
}

impl EachRow for FirstRows<'_> {
    fn row<'de, D: Deserializer<'de>>(&mut self, row: D) -> Result<(), D::Error> {
        if self.first.len() < self.most {
            self.first.push(Lean::new(self.gathered).deserialize(row)?);
        } else {
            Skim::new(self.gathered).deserialize(row)?;
        }
        self.count += 1;
        Ok(())
    }

    fn of_list(&mut self) {
        self.is_list = true;
    }
}

/// Shows each row with its lists.
pub(super) struct Rows<'f>(pub(super) &'f mut dyn FnMut(Row));

impl EachRow for Rows<'_> {
    fn row<'de, D: Deserializer<'de>>(&mut self, row: D) -> Result<(), D::Error> {
        (self.0)(RowSeed.deserialize(row)?);
        Ok(())
    }

    fn of_list(&mut self) {}
}
