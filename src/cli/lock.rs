//! The lock on this machine that a command measures under.

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use crate::exit::Exit;
use crate::session::{LockError, LockRequest, Locks, lock, lock_keys};
use crate::spec::{Spec, TargetPlace};
use crate::unit::Nanos;

/// The variable that names the folder of all locks.
const FOLDER: &str = "INFERGATE_LOCKS";

/// Whether and how long to wait for other measurements on this machine.
#[derive(Debug, Clone, Args)]
pub(super) struct LockArgs {
    /// How long to wait for another measurement on this machine
    #[arg(long, default_value = "10m", value_name = "TIME")]
    lock_wait: Nanos,

    /// Measure whoever else measures on this machine
    #[arg(long)]
    no_lock: bool,
}

impl LockArgs {
    /// For what never locks: the embedded engine.
    pub(super) const NONE: Self = Self {
        lock_wait: Nanos::ZERO,
        no_lock: true,
    };

    /// Holds what measurements at these places need; `shared` with others that share it.
    pub(super) async fn hold(
        &self,
        spec: &Spec,
        places: &[&TargetPlace],
        shared: bool,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Option<Locks>, Failure> {
        if self.no_lock {
            return Ok(None);
        }
        let keys = lock_keys(places).await;
        if keys.is_empty() {
            return Ok(None);
        }
        let folder = context
            .variable(FOLDER)
            .map_or_else(|| std::env::temp_dir().join("infergate-locks"), Into::into);
        let request = LockRequest {
            folder,
            who: format!(
                "pid {} (spec `{}`) since {}",
                std::process::id(),
                spec.name,
                context.now()
            ),
            shared,
            at_most: self.lock_wait.to_duration(),
        };
        let held = lock(keys, &request, |line| context.note(line), interrupt.stop()).await;
        held.map(Some).map_err(Failure::from)
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Self {
        Self::new(Exit::Invalid, error.to_string())
    }
}
