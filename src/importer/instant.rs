//! Instants as other tools write them, in nanoseconds since 1970, UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A date and time with or without an offset, also as `20260812-101500`; without one it is taken as UTC.
pub(super) fn of_text(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp);
    }
    let date = text
        .parse::<DateTime>()
        .or_else(|_| DateTime::strptime("%Y%m%d-%H%M%S", text));
    TimeZone::UTC.to_timestamp(date.ok()?).ok()
}

/// Seconds since 1970; nothing for what is before 2001 or beyond any date, as an uptime is.
pub(super) fn of_seconds(seconds: f64) -> Option<Timestamp> {
    (1e9..1e11)
        .contains(&seconds)
        .then(|| Timestamp::from_nanosecond((seconds * 1e9) as i128).ok())
        .flatten()
}

/// As a run file has it.
pub(super) fn rfc3339(timestamp: Timestamp) -> String {
    format!("{timestamp:.3}")
}

/// `20260812T101500Z`, as ids begin.
pub(super) fn compact(timestamp: Timestamp) -> String {
    timestamp.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// The day, as `20260812`.
pub(super) fn day(timestamp: Timestamp) -> String {
    timestamp.strftime("%Y%m%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_one_instant() {
        for text in [
            "20260812-101500",
            "2026-08-12T10:15:00",
            "2026-08-12T10:15:00+00:00",
            "2026-08-12T12:15:00.000+02:00",
            "2026-08-12 10:15:00",
        ] {
            let instant = of_text(text).unwrap();
            assert_eq!(rfc3339(instant), "2026-08-12T10:15:00.000Z", "{text}");
            assert_eq!(compact(instant), "20260812T101500Z");
        }
        assert!(of_seconds(5078.1).is_none(), "an uptime");
        assert!(of_text("yesterday").is_none());
    }
}
