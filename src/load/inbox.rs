//! Records on their way from the lanes to whoever keeps them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sample::RequestRecord;

/// Takes records from all lanes. Nobody is woken: the stage's driver collects them on its ticks, for
/// a wake-up for each record would cost the lanes more than the record itself.
#[derive(Debug, Default)]
pub(super) struct Inbox(Mutex<Vec<RequestRecord>>);

impl Inbox {
    /// Adds a record.
    pub(super) fn put(&self, record: RequestRecord) {
        self.lock().push(record);
    }

    /// Takes all that came, in exchange for an emptied vector.
    pub(super) fn collect(&self, emptied: &mut Vec<RequestRecord>) {
        std::mem::swap(&mut *self.lock(), emptied);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RequestRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
