//! The GPUs of this machine: what they are, who holds them, how they fare under load.
//!
//! `nvidia-smi` is asked first, for it works from a static binary; NVML is the second source in builds
//! that can open it, and the first one for [`GpuSampler`], as a call costs less than a process. What
//! neither says is absent, and where both fail there is a reason, never an abort.

mod card;
#[cfg(test)]
mod fake;
mod holders;
#[cfg_attr(not(feature = "nvml"), path = "no_nvml.rs")]
mod nvml;
mod pins;
mod sampler;
mod smi;
mod table;
mod throttle;
mod topology;
mod visible;

pub use card::{Gpu, MigInstance};
pub use holders::{Holder, holders};
pub use sampler::GpuSampler;
pub use smi::GpuError;
pub use visible::{VARIABLE, Visible};

use smi::Smi;

/// What a look at this machine's GPUs showed.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuLook {
    /// Those that may be used, at least one.
    pub gpus: Vec<Gpu>,
    /// The newest CUDA that the driver supports, as in `13.1`.
    pub cuda: Option<String>,
    /// How they are connected: `NV18`, or `NV18 + SYS` where not all are alike; `single GPU` of one.
    pub topology: Option<String>,
    /// Who said so.
    pub source: &'static str,
}

/// Looks at the GPUs that may be used.
///
/// # Errors
///
/// [`GpuError`] where there is none, or nobody says.
pub async fn look(visible: &Visible) -> Result<GpuLook, GpuError> {
    match look_by(&Smi::new(), visible).await {
        Err(error @ (GpuError::NoTool | GpuError::Failed { .. } | GpuError::Silent)) => {
            let visible = visible.clone();
            let looked = tokio::task::spawn_blocking(move || nvml::look(&visible)).await;
            let looked = looked.unwrap_or_else(|error| Err(error.to_string()));
            looked.map_err(|library| GpuError::Neither {
                tool: error.to_string(),
                library,
            })
        }
        other => other,
    }
}

async fn look_by(smi: &Smi, visible: &Visible) -> Result<GpuLook, GpuError> {
    let gpus = usable(visible, &card::list(smi).await?)?;
    let connected = async {
        match &gpus[..] {
            [_] => Some(topology::SINGLE.to_owned()),
            several => topology::links(&smi.run(&["topo", "-m"]).await.ok()?, several),
        }
    };
    let banner = async { cuda(&smi.run(&[]).await.ok()?) };
    let (topology, cuda) = tokio::join!(connected, banner);
    Ok(GpuLook {
        topology,
        cuda,
        source: "nvidia-smi",
        gpus,
    })
}

/// Those that may be used, of which there is one at least.
fn usable(visible: &Visible, gpus: &[Gpu]) -> Result<Vec<Gpu>, GpuError> {
    let gpus = visible.select(gpus);
    if gpus.is_empty() {
        return Err(GpuError::NoGpu {
            why: "`CUDA_VISIBLE_DEVICES` hides every GPU",
        });
    }
    Ok(gpus)
}

/// The version in `nvidia-smi`'s banner: `CUDA Version: 13.1`.
fn cuda(banner: &str) -> Option<String> {
    let (_, after) = banner.split_once("CUDA Version")?;
    let version = after.trim_start().strip_prefix(':')?;
    let version = version.split_ascii_whitespace().next()?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    is_version.then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::fake::Fake;
    use super::*;

    async fn shown(fake: &str, visible: &Visible) -> String {
        let looked = look_by(&Fake::new(fake).smi(), visible).await.unwrap();
        let pins = looked.pins();
        let lines: Vec<String> = pins
            .iter()
            .map(|seen| format!("{} = {} ({})", seen.pin, seen.value, seen.source))
            .collect();
        lines.join("\n")
    }

    #[tokio::test]
    async fn one_gpu() {
        insta::assert_snapshot!(shown("h200", &Visible::ALL).await);
    }

    #[tokio::test]
    async fn mixed_gpus_are_joined() {
        insta::assert_snapshot!(shown("mixed", &Visible::ALL).await);
        let one = shown("mixed", &Visible::of("1,2")).await;
        assert!(
            one.contains("hardware.gpu = NVIDIA L40S (nvidia-smi)"),
            "{one}"
        );
        assert!(one.contains("hardware.count = 2 "), "{one}");
        assert!(one.contains("hardware.topology = PIX "), "{one}");
    }

    #[tokio::test]
    async fn parts_of_a_gpu() {
        insta::assert_snapshot!(shown("mig", &Visible::ALL).await);
        let one = shown("mig", &Visible::of("MIG-00000001")).await;
        assert!(one.contains("hardware.mig = 1g.18gb ("), "{one}");
    }

    #[tokio::test]
    async fn an_old_driver() {
        insta::assert_snapshot!(shown("old-driver", &Visible::ALL).await);
    }

    #[tokio::test]
    async fn hidden_gpus_are_none() {
        let error = look_by(&Fake::new("h200").smi(), &Visible::of("")).await;
        assert_eq!(
            error.unwrap_err().to_string(),
            "`CUDA_VISIBLE_DEVICES` hides every GPU"
        );
    }

    #[test]
    fn the_banner_names_cuda() {
        assert_eq!(cuda("| CUDA Version: 13.1     |").as_deref(), Some("13.1"));
        assert_eq!(
            cuda("CUDA Version        : 12.4\n").as_deref(),
            Some("12.4")
        );
        assert_eq!(cuda("CUDA Version: N/A"), None);
        assert_eq!(cuda(""), None);
    }
}
