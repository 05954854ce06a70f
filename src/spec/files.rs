//! The files that a spec names: traces of stages, prompts and lengths of classes.

use serde::{Deserialize, Serialize};

use super::replay::ReplayStamp;
use super::rows::RowsStamp;
use crate::ident::Digest;

/// Which file a spec asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileAsk<'s> {
    /// What reads it.
    pub reader: Reader<'s>,
    /// The path as the spec has it, relative to the spec.
    pub file: &'s str,
}

/// What reads a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader<'s> {
    /// The stage of this name, which replays a trace.
    Stage(&'s str),
    /// The class of this name, which takes its rows.
    Class(&'s str),
    /// A check of answers, which takes it as a JSON Schema.
    Schema,
    /// The spec itself, which takes what it does not say from there. Whoever gives it decides what may be
    /// measured and what passes.
    Extends,
}

/// What there is of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum FileText {
    /// Its text.
    Whole(String),
    /// What a run has kept of a trace: enough to judge, not to replay.
    Replay(ReplayStamp),
    /// What a run has kept of a class's rows.
    Rows(RowsStamp),
    /// What a run has kept of a schema.
    Schema(SchemaStamp),
}

/// What a run keeps of a JSON Schema's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SchemaStamp {
    /// The path as the spec has it.
    pub file: String,
    /// Digest of the schema.
    pub digest: Digest,
}

/// Where files come from; an error completes the sentence "the trace `x.csv` cannot be read: …".
pub type Files<'t> = &'t dyn Fn(FileAsk<'_>) -> Result<FileText, String>;
