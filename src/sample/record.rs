//! The record of one request: instants and counts as observed, nothing derived.

use serde::{Deserialize, Serialize};

use super::{AnswerRecord, FinishReason, Heard};
use crate::plan::Phase;
use crate::unit::Nanos;

/// What happened to one request. Instants are nanoseconds since the stage's start on the load
/// client's monotonic clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RequestRecord {
    /// Index of the stage in the plan.
    pub stage: u32,
    /// Number of the request in its phase of the stage.
    pub index: u32,
    /// Index of the class in the workload.
    pub class: u32,
    /// Number of the tenant that it belongs to, where the workload has tenants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<u32>,
    /// Its conversation in the stage, where the stage has conversations: warm-up and window number
    /// theirs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<u32>,
    /// Which turn of the conversation, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// Warm-up or measured.
    pub phase: Phase,
    /// Input tokens that the plan wanted.
    pub planned_input_tokens: u32,
    /// Output tokens that the plan wanted; the most it allowed where the length is natural.
    pub planned_output_tokens: u32,
    /// When the plan wanted it sent. Closed loop: when its user became free.
    #[serde(rename = "scheduled_ns")]
    pub scheduled: Nanos,
    /// Just before the request was handed to the client stack; `None` if it never was.
    #[serde(rename = "sent_ns", default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Nanos>,
    /// Response headers received.
    #[serde(
        rename = "headers_ns",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub headers: Option<Nanos>,
    /// First token-bearing event that is not reasoning.
    #[serde(
        rename = "first_answer_ns",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub first_answer: Option<Nanos>,
    /// The stream's or body's end, or the failure.
    #[serde(rename = "done_ns", default, skip_serializing_if = "Option::is_none")]
    pub done: Option<Nanos>,
    /// Instant of each token-bearing event, ascending.
    #[serde(rename = "events_ns", default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Nanos>,
    /// Cumulative output tokens after each event, where the server says (continuous usage); as
    /// long as `events`, or empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event_tokens: Vec<u32>,
    /// Output tokens, never credited from what was asked for; `None` where nothing said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u32>,
    /// Where `output_tokens` comes from.
    pub output_source: TokenSource,
    /// `usage.prompt_tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u32>,
    /// `usage.prompt_tokens_details.cached_tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u32>,
    /// Why the model stopped, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// How often it was sent again because a kept connection closed under it; its clock ran on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resent: u32,
    /// Bytes of the response's body.
    pub bytes: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// The server's or the client stack's words, at most 500 characters, secrets masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What became of its answer's checks, where its class has some or the spec keeps texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Box<AnswerRecord>>,
    /// What was heard, until it is examined; never written.
    #[serde(skip)]
    pub heard: Option<Box<Heard>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl RequestRecord {
    /// First token-bearing event.
    pub fn first_token(&self) -> Option<Nanos> {
        self.events.first().copied()
    }

    /// Last token-bearing event.
    pub fn last_token(&self) -> Option<Nanos> {
        self.events.last().copied()
    }
}

/// Where a count of output tokens comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TokenSource {
    /// `usage.completion_tokens`.
    Usage,
    /// Counted token-bearing events; a lower bound where events carry several tokens.
    Events,
}

/// How a request ended: exactly one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Ended well.
    Completed,
    /// `finish_reason: length` short of the pinned output length, or where none was pinned.
    Truncated,
    /// Ended well, with a text that fails a check of its class.
    InvalidOutput,
    /// A status of 400 and above other than 429 and 503.
    HttpError {
        /// The status.
        status: u16,
    },
    /// 429 or 503.
    Rejected {
        /// The status.
        status: u16,
    },
    /// No connection, or it was lost before the headers.
    ConnectError,
    /// Given up.
    Timeout {
        /// At which limit.
        phase: TimeoutPhase,
    },
    /// An error event, malformed JSON, a body cut short, an end without `[DONE]` and without a
    /// `finish_reason`.
    StreamError,
    /// Ended well but without one token.
    Empty,
    /// The plan cancelled it: not a failure.
    Cancelled,
    /// Due but not sent: in-flight cap, or the run was stopped.
    Unsent,
    /// Cut by the stage's end.
    Unfinished,
}

/// The limit at which a request was given up.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutPhase {
    /// Until the connection stands.
    Connect,
    /// Until the first token.
    FirstToken,
    /// Between two events.
    Stall,
    /// The whole request.
    Total,
}

/// An outcome without its details, to count by.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is documented on `Outcome`")]
pub enum OutcomeKind {
    Completed,
    Truncated,
    InvalidOutput,
    HttpError,
    Rejected,
    ConnectError,
    Timeout,
    StreamError,
    Empty,
    Cancelled,
    Unsent,
    Unfinished,
}

impl Outcome {
    /// Whether the answer is whole, whatever its text is worth.
    pub const fn ended_well(self) -> bool {
        matches!(self, Self::Completed | Self::InvalidOutput)
    }

    /// Without its details.
    pub const fn kind(self) -> OutcomeKind {
        match self {
            Self::Completed => OutcomeKind::Completed,
            Self::Truncated => OutcomeKind::Truncated,
            Self::InvalidOutput => OutcomeKind::InvalidOutput,
            Self::HttpError { .. } => OutcomeKind::HttpError,
            Self::Rejected { .. } => OutcomeKind::Rejected,
            Self::ConnectError => OutcomeKind::ConnectError,
            Self::Timeout { .. } => OutcomeKind::Timeout,
            Self::StreamError => OutcomeKind::StreamError,
            Self::Empty => OutcomeKind::Empty,
            Self::Cancelled => OutcomeKind::Cancelled,
            Self::Unsent => OutcomeKind::Unsent,
            Self::Unfinished => OutcomeKind::Unfinished,
        }
    }
}

impl OutcomeKind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
        Self::Completed,
        Self::Truncated,
        Self::InvalidOutput,
        Self::HttpError,
        Self::Rejected,
        Self::ConnectError,
        Self::Timeout,
        Self::StreamError,
        Self::Empty,
        Self::Cancelled,
        Self::Unsent,
        Self::Unfinished,
    ];

    /// Whether it counts in `error_ratio` and as +∞ in adjusted percentiles.
    pub const fn is_error(self) -> bool {
        match self {
            Self::Completed | Self::Truncated | Self::InvalidOutput | Self::Cancelled => false,
            Self::HttpError
            | Self::Rejected
            | Self::ConnectError
            | Self::Timeout
            | Self::StreamError
            | Self::Empty
            | Self::Unsent
            | Self::Unfinished => true,
        }
    }

    /// In words, for reports.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Truncated => "truncated",
            Self::InvalidOutput => "invalid output",
            Self::HttpError => "http error",
            Self::Rejected => "rejected",
            Self::ConnectError => "connect error",
            Self::Timeout => "timeout",
            Self::StreamError => "stream error",
            Self::Empty => "empty",
            Self::Cancelled => "cancelled",
            Self::Unsent => "unsent",
            Self::Unfinished => "unfinished",
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A record sent at zero that ended so, with nothing else in it.
    pub(crate) fn record(outcome: Outcome) -> RequestRecord {
        RequestRecord {
            stage: 0,
            index: 0,
            class: 0,
            tenant: None,
            conversation: None,
            turn: None,
            phase: Phase::Measured,
            planned_input_tokens: 10,
            planned_output_tokens: 5,
            scheduled: Nanos::ZERO,
            sent: Some(Nanos::ZERO),
            headers: None,
            first_answer: None,
            done: None,
            events: Vec::new(),
            event_tokens: Vec::new(),
            output_tokens: None,
            output_source: TokenSource::Usage,
            input_tokens: None,
            cached_tokens: None,
            finish: None,
            resent: 0,
            bytes: 0,
            outcome,
            error: None,
            answer: None,
            heard: None,
        }
    }

    #[test]
    fn a_record_survives_json() {
        let mut record = record(Outcome::Timeout {
            phase: TimeoutPhase::Stall,
        });
        record.events = vec![Nanos::new(1_234_567), Nanos::new(2_345_678)];
        record.error = Some("no \"token\" for 60s".to_owned());
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(
            serde_json::from_str::<RequestRecord>(&json).unwrap(),
            record
        );
    }

    #[test]
    fn a_record_from_before_conversations_loads_and_stays_as_it_was() {
        let plain = record(Outcome::Completed);
        let json = serde_json::to_string(&plain).unwrap();
        for field in ["tenant", "conversation", "turn"] {
            assert!(!json.contains(field), "{field} in {json}");
        }
        assert_eq!(serde_json::from_str::<RequestRecord>(&json).unwrap(), plain);
        let turn = RequestRecord {
            tenant: Some(3),
            conversation: Some(17),
            turn: Some(2),
            ..plain
        };
        let json = serde_json::to_string(&turn).unwrap();
        assert!(json.contains(r#""tenant":3,"conversation":17,"turn":2"#));
        assert_eq!(serde_json::from_str::<RequestRecord>(&json).unwrap(), turn);
    }

    #[test]
    fn only_failures_are_errors() {
        let errors = OutcomeKind::ALL
            .into_iter()
            .filter(|kind| kind.is_error())
            .count();
        assert_eq!(errors, 8);
        assert!(!OutcomeKind::Cancelled.is_error());
        assert!(!OutcomeKind::Truncated.is_error());
        assert!(!OutcomeKind::InvalidOutput.is_error());
    }
}
