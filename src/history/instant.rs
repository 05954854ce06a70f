//! Instants as run files write them, RFC 3339.

use jiff::Timestamp;

const SECONDS_A_DAY: f64 = 86_400.0;

/// Seconds since 1970; `None` where the text is no instant. `1970-01-02T00:00:00Z` is 86,400.
pub fn seconds(text: &str) -> Option<f64> {
    let instant: Timestamp = text.parse().ok()?;
    Some(instant.as_millisecond() as f64 / 1e3)
}

/// Days from one instant to a later one; `None` where a text is no instant.
///
/// From `2026-03-01T00:00:00Z` to `2026-03-02T12:00:00Z` it is 1.5.
pub fn days_between(earlier: &str, later: &str) -> Option<f64> {
    Some((seconds(later)? - seconds(earlier)?) / SECONDS_A_DAY)
}

/// The day of an instant, `2026-03-01`, in UTC; `None` where the text is no instant.
pub fn day(text: &str) -> Option<String> {
    let instant: Timestamp = text.parse().ok()?;
    Some(instant.strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_those_of_utc() {
        assert_eq!(seconds("1970-01-02T00:00:00Z"), Some(86_400.0));
        assert_eq!(
            days_between("2026-03-01T00:00:00Z", "2026-03-02T12:00:00Z"),
            Some(1.5)
        );
        assert_eq!(
            day("2026-03-01T23:30:00-02:00").as_deref(),
            Some("2026-03-02")
        );
        assert_eq!(day("yesterday"), None);
    }
}
