//! `infergate demo`: the whole journey on the embedded engine, in a minute.

use std::path::PathBuf;

use clap::Args;

use super::ab::{AbRequest, SideArgs, interleave};
use super::context::Context;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::judge::Show;
use super::lock::LockArgs;
use super::member::Member;
use super::sitting::open_sitting_in;
use super::source::load_spec;
use crate::archive::save_text;
use crate::exit::Exit;

/// The spec that the demo leaves in its folder.
const SPEC: &str = include_str!("../../templates/demo.yaml");

/// What the candidate is: the same engine with slower prefill.
const CANDIDATE: &str = "demo --slower-prefill 30%";

/// See a regression found, in a minute
///
/// Compares the embedded engine with itself, slowed down on purpose, in five pairs of short runs,
/// and prints the report. Needs no GPU, no token and no network. Leaves the spec, the runs and the
/// report in a folder of their own. The demo itself exits 0 and shows the gate's verdict.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate demo
  infergate demo --out /tmp/demo")]
pub(super) struct DemoArgs {
    /// Folder for the spec, the runs and the report
    #[arg(long, default_value = "infergate-demo", value_name = "DIR")]
    out: PathBuf,
}

pub(super) async fn run(
    args: DemoArgs,
    context: &mut Context,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let unique = context.unique("session");
    let session = format!("demo-{}-{}", context.stamp(), &unique[..4]);
    let folder = args.out.join(&session);
    let spec_path = args.out.join("spec.yaml");
    if std::fs::read_to_string(&spec_path).is_ok_and(|text| text != SPEC) {
        return Err(Failure::usage(format!(
            "`{}` is there already and is not the demo's: choose another folder with `--out DIR`",
            spec_path.display()
        )));
    }
    save_text(&spec_path, SPEC)?;
    let spec = load_spec(&Member::of(&spec_path), context)?;
    context.note("baseline:  the embedded engine, `demo`");
    context.note(&format!(
        "candidate: the same with slower prefill, `{CANDIDATE}`"
    ));
    context.note("5 pairs of 4-second runs; the noise of this machine is assumed, not measured\n");
    let mut sitting = open_sitting_in(&spec, &folder, session, context)?;
    let sides = SideArgs {
        candidate_sim: Some(CANDIDATE.to_owned()),
        ..SideArgs::default()
    };
    let request = AbRequest {
        spec: &spec,
        path: &spec_path,
        sides: &sides,
        archive: None,
        footing: None,
        lock: &LockArgs::NONE,
        show: &Show::default(),
    };
    let verdict = interleave(request, &mut sitting, context, interrupt).await?;
    let code = verdict.code();
    context.print(&format!(
        "\nAs a gate this exits {code} ({}).\n\
         Spec, runs, records and report are in {}\n\
         Next: infergate ab {} --candidate-sim demo        the engine against itself, unchanged\n\
         Then: copy that spec, give it your server's URL, and run `infergate check` and `infergate ab` on it\n",
        verdict.meaning(),
        folder.display(),
        spec_path.display(),
    ));
    // A crowded machine makes an invalid measurement; that is worth an exit code even here.
    Ok(if verdict == Exit::Invalid {
        Exit::Invalid
    } else {
        Exit::Pass
    })
}
