//! The machine this process runs on.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use super::answer::Seen;

/// CPU, cores, memory and kernel of this machine; what cannot be read is left out.
pub fn host_pins() -> Vec<Seen> {
    let kinds = RefreshKind::nothing()
        .with_cpu(CpuRefreshKind::nothing())
        .with_memory(MemoryRefreshKind::nothing().with_ram());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let mut seen = vec![
        Seen::new(
            "host.kernel",
            System::kernel_version().unwrap_or_default(),
            "host",
        ),
        (cores > 0)
            .then(|| Seen::new("host.cores", cores.to_string(), "host"))
            .flatten(),
    ];
    if let Ok(system) = System::new_with_specifics(kinds) {
        let cpu = system
            .cpus()
            .first()
            .map(|cpu| cpu.brand().trim().to_owned());
        seen.push(cpu.and_then(|cpu| Seen::new("host.cpu", cpu, "host")));
        let gib = system.total_memory() as f64 / f64::from(1 << 30);
        seen.push(Seen::new("host.memory", format!("{gib:.0} GiB"), "host"));
    }
    seen.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_cores() {
        assert!(
            host_pins()
                .iter()
                .any(|seen| seen.pin.as_str() == "host.cores")
        );
    }
}
