//! What was found in a file, as a run.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{Found, FoundStage};
use super::notes::{Code, Notes};
use super::secrets::Secrets;
use super::tools::Tool;
use super::{ImportError, Options, instant, records, reduced, spec_text};
use crate::diag::Source;
use crate::ident::Digest;
use crate::plan::PromptCalibration;
use crate::provenance::{Declared, Observation, Pin, PinPath, Pins, Why};
use crate::spec::{self, CacheRegime, FileAsk, Spec};
use crate::summary::{
    ClientStamp, Origin, OriginCaveat, RUN_FORMAT, Run, RunEnd, SpecStamp, StageSummary,
};

/// Longest text of another tool that is kept.
const LONGEST: usize = 500;

/// The file that a run is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// Its name, without its folder.
    pub(super) file: &'a str,
    /// Its digest.
    pub(super) digest: Digest,
    /// Which run of the file it is, from 0.
    pub(super) index: usize,
    /// What must not be shown of it.
    pub(super) secrets: &'a Secrets,
}

/// The run.
pub(super) fn run(
    tool: &Tool,
    mut found: Found,
    place: Place<'_>,
    options: &Options,
) -> Result<Run, ImportError> {
    if found
        .stages
        .iter()
        .all(|stage| spec_text::requests(stage) == 0)
    {
        return Err(ImportError::Empty {
            file: place.file.to_owned(),
            tool: tool.name,
        });
    }
    found.stages.retain(|stage| spec_text::requests(stage) > 0);
    let names = names(&found.stages);
    let named: Vec<(String, &FoundStage)> = names.into_iter().zip(&found.stages).collect();
    let name = format!("import-{}", tool.tag.split('/').next().unwrap_or(tool.tag));
    let text = spec_text::write(&name, &named, &options.slo);
    let spec = parsed(&text, place.file)?;
    let mut stages = Vec::new();
    for (index, (name, stage)) in named.iter().enumerate() {
        capped(stage, &mut found.notes);
        stages.push(if stage.each.is_empty() {
            reduced::summarise(stage, name, &mut found.notes)
        } else {
            short_answers(stage, &mut found.notes);
            records::summarise(stage, index, &spec).ok_or_else(|| ImportError::Empty {
                file: place.file.to_owned(),
                tool: tool.name,
            })?
        });
    }
    if stages.iter().any(|stage| stage.health.is_none()) {
        found.notes.lossy(
            "client health",
            "the tool does not say how late its requests left",
        );
    }
    let settings = found
        .settings
        .iter()
        .map(|(key, value)| (key.clone(), shown(value, place.secrets)))
        .collect();
    let mut stamp = SpecStamp::of(&spec, CacheRegime::default());
    // What both sides know is held against each other, not what this text makes of it.
    stamp.workload_digest = Digest::of(b"another tool's");
    stamp.settings = Some(settings);
    let elapsed_s = stages.iter().map(|stage| stage.window_s).sum();
    Ok(Run {
        format: RUN_FORMAT.to_owned(),
        definition: found
            .definition
            .clone()
            .unwrap_or_else(|| tool.tag.to_owned()),
        id: id(&found, place),
        session: session(tool, &found),
        pair: None,
        side: None,
        started: found
            .started
            .map_or_else(|| "unknown".to_owned(), instant::rfc3339),
        elapsed_s,
        end: RunEnd::Complete,
        spec: stamp,
        source: None,
        untrusted: false,
        trace_digest: Digest::of(b"another tool's"),
        salt: String::new(),
        prompt_calibration: PromptCalibration::ASSUMED,
        pins: pins(tool, &found, place.secrets, options),
        cold_start: None,
        network: None,
        client: ClientStamp {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: found
                .target
                .as_ref()
                .map_or_else(|| "unknown".to_owned(), |url| shown(url, place.secrets)),
        },
        stages: stages
            .into_iter()
            .map(|stage| masked(stage, place.secrets))
            .collect(),
        skipped: Vec::new(),
        imported: BTreeMap::new(),
        origin: Some(origin(tool, &found, place)),
        shard: None,
        merged: Vec::new(),
    })
}

fn parsed(text: &str, file: &str) -> Result<Spec, ImportError> {
    let source = Source {
        path: "the imported load".to_owned(),
        text: text.to_owned(),
    };
    let nothing = |_: FileAsk<'_>| Err("it names no file".to_owned());
    let parsed = spec::parse(&source, &|_| None, &nothing);
    parsed
        .map(|parsed| parsed.spec)
        .map_err(|diagnostics| ImportError::NoSpec {
            file: file.to_owned(),
            why: diagnostics
                .into_iter()
                .map(|one| one.message)
                .collect::<Vec<_>>()
                .join("; "),
        })
}

/// A name for each stage: its own where it is one, each once.
fn names(stages: &[FoundStage]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    stages
        .iter()
        .map(|stage| {
            let mut name: String = stage
                .name
                .chars()
                .map(|c| {
                    if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                        c
                    } else {
                        '-'
                    }
                })
                .skip_while(|c| !c.is_ascii_alphanumeric())
                .take(40)
                .collect();
            if name.is_empty() {
                "load".clone_into(&mut name);
            }
            let mut unique = name.clone();
            let mut number = 2;
            while !taken.insert(unique.clone()) {
                unique = format!("{name}-{number}");
                number += 1;
            }
            unique
        })
        .collect()
}

/// Unique, the same whenever the file is read, and sorted by time where that is known.
fn id(found: &Found, place: Place<'_>) -> String {
    let at = found
        .started
        .map_or_else(|| "undated".to_owned(), instant::compact);
    let suffix = if place.index == 0 {
        String::new()
    } else {
        format!("-{}", place.index)
    };
    format!("{at}-{}{suffix}", place.digest.short())
}

/// Runs of one day, and all whose day nobody knows, are one session: what was measured in one go says
/// nothing about how days differ.
fn session(tool: &Tool, found: &Found) -> String {
    if let Some(session) = &found.session {
        return session.clone();
    }
    let name = tool.tag.split('/').next().unwrap_or(tool.tag);
    match found.started {
        Some(started) => format!("import-{name}-{}", instant::day(started)),
        None => format!("import-{name}-undated"),
    }
}

fn pins(tool: &Tool, found: &Found, secrets: &Secrets, options: &Options) -> Pins {
    let mut pins: Pins = PinPath::all()
        .map(|path| {
            let observed = found.pins.get(&path).map_or_else(
                || Observation::Unknown(Why::NotReported),
                |value| Observation::Seen {
                    value: shown(value, secrets),
                    source: tool.name.to_owned(),
                },
            );
            let pin = Pin {
                declared: None,
                observed,
            };
            (path, pin)
        })
        .collect();
    for (path, value) in &options.pins {
        if let Some(pin) = pins.get_mut(path) {
            pin.declared = Some(Declared::Literal(value.clone()));
        }
    }
    pins
}

fn origin(tool: &Tool, found: &Found, place: Place<'_>) -> Origin {
    let notes = &found.notes;
    Origin {
        tool: tool.name.to_owned(),
        version: found
            .version
            .as_ref()
            .map(|version| shown(version, place.secrets)),
        shape: found.shape.to_owned(),
        file: shown(place.file, place.secrets),
        sha256: place.digest.hex(),
        lossy: notes
            .lossy
            .iter()
            .map(|(what, why)| (what.clone(), shown(why, place.secrets)))
            .collect(),
        caveats: notes
            .caveats
            .iter()
            .map(|caveat| OriginCaveat {
                code: caveat.code.clone(),
                message: shown(&caveat.message, place.secrets),
            })
            .collect(),
    }
}

fn masked(mut stage: StageSummary, secrets: &Secrets) -> StageSummary {
    let mut errors = BTreeMap::new();
    for (text, count) in std::mem::take(&mut stage.pooled.errors) {
        let counted: &mut u64 = errors.entry(shown(&text, secrets)).or_insert(0);
        *counted = counted.saturating_add(count);
    }
    stage.pooled.errors = errors;
    stage
}

/// A text of the file as it may be kept: without secrets and control characters, and not long.
fn shown(text: &str, secrets: &Secrets) -> String {
    let one_line: String = secrets
        .clean(text)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LONGEST)
        .collect();
    one_line.trim().to_owned()
}

/// Says so of a load with both a rate and a cap: which of the two it was, only its waits would tell.
fn capped(stage: &FoundStage, notes: &mut Notes) {
    if let (Some(rate), Some(users)) = (stage.rate_rps, stage.users) {
        notes.doubt(
            Code::CappedLoad,
            format!(
                "requests were due at {rate}/s with at most {users} in flight: one that had to wait for its turn was sent \
                 late, and that wait is in no latency"
            ),
        );
    }
}

/// Answers that count as good and are shorter than was asked for: what a stream that ended in an error leaves.
///
/// Where nobody tells what was asked for, a length that more than half of the answers have and none exceeds was
/// forced: answers that end by themselves scatter. Otherwise a shorter one says nothing.
fn short_answers(stage: &FoundStage, notes: &mut Notes) {
    let good = || stage.each.iter().filter(|each| each.outcome.ended_well());
    let lengths: Vec<u32> = good().filter_map(|each| each.output).collect();
    let Some(longest) = lengths.iter().max() else {
        return;
    };
    let of_longest = lengths.iter().filter(|length| *length == longest).count();
    let short = lengths.len() - of_longest;
    if short > 0 && (2 * of_longest > lengths.len() || stage.asked_output == Some(*longest)) {
        notes.doubt(
            Code::ShortAnswers,
            format!(
                "{short} of {} answers that the tool counts as good have fewer tokens than the {longest} of all others: \
                 it may count streams that ended in an error as good",
                lengths.len()
            ),
        );
    }
}
