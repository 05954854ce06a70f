//! The files that `init` writes: a commented spec, and a workflow that gates by it.
//!
//! Pure: what was seen of a target comes in, texts go out. What others wrote (a server's model name, a
//! version) stands in quotes that our own parser reads back as it was, or not at all.

mod quoting;
mod spec;
mod workflow;

pub use spec::{Draft, Place, Seen, name_of, spec};
pub use workflow::workflow;
