//! A build that does not open NVML.

use std::sync::mpsc::Receiver;

use super::{GpuLook, Visible};
use crate::sample::GpuLooks;
use crate::unit::Nanos;

const WHY: &str = "this build cannot open NVML";

/// Never anything.
pub(super) fn look(_: &Visible) -> Result<GpuLook, String> {
    Err(WHY.to_owned())
}

/// Of NVML; there is none.
#[derive(Debug)]
pub(super) enum Watch {}

impl Watch {
    /// Never anything.
    pub(super) fn open(_: &Visible) -> Result<Self, String> {
        Err(WHY.to_owned())
    }

    /// Not reached, for there is none to be asked.
    pub(super) fn run(self, _: &dyn Fn() -> Nanos, _: &Receiver<()>) -> GpuLooks {
        match self {}
    }
}
