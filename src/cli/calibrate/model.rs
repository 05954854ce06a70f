//! `infergate calibrate --model`: the procedure's rates on a model of a machine.

mod table;

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use clap::{Args, ValueEnum};

use self::table::{Row, RowsFile, text};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::interrupt::Interrupt;
use crate::cli::percent::percent;
use crate::exit::Exit;
use crate::rehearsal::{Archive, Machine, Model, Rates, Setting, rates};
use crate::stats::moderated;

/// Repetitions that a core takes at a time.
const CHUNK: u64 = 500;
/// Numbers of gates, pairs, sessions and runs that still make sense.
const COUNTS: RangeInclusive<i64> = 1..=1000;

/// What is rehearsed; each list multiplies the rows.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ModelArgs {
    /// Comparisons a row
    #[arg(long, value_name = "N", default_value = "20000", requires = "model")]
    repetitions: NonZeroU64,

    /// Seed of everything that is drawn
    #[arg(long, value_name = "N", default_value_t = 2024, requires = "model")]
    seed: u64,

    /// Gated cells
    #[arg(long, value_name = "N", default_value_t = 8, requires = "model",
        value_parser = clap::value_parser!(u32).range(COUNTS))]
    gates: u32,

    /// Tolerance of each gate
    #[arg(long, value_name = "P%", default_value = "10%", requires = "model", value_parser = percent)]
    tolerance: f64,

    /// Standard deviations of a run within a session
    #[arg(long, value_name = "P%,…", default_value = "1%,2%,4%", requires = "model",
        value_delimiter = ',', value_parser = percent)]
    run_sd: Vec<f64>,

    /// Shares of runs that something else slows down by 5 to 25 %
    #[arg(long, value_name = "P%,…", default_value = "0%,3%", requires = "model",
        value_delimiter = ',', value_parser = percent)]
    outliers: Vec<f64>,

    /// Change of the machine from run to run, positive where it gets slower
    #[arg(long, value_name = "P%", default_value = "0%", requires = "model", value_parser = percent)]
    drift: f64,

    /// By how many tolerances the candidate's first gate is worse
    #[arg(long, value_name = "F,…", default_value = "0,0.5,1,1.5,2", requires = "model",
        value_delimiter = ',', value_parser = finite, allow_hyphen_values = true)]
    effects: Vec<f64>,

    /// What a regression has to be proven against
    #[arg(
        long,
        value_enum,
        default_value = "beyond-zero,beyond-tolerance",
        requires = "model",
        value_delimiter = ','
    )]
    evidence: Vec<Evidence>,

    /// Fewest pairs of a comparison
    #[arg(long, value_name = "N", default_value_t = 3, requires = "model",
        value_parser = clap::value_parser!(u32).range(COUNTS))]
    min_pairs: u32,

    /// Most pairs of a comparison
    #[arg(long, value_name = "N", default_value_t = 10, requires = "model",
        value_parser = clap::value_parser!(u32).range(COUNTS))]
    max_pairs: u32,

    /// Earlier sessions and runs in each, or `none`, where the noise is assumed
    #[arg(long, value_name = "JxR", default_value = "10x3", requires = "model", value_parser = archive)]
    archive: ArchiveArg,

    /// How the runs of both sides follow each other
    #[arg(long, value_enum, default_value = "alternating", requires = "model")]
    order: Order,
}

/// See [`moderated::Evidence`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Evidence {
    /// Worse than no change, with the estimate at or over the tolerance
    BeyondZero,
    /// Worse than the tolerance itself
    BeyondTolerance,
}

/// The order of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// AB BA AB …
    Alternating,
    /// AAA… BBB…
    Blocked,
}

/// `10x3`, or `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ArchiveArg(Option<Archive>);

fn finite(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| number.is_finite())
        .ok_or_else(|| "is no number like `1.5`".to_owned())
}

fn archive(text: &str) -> Result<ArchiveArg, String> {
    if text == "none" {
        return Ok(ArchiveArg(None));
    }
    let count = |text: &str| {
        let count: Option<u32> = text.parse().ok();
        count.filter(|&count| COUNTS.contains(&i64::from(count)))
    };
    text.split_once('x')
        .and_then(|(sessions, runs)| {
            Some(ArchiveArg(Some(Archive {
                sessions: count(sessions)?,
                runs: count(runs)?,
            })))
        })
        .ok_or_else(|| "is neither `none` nor sessions and runs up to 1000, like `10x3`".to_owned())
}

impl ModelArgs {
    /// The rows, in the order in which they are shown.
    fn models(&self) -> Vec<Model> {
        let setting = match self.order {
            Order::Alternating => Setting::Alternating,
            Order::Blocked => Setting::Blocked,
        };
        let mut models = Vec::new();
        for evidence in &self.evidence {
            let evidence = match evidence {
                Evidence::BeyondZero => moderated::Evidence::BeyondZero,
                Evidence::BeyondTolerance => moderated::Evidence::BeyondTolerance,
            };
            for &run_sd in &self.run_sd {
                for &outliers in &self.outliers {
                    models.extend(self.effects.iter().map(|&effect| Model {
                        gates: NonZeroUsize::MIN.saturating_add(self.gates as usize - 1),
                        tolerance: self.tolerance,
                        machine: Machine {
                            run_sd,
                            outliers,
                            drift: self.drift.ln_1p(),
                        },
                        effect,
                        evidence,
                        fewest: self.min_pairs,
                        most: self.max_pairs,
                        archive: self.archive.0,
                        setting,
                    }));
                }
            }
        }
        models
    }
}

pub(super) fn run(
    args: &ModelArgs,
    json: bool,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    if args.min_pairs > args.max_pairs {
        return Err(Failure::usage(format!(
            "`--min-pairs {}` is more than `--max-pairs {}`: a comparison ends before it begins",
            args.min_pairs, args.max_pairs
        )));
    }
    let models = args.models();
    let repetitions = args.repetitions.get();
    let mut shown = 0;
    let all = rehearse(&models, repetitions, args.seed, |done, of| {
        let tenths = done * 10 / of;
        if tenths > shown && done < of {
            shown = tenths;
            context.note(&format!("rehearsed {tenths}0 %"));
        }
        !interrupt.asked()
    });
    let Some(all) = all else {
        return Err(Failure::new(
            Exit::Invalid,
            "interrupted before all comparisons were rehearsed",
        ));
    };
    let rows: Vec<Row> = models
        .into_iter()
        .zip(all)
        .map(|(model, rates)| Row::new(model, rates))
        .collect();
    let said = if json {
        let file = RowsFile::new(&rows, args.seed);
        serde_json::to_string_pretty(&file).map_err(|error| {
            Failure::new(
                Exit::Invalid,
                format!("cannot write the rates as JSON: {error}"),
            )
        })? + "\n"
    } else {
        text(&rows)
    };
    context.print(&said);
    Ok(if rows.iter().any(Row::is_off) {
        Exit::Invalid
    } else {
        Exit::Pass
    })
}

/// The rates of each model, by all cores; `None` where `progress`, which learns of finished parts of
/// all, says to stop.
fn rehearse(
    models: &[Model],
    repetitions: u64,
    seed: u64,
    mut progress: impl FnMut(u64, u64) -> bool,
) -> Option<Vec<Rates>> {
    let chunks = repetitions.div_ceil(CHUNK);
    let parts = chunks * models.len() as u64;
    let (next, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
    let mut all = vec![Rates::default(); models.len()];
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..cores {
            let sender = sender.clone();
            let (next, stopped) = (&next, &stopped);
            scope.spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    let row = (part / chunks) as usize;
                    let Some(model) = models.get(row) else { break };
                    let from = part % chunks * CHUNK;
                    let to = repetitions.min(from + CHUNK);
                    let found = (row, rates(model, from..to, seed));
                    if sender.send(found).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (done, (row, part)) in results.iter().enumerate() {
            all[row].add(&part);
            if !progress(done as u64 + 1, parts) {
                stopped.store(true, Ordering::Relaxed);
            }
        }
    });
    (!stopped.into_inner()).then_some(all)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::rehearsal::reference;

    #[derive(Debug, Parser)]
    struct Words {
        #[arg(long)]
        model: bool,
        #[command(flatten)]
        args: ModelArgs,
    }

    fn parsed(words: &[&str]) -> Result<ModelArgs, clap::Error> {
        let words = ["model", "--model"].iter().chain(words);
        Words::try_parse_from(words).map(|words| {
            assert!(words.model);
            words.args
        })
    }

    #[test]
    fn the_rows_are_those_of_the_reference_unless_asked_otherwise() {
        let expected: Vec<Model> = reference().map(|(model, _)| model).collect();
        assert_eq!(parsed(&[]).unwrap().models(), expected);
        let asked = parsed(&[
            "--effects",
            "-1,2",
            "--evidence",
            "beyond-zero",
            "--archive",
            "none",
        ]);
        let models = asked.unwrap().models();
        assert_eq!(models.len(), 12);
        assert_eq!(models[0].archive, None);
        assert!((models[0].effect + 1.0).abs() < 1e-12);
    }

    #[test]
    fn nonsense_is_refused() {
        for words in [
            &["--repetitions", "0"][..],
            &["--gates", "0"],
            &["--run-sd", "2"],
            &["--run-sd", "2pp"],
            &["--effects", "inf"],
            &["--archive", "0x3"],
            &["--archive", "3"],
            &["--min-pairs", "0"],
        ] {
            assert!(parsed(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn cores_share_the_repetitions_and_nothing_is_lost() {
        let models = [
            Model::default(),
            Model {
                effect: 2.0,
                ..Model::default()
            },
        ];
        let mut last = (0, 0);
        let all = rehearse(&models, 1100, 1, |done, of| {
            last = (done, of);
            true
        });
        assert_eq!(last, (6, 6));
        let expected: Vec<Rates> = models
            .iter()
            .map(|model| rates(model, 0..1100, 1))
            .collect();
        assert_eq!(all, Some(expected));
        assert_eq!(rehearse(&models, 1100, 1, |_, _| false), None);
    }
}
