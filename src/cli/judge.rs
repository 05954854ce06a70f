//! Two sides to a judgement, a report in every form, and an exit code.

use std::path::Path;

use clap::Args;

use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::look::{Look, LookArgs};
use super::report::Format;
use super::sitting::CliSitting;
use super::standing::Standing;
use crate::archive::save_text;
use crate::compare::{Sides, compare};
use crate::diagnosis::diagnose;
use crate::exit::Exit;
use crate::lang::{Said, of_judged};
use crate::report::json::ReportFile;
use crate::report::suite::SuiteFile;
use crate::report::{self, CellPlace};
use crate::spec::{Layer, Spec};
use crate::summary::{Run, Side};
use crate::verdict::{BaseStamp, Judgement, heed_soaks};

/// That a spec of two layers is judged by one, and what shows both.
fn one_layer(spec: &Spec) -> Option<Said> {
    spec.beside.as_ref()?;
    Some(Said::plain(match spec.target.layer {
        Layer::Engine => of_judged::ENGINE_JUDGED,
        Layer::EndToEnd => of_judged::FRONT_JUDGED,
    }))
}

/// The runs of a comparison.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    /// The baseline's runs.
    pub(super) baseline: Vec<Run>,
    /// The candidate's runs.
    pub(super) candidate: Vec<Run>,
    /// Earlier runs of the baseline, to learn the noise from.
    pub(super) archive: Vec<Run>,
    /// What the baseline and the gate were read from, where that is known.
    pub(super) base: Option<BaseStamp>,
    /// What stands beside a gate's baseline.
    pub(super) standing: Standing,
}

/// What is printed of a verdict, as it was asked for.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ShowArgs {
    /// Print the report as JSON on standard output
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// What to print on standard output
    #[arg(long, value_enum)]
    format: Option<Format>,

    #[command(flatten)]
    look: LookArgs,
}

/// The same, found.
#[derive(Debug, Clone)]
pub(super) struct Show {
    format: Format,
    /// How it is written.
    pub(super) look: Look,
}

impl Default for Show {
    fn default() -> Self {
        Self {
            format: Format::Text,
            look: Look::default(),
        }
    }
}

impl ShowArgs {
    /// Finds what was asked for, before anything is measured.
    pub(super) fn find(&self, context: &Context) -> Result<Show, Failure> {
        let format = match self.format {
            None if self.json => Format::Json,
            format => format.unwrap_or(Format::Text),
        };
        let look = self.look.find(context)?;
        Ok(Show { format, look })
    }
}

impl Show {
    /// A report in the form that was asked for.
    fn of(&self, file: &ReportFile, context: &Context) -> String {
        let reports = std::slice::from_ref(file);
        match self.format {
            Format::Text => context.paint(&self.look.lines(reports)),
            Format::Json => file.render(),
            Format::Markdown => self.look.markdown(reports, usize::MAX),
            Format::Junit => report::junit::render(reports),
            Format::Openmetrics => report::metrics::openmetrics(reports),
        }
    }

    /// Several reports as one, in the form that was asked for.
    pub(super) fn of_suite(&self, reports: &[ReportFile], context: &Context) -> String {
        match self.format {
            Format::Json => SuiteFile::new(reports).render(),
            Format::Text => context.paint(&self.look.lines(reports)),
            Format::Markdown => self.look.markdown(reports, usize::MAX),
            Format::Junit => report::junit::render(reports),
            Format::Openmetrics => report::metrics::openmetrics(reports),
        }
    }
}

/// Writes a report in every form that a CI reads.
fn save_report(folder: &Path, file: &ReportFile, look: &Look) -> Result<(), Failure> {
    save_reports(folder, std::slice::from_ref(file), &file.render(), look)
}

/// Writes reports as one, in every form that a CI reads; as JSON they come in.
pub(super) fn save_reports(
    folder: &Path,
    reports: &[ReportFile],
    json: &str,
    look: &Look,
) -> Result<(), Failure> {
    for (name, text) in [
        ("report.md", look.markdown(reports, usize::MAX)),
        ("report.json", json.to_owned()),
        ("junit.xml", report::junit::render(reports)),
        ("metrics.txt", report::metrics::openmetrics(reports)),
    ] {
        save_text(&folder.join(name), &text)?;
    }
    Ok(())
}

impl Evidence {
    /// Takes a run to its side, the baseline's where it says none.
    pub(super) fn take(&mut self, run: Run) {
        match run.side {
            Some(Side::Candidate) => self.candidate.push(run),
            Some(Side::Baseline) | None => self.baseline.push(run),
        }
    }

    /// Refuses a run that is only a part of one.
    pub(super) fn refuse_shards(&self) -> Result<(), Failure> {
        let mut runs = self.baseline.iter().chain(&self.candidate);
        match runs.find_map(|run| Some((run, run.shard.as_ref()?))) {
            Some((run, shard)) => Err(Failure::new(
                Exit::Undecided,
                format!(
                    "run `{}` is shard {} of {} and cannot be judged alone; put all of them together with `infergate merge`",
                    run.id, shard.index, shard.count
                ),
            )),
            None => Ok(()),
        }
    }

    /// Judges by the gate of this spec.
    pub(super) fn judge(&self, spec: &Spec) -> Judgement {
        let comparison = compare(&self.sides(), &spec.gate, &spec.under_test);
        let mut judgement = self.standing.judge(&comparison, &self.candidate, spec);
        judgement.caveats.extend(one_layer(spec));
        heed_soaks(&mut judgement, &self.baseline, &self.candidate);
        judgement.base.clone_from(&self.base);
        judgement.diagnoses = diagnose(
            &self.sides(),
            &judgement.complaints(),
            judgement.shift.is_some(),
        );
        judgement
    }

    /// What is compared.
    pub(super) fn sides(&self) -> Sides<'_> {
        Sides {
            baseline: &self.baseline,
            candidate: &self.candidate,
            archive: &self.archive,
        }
    }

    /// Writes the report's files into the folder, if there is one, and prints it; all of that before any
    /// exit code.
    pub(super) fn publish(
        &self,
        judgement: &Judgement,
        spec: &Spec,
        folder: Option<&Path>,
        (reproduce, places): (&[String], &[CellPlace]),
        show: &Show,
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let sides = report::Sides {
            title: spec.name.as_str(),
            baseline: &self.baseline,
            candidate: &self.candidate,
            reproduce,
            places,
        };
        let file = ReportFile::new(judgement, &sides);
        show.look.warn(std::slice::from_ref(&file), context);
        if let Some(folder) = folder {
            save_report(folder, &file, &show.look)?;
        }
        let text = show.of(&file, context);
        context.print(&text);
        if let Some(folder) = folder {
            context.note(&format!("report: {}", folder.join("report.md").display()));
        }
        Ok(judgement.exit)
    }

    /// Publishes the judgement of a session into its folder and ends the command by it; a session
    /// that was interrupted is none, whatever it shows.
    pub(super) fn conclude(
        &self,
        judgement: &Judgement,
        spec: &Spec,
        sitting: &CliSitting,
        show: &Show,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Exit, Failure> {
        let folder = sitting.folder();
        // Without a baseline there is nothing to compare again.
        let verb = if self.baseline.is_empty() {
            "report"
        } else {
            "compare"
        };
        let reproduce = [format!("infergate {verb} {}", folder.display())];
        let told = (&reproduce[..], sitting.places());
        let exit = self.publish(judgement, spec, Some(folder), told, show, context)?;
        if interrupt.asked() {
            let folder = folder.display();
            let mut text = format!("interrupted; what was measured is in `{folder}`");
            if let Some(command) = sitting.go_on_command() {
                text = format!("{text}; to go on: {command}");
            }
            return Err(Failure::new(Exit::Invalid, text));
        }
        Ok(exit)
    }
}
