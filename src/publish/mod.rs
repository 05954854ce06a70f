//! A finished report to where people read it: a pull request, a check, a job's summary, another CI.
//!
//! Judges nothing and renders nothing: it gets a [`Post`] and sends it. What went wrong on the way is told
//! and changes no verdict. Of what other servers answer it reads the fields that it needs, and of what
//! they say only what leads no further than the server that was named.

pub mod actions;
mod api_url;
pub mod github;
mod key;
mod marker;
mod outbound;
mod post;
mod posted;
mod repository;

pub use api_url::{ApiUrl, ApiUrlError};
pub use key::{Key, KeyError};
pub use post::{Annotation, Ending, Post};
pub use posted::{Channel, Outcome, Posted};
pub use repository::{Repository, RepositoryError};

/// Most UTF-16 units of a body on GitHub: the limit is 65,536 characters, and older servers count bytes of
/// what is left of it.
const BODY: usize = 65_000;
