//! Reading JSON whose types can't be relied on: whatever is no use becomes the default.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A type that takes what it can use of any JSON value and is its default otherwise.
pub(super) trait Lenient<'de>: Default {
    fn boolean(_: bool) -> Self {
        Self::default()
    }

    fn number(_: u64) -> Self {
        Self::default()
    }

    fn text(_: &str) -> Self {
        Self::default()
    }

    /// A string that stands in the input as it is, without escapes.
    fn borrowed(text: &'de str) -> Self {
        Self::text(text)
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn object<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// The value of the key just read, whatever its type.
pub(super) fn any<'de, T: Lenient<'de>, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    Ok(map.next_value::<Any<T>>()?.0)
}

/// Passes over the value of the key just read.
pub(super) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

/// Reads any JSON value as a `T`.
pub(super) struct Any<T>(pub(super) T);

impl<'de, T: Lenient<'de>> Deserialize<'de> for Any<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyVisitor<T>(PhantomData<T>);

        impl<'de, T: Lenient<'de>> Visitor<'de> for AnyVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_bool<E>(self, value: bool) -> Result<T, E> {
                Ok(T::boolean(value))
            }

            fn visit_i64<E>(self, _: i64) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_u64<E>(self, value: u64) -> Result<T, E> {
                Ok(T::number(value))
            }

            fn visit_f64<E>(self, _: f64) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_str<E>(self, value: &str) -> Result<T, E> {
                Ok(T::text(value))
            }

            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<T, E> {
                Ok(T::borrowed(value))
            }

            fn visit_unit<E>(self) -> Result<T, E> {
                Ok(T::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
                T::list(list)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::object(map)
            }
        }

        deserializer
            .deserialize_any(AnyVisitor(PhantomData))
            .map(Self)
    }
}
