//! Bytes to events of the OpenAI-compatible streaming protocol, and plans to request bodies.
//!
//! Pure: no sockets, no clock. Instants come in with the bytes.

pub mod chunk;
pub mod engine_metrics;
mod key;
mod lenient;
pub mod prometheus;
mod repeat;
pub mod request;
mod spoken;
pub mod sse;
mod stream;
mod transcript;

pub use stream::{Answer, End, Feed, Observed};
pub use transcript::Transcript;
