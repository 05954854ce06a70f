//! What happened to one request, and the metrics of it.

mod record;
mod stage;

pub use record::{Outcome, OutcomeKind, RequestRecord, TimeoutPhase, TokenSource};
pub use stage::{StageEnd, StageObservation};
