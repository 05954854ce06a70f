//! The machine that the load client runs on: its CPU, what decides its clock, room for records.

use super::finding::{Finding, Topic};
use crate::headroom::Machine;
use crate::unit::scale;

/// What decides the clock of a machine's CPU; nothing where the system does not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Power {
    /// The scaling governors of its cores, each once, sorted.
    pub governors: Vec<String>,
    /// Whether it runs on a battery.
    pub on_battery: Option<bool>,
}

/// The room on a disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disk {
    /// Bytes that this user may still write.
    pub free: u64,
    /// Bytes that a session may come to.
    pub needed: f64,
}

/// Whether this process has the machine's cores for itself.
pub fn cpu_allowance(machine: &Machine) -> Option<Finding> {
    let online = f64::from(machine.online?);
    let cores = scale::mean(machine.cores);
    let of = format!("{cores} of {} cores may be used", scale::mean(online));
    Some(match machine.quota {
        Some(quota) if quota < online => Finding::note(
            Topic::Cpu,
            format!("{of}: a control group allows {}", scale::mean(quota)),
            "when the quota of a period is used up every thread stands still until the next one, which shows \
             as stalls of up to 100 ms",
            "give the container whole cores (a CPU set) and no quota, or far more than the client needs",
        ),
        _ if machine.cores < online => Finding::ok(Topic::Cpu, format!("{of}, by affinity")),
        _ => Finding::ok(Topic::Cpu, of),
    })
}

/// Whether the CPU's clock stays where it is.
pub fn power(power: &Power) -> Option<Finding> {
    if power.on_battery == Some(true) {
        return Some(Finding::note(
            Topic::Power,
            "this machine runs on its battery",
            "its clocks are lowered as it sees fit, on one side of a comparison and not on the other",
            "plug it in",
        ));
    }
    let steady = |governor: &String| governor == "performance";
    if power.governors.is_empty() {
        return None;
    }
    let names = power.governors.iter().map(|name| format!("`{name}`"));
    let list = names.collect::<Vec<_>>().join(" and ");
    Some(if power.governors.iter().all(steady) {
        Finding::ok(Topic::Power, "the CPU's governor is `performance`")
    } else {
        Finding::note(
            Topic::Power,
            format!("the CPU is governed by {list}"),
            "the clock follows the load, so an engine on this CPU and the client's own wake-ups scatter more",
            "for the time of a run: `cpupower frequency-set -g performance`",
        )
    })
}

/// Whether records of a session have room.
pub fn disk(disk: Disk) -> Finding {
    /// Runs, reports and logs beside the records.
    const BESIDE: f64 = 64e6;
    let needed = disk.needed + BESIDE;
    let free = disk.free as f64;
    let seen = format!(
        "{} are free, and the records of the longest comparison take some {}",
        bytes(free),
        bytes(needed)
    );
    if free < needed {
        Finding::trouble(
            Topic::Disk,
            seen,
            "a run ends when its records can't be written",
            "make room, or name another folder: `--out DIR`",
        )
    } else {
        Finding::ok(Topic::Disk, seen)
    }
}

/// `1.6 GB` of 1,600,000,000.
fn bytes(count: f64) -> String {
    let (unit, name) = match count {
        count if count >= 1e12 => (1e12, "TB"),
        count if count >= 1e9 => (1e9, "GB"),
        _ => (1e6, "MB"),
    };
    format!("{:.1} {name}", count / unit)
}

#[cfg(test)]
mod tests {
    use super::super::finding::tests::shown;
    use super::*;
    use crate::headroom::tests::headroom;

    #[test]
    fn a_machine_says_what_holds_the_client_back() {
        let governors = |all: &[&str]| Power {
            governors: all.iter().map(|&name| name.to_owned()).collect(),
            on_battery: Some(false),
        };
        let machine = headroom().machine;
        let whole = Machine {
            cores: 8.0,
            quota: None,
            ..machine
        };
        let bound = Machine {
            cores: 4.0,
            quota: None,
            ..machine
        };
        let battery = Power {
            on_battery: Some(true),
            ..Power::default()
        };
        let found: Vec<Finding> = [
            cpu_allowance(&machine),
            cpu_allowance(&whole),
            cpu_allowance(&bound),
            power(&governors(&["performance"])),
            power(&governors(&["performance", "powersave"])),
            power(&battery),
            Some(disk(Disk {
                free: 3_000_000_000,
                needed: 160e6,
            })),
            Some(disk(Disk {
                free: 200_000_000,
                needed: 160e6,
            })),
        ]
        .into_iter()
        .map(Option::unwrap)
        .collect();
        insta::assert_snapshot!(shown(&found));
        assert_eq!(
            power(&Power::default()),
            None,
            "nothing known, nothing said"
        );
        assert_eq!(cpu_allowance(&Machine::default()), None);
    }
}
