//! How GPUs are connected, as `nvidia-smi topo -m` draws it.

use std::collections::BTreeSet;

use super::card::Gpu;

/// Of one GPU alone.
pub(super) const SINGLE: &str = "single GPU";

/// The kinds of connections between any two of these GPUs: `NV18`, or `NV4 + SYS` where they differ.
pub(super) fn links(matrix: &str, gpus: &[Gpu]) -> Option<String> {
    let matrix = without_codes(matrix);
    let mut lines = matrix.lines();
    let header = lines.find(|line| line.contains("GPU0"))?;
    let columns: Vec<Option<u32>> = header.split('\t').map(number).collect();
    let wanted = |index: u32| gpus.iter().any(|gpu| gpu.index == index);
    let mut kinds = BTreeSet::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        let Some(row) = cells.first().and_then(|cell| number(cell)) else {
            continue;
        };
        for (cell, column) in cells.iter().zip(&columns) {
            if let Some(column) = column
                && *column > row
                && wanted(row)
                && wanted(*column)
                && !cell.is_empty()
            {
                kinds.insert(*cell);
            }
        }
    }
    let kinds: Vec<&str> = kinds.into_iter().collect();
    (!kinds.is_empty()).then(|| kinds.join(" + "))
}

/// The number in `GPU3`; not of `GPU NUMA ID`.
fn number(cell: &str) -> Option<u32> {
    cell.trim().strip_prefix("GPU")?.parse().ok()
}

/// Without the codes that underline the header.
fn without_codes(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        plain + part.split_once('m').map_or(part, |(_, rest)| rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_between_the_gpus_in_use() {
        let matrix = "\t\u{1b}[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tGPU NUMA ID\u{1b}[0m\n\
                      GPU0\t X \tNV18\tSYS\tPIX\t0-23\t\tN/A\n\
                      GPU1\tNV18\t X \tSYS\tNODE\t0-23\t\tN/A\n\
                      GPU2\tSYS\tSYS\t X \tSYS\t24-47\t\tN/A\n\
                      NIC0\tPIX\tNODE\tSYS\t X \n\nLegend:\n\n  X    = Self\n";
        let of = |indices: &[u32]| {
            let gpus: Vec<Gpu> = indices
                .iter()
                .map(|index| Gpu {
                    index: *index,
                    ..Gpu::default()
                })
                .collect();
            links(matrix, &gpus)
        };
        assert_eq!(of(&[0, 1]).as_deref(), Some("NV18"));
        assert_eq!(of(&[0, 1, 2]).as_deref(), Some("NV18 + SYS"));
        assert_eq!(of(&[0]), None);
        assert_eq!(links("", &[]), None);
    }
}
