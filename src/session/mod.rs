//! One sitting: targets brought up, runs measured one after another, everything kept on disk.
//!
//! The shell between the command line and the I/O modules: it knows in which order target, probe,
//! load, summary and archive come, and nothing about what a run means.

mod beside;
#[cfg(test)]
mod capacity_tests;
mod clock;
mod cut_off;
mod error;
mod events;
mod gpus;
mod guard;
mod headroom;
mod idle;
mod launch;
mod loaded;
mod lock;
mod log;
mod look;
mod measure;
mod merge;
mod refinement;
mod replicas;
mod sending;
mod soaking;
mod stages;
mod station;
mod target;
mod virtual_time;
mod watch;

pub use cut_off::CutOff;
pub use error::MeasureError;
pub use guard::{Ward, guard};
pub use headroom::{Effort, HeadroomError, Site, measure_headroom};
pub use launch::Launchpad;
pub use lock::{LockError, LockRequest, Locks, lock, lock_keys};
pub use look::{identify, look};
pub use measure::{Measured, Part, Place, RunName, Scores, Sitting};
pub use merge::{MergeFailure, Shard, merge};
pub use station::Station;
pub use target::{RunningTarget, TargetError};
pub use virtual_time::{VirtualError, VirtualRun, VirtualSitting};
