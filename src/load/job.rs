//! What a client is asked to do of a stage.

use std::sync::Arc;

use super::appointment::Appointment;
use super::http::Client;
use crate::plan::{Plan, Prompter, Share};
use crate::spec::Timeouts;
use crate::unit::Nanos;

/// One stage to run.
#[derive(Debug, Clone, Copy)]
pub struct StageJob<'a> {
    /// The plan.
    pub plan: &'a Arc<Plan>,
    /// Index of the stage in it.
    pub stage: usize,
    /// Writes the prompts.
    pub prompter: &'a Arc<Prompter>,
    /// Where to send.
    pub client: &'a Client,
    /// When to give up.
    pub timeouts: &'a Timeouts,
    /// Which part of it this client sends.
    pub share: Share,
    /// When it begins; `None` as soon as it can.
    pub begin: Option<Appointment>,
}

impl StageJob<'_> {
    /// Waits until it begins.
    pub(super) async fn begins(&self) {
        if let Some(begin) = self.begin {
            begin.wait(Nanos::ZERO).await;
        }
    }
}

/// The stage could not begin.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the load client's threads")]
pub struct StartError(#[from] std::io::Error);
