//! Units of measurement: finite and in range by construction.
//!
//! Data is kept in base units (nanoseconds in records; seconds, requests per second and fractions
//! in summaries). Text with a unit is parsed here and nowhere else, and [`scale`] is the one place
//! where a number becomes text for people.

mod energy;
mod rate;
pub mod scale;
mod share;
mod time;

pub use energy::{Joules, TokensPerJoule};
pub use rate::Rps;
pub use share::Share;
pub use time::Nanos;

/// Why a text is not a quantity; completes the sentence "`12x` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The number before the unit is missing or malformed.
    #[error("does not start with a number; write it like `{example}`")]
    NotANumber {
        /// A well-formed quantity of the wanted kind.
        example: &'static str,
    },
    /// The unit after the number is missing or unknown.
    #[error("has no known unit; write it like `{example}` (units: {units})")]
    UnknownUnit {
        /// A well-formed quantity of the wanted kind.
        example: &'static str,
        /// The accepted units, separated by commas.
        units: &'static str,
    },
    /// The quantity is well-formed but outside what the field can hold.
    #[error("is out of range: {rule}")]
    OutOfRange {
        /// What a value has to satisfy.
        rule: &'static str,
    },
}

/// Splits `12.5ms` into `12.5` and `ms`; spaces between are allowed, anything else is not.
fn split_number<'a>(text: &'a str, example: &'static str) -> Result<(f64, &'a str), UnitError> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number
        .parse()
        .map_err(|_| UnitError::NotANumber { example })?;
    Ok((number, unit.trim_start()))
}
