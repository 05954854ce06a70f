//! Why a target could not be asked.

use super::client::LONGEST;

/// Why the target could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// The client itself could not be made.
    #[error("cannot build an HTTP client for `{base}`: {reason}")]
    Client {
        /// The target.
        base: String,
        /// What the library says.
        reason: String,
    },
    /// No answer at all.
    #[error(
        "cannot reach the target at `{base}`: {reason}; is the server running and the URL right?"
    )]
    Unreachable {
        /// The target.
        base: String,
        /// What the library says.
        reason: String,
    },
    /// An answer of status 400 or above.
    #[error("the target answered {status} to `{path}`: {text}{}", advice(*status))]
    Status {
        /// The path asked.
        path: String,
        /// The status.
        status: u16,
        /// The first 200 characters of the body.
        text: String,
    },
    /// An answer that is no JSON.
    #[error(
        "the target's answer to `{path}` is not JSON; is the URL that of an OpenAI-compatible server?"
    )]
    NotJson {
        /// The path asked.
        path: String,
    },
    /// An answer longer than any that engines give.
    #[error("the target's answer to `{path}` is longer than {} MiB", LONGEST >> 20)]
    TooLong {
        /// The path asked.
        path: String,
    },
    /// Neither spec nor target names a model.
    #[error("the target at `{base}` lists no model; name one in the spec: `target: {{model: …}}`")]
    NoModel {
        /// The target.
        base: String,
    },
}

/// What to do about a status, as the end of a sentence.
const fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => {
            "; name the variable that holds the key in the spec: `target: {api_key_env: …}`"
        }
        404 => "; is the URL that of an OpenAI-compatible server, without `/v1`?",
        _ => "",
    }
}
