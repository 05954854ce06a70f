//! `infergate bisect`: the first commit or version at which a cell is worse, by `ab` at each step.

mod journal;
mod states;

use std::path::{Path, PathBuf};

use clap::Args;

use self::journal::{Answer, Journal, Step};
use self::states::{States, Tried};
use super::ab::{AbRequest, SideArgs, interleave};
use super::context::Context;
use super::failure::{Failure, FailureText};
use super::interrupt::Interrupt;
use super::judge::Show;
use super::lock::LockArgs;
use super::sitting::{OutArgs, open_sitting};
use super::source::SelectArgs;
use crate::bisect::{Mark, Next, Search};
use crate::diag::suggest;
use crate::exit::Exit;
use crate::metric::Cell;
use crate::provenance::PinPath;
use crate::report;
use crate::report::json::ReportFile;
use crate::spec::{GateCell, Spec};
use crate::verdict::CellState;

/// Find the first commit or version that is worse
///
/// Holds states of an engine against GOOD by `ab`, with the spec's gate reduced to one cell, and halves
/// what is left: a regression is bad, a pass is good, and what can't be decided or doesn't build is
/// skipped, so that the answer may be a range. States are commits of the engine's repository (each checked
/// out beside your tree, the spec's launch run in it), or versions that the launch command has in place of
/// `{version}` or `${VERSION}`. First BAD is seen to be bad. The same command goes on where it was
/// interrupted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate bisect v0.31 v0.32 --cell steady/ttft.p95 --repository ../engine --build make -j8
  infergate bisect 0.9.0 0.11.2 --cell steady/ttft.p95 --versions 0.9.0,0.9.1,0.10.0,0.11.0,0.11.2

Exit codes: 0 found · 2 usage or spec error · 3 a range is left, or BAD is not worse · 4 invalid measurement")]
pub(super) struct BisectArgs {
    /// A commit or version that is as it should be
    good: String,

    /// A later one that is worse
    bad: String,

    /// The gated cell to look at, as reports name it: `stage/metric`
    #[arg(long)]
    cell: String,

    /// The spec, or a folder with `spec.yaml` in it; it launches the engine
    #[arg(long, default_value = "spec.yaml")]
    spec: PathBuf,

    /// Repository of the engine; the launch command runs in a checkout of it
    #[arg(long, value_name = "DIR", required_unless_present = "versions")]
    repository: Option<PathBuf>,

    /// Versions from GOOD to BAD, oldest first, separated by commas; or a file with one a line
    #[arg(long, value_name = "LIST", conflicts_with_all = ["repository", "build"])]
    versions: Option<String>,

    #[command(flatten)]
    select: SelectArgs,

    #[command(flatten)]
    out: OutArgs,

    #[command(flatten)]
    lock: LockArgs,

    /// Print the answer as JSON on standard output
    #[arg(long)]
    json: bool,

    /// What is run in each checkout before its engine is launched; the last option, its words follow
    #[arg(long, value_name = "COMMAND", num_args = 1.., allow_hyphen_values = true)]
    build: Vec<String>,
}

pub(super) async fn run(
    args: BisectArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let mut states = States::find(&args, context)?;
    let cell = gated(&args.cell, &states.spec(0, context)?)?;
    let mut journal = Journal::open(&args, &states)?;
    let mut search = Search::new(states.last());
    for step in &journal.steps {
        search.mark(step.state, step.mark);
    }
    if !journal.steps.is_empty() {
        let done = journal.steps.len();
        context.note(&format!(
            "going on after {done} steps in `{}`",
            journal.folder.display()
        ));
    }
    let answer = loop {
        let state = match search.next() {
            Next::Test(state) => state,
            answer => break answer,
        };
        context.note(&format!(
            "step {}, at most {} to go: {}",
            journal.steps.len() + 1,
            search.left(),
            states.name(state),
        ));
        let step = take(
            state,
            &cell,
            &args,
            &mut states,
            &journal,
            context,
            interrupt,
        )
        .await;
        let step = step.map_err(|failure| stopped(failure, interrupt))?;
        if !args.json {
            context.print(&step.line());
        }
        search.mark(state, step.mark);
        journal.take(step)?;
    };
    let answer = Answer::of(answer, &states);
    states.close();
    let text = if args.json {
        journal.as_json(&answer)?
    } else {
        answer.text(&cell.cell, &journal)
    };
    context.print(&text);
    Ok(answer.exit())
}

/// One step: the state against the good end.
async fn take(
    state: usize,
    cell: &GateCell,
    args: &BisectArgs,
    states: &mut States,
    journal: &Journal,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Step, Failure> {
    let name = states.name(state);
    let step = |mark, why: String, session: Option<&Path>| Step {
        state,
        name: name.clone(),
        mark,
        why,
        session: session.map(Path::to_owned),
    };
    let is_end = state == states.last();
    let mut spec = match states
        .bring(state, &journal.folder, context, interrupt)
        .await?
    {
        Tried::Built(spec) => *spec,
        Tried::Unbuilt(why) if is_end => return Err(Failure::new(Exit::Invalid, why)),
        Tried::Unbuilt(why) => return Ok(step(Mark::Skip, why, None)),
    };
    spec.gate.cells = vec![cell.clone()];
    // What differs between the steps is the engine.
    spec.under_test.pins.extend(PinPath::covered_by("engine"));
    let out = OutArgs {
        out: journal.folder.join("steps"),
    };
    let mut sitting = open_sitting(&spec, &out, context)?;
    let request = AbRequest {
        spec: &spec,
        path: &args.spec,
        sides: &SideArgs::default(),
        archive: None,
        footing: None,
        lock: &args.lock,
        show: &Show::default(),
    };
    // Of the report one line is shown; the rest lies in the session.
    let shown = std::mem::replace(&mut context.out, Box::new(std::io::sink()));
    let measured = Box::pin(interleave(request, &mut sitting, context, interrupt)).await;
    context.out = shown;
    let session = sitting.folder().to_owned();
    match measured {
        Ok(_) => {
            let (mark, why) = seen(&session, &cell.cell)?;
            Ok(step(mark, why, Some(&session)))
        }
        Err(failure) if failure.exit == Exit::Usage || is_end || interrupt.asked() => Err(failure),
        Err(failure) => Ok(step(Mark::Skip, first_line(&failure), Some(&session))),
    }
}

/// What a session says of the cell.
fn seen(session: &Path, cell: &Cell) -> Result<(Mark, String), Failure> {
    let path = session.join("report.json");
    let wrong = |why: String| {
        Failure::new(
            Exit::Invalid,
            format!("cannot read `{}`: {why}", path.display()),
        )
    };
    let text = super::source::read_file(&path).map_err(wrong)?;
    let report = ReportFile::parse(&text).map_err(|error| wrong(error.to_string()))?;
    let finding = report.findings.iter().find(|finding| finding.cell == *cell);
    let Some(finding) = finding else {
        return Ok((Mark::Skip, "the cell was not measured".to_owned()));
    };
    let mark = match (finding.state, finding.state.is_within()) {
        // What a team accepted is worse all the same.
        (CellState::Accepted, _) | (_, Some(false)) => Mark::Bad,
        (_, Some(true)) => Mark::Good,
        (_, None) => Mark::Skip,
    };
    let said = report::finding(finding).plain();
    Ok((mark, format!("{}: {said}", finding.state.label())))
}

/// The gate's cell of this name.
fn gated(name: &str, spec: &Spec) -> Result<GateCell, Failure> {
    let cells = || spec.gate.cells.iter().filter(|cell| !cell.informational);
    if let Some(cell) = cells().find(|cell| cell.cell.to_string() == name) {
        return Ok(cell.clone());
    }
    let known: Vec<String> = cells().map(|cell| cell.cell.to_string()).collect();
    let meant = suggest(name, known.iter().map(String::as_str));
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    Err(Failure::usage(format!(
        "the gate has no cell `{name}`{meant} Its cells are {}",
        known.join(", ")
    )))
}

fn stopped(failure: Failure, interrupt: &Interrupt) -> Failure {
    if interrupt.asked() {
        let text = "interrupted; the same command goes on with the step that was cut off";
        return Failure::new(Exit::Invalid, text);
    }
    failure
}

fn first_line(failure: &Failure) -> String {
    let (FailureText::Sentence(text) | FailureText::Diagnostics(text)) = &failure.text;
    text.lines().next().unwrap_or_default().to_owned()
}
