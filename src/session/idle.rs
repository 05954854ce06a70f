//! Whether a machine is free for an engine that is about to be launched.

use std::time::Duration;

use super::target::TargetError;
use crate::probe::cpu_ticks;
use crate::probe::gpu::{self, Gpu, GpuLook, Holder, Visible};
use crate::spec::{Launch, Word};

/// How long a GPU may take to be free: the engine before may just have ended.
const PATIENCE: Duration = Duration::from_secs(15);
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Memory that nobody admits to: more than this share of a GPU's, and than drivers keep themselves.
const MEMORY_SHARE: f64 = 0.01;
const MEMORY_LEAST: u64 = 1 << 30;
/// From this share on a GPU, or the host, is not idle.
const GPU_BUSY: f64 = 0.05;
const HOST_BUSY: f64 = 0.5;
/// How long the host is watched.
const WATCH: Duration = Duration::from_millis(100);

/// The GPUs that a launch may use; `None` on a machine without.
pub(super) async fn gpus_of(launch: Option<&Launch>) -> Option<GpuLook> {
    let visible = launch.and_then(|launch| launch.env.get(gpu::VARIABLE));
    let visible = visible
        .map(Word::expose)
        .map_or_else(Visible::from_environment, Visible::of);
    gpu::look(&visible).await.ok()
}

/// Waits until nobody holds the launch's GPUs and they idle.
///
/// Returns what else used the machine all the same, in words: a reason to doubt the run.
///
/// # Errors
///
/// [`TargetError::GpuHeld`] where somebody holds one for longer than an engine takes to go.
pub(super) async fn wait_for_idle(launch: &Launch) -> Result<Vec<String>, TargetError> {
    let mut busy = Vec::new();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while let Some(look) = gpus_of(Some(launch)).await {
        let late = tokio::time::Instant::now() >= deadline;
        let holders = gpu::holders().await.unwrap_or_default();
        let held = held(&look.gpus, &holders);
        busy = look.gpus.iter().filter_map(is_busy).collect();
        match held {
            Some(what) if late => {
                return Err(TargetError::GpuHeld {
                    command: launch.shown(),
                    what,
                });
            }
            None if late || busy.is_empty() => break,
            Some(_) | None => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
    busy.extend(host().await);
    Ok(busy)
}

/// Who holds one of these GPUs, in words.
fn held(gpus: &[Gpu], holders: &[Holder]) -> Option<String> {
    gpus.iter().find_map(|gpu| {
        if let Some(holder) = holders.iter().find(|holder| holder.gpu == gpu.uuid) {
            let process = holder.process.as_deref().unwrap_or("its name is not shown");
            let memory = holder.memory.map_or_else(String::new, |bytes| {
                format!(" and {} MiB of its memory", bytes >> 20)
            });
            return Some(format!(
                "process {} (`{process}`) holds GPU {}{memory}",
                holder.pid, gpu.index
            ));
        }
        // In a container the driver may list no process of others.
        let (used, all) = (gpu.memory_used?, gpu.memory?);
        let much = used > MEMORY_LEAST && used as f64 > MEMORY_SHARE * all as f64;
        much.then(|| {
            format!(
                "{} MiB of GPU {} are in use by a process that is not seen from here",
                used >> 20,
                gpu.index
            )
        })
    })
}

fn is_busy(gpu: &Gpu) -> Option<String> {
    let share = gpu.utilization.filter(|share| *share > GPU_BUSY)?;
    let (index, percent) = (gpu.index, share * 100.0);
    Some(format!("GPU {index} was {percent:.0} % busy"))
}

/// What others do on the host's CPUs, where that is much.
async fn host() -> Option<String> {
    let before = cpu_ticks()?;
    tokio::time::sleep(WATCH).await;
    let share = before.busy_until(cpu_ticks()?)?;
    let percent = share * 100.0;
    (share > HOST_BUSY).then(|| format!("the host's CPUs were {percent:.0} % busy"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(index: u32, used_mib: u64) -> Gpu {
        Gpu {
            index,
            uuid: format!("GPU-{index}"),
            memory: Some(24 << 30),
            memory_used: Some(used_mib << 20),
            utilization: Some(0.02 + f64::from(index)),
            ..Gpu::default()
        }
    }

    #[test]
    fn whoever_holds_a_gpu_is_named() {
        let holder = |gpu: &str| Holder {
            pid: 42,
            process: Some("python3".to_owned()),
            memory: Some(2194 << 20),
            gpu: gpu.to_owned(),
        };
        let gpus = [gpu(0, 500), gpu(1, 4)];
        assert_eq!(held(&gpus, &[]), None);
        assert_eq!(held(&gpus, &[holder("GPU-7")]), None, "not one of ours");
        assert_eq!(
            held(&gpus, &[holder("GPU-1")]).unwrap(),
            "process 42 (`python3`) holds GPU 1 and 2194 MiB of its memory"
        );
        let silent = held(&[gpu(0, 2000)], &[]).unwrap();
        assert!(
            silent.starts_with("2000 MiB of GPU 0 are in use"),
            "{silent}"
        );
    }

    #[test]
    fn a_gpu_that_works_is_busy() {
        assert_eq!(is_busy(&gpu(0, 0)), None);
        assert_eq!(is_busy(&gpu(1, 0)).unwrap(), "GPU 1 was 102 % busy");
    }
}
