//! What is asked of the `git` program: which commit this is, what lies in a tree, who came before whom.
//!
//! Every call is `git` with a list of arguments, never a shell's line, in one repository, with its own
//! language and without prompts, hooks or variables that would lead it elsewhere.

mod call;
mod error;
mod lineage;
mod log;
mod remote;
mod repository;
#[cfg(test)]
pub(crate) mod scratch;
#[cfg(test)]
mod tests;
mod tree;
mod worktree;
mod write;

pub use crate::ident::{Commit, NotACommit};
pub use error::GitError;
pub use log::LogEntry;
pub use remote::{Fetched, Pushed, Refusal, RefusalKind};
pub use repository::Repository;
pub use tree::TreeEntry;
pub use worktree::Worktree;
pub use write::FileEdits;
