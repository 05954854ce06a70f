//! Energy, and what is had for it.

use std::str::FromStr;

use super::{UnitError, split_number};

/// Joules: finite and above zero.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Joules(f64);

/// Tokens per joule: finite and above zero.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct TokensPerJoule(f64);

impl Joules {
    /// Joules.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TokensPerJoule {
    /// Tokens per joule.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// A number above zero times what its unit stands for.
fn read(text: &str, example: &'static str, units: &[(&str, f64)]) -> Result<f64, UnitError> {
    let (number, unit) = split_number(text, example)?;
    let known = units.iter().find(|(name, _)| *name == unit);
    let Some((_, factor)) = known else {
        let units = if units.len() > 1 { "J, kJ" } else { "tok/J" };
        return Err(UnitError::UnknownUnit { example, units });
    };
    let value = number * factor;
    let good = value.is_finite() && value > 0.0;
    good.then_some(value).ok_or(UnitError::OutOfRange {
        rule: "it is finite and above zero",
    })
}

impl FromStr for Joules {
    type Err = UnitError;

    /// Reads `30J`, `1.5kJ`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read(text, "30J", &[("J", 1.0), ("kJ", 1e3)]).map(Self)
    }
}

impl FromStr for TokensPerJoule {
    type Err = UnitError;

    /// Reads `2tok/J`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        read(text, "2tok/J", &[("tok/J", 1.0)]).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_has_its_unit() {
        assert_eq!("1.5 kJ".parse(), Ok(Joules(1500.0)));
        assert_eq!("30J".parse(), Ok(Joules(30.0)));
        assert_eq!("0.5tok/J".parse(), Ok(TokensPerJoule(0.5)));
        for text in ["30", "30W", "0J", "-1J", "2tok/J"] {
            assert!(text.parse::<Joules>().is_err(), "{text}");
        }
        assert!("2J".parse::<TokensPerJoule>().is_err());
    }
}
