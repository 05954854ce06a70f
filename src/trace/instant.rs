//! Instants as traces write them, in nanoseconds since some zero of their own.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Seconds at most: 3,000 years, so that sums stay far from any end.
const MOST_SECONDS: f64 = 1e11;

/// Seconds as a number, or a date and time with or without an offset; without one it is UTC.
///
/// `2023-11-16 18:17:03.9799600` and `19440110.5` are instants.
pub(super) fn parse(text: &str) -> Option<i128> {
    if let Ok(seconds) = text.parse::<f64>() {
        return from_seconds(seconds);
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp.as_nanosecond());
    }
    let date = text.parse::<DateTime>().ok()?;
    Some(TimeZone::UTC.to_timestamp(date).ok()?.as_nanosecond())
}

/// Nothing for what is negative or no number.
pub(super) fn from_seconds(seconds: f64) -> Option<i128> {
    (0.0..=MOST_SECONDS)
        .contains(&seconds)
        .then(|| (seconds * 1e9).round() as i128)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn dates_and_numbers_are_instants() {
        assert_eq!(parse("5"), Some(5_000_000_000));
        assert_eq!(parse("19440110.5"), Some(19_440_110_500_000_000));
        assert_eq!(parse("1970-01-01 00:00:01.0000001"), Some(1_000_000_100));
        assert_eq!(parse("1970-01-01T00:00:01Z"), Some(1_000_000_000));
        assert_eq!(parse("1970-01-01 01:00:00.25+01:00"), Some(250_000_000));
        let [a, b] = ["2023-11-16 18:17:03.9799600", "2023-11-16 18:17:04.0319600"]
            .map(|text| parse(text).unwrap());
        assert_eq!(b - a, 52_000_000);
        for wrong in [
            "",
            "-1",
            "nan",
            "inf",
            "1e30",
            "yesterday",
            "2023-13-01 00:00:00",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
