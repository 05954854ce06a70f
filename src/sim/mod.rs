//! The embedded engine: a real HTTP server with a model of continuous batching behind it.
//!
//! It stands on the far side of the wire and shares no code with the load side: its own clock,
//! tokenizer and event writer, so that a mistake in one cannot hide in the other. It refuses to
//! be a model: answers are fixed words, only their timing and their token counts mean something.
//!
//! [`engine`] is the pure model, a step at a time under a virtual clock; a thread of its own runs
//! it against the real one. [`truth`] logs what really happened to each request.

mod api;
mod chunks;
mod clock;
mod doors;
mod driver;
pub mod engine;
mod exchange;
pub mod fault;
mod generate;
mod kv;
pub mod machine;
mod metrics;
mod noise;
pub mod options;
pub mod profile;
mod sequence;
mod server;
mod speech;
mod sse;
mod standalone;
mod tokens;
mod trouble;
pub mod truth;
mod wear;

#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;

pub use machine::Machine;
pub use options::{RoleChunk, Shape, SimOptions, Sizing, Slower};
pub use profile::{PROFILES, Profile};
pub use server::{Running, ServeOptions, Server};
pub use speech::Speech;
pub use standalone::serve;
pub use truth::{TruthOutcome, TruthRecord, TruthTarget};
pub use wear::Wear;

/// Why an embedded engine cannot be configured or served.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// No profile has that name.
    #[error(
        "there is no profile `{name}`{}; `infergate sim --list` shows all",
        suggestion.as_ref().map(|s| format!(", did you mean `{s}`?")).unwrap_or_default()
    )]
    UnknownProfile {
        /// The name as given.
        name: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
    },
    /// The profile answers at once and cannot do what is asked.
    #[error(
        "profile `{profile}` answers at once, so `{flag}` has no effect; choose another profile"
    )]
    NoEngine {
        /// The profile.
        profile: &'static str,
        /// The switch.
        flag: &'static str,
    },
    /// The KV cache can't hold one request of the longest kind.
    #[error(
        "a KV cache of {blocks} blocks can't hold the longest request; it needs at least {needed}"
    )]
    SmallCache {
        /// Blocks as asked.
        blocks: usize,
        /// Blocks that it needs.
        needed: usize,
    },
    /// Shares of requests are out of range.
    #[error("the shares of failing requests must lie between 0% and 100% and sum to at most 100%")]
    Shares,
    /// A text is neither a number of requests nor a time.
    #[error("`{text}` is neither a number of requests like `20` nor a time like `2s`")]
    DieAfter {
        /// The text as given.
        text: String,
    },
    /// The port cannot be listened on.
    #[error("cannot listen on 127.0.0.1:{port}; choose another port, or 0 for any free one")]
    Bind {
        /// The port.
        port: u16,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The engine's thread cannot be started.
    #[error("cannot start the engine's thread")]
    Thread {
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The truth log cannot be written.
    #[error("cannot write the truth log `{}`; check the folder and the space left", path.display())]
    Truth {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The server's address cannot be told.
    #[error("cannot print the address")]
    Output {
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The server died because `--die-after` said so.
    #[error("the server died as `--die-after` asked")]
    Died,
}
