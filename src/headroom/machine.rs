//! What a machine allows a load client beside its speed.

use serde::{Deserialize, Serialize};

/// What a machine allows; absent where the system does not say.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Cores that this process may keep busy: affinity, bounded by the quota.
    pub cores: f64,
    /// Cores of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online: Option<u32>,
    /// The control group's CPU quota, in cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<f64>,
    /// The limit on open files: each connection is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<OpenFiles>,
    /// Local ports: each connection to one address takes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<Ports>,
    /// Load average over the minute before the trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_average: Option<f64>,
    /// Share of the machine's CPU time that the hypervisor gave to others during the trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen: Option<f64>,
    /// Whether this is an optimised build.
    pub release: bool,
}

/// The limit on this process's open files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenFiles {
    /// What holds now.
    pub soft: u64,
    /// What `ulimit -n` may raise it to.
    pub hard: u64,
    /// Open already.
    pub used: u64,
}

impl OpenFiles {
    /// Files that a run needs beside its connections: records, the runtime, the probe.
    const RESERVED: u64 = 32;

    /// Connections that may be open at once: 972 of a limit of 1,024 with 20 in use.
    pub const fn connections(self) -> u64 {
        self.soft.saturating_sub(self.used + Self::RESERVED)
    }
}

/// The local ports that connections go out from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    /// In the system's range.
    pub range: u64,
    /// Taken by TCP connections, those that wait for their end included.
    pub in_use: u64,
}

impl Ports {
    /// Ports left.
    pub const fn free(self) -> u64 {
        self.range.saturating_sub(self.in_use)
    }
}

impl Machine {
    /// Share of the cores that others keep busy from which on figures suffer.
    const BUSY: f64 = 0.25;

    /// Whether something else ran here, so that the headroom may be larger than measured.
    pub fn is_busy(&self) -> bool {
        let online = self.online.map_or(self.cores, f64::from).max(1.0);
        self.load_average
            .is_some_and(|load| load / online > Self::BUSY)
            || self.stolen.is_some_and(|share| share > 0.02)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_busy_by_its_load_or_by_its_neighbours() {
        let machine = |load_average, stolen| Machine {
            online: Some(4),
            load_average: Some(load_average),
            stolen: Some(stolen),
            ..Machine::default()
        };
        assert!(!machine(0.9, 0.01).is_busy());
        assert!(machine(1.1, 0.0).is_busy());
        assert!(machine(0.0, 0.03).is_busy());
        assert!(!Machine::default().is_busy(), "nothing known is no charge");
    }
}
