//! GPUs → pins.

use super::GpuLook;
use super::card::Gpu;
use crate::probe::Seen;

impl GpuLook {
    /// The `hardware` pins. Values in which GPUs differ are joined by ` + `; one that any of them does
    /// not report is left out.
    pub fn pins(&self) -> Vec<Seen> {
        let gpus = &self.gpus;
        let gib = |bytes: u64| format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30));
        let values = [
            ("hardware.gpu", joined(gpus, |gpu| gpu.name.clone())),
            ("hardware.count", Some(gpus.len().to_string())),
            ("hardware.memory", joined(gpus, |gpu| gpu.memory.map(gib))),
            ("hardware.driver", joined(gpus, |gpu| gpu.driver.clone())),
            ("hardware.cuda", self.cuda.clone()),
            (
                "hardware.power_limit",
                joined(gpus, |gpu| Some(format!("{:.0} W", gpu.power_limit_w?))),
            ),
            ("hardware.clocks", joined(gpus, clocks)),
            ("hardware.mig", joined(gpus, mig)),
            ("hardware.topology", self.topology.clone()),
        ];
        values
            .into_iter()
            .filter_map(|(pin, value)| Seen::new(pin, value?, self.source))
            .collect()
    }
}

/// The values of all GPUs, each once, in their order; `None` where one has none.
fn joined(gpus: &[Gpu], value: impl Fn(&Gpu) -> Option<String>) -> Option<String> {
    let values: Vec<String> = gpus.iter().map(value).collect::<Option<_>>()?;
    let mut distinct: Vec<&str> = Vec::new();
    for value in &values {
        if !distinct.contains(&value.as_str()) {
            distinct.push(value);
        }
    }
    Some(distinct.join(" + "))
}

fn clocks(gpu: &Gpu) -> Option<String> {
    let most = format!("up to {:.0} MHz", gpu.max_clock_mhz?);
    Some(match gpu.set_clock_mhz {
        Some(set) if Some(set) != gpu.max_clock_mhz => format!("{most}, set to {set:.0} MHz"),
        _ => most,
    })
}

/// `off`, `on`, or its instances: `3g.71gb, 2 × 1g.18gb`.
fn mig(gpu: &Gpu) -> Option<String> {
    if !gpu.mig? {
        return Some("off".to_owned());
    }
    let mut counts: Vec<(&str, u32)> = Vec::new();
    for instance in &gpu.instances {
        let known = counts
            .iter_mut()
            .find(|(profile, _)| *profile == instance.profile);
        match known {
            Some((_, count)) => *count += 1,
            None => counts.push((&instance.profile, 1)),
        }
    }
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(profile, count)| match count {
            1 => profile.to_owned(),
            several => format!("{several} × {profile}"),
        })
        .collect();
    Some(if parts.is_empty() {
        "on".to_owned()
    } else {
        parts.join(", ")
    })
}
