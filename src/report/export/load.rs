//! What other tools call a result: one stage of one run.

use std::collections::BTreeMap;

use crate::metric::{Metric, Quantile};
use crate::provenance::PinPath;
use crate::report::words;
use crate::stats::histogram::Histogram;
use crate::summary::{ClassSummary, Distribution, Run, RunEnd, StageSummary};

/// Results in the shape of another tool.
#[derive(Debug, Default)]
pub struct Exported {
    /// A file for each stage of each run.
    pub files: Vec<ExportedFile>,
    /// Stages whose figures stand for nothing, each with the reason: nothing was made of them.
    pub left_out: Vec<String>,
}

/// One result.
#[derive(Debug)]
pub struct ExportedFile {
    /// Its name without an ending: the run's id and the stage.
    pub stem: String,
    /// What goes into it, to the end of its last line.
    pub text: String,
}

/// A stage of a run, all its classes together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load<'a> {
    pub(super) run: &'a Run,
    pub(super) stage: &'a StageSummary,
    /// Which of its run, from 0.
    pub(super) number: usize,
}

/// Each load that stands for something, in another tool's words.
pub(super) fn export(runs: &[Run], write: impl Fn(Load<'_>) -> String) -> Exported {
    let mut exported = Exported::default();
    for run in runs {
        for (number, stage) in run.stages.iter().enumerate() {
            if let Some(why) = no_figures(run, stage) {
                let left = format!("stage `{}` of run {}: {why}", stage.name, run.id);
                exported.left_out.push(left);
                continue;
            }
            let load = Load { run, stage, number };
            exported.files.push(ExportedFile {
                stem: stem(run, stage),
                text: write(load),
            });
        }
    }
    exported
}

/// A file's name that stays in its folder, whatever a run file says.
fn stem(run: &Run, stage: &StageSummary) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    format!("{}-{}", run.id, stage.name)
        .chars()
        .map(|c| if plain(c) { c } else { '-' })
        .collect()
}

/// Why a stage's figures stand for nothing. Other tools' files have no word for it, so that whoever reads
/// them would take them for good.
fn no_figures(run: &Run, stage: &StageSummary) -> Option<String> {
    if let Some(reason) = stage.invalid.first() {
        return Some(words::invalid(reason).plain());
    }
    if let Some(shard) = &run.shard {
        let merge = "a shard is part of a load; `infergate merge` puts the shards together";
        return Some(format!("{merge} (it is number {})", shard.index));
    }
    if run.origin.is_some() {
        let why = "another tool measured it, and what is to be doubted of that would be lost; take that tool's own file";
        return Some(why.to_owned());
    }
    if run.untrusted {
        return Some("it is of a job whose code nobody had accepted".to_owned());
    }
    match &run.end {
        RunEnd::Complete => None,
        RunEnd::Interrupted => Some("the run was interrupted".to_owned()),
        RunEnd::TargetLost { error } => Some(format!("the target was lost: {error}")),
    }
}

impl Load<'_> {
    pub(super) fn pin(&self, path: &str) -> Option<&str> {
        let path: PinPath = path.parse().ok()?;
        self.run.pins.get(&path)?.value()
    }

    /// Every pin with a value, by its path.
    pub(super) fn pins(&self) -> BTreeMap<&str, &str> {
        let pins = self.run.pins.iter();
        pins.filter_map(|(path, pin)| Some((path.as_str(), pin.value()?)))
            .collect()
    }

    pub(super) fn all(&self) -> &ClassSummary {
        &self.stage.pooled
    }

    /// Requests whose answer is whole.
    pub(super) fn completed(&self) -> u64 {
        self.all().ended_well()
    }

    /// Requests without one, those that never left too. Cancelled ones were no one's fault.
    pub(super) fn failed(&self) -> u64 {
        self.all().counted().saturating_sub(self.completed())
    }

    /// The distribution of a metric, where somebody could tell it.
    pub(super) fn distribution(&self, metric: Metric) -> Option<&Distribution> {
        self.told(metric, self.all().distributions.get(&metric))
    }

    /// A rate, where somebody could tell it.
    pub(super) fn rate(&self, metric: Metric) -> Option<f64> {
        let rates = &self.all().rates;
        self.told(
            metric,
            match metric {
                Metric::RequestThroughput => Some(rates.completed_rps),
                Metric::OutputThroughput => rates.output_tps,
                Metric::InputThroughput => rates.input_tps,
                Metric::TotalThroughput => Some(rates.input_tps? + rates.output_tps?),
                Metric::Goodput => self.all().attainment.as_ref().map(|_| rates.goodput_rps),
                _ => None,
            },
        )
    }

    fn told<T>(&self, metric: Metric, value: Option<T>) -> Option<T> {
        value.filter(|_| !self.all().untold.contains_key(&metric))
    }

    /// Population standard deviation of a metric in seconds, from its histograms: within 0.4 % of each
    /// value. `None` where no histogram was kept.
    pub(super) fn std_dev(&self, metric: Metric) -> Option<f64> {
        self.distribution(metric)?;
        let of = |class: &ClassSummary| {
            let text = class.distributions.get(&metric)?.hdr.as_ref()?;
            Histogram::decode(text).ok()
        };
        let mut all = of(self.all());
        if all.is_none() {
            for class in self.stage.classes.values() {
                let Some(part) = of(class) else { continue };
                match &mut all {
                    Some(all) => all.merge(&part).ok()?,
                    None => all = Some(part),
                }
            }
        }
        Some(all?.std_dev())
    }

    /// Percentiles of completed requests, in seconds.
    pub(super) fn quantiles(distribution: &Distribution) -> BTreeMap<Quantile, f64> {
        let each = distribution.quantiles.iter();
        each.map(|(quantile, value)| (*quantile, value.value_s))
            .collect()
    }

    /// From where latencies count.
    pub(super) const fn latency_from(&self) -> &'static str {
        if self.stage.from_schedule {
            "schedule"
        } else {
            "send"
        }
    }
}
