//! What this machine allows the load client, as Linux tells it below `/proc`.

use std::fs;

use crate::headroom::{Machine, OpenFiles, Ports};

/// The limits of this process and machine; the CPU that it may use is the load client's to say.
pub fn limits() -> Machine {
    let read = |path: &str| fs::read_to_string(path).ok();
    let used = fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let sockets = read("/proc/net/sockstat").and_then(|text| parse_sockets(&text));
    Machine {
        online: read("/proc/stat").map(|text| count_cores(&text)),
        open_files: read("/proc/self/limits").and_then(|text| parse_open_files(&text, used)),
        ports: read("/proc/sys/net/ipv4/ip_local_port_range")
            .and_then(|text| parse_ports(&text, sockets.unwrap_or(0))),
        load_average: read("/proc/loadavg").and_then(|text| parse_load(&text)),
        ..Machine::default()
    }
}

/// CPU time of the whole machine so far, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTicks {
    all: u64,
    idle: u64,
    stolen: u64,
}

impl CpuTicks {
    /// The share that was stolen from then until now: 2 of 100 ticks are 0.02.
    pub fn stolen_until(self, now: Self) -> Option<f64> {
        let all = now.all.checked_sub(self.all).filter(|all| *all > 0)?;
        Some(now.stolen.saturating_sub(self.stolen) as f64 / all as f64)
    }

    /// The share in which the CPUs worked from then until now: 70 idle ones of 100 ticks are 0.3.
    pub fn busy_until(self, now: Self) -> Option<f64> {
        let all = now.all.checked_sub(self.all).filter(|all| *all > 0)?;
        Some(1.0 - now.idle.saturating_sub(self.idle) as f64 / all as f64)
    }
}

/// CPU time of the whole machine so far; `None` where the system does not say.
pub fn cpu_ticks() -> Option<CpuTicks> {
    parse_ticks(&fs::read_to_string("/proc/stat").ok()?)
}

fn parse_ticks(stat: &str) -> Option<CpuTicks> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // User, nice, system, idle, iowait, irq, softirq, steal; guests' time is in user's already.
    let ticks: Vec<u64> = line
        .split_ascii_whitespace()
        .take(8)
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    Some(CpuTicks {
        all: ticks.iter().sum(),
        idle: ticks.get(3)? + ticks.get(4)?,
        stolen: *ticks.get(7)?,
    })
}

fn count_cores(stat: &str) -> u32 {
    let is_core = |line: &&str| {
        let number = line.strip_prefix("cpu");
        number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    stat.lines().filter(is_core).count() as u32
}

fn parse_open_files(limits: &str, used: u64) -> Option<OpenFiles> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    let mut fields = line.split_ascii_whitespace().map(|field| match field {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    });
    Some(OpenFiles {
        soft: fields.next()??,
        hard: fields.next()??,
        used,
    })
}

fn parse_ports(range: &str, in_use: u64) -> Option<Ports> {
    let (low, high) = range.trim().split_once(char::is_whitespace)?;
    let (low, high): (u64, u64) = (low.parse().ok()?, high.trim().parse().ok()?);
    Some(Ports {
        range: (high + 1).checked_sub(low)?,
        in_use,
    })
}

/// TCP sockets, those that wait for their end included.
fn parse_sockets(sockstat: &str) -> Option<u64> {
    let line = sockstat
        .lines()
        .find_map(|line| line.strip_prefix("TCP:"))?;
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let count = |name: &str| -> Option<u64> {
        let [_, value] = fields.chunks_exact(2).find(|pair| pair[0] == name)? else {
            return None;
        };
        value.parse().ok()
    };
    Some(count("inuse")? + count("tw").unwrap_or(0))
}

fn parse_load(loadavg: &str) -> Option<f64> {
    loadavg.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_a_share_of_all() {
        let stat = |user, idle, steal| {
            let text =
                format!("cpu  {user} 0 0 {idle} 0 0 0 {steal} 7 7\ncpu0 1 2\ncpu1 1 2\nintr 5\n");
            assert_eq!(count_cores(&text), 2);
            parse_ticks(&text).unwrap()
        };
        let (before, after) = (stat(100, 800, 10), stat(150, 840, 20));
        assert_eq!(before.stolen_until(after), Some(0.1));
        assert_eq!(before.stolen_until(before), None);
        assert_eq!(parse_ticks("cpu0 1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(parse_ticks("cpu 1 2 3\n"), None);
    }

    #[test]
    fn open_files_are_limited_or_not() {
        let limits = |soft: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max processes             15000                15000                processes \n\
                 Max open files            {soft}                 524288               files     \n"
            )
        };
        let of = |soft| parse_open_files(&limits(soft), 9);
        let expected = |soft| OpenFiles {
            soft,
            hard: 524_288,
            used: 9,
        };
        assert_eq!(of("1024"), Some(expected(1024)));
        assert_eq!(of("unlimited"), Some(expected(u64::MAX)));
        assert_eq!(of("many"), None);
    }

    #[test]
    fn ports_are_those_of_the_range_that_are_free() {
        let ports = parse_ports("32768\t60999\n", 232).unwrap();
        assert_eq!((ports.range, ports.free()), (28_232, 28_000));
        assert_eq!(parse_ports("9 1\n", 0), None);
        let sockstat = "sockets: used 80\nTCP: inuse 7 orphan 0 tw 3 alloc 8 mem 1\nUDP: inuse 2\n";
        assert_eq!(parse_sockets(sockstat), Some(10));
        assert_eq!(parse_sockets("UDP: inuse 2\n"), None);
    }

    #[test]
    fn this_machine_says_what_it_allows() {
        assert_eq!(parse_load("0.93 0.86 1.13 2/345 678\n"), Some(0.93));
        if cfg!(target_os = "linux") {
            let machine = limits();
            assert!(machine.online.is_some_and(|cores| cores > 0));
            assert!(machine.open_files.is_some() && cpu_ticks().is_some());
        }
    }
}
