//! A request on its way, and what was seen of its answer.

use crate::load::connection::{Body, Outgoing};
use crate::sample::Outcome;
use crate::unit::Nanos;
use crate::wire::{Answer, End};

/// A request that only has to be sent.
#[derive(Debug)]
pub(in crate::load) struct Ready {
    /// Which replica it goes to.
    pub(super) place: usize,
    pub(super) request: Outgoing,
}

/// What was seen of a request so far.
#[derive(Debug)]
pub(in crate::load) struct Exchange {
    pub(in crate::load) sent: Option<Nanos>,
    pub(in crate::load) headers: Option<Nanos>,
    pub(in crate::load) answer: Answer,
    /// Bytes of a body that is no answer.
    pub(in crate::load) error_bytes: u64,
    /// How often it was sent again.
    pub(in crate::load) resent: u32,
}

/// How an exchange ended.
#[derive(Debug)]
pub(in crate::load) enum Ended {
    /// An answer came, or nothing in time.
    Answer {
        end: End,
        /// The rest of a body that has already said all.
        tail: Option<Box<Tail>>,
    },
    /// No answer came, for the reason in this text.
    Failure { outcome: Outcome, text: String },
}

/// A body that has said all; its end may be still to come.
#[derive(Debug)]
pub(in crate::load) struct Tail {
    pub(super) body: Body,
    pub(super) place: usize,
}
