//! Who holds a GPU.

use super::smi::{GpuError, Smi};
use super::table::{Row, Table};

/// A process with a compute context on a GPU.
///
/// In a container the driver sees the host's processes only where it shares their namespace; else it
/// may list none, and memory in use is what is left to go by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its id, as the driver's namespace has it.
    pub pid: u32,
    /// Its program.
    pub process: Option<String>,
    /// What it uses of the GPU's memory, in bytes.
    pub memory: Option<u64>,
    /// The GPU's UUID.
    pub gpu: String,
}

/// A program's name may have commas, so it stands last.
const FIELDS: [&str; 4] = ["pid", "gpu_uuid", "used_memory", "process_name"];

/// The processes that hold GPUs of this machine, whichever may be used from here.
pub async fn holders() -> Result<Vec<Holder>, GpuError> {
    of(&Smi::new()).await
}

async fn of(smi: &Smi) -> Result<Vec<Holder>, GpuError> {
    let (table, _) = smi.query("--query-compute-apps", &FIELDS).await?;
    Ok(parse(&table))
}

fn parse(table: &Table) -> Vec<Holder> {
    let holder = |row: &Row| {
        Some(Holder {
            pid: row.index("pid")?,
            process: row.text("process_name").map(str::to_owned),
            memory: row.mebibytes("used_memory"),
            gpu: row.text("gpu_uuid").unwrap_or_default().to_owned(),
        })
    };
    table.rows().iter().filter_map(holder).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    #[tokio::test]
    async fn each_process_is_named_with_its_memory() {
        let holders = of(&Fake::new("h200").smi()).await.unwrap();
        let shown: Vec<_> = holders
            .iter()
            .map(|holder| (holder.pid, holder.process.as_deref(), holder.memory))
            .collect();
        assert_eq!(
            shown,
            [
                (12249, Some("/usr/bin/python3"), Some(2194 << 20)),
                (12267, Some("./burn"), None)
            ]
        );
        assert_eq!(holders[0].gpu, "GPU-00000000-0000-0000-0000-0000000000aa");
        assert_eq!(of(&Fake::new("old-driver").smi()).await, Ok(Vec::new()));
    }
}
