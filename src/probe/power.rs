//! What decides the clock of this machine's CPU, and the room on its disks, as Linux tells them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::checkup::Power;

/// The governors of all cores and whether a battery feeds them; nothing where the system does not say.
pub fn power() -> Power {
    let cores = entries(Path::new("/sys/devices/system/cpu"));
    let governors: BTreeSet<String> = cores
        .iter()
        .filter_map(|core| read(&core.join("cpufreq/scaling_governor")))
        .collect();
    let supplies: Vec<(String, String)> = entries(Path::new("/sys/class/power_supply"))
        .iter()
        .filter_map(|supply| Some((read(&supply.join("type"))?, supply)))
        .map(|(kind, supply)| {
            let state = if kind == "Battery" {
                "status"
            } else {
                "online"
            };
            (kind, read(&supply.join(state)).unwrap_or_default())
        })
        .collect();
    Power {
        governors: governors.into_iter().collect(),
        on_battery: on_battery(&supplies),
    }
}

/// Whether the kinds of supplies with their states mean that a battery feeds the machine: one that is
/// discharged while no other supply is connected.
fn on_battery(supplies: &[(String, String)]) -> Option<bool> {
    let battery = |(kind, _): &&(String, String)| kind == "Battery";
    let discharges = supplies
        .iter()
        .filter(battery)
        .any(|(_, state)| state == "Discharging");
    let plugged = supplies
        .iter()
        .any(|(kind, state)| kind != "Battery" && state == "1");
    (!supplies.is_empty()).then_some(discharges && !plugged)
}

/// Bytes that this user may still write to the disk of a folder, or of the nearest one that is there.
#[cfg(unix)]
pub fn free_disk(folder: &Path) -> Option<u64> {
    let absolute = std::path::absolute(folder).ok()?;
    let there = absolute.ancestors().find(|folder| folder.is_dir())?;
    let disk = rustix::fs::statvfs(there).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// The system is not asked.
#[cfg(not(unix))]
pub fn free_disk(_folder: &Path) -> Option<u64> {
    None
}

fn read(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(found) = fs::read_dir(folder) else {
        return Vec::new();
    };
    found.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battery_feeds_what_is_not_plugged_in() {
        let of = |all: &[(&str, &str)]| {
            let owned = all
                .iter()
                .map(|&(kind, state)| (kind.to_owned(), state.to_owned()));
            on_battery(&owned.collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(
            of(&[("Mains", "0"), ("Battery", "Discharging")]),
            Some(true)
        );
        assert_eq!(
            of(&[("Mains", "1"), ("Battery", "Discharging")]),
            Some(false)
        );
        assert_eq!(of(&[("Battery", "Charging")]), Some(false));
    }

    #[test]
    fn this_machine_has_room() {
        let folder = tempfile::tempdir().unwrap();
        let later = folder.path().join("not/there/yet");
        assert_eq!(free_disk(&later).is_some(), cfg!(unix));
    }
}
