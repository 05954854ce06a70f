//! Shards of one run, from their files, to that run and its file.

use std::iter::Peekable;
use std::path::{Path, PathBuf};

use super::beside::of_shards;
use super::measure::Measured;
use super::stages::summarised;
use crate::archive::{ArchiveError, RecordReader, RecordWriter, save_run};
use crate::sample::{RequestRecord, StageObservation};
use crate::spec::{Spec, Stage};
use crate::summary::{MergeError, Run, merge_observations, merge_runs, same_run};
use crate::unit::Nanos;

/// A shard with the file of its records.
#[derive(Debug, Clone, PartialEq)]
pub struct Shard {
    /// The run.
    pub run: Run,
    /// Its records.
    pub records: PathBuf,
}

/// Why shards could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum MergeFailure {
    /// They are not the shards of one run.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A file could not be read or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Records that are not those of the run.
    #[error("cannot use the records `{}`: {why}; put the file that the run has left there", path.display())]
    Records {
        /// Which file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

/// Puts shards together: their records into one file, and from these the run anew, as if one client had
/// sent them all. Writes both into `folder`.
pub fn merge(shards: Vec<Shard>, spec: &Spec, folder: &Path) -> Result<Measured, MergeFailure> {
    let (runs, paths): (Vec<Run>, Vec<PathBuf>) = shards
        .into_iter()
        .map(|shard| (shard.run, shard.records))
        .unzip();
    let files: Vec<(String, PathBuf)> = runs.iter().map(|run| run.id.clone()).zip(paths).collect();
    let runs = same_run(runs)?;
    let mut sources = Vec::with_capacity(runs.len());
    for run in &runs {
        let path = files.iter().find(|(id, _)| *id == run.id);
        let path = path.map(|(_, path)| path.clone()).unwrap_or_default();
        sources.push(Source::open(run, path)?);
    }
    let id = merged_id(&runs);
    let records = folder.join("records").join(format!("{id}.jsonl.gz"));
    let mut writer = RecordWriter::create(&records, &id, None)?;
    let whole = runs
        .iter()
        .filter_map(|run| run.shard.as_ref())
        .map(|shard| shard.observations.len())
        .min()
        .unwrap_or(0);
    let mut stages = Vec::with_capacity(whole);
    for (index, stage) in spec.stages.iter().enumerate().take(whole) {
        let observations: Vec<&StageObservation> = runs
            .iter()
            .filter_map(|run| run.shard.as_ref()?.observations.get(index))
            .collect();
        let Some(mut observation) = merge_observations(&observations, 0.0) else {
            break;
        };
        let (start, end) = (observation.window_start, observation.window_end);
        let mut in_flight: u128 = 0;
        for source in &mut sources {
            while let Some(record) = source.next_of(index as u32)? {
                check(&record, spec, stage, source)?;
                if let (Some(sent), Some(done)) = (record.sent, record.done) {
                    in_flight += u128::from(done.min(end).since(sent.max(start)).get());
                }
                writer.append(record)?;
            }
        }
        let window = end.since(start);
        if window > Nanos::ZERO {
            observation.in_flight_mean = in_flight as f64 / window.get() as f64;
        }
        let span = writer.flush()?;
        let classes = &spec.workload.classes;
        stages.push(summarised(spec, classes, stage, &span, &observation)?);
    }
    stages.iter_mut().for_each(of_shards);
    // `same_run` refuses an empty list.
    let run = merge_runs(&runs, id, stages).ok_or(MergeError::Missing {
        missing: Vec::new(),
        count: 0,
    })?;
    let path = save_run(&folder.join("runs"), &run)?;
    Ok(Measured { run, path, records })
}

/// A shard's id without its number.
fn merged_id(runs: &[Run]) -> String {
    let id = runs.first().map_or("", |run| run.id.as_str());
    let whole = id.rsplit_once('-').map_or(id, |(whole, _)| whole);
    format!("{whole}-merged")
}

/// A record that the summary can't take would stop it: a class that the spec has not.
fn check(
    record: &RequestRecord,
    spec: &Spec,
    stage: &Stage,
    source: &Source,
) -> Result<(), MergeFailure> {
    if (record.class as usize) < spec.workload.classes.len() {
        return Ok(());
    }
    Err(MergeFailure::Records {
        path: source.path.clone(),
        why: format!(
            "request {} of stage `{}` is of class {}, which the spec has not",
            record.index, stage.name, record.class
        ),
    })
}

/// The records of a shard, stage by stage.
struct Source {
    path: PathBuf,
    records: Peekable<RecordReader>,
}

impl Source {
    fn open(run: &Run, path: PathBuf) -> Result<Self, MergeFailure> {
        let records = RecordReader::open(&path)?;
        if records.run() != run.id {
            return Err(MergeFailure::Records {
                why: format!(
                    "they are of run `{}` and not of `{}`",
                    records.run(),
                    run.id
                ),
                path,
            });
        }
        Ok(Self {
            path,
            records: records.peekable(),
        })
    }

    /// The next record of a stage; `None` after its last.
    fn next_of(&mut self, stage: u32) -> Result<Option<RequestRecord>, MergeFailure> {
        let is_next = self.records.next_if(|record| match record {
            Ok(record) => record.stage == stage,
            Err(_) => true,
        });
        is_next.transpose().map_err(|bad| MergeFailure::Records {
            path: self.path.clone(),
            why: bad.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::compare::synthetic;
    use crate::diag::Source as Text;
    use crate::plan::{Phase, Plan, Share};
    use crate::sample::{ClockSkew, Outcome, Pulse, StageEnd, TokenSource};
    use crate::summary::{InvalidReason, ShardStamp};

    const SPEC: &str = "\
infergate: 1
name: shared
target: {url: 'http://127.0.0.1:1', api: chat}
workload:
  seed: 7
  output_length: pinned
  classes:
    - {name: chat, weight: 2, input: 40, output: 6, slo: {ttft: 1s}}
    - {name: code, weight: 1, input: 90, output: 9}
stages:
  - {name: low, open: {rate: 20/s}, duration: 10s, warmup: 2s}
  - {name: high, open: {rate: 50/s}, duration: 10s, warmup: 2s}
gate:
  cells:
    - {metric: e2e.p50, worse_by: 60%}
";

    fn spec() -> Spec {
        let source = Text {
            path: "spec.yaml".to_owned(),
            text: SPEC.to_owned(),
        };
        crate::spec::parse(&source, &|_| None, &|_| Err("no files here".to_owned()))
            .unwrap()
            .spec
    }

    /// The records of a stage, with every fourteenth request failed.
    fn records(plan: &Plan, stage: usize) -> Vec<RequestRecord> {
        let schedule = plan.stages()[stage].schedule.as_ref().unwrap();
        let phases = [
            (Phase::Warmup, &schedule.warmup),
            (Phase::Measured, &schedule.measured),
        ];
        let mut records = Vec::new();
        for (phase, instants) in phases {
            for (&at, number) in instants.iter().zip(0_u32..) {
                let planned = plan.request(stage, phase, number);
                let failed = number % 14 == 5;
                let late = |ns: u32| at + Nanos::new(u64::from(ns + number * 7919 % 90_001));
                records.push(RequestRecord {
                    stage: stage as u32,
                    index: number,
                    class: planned.class,
                    phase,
                    planned_input_tokens: planned.input_tokens,
                    planned_output_tokens: planned.output_tokens,
                    scheduled: at,
                    sent: Some(late(100)),
                    done: Some(late(90_000_000)),
                    events: (0..planned.output_tokens)
                        .map(|event| late(20_000_000 + event * 7_000_003))
                        .collect(),
                    output_tokens: Some(planned.output_tokens),
                    output_source: TokenSource::Usage,
                    input_tokens: Some(planned.input_tokens),
                    bytes: 100,
                    error: failed.then(|| format!("broken {}", number % 9)),
                    ..crate::sample::record::tests::record(if failed {
                        Outcome::StreamError
                    } else {
                        Outcome::Completed
                    })
                });
            }
        }
        records
    }

    /// What so many clients saw each, in sum always the same.
    fn observation(plan: &Plan, stage: usize, clients: u32) -> StageObservation {
        let schedule = plan.stages()[stage].schedule.as_ref().unwrap();
        StageObservation {
            window_start: schedule.window_start,
            window_end: schedule.window_end,
            in_flight_mean: 1.0,
            in_flight_max: 8 / clients,
            cap_hits: 4 / clients,
            cpu_share: Some(0.25),
            loop_lag_p99: Some(Nanos::new(5)),
            connections: Some(12 / u64::from(clients)),
            bytes: 4000 / u64::from(clients),
            backlog: 4 / clients,
            end: StageEnd::Complete,
            pulses: vec![vec![Pulse {
                start: schedule.window_start,
                end: schedule.window_end,
                cpu_share: Some(0.25),
                loop_lag_max: Some(Nanos::new(5)),
                connections: 12 / u64::from(clients),
                memory: None,
            }]],
            events: Vec::new(),
        }
    }

    /// The files of one share of a run.
    fn shard(folder: &Path, share: Share) -> Shard {
        let (spec, plan) = (spec(), Plan::expand(&spec()));
        let id = format!("x-{}of{}", share.index(), share.count());
        let path = folder.join(format!("{id}.jsonl.gz"));
        let mut writer = RecordWriter::create(&path, &id, None).unwrap();
        let mut run = synthetic::run("shared", 1);
        (run.id, run.stages) = (id, Vec::new());
        let mut observations = Vec::new();
        for (at, stage) in spec.stages.iter().enumerate() {
            let own = records(&plan, at);
            for record in own.into_iter().filter(|record| share.has(record.index)) {
                writer.append(record).unwrap();
            }
            let span = writer.flush().unwrap();
            let seen = observation(&plan, at, share.count());
            let classes = &spec.workload.classes;
            let summary = summarised(&spec, classes, stage, &span, &seen);
            run.stages.push(summary.unwrap());
            observations.push(seen);
        }
        run.shard = Some(ShardStamp {
            index: share.index(),
            count: share.count(),
            start_at: "2026-11-29T19:12:00.000Z".to_owned(),
            clock: Some(ClockSkew {
                least_s: -1.9,
                most_s: 0.2,
            }),
            observations,
        });
        Shard { run, records: path }
    }

    fn shards(folder: &Path, count: u32) -> Vec<Shard> {
        (1..=count)
            .map(|index| shard(folder, Share::new(index, count).unwrap()))
            .collect()
    }

    #[test]
    fn a_run_split_in_four_is_the_same_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let whole = merge(shards(folder, 1), &spec(), &folder.join("whole")).unwrap();
        let mut four = shards(folder, 4);
        four.rotate_left(2);
        let merged = merge(four, &spec(), &folder.join("merged")).unwrap();
        let indices: Vec<u32> = merged.run.merged.iter().map(|shard| shard.index).collect();
        assert_eq!(indices, [1, 2, 3, 4]);
        let planned = Plan::expand(&spec());
        let measured = planned.stages()[1].schedule.as_ref().unwrap();
        let scheduled = whole.run.stages[1].pooled.scheduled;
        assert_eq!(scheduled, measured.measured.len() as u64);
        assert!(!whole.run.stages[0].pooled.errors.is_empty());
        assert_eq!(whole.run.stages[1].windows[5].connections, Some(12));
        let expected = Run {
            merged: merged.run.merged.clone(),
            ..whole.run
        };
        assert_eq!(merged.run, expected);
        // All records are beside it.
        let read = RecordReader::open(&merged.records).unwrap();
        let all = records(&planned, 0).len() + records(&planned, 1).len();
        assert_eq!(read.flatten().count(), all);
    }

    #[test]
    fn what_is_not_all_shards_of_one_run_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |change: &dyn Fn(&mut Vec<Shard>)| {
            let mut shards = shards(folder.path(), 3);
            change(&mut shards);
            let error = merge(shards, &spec(), &folder.path().join("merged")).unwrap_err();
            error.to_string()
        };
        let says = |text: String, part: &str| assert!(text.contains(part), "{text}");
        says(refused(&|shards| drop(shards.remove(1))), "[2] of 3");
        says(refused(&|shards| shards.push(shards[0].clone())), "twice");
        says(refused(&|shards| shards[1].run.shard = None), "no shard");
        says(refused(&|shards| shards[2].run.salt.push('x')), "salts");
        says(
            refused(&|shards| shards[2].run.prompt_calibration.tokens_per_word = 1.5),
            "tokens the target makes of a word",
        );
        says(
            refused(&|shards| {
                let stamp = shards[0].run.shard.as_mut().unwrap();
                stamp.observations[1].window_end = Nanos::from_secs(99);
            }),
            "windows",
        );
        says(
            refused(&|shards| {
                let stamp = shards[2].run.shard.as_mut().unwrap();
                stamp.clock = Some(ClockSkew {
                    least_s: 1.5,
                    most_s: 3.6,
                });
            }),
            "clock of shard `x-3of3` was at least 1.3 s ahead",
        );
        says(
            refused(&|shards| shards[1].records = shards[0].records.clone()),
            "they are of run",
        );
        says(
            refused(&|shards| fs::write(&shards[1].records, b"").unwrap()),
            "x-2of3",
        );
    }

    #[test]
    fn a_client_that_fell_short_spoils_the_stage_for_all() {
        let folder = tempfile::tempdir().unwrap();
        let mut shards = shards(folder.path(), 2);
        shards[1].run.stages[0].invalid = vec![InvalidReason::ClientCpu { share: 0.97 }];
        let merged = merge(shards, &spec(), &folder.path().join("merged")).unwrap();
        let reason = Box::new(InvalidReason::ClientCpu { share: 0.97 });
        let expected = InvalidReason::Shard { index: 2, reason };
        assert_eq!(merged.run.stages[0].invalid, [expected]);
        assert_eq!(merged.run.stages[1].invalid, []);
    }
}
