//! A stage's records, wherever they are.

use std::convert::Infallible;

use crate::sample::RequestRecord;

/// Records that can be gone through more than once: the same ones each time, in any order.
///
/// A summary takes several passes instead of memory, so that a run may have any length: exact
/// quantiles need only what lies near them, once the first pass has shown where that is.
pub trait Records {
    /// Why they cannot be gone through.
    type Error;

    /// Shows each record once.
    fn each(&self, see: &mut dyn FnMut(&RequestRecord)) -> Result<(), Self::Error>;
}

impl Records for [RequestRecord] {
    type Error = Infallible;

    fn each(&self, see: &mut dyn FnMut(&RequestRecord)) -> Result<(), Infallible> {
        self.iter().for_each(see);
        Ok(())
    }
}
