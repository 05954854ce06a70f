//! Reading and promoting the sessions that candidates are compared with.
//!
//! A baseline is a folder: the pinned spec, and for each environment what was measured there.
//!
//! ```text
//! baselines/<name>/spec.yaml
//! baselines/<name>/<environment>/environment.json   the pins that made it this environment
//! baselines/<name>/<environment>/runs/<id>.json     one immutable file a run
//! baselines/<name>/<environment>/reference.json     which sessions stand, when and why promoted, and
//!                                                   which show the noise alone
//! ```

mod ancestry;
mod base;
mod branch;
mod change;
mod environment;
mod folder;
mod keeper;
mod promote;
mod reference;
mod shelf;
#[cfg(test)]
mod tests;

pub use ancestry::{AncestryError, Kept, retain_ancestors};
pub use base::{Base, BaseError};
pub use branch::{ArchiveBranch, ArchiveBranchError};
pub use change::Change;
pub use environment::Environment;
pub use keeper::{KeepError, Keeper, Opened};
pub use promote::{MeasuredSession, PromoteError, Promoted, keep_noise, promote};
pub use reference::{
    Baseline, BaselineError, NoiseSession, Reference, ReferenceSession, Session, Stored, list,
    load, load_all,
};
pub use shelf::Shelf;
