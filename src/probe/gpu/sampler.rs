//! Looks at GPUs while a stage runs.

use std::process::Stdio;
use std::sync::mpsc;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout};
use tokio::task::JoinHandle;

use super::nvml::Watch;
use super::smi::{GpuError, Smi, not_run};
use super::table::Row;
use super::throttle::reasons;
use super::{Visible, card, usable};
use crate::sample::{GpuLooks, GpuSample};
use crate::unit::Nanos;

/// A driver names throttle reasons in one of two ways; newer ones know both.
const MASKS: [&str; 2] = [
    "clocks_throttle_reasons.active",
    "clocks_event_reasons.active",
];

const FIELDS: [&str; 8] = [
    "index",
    "power.draw",
    "utilization.gpu",
    "clocks.sm",
    "temperature.gpu",
    "memory.used",
    MASKS[0],
    MASKS[1],
];

/// Looks at each GPU every second from its start to its end; nothing goes on after it was dropped.
#[derive(Debug)]
pub struct GpuSampler(Source);

#[derive(Debug)]
enum Source {
    Library {
        stop: mpsc::Sender<()>,
        samples: JoinHandle<GpuLooks>,
    },
    Tool {
        child: Child,
        samples: JoinHandle<GpuLooks>,
    },
    Nothing {
        why: String,
    },
}

impl GpuSampler {
    /// Starts to look at the GPUs that may be used: by NVML, else by one `nvidia-smi` that goes on.
    /// `clock` says how long the stage has run. Where there is nothing to look at, that is what
    /// [`finish`](Self::finish) says.
    pub async fn start(
        visible: &Visible,
        clock: impl Fn() -> Nanos + Send + Sync + 'static,
    ) -> Self {
        let of = visible.clone();
        let opened = tokio::task::spawn_blocking(move || Watch::open(&of)).await;
        let opened = opened.unwrap_or_else(|error| Err(error.to_string()));
        let source = match opened {
            Ok(watch) => {
                let (stop, stopped) = mpsc::channel();
                let samples = tokio::task::spawn_blocking(move || {
                    crate::priority::make_way();
                    watch.run(&clock, &stopped)
                });
                Source::Library { stop, samples }
            }
            Err(library) => match by_tool(&Smi::new(), visible, clock).await {
                Ok(source) => source,
                Err(tool) => Source::Nothing {
                    why: format!("{tool}; {library}"),
                },
            },
        };
        Self(source)
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// Why there is no sample.
    pub async fn finish(self) -> Result<GpuLooks, String> {
        let samples = match self.0 {
            Source::Nothing { why } => return Err(why),
            Source::Library { stop, samples } => {
                drop(stop);
                samples.await
            }
            Source::Tool { mut child, samples } => {
                // What it has printed is read to its end.
                let _ = child.kill().await;
                samples.await
            }
        };
        match samples {
            Ok(samples) if samples.is_empty() => Err("no GPU answered".to_owned()),
            Ok(samples) => Ok(samples),
            Err(error) => Err(format!("the GPUs' sampler failed: {error}")),
        }
    }
}

async fn by_tool(
    smi: &Smi,
    visible: &Visible,
    clock: impl Fn() -> Nanos + Send + Sync + 'static,
) -> Result<Source, GpuError> {
    let gpus = usable(visible, &card::list(smi).await?)?;
    let indices: Vec<u32> = gpus.iter().map(|gpu| gpu.index).collect();
    // Asked once for the fields that this driver knows, and for the first sample.
    let (table, fields) = smi.query("--query-gpu", &FIELDS).await?;
    let now = clock();
    let of = move |row: &Row, at: Nanos| {
        sample(row, at).filter(|sample| indices.contains(&sample.index))
    };
    let mut samples: GpuLooks = table.rows().iter().filter_map(|row| of(row, now)).collect();
    let query = format!("--query-gpu={}", fields.join(","));
    let words = [&query[..], "--format=csv,noheader,nounits", "-l", "1"];
    let mut command = smi.command(&words);
    let mut child = command
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| not_run(&error))?;
    let out = child.stdout.take();
    let samples = tokio::spawn(async move {
        if let Some(out) = out {
            read(out, &fields, |row| {
                if let Some(sample) = of(&row, clock()) {
                    samples.see(&sample);
                }
            })
            .await;
        }
        samples
    });
    Ok(Source::Tool { child, samples })
}

async fn read(out: ChildStdout, fields: &[&'static str], mut each: impl FnMut(Row)) {
    let mut lines = BufReader::new(out).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(row) = Row::parse(fields, &line) {
            each(row);
        }
    }
}

fn sample(row: &Row, at: Nanos) -> Option<GpuSample> {
    Some(GpuSample {
        at,
        index: row.index("index")?,
        power_w: row.number("power.draw"),
        utilization: row.number("utilization.gpu").map(|share| share / 100.0),
        sm_clock_mhz: row.number("clocks.sm"),
        temperature_c: row.number("temperature.gpu"),
        memory_used: row.mebibytes("memory.used"),
        throttled: reasons(MASKS.iter().find_map(|mask| row.mask(mask)).unwrap_or(0)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;
    use crate::sample::{GpuStretch, Range, Throttle};
    use std::sync::atomic::{AtomicU64, Ordering};

    async fn watched(fake: &Fake, visible: &Visible) -> Vec<(u32, Vec<GpuStretch>)> {
        let ticks = AtomicU64::new(0);
        let clock = move || Nanos::new(ticks.fetch_add(1, Ordering::Relaxed));
        let source = by_tool(&fake.smi(), visible, clock).await.unwrap();
        while !fake.has_looked() {
            tokio::task::yield_now().await;
        }
        let looks = GpuSampler(source).finish().await.unwrap();
        looks
            .each()
            .map(|(gpu, looks)| (gpu, looks.to_vec()))
            .collect()
    }

    #[tokio::test]
    async fn every_look_is_a_sample() {
        let gpus = watched(&Fake::new("h200"), &Visible::ALL).await;
        // One when it starts, and two rounds of the tool that goes on.
        let [(0, looks)] = &gpus[..] else {
            panic!("{gpus:?}")
        };
        assert_eq!(looks.len(), 3);
        assert!(
            looks.is_sorted_by(|one, next| one.at < next.at),
            "{looks:?}"
        );
        let mean = |range: Option<Range>| range.map(|range| range.mean);
        let first = &looks[0];
        assert_eq!(mean(first.power_w), Some(295.01));
        assert_eq!(mean(first.utilization), Some(0.5));
        assert_eq!(mean(first.memory_used), Some(16_959.0 * 1024.0 * 1024.0));
        assert_eq!(
            (mean(first.sm_clock_mhz), mean(first.temperature_c)),
            (Some(1980.0), Some(36.0))
        );
        assert_eq!(first.throttled, [(Throttle::PowerCap, 1)].into());
    }

    #[tokio::test]
    async fn only_gpus_in_use_are_watched_and_old_names_are_known() {
        let gpus = watched(&Fake::new("old-driver"), &Visible::of("1")).await;
        let [(1, looks)] = &gpus[..] else {
            panic!("{gpus:?}")
        };
        assert_eq!(looks.len(), 3);
        assert_eq!(looks[2].throttled, [(Throttle::SoftwareThermal, 1)].into());
    }

    #[tokio::test]
    async fn without_any_source_there_is_a_reason() {
        let why = "no `nvidia-smi`".to_owned();
        let sampler = GpuSampler(Source::Nothing { why: why.clone() });
        assert_eq!(sampler.finish().await, Err(why));
    }
}
