//! Where the server under test is: it runs already, or is started.

use std::path::Path;

use super::launch::Launch;

/// Where the server under test is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetPlace {
    /// At URLs like `http://host:8000`, without the API's path: one, or several replicas that get
    /// requests in turn.
    Urls(Vec<String>),
    /// The embedded engine, started for the run.
    Sim {
        /// The profile first, then its switches.
        words: Vec<String>,
        /// How many of it, each at a URL of its own.
        replicas: u32,
    },
    /// An engine that is started for each run and ended after it.
    Launched {
        /// Where it then listens.
        url: String,
        /// How it is started and ended.
        launch: Box<Launch>,
    },
}

impl TargetPlace {
    /// How many servers it is.
    pub const fn replicas(&self) -> usize {
        match self {
            Self::Urls(urls) => urls.len(),
            Self::Sim { replicas, .. } => *replicas as usize,
            Self::Launched { .. } => 1,
        }
    }

    /// With what it names of files and folders found from this folder, the spec's.
    #[must_use]
    pub fn in_folder(self, folder: &Path) -> Self {
        match self {
            Self::Launched { url, launch } => Self::Launched {
                url,
                launch: Box::new(launch.in_folder(folder)),
            },
            other @ (Self::Urls(_) | Self::Sim { .. }) => other,
        }
    }
}
