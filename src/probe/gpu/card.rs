//! GPUs as their driver describes them.

use super::smi::{GpuError, Smi};
use super::table::{Row, Table};

/// A GPU as its driver describes it. What the driver does not say is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gpu {
    /// The driver's number for it, in the order of the bus.
    pub index: u32,
    /// The name that it keeps wherever it is put: `GPU-…`.
    pub uuid: String,
    /// Its product, as in `NVIDIA H200`.
    pub name: Option<String>,
    /// Its memory, in bytes.
    pub memory: Option<u64>,
    /// Memory in use, in bytes.
    pub memory_used: Option<u64>,
    /// Share of the last second in which a kernel ran; never there with MIG.
    pub utilization: Option<f64>,
    /// The driver's version.
    pub driver: Option<String>,
    /// The limit on its power that holds, in watts.
    pub power_limit_w: Option<f64>,
    /// The highest clock of its multiprocessors, in MHz.
    pub max_clock_mhz: Option<f64>,
    /// The clock that was set for applications, in MHz.
    pub set_clock_mhz: Option<f64>,
    /// Whether it is cut into instances.
    pub mig: Option<bool>,
    /// Its instances.
    pub instances: Vec<MigInstance>,
}

/// A part of a GPU that is one to those who use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigInstance {
    /// Its size, as in `1g.18gb`.
    pub profile: String,
    /// Its name, `MIG-…`.
    pub uuid: String,
}

const FIELDS: [&str; 12] = [
    "index",
    "uuid",
    "name",
    "memory.total",
    "memory.used",
    "utilization.gpu",
    "driver_version",
    "enforced.power.limit",
    "power.limit",
    "clocks.max.sm",
    "clocks.applications.graphics",
    "mig.mode.current",
];

impl Gpu {
    /// `knows_mig` where the driver knows of such a thing: a GPU that has no mode then is whole.
    fn of(row: &Row, knows_mig: bool) -> Option<Self> {
        let mode = row.text("mig.mode.current");
        Some(Self {
            index: row.index("index")?,
            uuid: row.text("uuid").unwrap_or_default().to_owned(),
            name: row.text("name").map(str::to_owned),
            memory: row.mebibytes("memory.total"),
            memory_used: row.mebibytes("memory.used"),
            utilization: row.number("utilization.gpu").map(|share| share / 100.0),
            driver: row.text("driver_version").map(str::to_owned),
            power_limit_w: row
                .number("enforced.power.limit")
                .or_else(|| row.number("power.limit")),
            max_clock_mhz: row.number("clocks.max.sm"),
            set_clock_mhz: row.number("clocks.applications.graphics"),
            mig: knows_mig.then_some(mode == Some("Enabled")),
            instances: Vec::new(),
        })
    }
}

impl Gpu {
    /// The GPUs of a driver that knows all that it is asked for: rows of CSV without a header, and the
    /// listing that names their instances.
    pub fn read(csv: &str, listing: &str) -> Vec<Self> {
        let table = Table::parse(&FIELDS, csv);
        let mut gpus = Self::all(&table, true);
        add_instances(&mut gpus, listing);
        gpus
    }

    fn all(table: &Table, knows_mig: bool) -> Vec<Self> {
        let rows = table.rows().iter();
        rows.filter_map(|row| Self::of(row, knows_mig)).collect()
    }
}

/// All GPUs of this machine, by `nvidia-smi`.
pub(super) async fn list(smi: &Smi) -> Result<Vec<Gpu>, GpuError> {
    let (table, known) = smi.query("--query-gpu", &FIELDS).await?;
    let knows_mig = known.contains(&"mig.mode.current");
    let mut gpus = Gpu::all(&table, knows_mig);
    if gpus.is_empty() {
        return Err(GpuError::NoGpu {
            why: "`nvidia-smi` lists no GPU",
        });
    }
    if gpus.iter().any(|gpu| gpu.mig == Some(true))
        && let Ok(listing) = smi.run(&["-L"]).await
    {
        add_instances(&mut gpus, &listing);
    }
    Ok(gpus)
}

/// Puts the instances of `nvidia-smi -L` to their GPUs:
///
/// ```text
/// GPU 0: NVIDIA H200 (UUID: GPU-…)
///   MIG 1g.18gb     Device  3: (UUID: MIG-…)
/// ```
fn add_instances(gpus: &mut [Gpu], listing: &str) {
    let mut current = None;
    for line in listing.lines() {
        let words = line.trim_start();
        if let Some(rest) = words.strip_prefix("GPU ") {
            current = rest.split(':').next().and_then(|index| index.parse().ok());
        } else if let Some(rest) = words.strip_prefix("MIG ")
            && let Some(gpu) = gpus.iter_mut().find(|gpu| Some(gpu.index) == current)
            && let Some(profile) = rest.split_ascii_whitespace().next()
        {
            let uuid = rest.split_once("UUID: ").map_or("", |(_, uuid)| uuid);
            gpu.instances.push(MigInstance {
                profile: profile.to_owned(),
                uuid: uuid.trim_end_matches(')').to_owned(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    #[tokio::test]
    async fn a_gpu_is_described() {
        let gpus = list(&Fake::new("h200").smi()).await.unwrap();
        let [gpu] = &gpus[..] else { panic!("{gpus:?}") };
        assert_eq!(gpu.name.as_deref(), Some("NVIDIA H200"));
        assert_eq!(gpu.memory, Some(143_771 << 20));
        assert_eq!(gpu.power_limit_w, Some(700.0));
        assert_eq!((gpu.mig, gpu.set_clock_mhz), (Some(false), None));
        assert_eq!(gpu.utilization, Some(0.5));
    }

    #[tokio::test]
    async fn a_driver_that_does_not_know_a_field_is_asked_for_the_others() {
        let gpus = list(&Fake::new("old-driver").smi()).await.unwrap();
        assert_eq!(gpus.len(), 2);
        assert_eq!(gpus[1].name.as_deref(), Some("Tesla V100-SXM2-32GB"));
        assert_eq!(gpus[1].power_limit_w, Some(300.0));
        assert_eq!((gpus[1].mig, gpus[1].max_clock_mhz), (None, Some(1530.0)));
    }

    #[tokio::test]
    async fn instances_stand_with_their_gpu() {
        let gpus = list(&Fake::new("mig").smi()).await.unwrap();
        let profiles: Vec<&str> = gpus[0]
            .instances
            .iter()
            .map(|instance| instance.profile.as_str())
            .collect();
        assert_eq!(profiles, ["3g.71gb", "1g.18gb", "1g.18gb"]);
        assert_eq!(gpus[0].instances[2].uuid, "MIG-00000002");
        assert_eq!(gpus[0].utilization, None, "[N/A] with MIG");
    }

    #[tokio::test]
    async fn a_broken_driver_is_a_reason() {
        let failed = list(&Fake::new("broken").smi()).await.unwrap_err();
        assert!(
            failed.to_string().contains("couldn't communicate"),
            "{failed}"
        );
        let none = list(&Fake::new("empty").smi()).await.unwrap_err();
        assert_eq!(none.to_string(), "`nvidia-smi` finds no GPU");
        let nowhere = Smi::at("/nowhere/nvidia-smi".into());
        assert_eq!(list(&nowhere).await.unwrap_err(), GpuError::NoTool);
    }
}
