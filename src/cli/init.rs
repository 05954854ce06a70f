//! `infergate init`: a commented spec of a target, and a workflow that gates by it.

mod files;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use self::files::{Written, root, write_new};
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::source::parse_spec;
use crate::access::Access;
use crate::checkup::{Exam, Unanswered};
use crate::diag::Source;
use crate::exit::Exit;
use crate::ident::Name;
use crate::probe::Asking;
use crate::scaffold::{self, Draft, Place, Seen};
use crate::session::{Launchpad, Station, identify};
use crate::spec::{Spec, base_url};

/// Where a launched engine is looked for, unless `--url` says.
const LAUNCHED: &str = "http://127.0.0.1:8000";

/// Write a spec of your server, and a workflow
///
/// Asks the server at `--url`, or the engine that `--launch` starts, what it is (model, engine,
/// version, precision, limits, GPU), and writes `infergate/NAME.yaml` with all of it filled in, a
/// comment beside each line, and the rest of the language as examples. Files that a spec names lie
/// beside it, hence a folder. Without either it writes a spec of the embedded engine, which runs at
/// once. `.github/workflows/infergate.yaml` gates pull requests by it. Nothing is overwritten without
/// `--force`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = "\
Examples:
  infergate init                                      the embedded engine, to begin with
  infergate init --url http://127.0.0.1:8000
  infergate init --url https://api.example.com --api-key-env TARGET_API_KEY --name chat
  infergate init --launch -- vllm serve my-model --port 8000
  infergate init --url http://127.0.0.1:8000 --stdout > spec.yaml

Exit codes: 0 written · 2 a file is there already, or usage · 4 the target does not answer")]
pub(super) struct InitArgs {
    /// The server, without `/v1`
    #[arg(long)]
    url: Option<String>,

    /// Let the spec start and end the engine by the words behind `--`; it is started once to ask it
    #[arg(long, requires = "command")]
    launch: bool,

    /// The engine's program and arguments
    #[arg(last = true, value_name = "CMD", requires = "launch")]
    command: Vec<String>,

    /// The variable that holds the server's key
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,

    /// The spec's name; by default the model's
    #[arg(long)]
    name: Option<String>,

    /// The repository; by default the one that this folder is in, else this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Overwrite files that are there
    #[arg(long)]
    force: bool,

    /// Write no workflow
    #[arg(long)]
    no_workflow: bool,

    /// Ask nothing: what would have been seen stands as examples
    #[arg(long)]
    offline: bool,

    /// Print the spec and write nothing
    #[arg(long, conflicts_with_all = ["json", "force"])]
    stdout: bool,

    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

/// What `init` wrote, as JSON.
#[derive(Debug, Serialize)]
struct Report {
    name: Name,
    /// How many pins were seen.
    seen: usize,
    written: Vec<Written>,
}

pub(super) async fn run(
    args: InitArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let place = place(&args)?;
    let mut draft = Draft {
        name: named(args.name.as_deref())?.unwrap_or_else(first_name),
        key: args.api_key_env.clone(),
        place,
        seen: None,
    };
    if !args.offline && draft.place != Place::Embedded(PROFILE) {
        draft.seen = Some(asked(&draft, context, interrupt).await?);
    }
    if let (None, Some(seen)) = (&args.name, &draft.seen) {
        draft.name = scaffold::name_of(&seen.model).unwrap_or(draft.name);
    }
    let text = scaffold::spec(&draft);
    // What is written is right, whatever the server called itself.
    read(&text, context)?;
    if args.stdout {
        context.print(&text);
        return Ok(Exit::Pass);
    }
    let root = root(args.dir.as_deref());
    let spec = PathBuf::from("infergate").join(format!("{}.yaml", draft.name));
    let mut files = vec![(spec, text)];
    if !args.no_workflow {
        let workflow = scaffold::workflow(&draft.name, &draft.place);
        files.push((PathBuf::from(".github/workflows/infergate.yaml"), workflow));
    }
    let written = write_new(&root, &files, args.force)?;
    tell(&args, &draft, written, context)
}

/// The profile of the embedded engine that a first spec is of.
const PROFILE: &str = "demo";

fn first_name() -> Name {
    "first".parse().expect("five letters are a name")
}

fn named(name: Option<&str>) -> Result<Option<Name>, Failure> {
    name.map(|name| {
        name.parse()
            .map_err(|error| Failure::usage(format!("`--name {name}` {error}")))
    })
    .transpose()
}

fn place(args: &InitArgs) -> Result<Place, Failure> {
    let url = args.url.as_deref().map(|url| {
        let base = base_url(url).map_err(|fault| format!("`--url` {fault}"))?;
        // It stands as a variable's default, where these would end it or begin another.
        if base.contains(['{', '}', '$', '"', '\\']) {
            return Err("`--url` has braces, `$`, quotes or backslashes in it".to_owned());
        }
        Ok(base.to_owned())
    });
    let url = url.transpose().map_err(|why| {
        Failure::usage(format!(
            "{why}; write it like `--url http://127.0.0.1:8000`"
        ))
    })?;
    Ok(match (url, args.launch) {
        (url, true) => Place::Launch {
            url: url.unwrap_or_else(|| LAUNCHED.to_owned()),
            command: args.command.clone(),
        },
        (Some(url), false) => Place::Url(url),
        (None, false) => Place::Embedded(PROFILE),
    })
}

/// The spec as our own parser has it; only what was given on the command line can be wrong with it.
fn read(text: &str, context: &Context) -> Result<Spec, Failure> {
    let source = Source {
        path: "the spec to be written".to_owned(),
        text: text.to_owned(),
    };
    Ok(parse_spec(&source, &PathBuf::new(), context)?.spec)
}

/// What the target says of itself.
async fn asked(
    draft: &Draft,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Seen, Failure> {
    let failed = |why: String| {
        Failure::new(
            Exit::Invalid,
            format!("{why}; with `--offline` the spec is written without asking"),
        )
    };
    let mut spec = read(&scaffold::spec(draft), context)?;
    // What the spec may take from the environment is not what the user named here.
    if let (Place::Url(url), crate::spec::TargetPlace::Urls(urls)) =
        (&draft.place, &mut spec.target.place)
    {
        *urls = vec![url.clone()];
    }
    let access = Access::read(&spec.target.connection, |name| context.variable(name))
        .map_err(|error| Failure::usage(error.to_string()))?;
    let whom = match &draft.place {
        Place::Launch { .. } => "starting the engine once, to ask what it is",
        Place::Url(_) | Place::Embedded(_) => "asking the server what it is",
    };
    context.note(whom);
    let logs = std::env::temp_dir().join(format!("infergate-init-{}", context.unique("init")));
    let pad = Launchpad {
        program: context.program.clone(),
        logs: logs.clone(),
        access: access.clone(),
        asking: Asking::of(&spec),
    };
    let station = Station::new(spec.target.place.clone(), "target", pad);
    let exam = identify(&spec, station, &access, interrupt.stop()).await;
    // The end of a log is in the failure that it made.
    let _ = std::fs::remove_dir_all(logs);
    seen(exam.map_err(failed)?).map_err(failed)
}

fn seen(exam: Exam) -> Result<Seen, String> {
    let first = exam.replicas.into_iter().next();
    let models = match first.map(|replica| replica.models) {
        Some(Ok(models)) => models,
        Some(Err(Unanswered::Status { status: 404, .. })) | None => Vec::new(),
        Some(Err(_)) => return Err(exam.seen.err().unwrap_or_default()),
    };
    let seen = exam.seen?;
    Ok(Seen {
        others: models
            .into_iter()
            .filter(|model| *model != seen.model)
            .collect(),
        model: seen.model,
        pins: seen.pins,
    })
}

fn tell(
    args: &InitArgs,
    draft: &Draft,
    written: Vec<Written>,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let seen = draft.seen.as_ref().map_or(0, |seen| {
        let values = seen.pins.values();
        values
            .filter(|pin| matches!(pin.observed, crate::provenance::Observation::Seen { .. }))
            .count()
    });
    if args.json {
        let report = Report {
            name: draft.name.clone(),
            seen,
            written,
        };
        let text = serde_json::to_string_pretty(&report)
            .map_err(|error| Failure::new(Exit::Invalid, format!("cannot print JSON: {error}")))?;
        context.print(&(text + "\n"));
        return Ok(Exit::Pass);
    }
    let spec = written.first().map(|file| file.path.display().to_string());
    let spec = spec.unwrap_or_default();
    let mut text = String::new();
    for file in &written {
        let what = if file.replaced { "replaced" } else { "wrote" };
        let _ = writeln!(text, "{what} {}", file.path.display());
    }
    let _ = match &draft.seen {
        Some(_) => writeln!(text, "{seen} pins were seen, each with a comment where"),
        None => writeln!(
            text,
            "nothing was asked: see the lines that name your server"
        ),
    };
    let compare = match draft.place {
        Place::Url(_) => format!("infergate ab {spec} --candidate-url http://…"),
        Place::Embedded(_) => format!("infergate ab {spec} --candidate-sim 'demo --slower 20%'"),
        Place::Launch { .. } => format!("infergate ab {spec}   (name its `baseline` first)"),
    };
    let _ = writeln!(
        text,
        "\nnext:\n  infergate check {spec}\n  infergate doctor {spec}\n  {compare}\nand keep `infergate-out/` \
         out of git"
    );
    context.print(&text);
    Ok(Exit::Pass)
}
