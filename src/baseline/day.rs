//! A day of the calendar, as people write it into files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A day of the Gregorian calendar in UTC: `2027-02-28`. Later days are greater.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day(String);

/// Why a text is no day; completes the sentence "`tomorrow` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is no day: write it like `2027-02-28`")]
pub struct DayError;

impl Day {
    /// The day of an instant in RFC 3339, UTC; `None` where the text is none.
    pub fn of(instant: &str) -> Option<Self> {
        instant.get(..10)?.parse().ok()
    }

    /// As `2027-02-28`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Days from here to a later day, negative to an earlier one.
    pub fn days_until(&self, later: &Self) -> i64 {
        later.number() - self.number()
    }

    /// Days since 0000-03-01, by the calendar's cycle of 400 years of 146,097 days: leap days end a
    /// year that begins in March. 1970-01-01 is 719,468.
    fn number(&self) -> i64 {
        let part = |from: usize, to: usize| self.0[from..to].parse::<i64>().unwrap_or_default();
        let (year, month, day) = (part(0, 4), part(5, 7), part(8, 10));
        let year = if month <= 2 { year - 1 } else { year };
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year
    }
}

impl FromStr for Day {
    type Err = DayError;

    fn from_str(text: &str) -> Result<Self, DayError> {
        let shape = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !shape {
            return Err(DayError);
        }
        let part = |from: usize, to: usize| text[from..to].parse::<u32>().unwrap_or_default();
        let (year, month, day) = (part(0, 4), part(5, 7), part(8, 10));
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return Err(DayError),
        };
        if (1..=days).contains(&day) {
            Ok(Self(text.to_owned()))
        } else {
            Err(DayError)
        }
    }
}

impl TryFrom<String> for Day {
    type Error = DayError;

    fn try_from(text: String) -> Result<Self, DayError> {
        text.parse()
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.0
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

crate::schema::text!(Day, "^[0-9]{4}-[0-9]{2}-[0-9]{2}$");

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    #[test]
    fn only_days_of_the_calendar_are_days() {
        for good in ["2026-11-30", "2024-02-29", "2000-02-29", "0001-01-01"] {
            assert_eq!(day(good).to_string(), good);
        }
        for bad in [
            "",
            "2026-11-31",
            "2025-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-1-1",
            "26-11-30",
            "2026/11/30",
            "2026-11-30T00:00:00Z",
            "２026-11-3",
        ] {
            assert!(bad.parse::<Day>().is_err(), "{bad}");
        }
    }

    #[test]
    fn days_are_counted_over_months_years_and_leap_days() {
        assert_eq!(day("1970-01-01").number(), 719_468);
        assert_eq!(day("2026-11-30").days_until(&day("2027-02-28")), 90);
        assert_eq!(day("2024-02-28").days_until(&day("2024-03-01")), 2);
        assert_eq!(day("2027-01-01").days_until(&day("2026-12-31")), -1);
        assert_eq!(Day::of("2026-11-30T08:00:00.000Z"), Some(day("2026-11-30")));
        assert_eq!(Day::of("soon"), None);
    }
}
