//! GPUs by NVML, the driver's own library, which is opened at run time.

use std::ffi::OsStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor, TopologyLevel};
use nvml_wrapper::{Device, Nvml, cuda_driver_version_major, cuda_driver_version_minor};

use super::throttle::reasons;
use super::{Gpu, GpuLook, Visible, topology, usable};
use crate::sample::{GpuLooks, GpuSample};
use crate::unit::Nanos;

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// Names of the library. Containers often have only the first.
const NAMES: [&str; 2] = ["libnvidia-ml.so.1", "libnvidia-ml.so"];

fn open() -> Result<Nvml, String> {
    // Where neither opens, the name that the driver itself installs says more.
    let library = |name: &str| Nvml::builder().lib_path(OsStr::new(name)).init();
    library(NAMES[0])
        .or_else(|error| library(NAMES[1]).map_err(|_| error))
        .or_else(|error| Nvml::init().map_err(|_| error))
        .map_err(|error| format!("NVML is not to be had: {error}"))
}

/// The GPUs that may be used.
pub(super) fn look(visible: &Visible) -> Result<GpuLook, String> {
    let nvml = open()?;
    let driver = nvml.sys_driver_version().ok();
    let gpus = usable(visible, &list(&nvml, driver.as_deref())?).map_err(|e| e.to_string())?;
    let cuda = nvml.sys_cuda_driver_version().ok().map(|version| {
        let (major, minor) = (
            cuda_driver_version_major(version),
            cuda_driver_version_minor(version),
        );
        format!("{major}.{minor}")
    });
    Ok(GpuLook {
        topology: links(&nvml, &gpus),
        cuda,
        source: "NVML",
        gpus,
    })
}

fn list(nvml: &Nvml, driver: Option<&str>) -> Result<Vec<Gpu>, String> {
    let count = nvml.device_count().map_err(|error| error.to_string())?;
    let gpus = (0..count).filter_map(|index| {
        let device = nvml.device_by_index(index).ok()?;
        let watts = |milli: u32| f64::from(milli) / 1000.0;
        let memory = device.memory_info().ok();
        Some(Gpu {
            index,
            uuid: device.uuid().unwrap_or_default(),
            name: device.name().ok(),
            memory: memory.as_ref().map(|memory| memory.total),
            memory_used: memory.as_ref().map(|memory| memory.used),
            utilization: utilization(&device),
            driver: driver.map(str::to_owned),
            power_limit_w: device.enforced_power_limit().ok().map(watts),
            max_clock_mhz: device.max_clock_info(Clock::SM).ok().map(f64::from),
            set_clock_mhz: device
                .applications_clock(Clock::Graphics)
                .ok()
                .map(f64::from),
            mig: device.mig_mode().ok().map(|mode| mode.current != 0),
            instances: Vec::new(),
        })
    });
    Ok(gpus.collect())
}

/// NVML tells what two GPUs have in common on the bus, and nothing of what bridges them beside it, so only
/// what a single one is can be said for sure.
fn links(nvml: &Nvml, gpus: &[Gpu]) -> Option<String> {
    match gpus {
        [_] => Some(topology::SINGLE.to_owned()),
        [one, other, ..] => {
            let (one, other) = (
                nvml.device_by_index(one.index).ok()?,
                nvml.device_by_index(other.index).ok()?,
            );
            let on_one_board = one.topology_common_ancestor(other).ok()? == TopologyLevel::Internal;
            on_one_board.then(|| "one board".to_owned())
        }
        [] => None,
    }
}

fn utilization(device: &Device<'_>) -> Option<f64> {
    let rates = device.utilization_rates().ok()?;
    Some(f64::from(rates.gpu) / 100.0)
}

/// GPUs that are looked at again and again.
#[derive(Debug)]
pub(super) struct Watch {
    nvml: Nvml,
    indices: Vec<u32>,
}

impl Watch {
    /// Opens the library for the GPUs that may be used.
    pub(super) fn open(visible: &Visible) -> Result<Self, String> {
        let nvml = open()?;
        let gpus = usable(visible, &list(&nvml, None)?).map_err(|error| error.to_string())?;
        Ok(Self {
            indices: gpus.iter().map(|gpu| gpu.index).collect(),
            nvml,
        })
    }

    /// Looks at each every second, now and until it is told to stop.
    pub(super) fn run(self, clock: &dyn Fn() -> Nanos, stop: &Receiver<()>) -> GpuLooks {
        let mut looks = GpuLooks::default();
        loop {
            for index in &self.indices {
                if let Ok(device) = self.nvml.device_by_index(*index) {
                    looks.see(&sample(&device, *index, clock()));
                }
            }
            match stop.recv_timeout(EVERY) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return looks,
            }
        }
    }
}

fn sample(device: &Device<'_>, index: u32, at: Nanos) -> GpuSample {
    let temperature = device.temperature(TemperatureSensor::Gpu);
    GpuSample {
        at,
        index,
        power_w: device
            .power_usage()
            .ok()
            .map(|milli| f64::from(milli) / 1000.0),
        utilization: utilization(device),
        sm_clock_mhz: device.clock_info(Clock::SM).ok().map(f64::from),
        temperature_c: temperature.ok().map(f64::from),
        memory_used: device.memory_info().ok().map(|memory| memory.used),
        throttled: device
            .current_throttle_reasons()
            .map_or_else(|_| reasons(0), |mask| reasons(mask.bits())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_library_there_is_a_reason() {
        // On a machine that has one, it opens.
        if let Err(why) = look(&Visible::ALL) {
            assert!(why.contains("NVML"), "{why}");
        }
    }
}
