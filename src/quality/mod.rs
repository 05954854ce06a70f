//! What answers are worth beside how fast they come: checks of their text, agreement of two runs'
//! answers, and scores that other tools measured.
//!
//! Text goes in, counts and digests come out: no answer is kept here.

mod check;
mod fingerprint;
mod sample;
mod score;

pub use check::{Check, CheckError, CheckKind, Expected, Pattern, Quality, Schema};
pub use fingerprint::Fingerprint;
pub use sample::{Agreement, AnswerQuality, AnswerSample, Discordant, Entry, PassCount, SAMPLE};
pub use score::{Score, ScoreAsk, ScoreError};
