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

mod accept;
mod anchor;
mod day;
mod environment;
mod epoch;
mod promote;
mod reference;
mod seal;
mod shelf;
mod standing;
#[cfg(test)]
mod tests;
mod verify;
mod void;

pub use accept::{ACCEPT_DAYS, ACCEPT_FORMAT, Accept, AcceptError, AcceptedCell};
pub use anchor::{Anchor, PinError};
pub use day::{Day, DayError};
pub use environment::{ENVIRONMENT_FORMAT, Environment};
pub use epoch::Epoch;
pub use promote::{MeasuredSession, PromoteError, Promoted, keep_noise, promote};
pub use reference::{
    Baseline, BaselineError, NoiseSession, PinnedRelease, REFERENCE_FORMAT, Reference,
    ReferenceSession, Session, Stored, list, load, load_all,
};
pub use shelf::Shelf;
pub use standing::{Standing, accepts, excuses};
pub use verify::{ArchiveFinding, Gravity, Verification, verify};
pub use void::{Void, VoidError, Voided};
