//! Bytes to events of the OpenAI-compatible streaming protocol, and plans to request bodies.
//!
//! Pure: no sockets, no clock. Instants come in with the bytes.

pub mod chunk;
mod key;
mod lenient;
pub mod prometheus;
mod repeat;
pub mod request;
pub mod sse;
mod stream;

pub use stream::{Answer, End, Feed, Observed};
