//! Relative changes and percentage points, which are never mixed up.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{UnitError, split_number};

/// A share as written in a spec: `5%` of something, or `0.2pp` between two proportions.
///
/// Both hold a fraction: `5%` is 0.05 and `0.2pp` is 0.002.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// A percentage of a value.
    Percent(f64),
    /// A difference of two proportions.
    Points(f64),
}

impl FromStr for Share {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        const EXAMPLE: &str = "5%";
        let (number, unit) = split_number(text, EXAMPLE)?;
        match unit {
            "%" => Ok(Self::Percent(number / 100.0)),
            "pp" => Ok(Self::Points(number / 100.0)),
            _ => Err(UnitError::UnknownUnit {
                example: EXAMPLE,
                units: "%, pp",
            }),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded to 1e-9 of a percent so that 0.07 prints as 7 and not as 7.000000000000001.
        let percent = |fraction: f64| (fraction * 1e11).round() / 1e9;
        match self {
            Self::Percent(fraction) => write!(f, "{}%", percent(*fraction)),
            Self::Points(fraction) => write!(f, "{}pp", percent(*fraction)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_and_points_stay_apart() {
        assert_eq!("5%".parse(), Ok(Share::Percent(0.05)));
        assert_eq!("0.5 pp".parse(), Ok(Share::Points(0.005)));
        assert!("5".parse::<Share>().is_err());
        assert!("-5%".parse::<Share>().is_err());
    }

    #[test]
    fn displays_what_it_reads_back() {
        for text in ["5%", "0.2pp", "7%", "12.5%", "0.07pp"] {
            assert_eq!(text.parse::<Share>().unwrap().to_string(), text);
        }
    }
}
