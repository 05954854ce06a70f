//! `infergate schema`: the JSON Schema of each kind of file.

use clap::{Args, ValueEnum};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

use super::context::Context;
use crate::archive::{RECORDS_FORMAT, RecordLine};
use crate::baseline::{ACCEPT_FORMAT, Accept, ENVIRONMENT_FORMAT, Environment};
use crate::baseline::{REFERENCE_FORMAT, Reference};
use crate::capacity::{CAPACITY_FORMAT, CapacityFile};
use crate::exit::Exit;
use crate::report::json::{REPORT_FORMAT, ReportFile};
use crate::report::suite::{SUITE_FORMAT, SuiteFile};
use crate::report::view::{VIEW_FORMAT, View};
use crate::spec::{spec_schema, suite_schema};
use crate::summary::{RUN_FORMAT, Run};

/// Print the JSON Schema of one kind of file
///
/// Draft 2020-12, of what this version reads: every file of this major version is valid by it. Newer
/// minor versions may add fields.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  infergate schema run > run.schema.json
  infergate schema accept                    YAML, as its editor reads it
  infergate schema suite-spec > suite.schema.json")]
pub(super) struct SchemaArgs {
    /// The kind of file
    #[arg(value_enum)]
    kind: FileKind,
}

/// A kind of file that infergate writes or reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FileKind {
    /// One run: `runs/<id>.json`
    Run,
    /// A judgement: `report.json`
    Report,
    /// What stands in an environment: `reference.json`
    Reference,
    /// The pins that make an environment: `environment.json`
    Environment,
    /// An accepted change: `accepts/<date>-<words>.yaml`
    Accept,
    /// What `infergate capacity --json` prints
    Capacity,
    /// A line of per-request records: `records/<id>.jsonl.gz`
    Records,
    /// Several judgements as one: `report.json` of a suite
    Suite,
    /// What a template of yours finds: `--template` of `report`, `compare`, `gate`, `ab` and `publish`
    View,
    /// What you write: a spec, YAML; its top level
    Spec,
    /// What you write: `suite.yaml`
    SuiteSpec,
}

pub(super) fn run(args: &SchemaArgs, context: &mut Context) -> Exit {
    let schema = match args.kind {
        FileKind::Run => schema_of::<Run>(RUN_FORMAT),
        FileKind::Report => schema_of::<ReportFile>(REPORT_FORMAT),
        FileKind::Reference => schema_of::<Reference>(REFERENCE_FORMAT),
        FileKind::Environment => schema_of::<Environment>(ENVIRONMENT_FORMAT),
        FileKind::Accept => schema_of::<Accept>(ACCEPT_FORMAT),
        FileKind::Capacity => schema_of::<CapacityFile>(CAPACITY_FORMAT),
        FileKind::Records => schema_of::<RecordLine>(RECORDS_FORMAT),
        FileKind::Suite => schema_of::<SuiteFile>(SUITE_FORMAT),
        FileKind::View => schema_of::<View>(VIEW_FORMAT),
        FileKind::Spec => return print(&spec_schema(), context),
        FileKind::SuiteSpec => return print(&suite_schema(), context),
    };
    print(&schema, context)
}

fn print(schema: &impl Serialize, context: &mut Context) -> Exit {
    // Of a JSON value already, with text for keys.
    let text = serde_json::to_string_pretty(schema).expect("a schema is JSON");
    context.print(&(text + "\n"));
    Exit::Pass
}

/// The schema of a file that names this format.
fn schema_of<T: JsonSchema>(format: &str) -> Schema {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>();
    schema.insert("title".to_owned(), format.into());
    if let Some(tag) = schema
        .pointer_mut("/properties/format")
        .and_then(Value::as_object_mut)
    {
        tag.insert("const".to_owned(), format.into());
    }
    schema
}
