//! A gate over several specs: one after the other, one verdict, one report.

use std::path::{Path, PathBuf};

use super::{Gate, GateArgs};
use crate::cli::base::Removed;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::interrupt::Interrupt;
use crate::cli::judge::{Show, save_reports};
use crate::cli::member::{Group, Member};
use crate::cli::report::read_reports;
use crate::cli::sitting::OutArgs;
use crate::exit::Exit;
use crate::report::Sides;
use crate::report::json::ReportFile;
use crate::report::suite::SuiteFile;
use crate::unit::scale;
use crate::verdict::Judgement;

/// Measures and judges each member, whatever becomes of the others; ends by the worst of them.
pub(super) async fn run(
    args: &GateArgs,
    show: &Show,
    group: &Group,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let removed = args.base.removed(group, context)?;
    let folder = folder_of(args, group, context);
    let announced = args
        .announce
        .begin(&group.name, &show.look, context)
        .await?;
    let outcome = Sequence {
        args,
        show,
        group,
        removed: &removed,
        folder: &folder,
        began_s: context.seconds(),
    }
    .run(context, interrupt)
    .await;
    announced.conclude(outcome, &folder, context).await
}

fn folder_of(args: &GateArgs, group: &Group, context: &Context) -> PathBuf {
    let unique = context.unique("suite");
    let name = format!("{}-{}-{}", group.name, context.stamp(), &unique[..4]);
    args.out.out.join(name)
}

/// Members one after the other.
struct Sequence<'a> {
    args: &'a GateArgs,
    show: &'a Show,
    group: &'a Group,
    /// Members that the base has and the candidate has not.
    removed: &'a [Removed],
    folder: &'a Path,
    began_s: f64,
}

impl Sequence<'_> {
    async fn run(self, context: &mut Context, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let members = &self.group.members;
        let mut reports = Vec::new();
        for (number, member) in members.iter().enumerate() {
            if let Some(why) = self.stops(number, context, interrupt) {
                context.note(&format!("`{}` was not measured: {why}", member.label));
                reports.push(unmeasured(
                    member,
                    Exit::Undecided,
                    &format!("not measured: {why}"),
                ));
                continue;
            }
            context.note(&format!(
                "member {} of {}: {}",
                number + 1,
                members.len(),
                member.label
            ));
            reports.push(self.member(member, context, interrupt).await);
        }
        let removed = self.removed.iter();
        for gone in removed.filter(|gone| self.args.only.keeps(&gone.member)) {
            let why = format!(
                "not measured: commit {}, which this is held against, has this member and here it is gone; let its \
                 removal land by itself",
                gone.commit.short()
            );
            context.note(&format!("`{}` was {why}", gone.member.label));
            reports.push(unmeasured(&gone.member, Exit::Undecided, &why));
        }
        self.conclude(&reports, context, interrupt)
    }

    /// Why no further member is measured.
    fn stops(&self, done: usize, context: &Context, interrupt: &Interrupt) -> Option<String> {
        if interrupt.asked() {
            return Some("the suite was interrupted before it".to_owned());
        }
        let limit = self.group.time?.as_secs_f64();
        let taken = context.seconds() - self.began_s;
        (done > 0 && taken >= limit).then(|| {
            format!(
                "the suite was stopped by its budget: {} of {} are taken",
                scale::elapsed(taken),
                scale::elapsed(limit)
            )
        })
    }

    /// What became of one member. Its own report goes into its folder; only the suite's is printed.
    async fn member(
        &self,
        member: &Member,
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> ReportFile {
        let out = OutArgs {
            out: self.folder.join("members").join(&member.label),
        };
        let printed = std::mem::replace(&mut context.out, Box::new(std::io::sink()));
        let outcome = match Gate::open(self.args, self.show, member, &out, context) {
            Ok(mut gate) => Box::pin(gate.measure(context, interrupt)).await,
            Err(failure) => Err(failure),
        };
        context.out = printed;
        let read = match &outcome {
            // A session that was interrupted has a report and is none.
            Ok(_) => sessions(&out.out)
                .pop()
                .map(|session| read_reports(&session.join("report.json"))),
            Err(_) => None,
        };
        let failure = match (outcome, read) {
            (Ok(_), Some(Ok(mut reports))) if reports.len() == 1 => return reports.remove(0),
            (Ok(exit), Some(Ok(_)) | None) => {
                Failure::new(exit.worst(Exit::Invalid), "it left no report of its own")
            }
            (_, Some(Err(failure))) | (Err(failure), _) => failure,
        };
        let _ = std::io::Write::write_all(&mut context.err, failure.render().as_bytes());
        unmeasured(member, failure.exit, &first_lines(&failure))
    }

    fn conclude(
        &self,
        reports: &[ReportFile],
        context: &mut Context,
        interrupt: &Interrupt,
    ) -> Result<Exit, Failure> {
        let suite = SuiteFile::new(reports);
        self.show.look.warn(reports, context);
        save_reports(self.folder, reports, &suite.render(), &self.show.look)?;
        let text = self.show.of_suite(reports, context);
        context.print(&text);
        context.note(&format!(
            "report: {}",
            self.folder.join("report.md").display()
        ));
        if interrupt.asked() {
            return Err(Failure::new(
                Exit::Invalid,
                format!(
                    "interrupted; what was measured is in `{}`",
                    self.folder.display()
                ),
            ));
        }
        Ok(suite.exit)
    }
}

/// Characters of what went wrong that a report repeats.
const MOST_WORDS: usize = 400;

/// The report of a member of which there is none.
fn unmeasured(member: &Member, exit: Exit, why: &str) -> ReportFile {
    let judgement = Judgement::of_nothing(0, why.to_owned(), (exit, None));
    let sides = Sides {
        title: &member.label,
        baseline: &[],
        candidate: &[],
        reproduce: &[],
        places: &[],
    };
    ReportFile::new(&judgement, &sides)
}

/// What went wrong, as far as it fits a sentence: the whole of it was printed.
fn first_lines(failure: &Failure) -> String {
    let text = failure.render();
    let first = text.split("\n\n").next().unwrap_or_default();
    let lines = first.lines().filter(|line| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('|')
    });
    let joined: Vec<&str> = lines.map(str::trim).collect();
    let joined = joined.join(" ");
    let words = joined.trim_start_matches("error: ");
    words.chars().take(MOST_WORDS).collect()
}

/// The sessions in a folder, in the order of their names.
fn sessions(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join("report.json").is_file())
        .collect();
    found.sort();
    found
}
