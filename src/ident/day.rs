//! A day of the calendar, as people write it into files.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// A day of the Gregorian calendar in UTC: `2027-02-28`. Later days are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Day(Date);

/// Why a text is no day; completes the sentence "`tomorrow` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is no day: write it like `2027-02-28`")]
pub struct DayError;

impl Day {
    /// The day of an instant in RFC 3339, UTC; `None` where the text is none.
    pub fn of(instant: &str) -> Option<Self> {
        instant.get(..10)?.parse().ok()
    }

    /// Days from here to a later day, negative to an earlier one.
    pub fn days_until(self, later: Self) -> i64 {
        self.0.duration_until(later.0).as_hours() / 24
    }

    /// Days on which what has this as its last day still holds, today among them: 0 and less where it is
    /// over. Of a last day 2027-02-28 there are 1 on that day and 0 on the next.
    pub fn days_left(self, today: Self) -> i64 {
        today.days_until(self) + 1
    }

    /// Whether what has this as its last day holds no longer.
    pub fn is_over(self, today: Self) -> bool {
        self.days_left(today) <= 0
    }
}

impl FromStr for Day {
    type Err = DayError;

    fn from_str(text: &str) -> Result<Self, DayError> {
        let date: Date = text.parse().map_err(|_| DayError)?;
        // A date has other spellings, instants hold one too, and years may be before our era.
        if date.to_string() == text && date.year() >= 0 {
            Ok(Self(date))
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
        day.to_string()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
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
            "20261130",
            "-002026-11-30",
            "2026/11/30",
            "2026-11-30T00:00:00Z",
            "２026-11-3",
        ] {
            assert!(bad.parse::<Day>().is_err(), "{bad}");
        }
    }

    #[test]
    fn days_are_counted_over_months_years_and_leap_days() {
        assert_eq!(day("2026-11-30").days_until(day("2027-02-28")), 90);
        assert_eq!(day("2024-02-28").days_until(day("2024-03-01")), 2);
        assert_eq!(day("2027-01-01").days_until(day("2026-12-31")), -1);
        assert!(day("2026-12-31") < day("2027-01-01"));
        assert_eq!(Day::of("2026-11-30T08:00:00.000Z"), Some(day("2026-11-30")));
        assert_eq!(Day::of("soon"), None);
    }

    #[test]
    fn a_last_day_holds_until_it_ends() {
        let last = day("2027-02-28");
        assert_eq!(last.days_left(day("2026-11-30")), 91);
        let on_it = Day::of("2027-02-28T23:59:59Z").unwrap();
        assert_eq!((last.days_left(on_it), last.is_over(on_it)), (1, false));
        let after = Day::of("2027-03-01T00:00:00Z").unwrap();
        assert_eq!((last.days_left(after), last.is_over(after)), (0, true));
    }
}
