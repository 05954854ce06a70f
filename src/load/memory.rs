//! Memory of this process; Linux only.

/// Bytes that this process holds in memory; `None` where the system does not say.
pub(super) fn resident() -> Option<u64> {
    parse_status(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn parse_status(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resident_set_is_read_in_bytes() {
        let status = "Name:\tinfergate\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\nThreads:\t3\n";
        assert_eq!(parse_status(status), Some(10 << 20));
        assert_eq!(parse_status("Name:\tx\n"), None);
        assert_eq!(parse_status("VmRSS:\t ten kB\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_some() {
        assert!(resident().is_some_and(|bytes| bytes > 1 << 20));
    }
}
