//! Where the engine's metrics are, and one look at them.

use super::client::ProbeClient;
use super::error::ProbeError;
use crate::wire::engine_metrics::{EngineReading, read};

/// Where a replica's metrics are.
#[derive(Debug, Clone)]
pub struct MetricsSource {
    client: ProbeClient,
    path: String,
}

/// Why a look at metrics brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMetrics {
    /// The reason.
    pub why: String,
    /// Whether another look may bring something: what answers, but no metrics, will not have any later.
    pub may_pass: bool,
}

impl MetricsSource {
    /// At a path below the client's base URL.
    pub const fn new(client: ProbeClient, path: String) -> Self {
        Self { client, path }
    }

    /// The same, to be asked on another runtime: connections belong to the one that they were opened on.
    ///
    /// # Errors
    ///
    /// As [`ProbeClient::new`].
    pub fn anew(&self) -> Result<Self, ProbeError> {
        Ok(Self {
            client: self.client.anew()?,
            path: self.path.clone(),
        })
    }

    /// The URL.
    pub fn url(&self) -> String {
        format!("{}{}", self.client.base(), self.path)
    }

    /// Asks for the metrics.
    ///
    /// # Errors
    ///
    /// [`NoMetrics`] where there is no answer, or one that says nothing that is known.
    pub async fn read(&self) -> Result<EngineReading, NoMetrics> {
        let text = self.client.text(&self.path).await.map_err(|error| {
            let may_pass = matches!(
                error,
                ProbeError::Unreachable { .. } | ProbeError::Status { status: 500.., .. }
            );
            let why = match error {
                ProbeError::Status { status, .. } => format!("{} answers {status}", self.path),
                other => other.to_string(),
            };
            NoMetrics { why, may_pass }
        })?;
        read(&text).map_err(|error| NoMetrics {
            why: format!("{}: {error}", self.path),
            may_pass: false,
        })
    }
}
