//! A commented spec, with everything in it that could be seen of the target.

use std::fmt::Write as _;

use super::quoting::{is_writable, quoted, remark};
use crate::ident::Name;
use crate::provenance::{Observation, Pins};

/// What a spec is to be written of.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The spec's name.
    pub name: Name,
    /// Where the target is.
    pub place: Place,
    /// The variable that holds the target's key, where it asks for one.
    pub key: Option<String>,
    /// What was seen of it; `None` where nobody looked.
    pub seen: Option<Seen>,
}

/// Where a target is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The embedded engine of this profile.
    Embedded(&'static str),
    /// A server that runs.
    Url(String),
    /// An engine that infergate starts, at this URL.
    Launch {
        /// Its URL.
        url: String,
        /// Program and arguments.
        command: Vec<String>,
    },
}

/// What was seen of a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The model that requests name.
    pub model: String,
    /// Other models that it offers.
    pub others: Vec<String>,
    /// Its pins.
    pub pins: Pins,
}

/// A name for a spec of this model: `llama-3.1-8b-instruct` of `meta-llama/Llama-3.1-8B-Instruct`.
pub fn name_of(model: &str) -> Option<Name> {
    let last = model.rsplit('/').next()?.to_ascii_lowercase();
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let text: String = last
        .chars()
        .map(|c| if safe(c) { c } else { '-' })
        .take(48)
        .collect();
    text.trim_matches(['-', '_', '.']).parse().ok()
}

/// The spec of a draft. `check` has nothing to say against it without an archive: every tolerance is
/// 10 %, which the assumed noise lets ten pairs tell.
pub fn spec(draft: &Draft) -> String {
    let mut text = format!(
        "\
# What infergate measures and judges. `infergate check` says whether this file is right, `infergate doctor` what
# is in the way of a run; then `infergate ab`. Lines behind `# ` are examples to take in.
infergate: 1
name: {}
",
        draft.name
    );
    target(draft, &mut text);
    pins(draft, &mut text);
    workload(draft, &mut text);
    gate(&mut text);
    text
}

fn target(draft: &Draft, text: &mut String) {
    text.push_str("\ntarget:\n");
    match &draft.place {
        Place::Embedded(profile) => {
            let _ = writeln!(
                text,
                "  sim: {profile}                     # the embedded engine: put your server's `url` in its place, as in"
            );
            text.push_str("  # url: \"${TARGET_URL:-http://127.0.0.1:8000}\"\n");
        }
        Place::Url(url) | Place::Launch { url, .. } => {
            text.push_str("  # without `/v1`; the variable TARGET_URL goes first\n");
            let _ = writeln!(text, "  url: \"${{TARGET_URL:-{url}}}\"");
        }
    }
    if let Place::Launch { command, .. } = &draft.place {
        let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        text.push_str("  # infergate starts and ends the engine itself, anew for each run\n");
        text.push_str("  launch:\n");
        let _ = writeln!(text, "    command: [{}]", words.join(", "));
        text.push_str("    ready: {http: /health, within: 10m}   # it is up when that answers\n");
    }
    text.push_str("  api: chat                       # or completions\n");
    match &draft.seen {
        Some(seen) if is_writable(&seen.model) => {
            let _ = writeln!(
                text,
                "  model: {}   # seen at /v1/models",
                quoted(&seen.model)
            );
            let others: Vec<String> = seen.others.iter().take(5).map(|name| remark(name)).collect();
            if !others.is_empty() {
                let _ = writeln!(text, "  # it also has: {}", others.join(" | "));
            }
        }
        Some(_) => text.push_str(
            "  # the model's name can't be written here, so the first that the server lists is taken\n",
        ),
        None => text.push_str(
            "  # model: my-model               # else the first that /v1/models lists\n",
        ),
    }
    match &draft.key {
        Some(name) => {
            let _ = writeln!(
                text,
                "  api_key_env: {name}   # the variable that holds the key, never the key itself"
            );
        }
        None => text.push_str(
            "  # api_key_env: TARGET_API_KEY   # the variable that holds the key, never the key itself\n",
        ),
    }
    text.push_str(match draft.place {
        Place::Launch { .. } => {
            "# What `ab` compares the target with: another build, version or set of arguments.\n\
             # baseline: {launch: {command: [builds/main/engine, --port, \"8000\"]}}\n"
        }
        Place::Embedded(_) => {
            "# baseline: {sim: demo}           # what `ab` compares the target with\n"
        }
        Place::Url(_) => {
            "# What `ab` compares the target with, unless `--baseline-url` names it.\n\
             # baseline: {url: \"${BASELINE_URL}\"}\n"
        }
    });
}

/// How a pin that was seen is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declare {
    /// As it is: another value stops a run.
    Literal,
    /// That it is seen, for it may change.
    Observed,
    /// Not: it follows from the spec, or is this machine's own.
    No,
}

fn declare(path: &str) -> Declare {
    match path {
        "engine.version" | "engine.args" | "engine.build" => Declare::Observed,
        _ if path.starts_with("hardware.") => match path {
            "hardware.gpu" | "hardware.count" | "hardware.mig" => Declare::Literal,
            _ => Declare::Observed,
        },
        _ if [
            "model.",
            "precision.",
            "engine.",
            "parallel.",
            "limits.",
            "cache.",
        ]
        .iter()
        .any(|group| path.starts_with(group)) =>
        {
            Declare::Literal
        }
        _ => Declare::No,
    }
}

fn pins(draft: &Draft, text: &mut String) {
    text.push_str(
        "\n\
         # What was measured, recorded in every run. A value that the target contradicts stops the run before any\n\
         # load; `observed` wants it seen, whatever it is. What differs between two sides and is not under test\n\
         # makes them incomparable.\n",
    );
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    let seen = draft.seen.iter().flat_map(|seen| &seen.pins);
    for (path, pin) in seen {
        let Observation::Seen { value, source } = &pin.observed else {
            continue;
        };
        let Some((group, field)) = path.as_str().split_once('.') else {
            continue;
        };
        let source = remark(source);
        let line = match declare(path.as_str()) {
            Declare::No => continue,
            Declare::Literal if path.as_str() == "model.name" => continue,
            Declare::Literal if is_writable(value) => {
                let what = meaning(path.as_str());
                format!(
                    "    {field}: {}   # {what}, seen at {source}",
                    value_of(value)
                )
            }
            Declare::Literal | Declare::Observed => {
                let what = meaning(path.as_str());
                let value = remark(value);
                format!("    {field}: observed   # {what}, seen at {source}: {value}")
            }
        };
        match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, lines)) => lines.push(line),
            None => groups.push((group, vec![line])),
        }
    }
    if groups.is_empty() {
        text.push_str(
            "# pins:\n\
             #   engine: {name: vllm, version: observed}\n\
             #   precision: {weights: fp8}\n\
             #   hardware: {gpu: observed, count: 1}\n\
             #   limits: {max_model_len: 16384}\n",
        );
    } else {
        text.push_str("pins:\n");
        for (group, lines) in groups {
            let _ = writeln!(text, "  {group}:\n{}", lines.join("\n"));
        }
        text.push_str(
            "  # host: {cpu: observed}         # where the engine runs on this machine\n",
        );
    }
    text.push_str(match draft.place {
        Place::Url(_) => {
            "# What may differ between baseline and candidate: one thing at a time.\n\
             under_test: [engine.version]\n"
        }
        Place::Embedded(_) | Place::Launch { .. } => {
            "# What may differ between baseline and candidate: one thing at a time.\n\
             under_test: [engine.args]\n"
        }
    });
}

/// What a pin means.
fn meaning(path: &str) -> &'static str {
    match path {
        "engine.version" => "its release",
        "engine.args" => "what it was started with",
        "limits.max_model_len" => {
            "tokens of prompt and answer together; the workload is held to it"
        }
        "limits.max_num_seqs" => "requests that run at once; more wait",
        "model.chat_template" => "what a conversation is made a prompt by",
        "precision.weights" => "how weights are stored",
        "precision.kv_cache" => "how the KV cache is stored",
        _ => match path.split_once('.') {
            Some(("model", _)) => "which model it is",
            Some(("precision", _)) => "how numbers are stored",
            Some(("parallel", _)) => "over how many devices",
            Some(("hardware", _)) => "the machine that it runs on",
            Some(("limits" | "cache", _)) => "how the engine is set",
            _ => "what serves it",
        },
    }
}

/// A number as it is, everything else in quotes.
fn value_of(text: &str) -> String {
    let plain = text.len() < 10
        && text.bytes().all(|b| b.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'));
    if plain { text.to_owned() } else { quoted(text) }
}

/// The lengths of a first workload: bounded, so that every request fits into the model.
struct Lengths {
    input: (u32, u32),
    output: (u32, u32),
    users: u32,
}

impl Lengths {
    /// 200 to 800 tokens in and 50 to 200 out, less where the model takes less than some 2,500; 8 users, fewer
    /// where the engine runs fewer sequences at once.
    fn of(draft: &Draft) -> Self {
        let number = |path: &str| {
            let pins = &draft.seen.as_ref()?.pins;
            let (_, pin) = pins.iter().find(|(pin, _)| pin.as_str() == path)?;
            pin.value()?.parse::<u32>().ok()
        };
        // As many tokens as the spec's own rule leaves to the chat template.
        let room = number("limits.max_model_len").map_or(u32::MAX, |room| room.saturating_sub(64));
        let up_to = |most: u32| (most / 4).max(1);
        let (input, output) = ((room / 3).clamp(4, 800), (room / 12).clamp(4, 200));
        Self {
            input: (up_to(input), input),
            output: (up_to(output), output),
            users: number("limits.max_num_seqs").unwrap_or(8).clamp(1, 8),
        }
    }
}

fn workload(draft: &Draft, text: &mut String) {
    let Lengths {
        input,
        output,
        users,
    } = Lengths::of(draft);
    let (warmup, why) = match draft.place {
        Place::Embedded(_) => (", warmup: 16", ""),
        Place::Url(_) | Place::Launch { .. } => (
            "",
            "\n  # The warm-up that precedes it takes 30 s and at least 50 requests.",
        ),
    };
    let _ = write!(
        text,
        "
request: {{temperature: 0}}         # fields of every request's body

# The traffic. Lengths, prompts and instants follow from the seed, the same on any machine.
workload:
  seed: 42
  output_length: pinned           # answers have the length that is asked for (`ignore_eos`); natural: the model ends them
  classes:
    - name: chat
      # Tokens: put what your users send here, as {{lognormal: {{p50: 1400, p95: 3500}}}} or `dataset: {{file: prompts.jsonl}}`.
      input: {{uniform: [{}, {}]}}
      output: {{uniform: [{}, {}]}}
      # prefix: {{tokens: 512, groups: 8, share: 60%}}      # shared system prompts
      # slo: {{ttft: 500ms, tpot: 40ms, e2e: 60s}}          # what goodput counts

stages:
  # So many users, each sending when the last answer has ended. It needs no idea of what the engine can do.{why}
  - {{name: steady, closed: {{users: {users}}}, requests: 200{warmup}}}
  # By the clock, whatever the server does: shows queueing and stalls, which users who wait hide. Set the rate to some
  # 60 % of what the sweep says the engine can do.
  # - {{name: open, open: {{rate: 2/s}}, duration: 180s, warmup: 30s}}
  # - {{name: sweep, closed: {{users: [1, 2, 4, 8, 16]}}, duration: 45s, warmup: 10s}}
",
        input.0,
        input.1,
        output.0,
        output.1,
    );
}

fn gate(text: &mut String) {
    text.push_str(
        "
# What is judged. Without archived runs this machine's noise is assumed, and 10 % is about the finest that ten pairs
# tell from it: `infergate calibrate` measures the noise and says how fine your tolerances can be.
gate:
  # repeats: {min: 3, max: 10}    # pairs
  cells:
    - {metric: ttft.p50, stages: [steady], worse_by: 10%, floor: 2ms}   # worse by both, or it doesn't count
    - {metric: ttft.p95, stages: [steady], worse_by: 15%, floor: 5ms}
    - {metric: tpot.p50, stages: [steady], worse_by: 10%, floor: 500us}
    - {metric: e2e.p50, stages: [steady], worse_by: 10%}
    - {metric: output_throughput, stages: [steady], worse_by: 10%}
    - {metric: error_ratio, stages: [steady], at_most: 1%}
    # - {metric: goodput, stages: [open], worse_by: 10%}    # once the class has an `slo`
    # - {metric: ttft.p95, stages: [open], at_most: 1s}
  undecided: undecided            # exit 3; or pass, fail
",
    );
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
