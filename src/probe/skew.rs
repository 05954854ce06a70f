//! How far this machine's clock is off the target's, as far as one `Date` header tells.

use std::time::SystemTime;

use super::client::ProbeClient;
use crate::sample::ClockSkew;

/// Seconds by which a `Date` may be older than its answer: it has no fractions, and servers keep it for
/// up to a second.
const COARSE: f64 = 2.0;

/// Asks once; `None` where the target does not answer or does not say.
pub async fn skew(client: &ProbeClient) -> Option<ClockSkew> {
    let sent = seconds(wall())?;
    let date = client.date("/v1/models").await?;
    let came = seconds(wall())?;
    let said = seconds(httpdate::parse_http_date(&date).ok()?)?;
    Some(between(sent, said, came))
}

/// This clock was at `sent` to `came` when the target's was at `said` to two seconds later.
fn between(sent: f64, said: f64, came: f64) -> ClockSkew {
    ClockSkew {
        least_s: sent - said - COARSE,
        most_s: came - said,
    }
}

fn seconds(instant: SystemTime) -> Option<f64> {
    let since = instant.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(since.as_secs_f64())
}

#[expect(
    clippy::disallowed_methods,
    reason = "this machine's clock is the question"
)]
fn wall() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_in_step_are_within_the_bounds() {
        // Asked at 10.2 by both clocks, answered at 10.4.
        let skew = between(10.2, 10.0, 10.4);
        assert!(skew.least_s < 0.0 && skew.most_s > 0.0, "{skew:?}");
        // Seven seconds ahead.
        let skew = between(17.2, 10.0, 17.4);
        assert!(skew.least_s > 5.0 && skew.most_s < 8.0, "{skew:?}");
    }
}
