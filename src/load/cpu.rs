//! CPU time of this process and the cores that it may use; Linux only.

use crate::unit::Nanos;

/// User and system time of this process so far; `None` where the system does not say.
///
/// Counts in steps of 10 ms, so it is for windows of seconds.
pub(super) fn process_time() -> Option<Nanos> {
    parse_stat(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// Cores that this process may keep busy: its affinity, bounded by its control group's quota.
pub(super) fn cores() -> f64 {
    CpuAllowance::of_process().cores
}

/// What CPU this process may use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuAllowance {
    /// Cores that it may keep busy.
    pub cores: f64,
    /// Its control group's quota, in cores; `None` where there is none, or none is known.
    pub quota: Option<f64>,
}

impl CpuAllowance {
    /// That of this process, now.
    pub fn of_process() -> Self {
        let parallelism = std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
        // The standard library rounds a quota down to whole cores; where the quota itself can be
        // read, it counts.
        let allowed = std::fs::read_to_string("/proc/self/status")
            .ok()
            .and_then(|status| parse_allowed(&status));
        let quota = quota();
        let cores = match (allowed, quota) {
            (Some(allowed), Some(quota)) => f64::from(allowed).min(quota),
            _ => parallelism,
        };
        Self { cores, quota }
    }
}

/// The smallest quota on the way from this process's control group to the root (version 2).
fn quota() -> Option<f64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    std::path::Path::new("/sys/fs/cgroup")
        .join(path.trim_start_matches('/'))
        .ancestors()
        .take_while(|group| group.starts_with("/sys/fs/cgroup"))
        .filter_map(|group| std::fs::read_to_string(group.join("cpu.max")).ok())
        .filter_map(|text| parse_quota(&text))
        .min_by(f64::total_cmp)
}

fn parse_stat(stat: &str) -> Option<Nanos> {
    // The kernel shows times in ticks of USER_HZ, which is 100 on every Linux.
    const TICK: u64 = 10_000_000;
    // The second field is the command in parentheses and may itself hold spaces and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Nanos::new((user + system) * TICK))
}

fn parse_allowed(status: &str) -> Option<u32> {
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    list.trim()
        .split(',')
        .map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            Some(last.checked_sub(first)? + 1)
        })
        .sum()
}

fn parse_quota(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_any_command() {
        let stat = "42 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 4 0 100";
        assert_eq!(parse_stat(stat), Some(Nanos::from_secs(3)));
        assert_eq!(parse_stat("42 (a) S 1 2"), None);
    }

    #[test]
    fn allowed_cores_are_counted() {
        assert_eq!(
            parse_allowed("Name:\tx\nCpus_allowed_list:\t0-3,8,10-11\n"),
            Some(7)
        );
        assert_eq!(parse_allowed("Cpus_allowed_list:\t3-1\n"), None);
        assert_eq!(parse_allowed("Name:\tx\n"), None);
    }

    #[test]
    fn quotas_are_cores() {
        assert_eq!(parse_quota("150000 100000\n"), Some(1.5));
        assert_eq!(parse_quota("max 100000\n"), None);
        assert_eq!(parse_quota("0 100000\n"), None);
    }

    #[test]
    fn this_process_has_cores() {
        assert!(cores() > 0.0);
        if cfg!(target_os = "linux") {
            assert!(process_time().is_some());
        }
    }
}
