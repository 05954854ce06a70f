//! Reading and promoting the sessions that candidates are compared with.
//!
//! A baseline is a folder: the pinned spec, and for each environment what was measured there.
//!
//! ```text
//! baselines/<name>/spec.yaml
//! baselines/<name>/accepts/<date>-<words>.yaml      cells that may be worse, up to where and until when
//! baselines/<name>/<environment>/environment.json   the pins that made it this environment
//! baselines/<name>/<environment>/runs/<id>.json     one immutable file a run
//! baselines/<name>/<environment>/reference.json     which sessions stand, when and why promoted;
//!                                                   which show the noise alone, what is void, which
//!                                                   are releases, where levels begin, and digests
//! ```

mod accept;
mod ancestry;
mod anchor;
mod base;
mod branch;
mod change;
mod edit;
mod environment;
mod epoch;
mod folder;
mod keeper;
mod promote;
mod prune;
mod reference;
mod seal;
mod sessions;
mod shelf;
mod standing;
#[cfg(test)]
mod tests;
mod verify;
mod void;

pub use accept::{ACCEPT_DAYS, ACCEPT_FORMAT, Accept, AcceptError, AcceptedCell};
pub use ancestry::{AncestryError, Kept, retain_ancestors};
pub use anchor::{Anchor, PinError};
pub use base::{Base, BaseError};
pub use branch::{ArchiveBranch, ArchiveBranchError};
pub use change::Change;
pub use edit::{EditError, Said, pin, void};
pub use environment::{ENVIRONMENT_FORMAT, Environment};
pub use epoch::Epoch;
pub use keeper::{KeepError, Keeper, Opened};
pub use promote::{MeasuredSession, PromoteError, Promoted, keep_noise, promote};
pub use prune::{Keep, Pruned, prune};
pub use reference::{
    BaselineError, NoiseSession, REFERENCE_FORMAT, Reference, ReferenceSession, Stored, list, load,
    load_all,
};
pub use sessions::{Baseline, PinnedRelease, Session};
pub use shelf::Shelf;
pub use standing::{Standing, accepts, excuses};
pub use verify::{ArchiveFinding, Gravity, Verification, verify};
pub use void::{Void, VoidError, Voided};
