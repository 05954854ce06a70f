//! The metrics of one request, each absent with a reason rather than zero.

use super::record::{Outcome, RequestRecord};
use crate::spec::SloClause;
use crate::unit::Nanos;

/// Why a request has no value of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// It failed, or is not over: its latencies enter no sample.
    Failed,
    /// No token-bearing event came.
    NoToken,
    /// Every token was reasoning.
    NoAnswer,
    /// Fewer than two output tokens, so there is no time between tokens.
    OneToken,
    /// Several tokens in one event, so the time between them was not seen.
    OneEvent,
}

/// A gap with the number of tokens that it stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedGap {
    /// Seconds a token.
    pub gap_s: f64,
    /// Tokens.
    pub tokens: u32,
}

/// One record seen from its origin of latency.
#[derive(Debug, Clone, Copy)]
pub struct Timeline<'a> {
    record: &'a RequestRecord,
    origin: Nanos,
}

impl<'a> Timeline<'a> {
    /// Latencies count from `scheduled` in an open loop and from `sent` in a closed one.
    pub fn new(record: &'a RequestRecord, from_schedule: bool) -> Self {
        let origin = match record.sent {
            Some(sent) if !from_schedule => sent,
            _ => record.scheduled,
        };
        Self { record, origin }
    }

    fn in_sample(&self) -> Result<(), Absent> {
        match self.record.outcome {
            // The server did the work of a truncated or invalid answer, so its latency counts.
            Outcome::Completed | Outcome::Truncated | Outcome::InvalidOutput => Ok(()),
            _ => Err(Absent::Failed),
        }
    }

    /// Time to first token, in seconds. A request that the plan cancelled has one if it came first.
    pub fn ttft(&self) -> Result<f64, Absent> {
        if self.record.outcome != Outcome::Cancelled {
            self.in_sample()?;
        }
        let first = self.record.first_token().ok_or(Absent::NoToken)?;
        Ok(first.since(self.origin).as_secs_f64())
    }

    /// Time to first answer token, in seconds.
    pub fn ttfa(&self) -> Result<f64, Absent> {
        self.in_sample()?;
        let first = self.record.first_answer.ok_or(Absent::NoAnswer)?;
        Ok(first.since(self.origin).as_secs_f64())
    }

    /// End-to-end latency, in seconds; to the body's end where nothing was streamed.
    pub fn e2e(&self) -> Result<f64, Absent> {
        self.in_sample()?;
        let last = self
            .record
            .last_token()
            .or(self.record.done)
            .ok_or(Absent::NoToken)?;
        Ok(last.since(self.origin).as_secs_f64())
    }

    /// Time per output token after the first, in seconds: `(last − first) / (n − 1)`.
    ///
    /// First token at 1 s, last at 3 s, 5 tokens: 0.5 s.
    pub fn tpot(&self) -> Result<f64, Absent> {
        self.in_sample()?;
        let (Some(first), Some(last)) = (self.record.first_token(), self.record.last_token())
        else {
            return Err(Absent::NoToken);
        };
        let tokens = self.record.output_tokens.unwrap_or(0);
        if tokens < 2 {
            return Err(Absent::OneToken);
        }
        if self.record.events.len() < 2 {
            return Err(Absent::OneEvent);
        }
        Ok(last.since(first).as_secs_f64() / f64::from(tokens - 1))
    }

    /// Raw gaps between successive token-bearing events, in seconds; empty where the request is in
    /// no sample or had fewer than two events.
    pub fn chunk_gaps(&self) -> impl Iterator<Item = f64> + use<'a> {
        let events: &[Nanos] = if self.in_sample().is_ok() {
            &self.record.events
        } else {
            &[]
        };
        events
            .windows(2)
            .map(|pair| pair[1].since(pair[0]).as_secs_f64())
    }

    /// Gaps between tokens: each gap between events divided by the tokens that the later event
    /// brought, where the server counts them; else the raw gap as one token's.
    ///
    /// A gap of 40 ms before an event of 4 tokens is 10 ms, four times. An event that brought no
    /// token by the server's count adds its gap to the next one.
    pub fn token_gaps(&self) -> impl Iterator<Item = WeightedGap> + use<'a> {
        let counts: &[u32] = &self.record.event_tokens;
        let mut carried = 0.0;
        self.chunk_gaps()
            .enumerate()
            .filter_map(move |(index, gap)| {
                let tokens = match (counts.get(index), counts.get(index + 1)) {
                    (Some(before), Some(after)) => after.saturating_sub(*before),
                    _ => 1,
                };
                carried += gap;
                if tokens == 0 {
                    return None;
                }
                let gap_s = std::mem::take(&mut carried) / f64::from(tokens);
                Some(WeightedGap { gap_s, tokens })
            })
    }

    /// Largest chunk gap, in seconds.
    pub fn max_stall(&self) -> Result<f64, Absent> {
        self.in_sample()?;
        self.chunk_gaps()
            .max_by(f64::total_cmp)
            .ok_or(Absent::OneEvent)
    }

    /// Whether the request kept a clause of its SLO. A failed request keeps none; a value that was
    /// not measured is not kept; a clause about the time between tokens is kept where there is
    /// only one token.
    pub fn meets(&self, clause: SloClause, limit: Nanos) -> bool {
        if !self.record.outcome.ended_well() {
            return false;
        }
        let value = match clause {
            SloClause::Ttft => self.ttft(),
            SloClause::Ttfa => self.ttfa(),
            SloClause::E2e => self.e2e(),
            SloClause::Tpot | SloClause::ItlMax if self.record.output_tokens == Some(1) => {
                return true;
            }
            SloClause::Tpot => self.tpot(),
            SloClause::ItlMax => self.max_stall(),
        };
        value.is_ok_and(|value| value <= limit.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::TokenSource;
    use crate::sample::record::tests::record;

    fn millis(values: &[u64]) -> Vec<Nanos> {
        values.iter().copied().map(Nanos::from_millis).collect()
    }

    fn near(value: Result<f64, Absent>, expected: f64) {
        assert!(
            (value.unwrap() - expected).abs() < 1e-12,
            "{value:?} is not {expected}"
        );
    }

    #[test]
    fn latencies_count_from_the_schedule_or_from_the_send() {
        let mut record = record(Outcome::Completed);
        record.scheduled = Nanos::from_millis(100);
        record.sent = Some(Nanos::from_millis(150));
        record.events = millis(&[250, 350]);
        record.output_tokens = Some(2);
        near(Timeline::new(&record, true).ttft(), 0.150);
        near(Timeline::new(&record, false).ttft(), 0.100);
        near(Timeline::new(&record, true).e2e(), 0.250);
        near(Timeline::new(&record, false).tpot(), 0.100);
    }

    #[test]
    fn tpot_divides_by_tokens_and_not_by_events() {
        let mut record = record(Outcome::Completed);
        record.events = millis(&[1000, 2000, 3000]);
        record.output_tokens = Some(5);
        near(Timeline::new(&record, false).tpot(), 0.5);
    }

    #[test]
    fn several_tokens_in_one_event_are_not_measured_and_not_good() {
        let mut record = record(Outcome::Completed);
        record.events = millis(&[1000]);
        record.output_tokens = Some(5);
        let timeline = Timeline::new(&record, false);
        assert_eq!(timeline.tpot(), Err(Absent::OneEvent));
        assert!(!timeline.meets(SloClause::Tpot, Nanos::from_secs(9)));
        record.output_tokens = Some(1);
        let timeline = Timeline::new(&record, false);
        assert_eq!(timeline.tpot(), Err(Absent::OneToken));
        assert!(timeline.meets(SloClause::Tpot, Nanos::from_millis(1)));
    }

    #[test]
    fn token_gaps_are_weighted_by_the_servers_count() {
        let mut record = record(Outcome::Completed);
        record.events = millis(&[0, 40, 50, 70]);
        record.event_tokens = vec![1, 5, 5, 6];
        record.output_tokens = Some(6);
        record.output_source = TokenSource::Usage;
        let gaps: Vec<WeightedGap> = Timeline::new(&record, false).token_gaps().collect();
        assert_eq!(gaps.len(), 2);
        assert!((gaps[0].gap_s - 0.010).abs() < 1e-12);
        assert_eq!(gaps[0].tokens, 4);
        assert!(
            (gaps[1].gap_s - 0.030).abs() < 1e-12,
            "the empty event's gap is carried"
        );
        near(Timeline::new(&record, false).max_stall(), 0.040);
    }

    #[test]
    fn a_failed_request_has_no_latency_and_keeps_no_clause() {
        let mut record = record(Outcome::StreamError);
        record.events = millis(&[10, 20]);
        record.output_tokens = Some(2);
        let timeline = Timeline::new(&record, false);
        assert_eq!(timeline.ttft(), Err(Absent::Failed));
        assert_eq!(timeline.token_gaps().count(), 0);
        assert!(!timeline.meets(SloClause::Ttft, Nanos::from_secs(9)));
    }

    #[test]
    fn a_limit_is_kept_by_the_value_that_equals_it() {
        let mut record = record(Outcome::Completed);
        record.events = millis(&[500]);
        record.output_tokens = Some(1);
        assert!(Timeline::new(&record, false).meets(SloClause::Ttft, Nanos::from_millis(500)));
        assert!(!Timeline::new(&record, false).meets(SloClause::Ttft, Nanos::from_millis(499)));
    }

    #[test]
    fn a_cancelled_request_has_a_ttft_if_its_token_came_first() {
        let mut record = record(Outcome::Cancelled);
        assert_eq!(Timeline::new(&record, false).ttft(), Err(Absent::NoToken));
        record.events = millis(&[30]);
        near(Timeline::new(&record, false).ttft(), 0.030);
        assert_eq!(Timeline::new(&record, false).e2e(), Err(Absent::Failed));
    }
}
