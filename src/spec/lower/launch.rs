//! `launch`: an engine that is started for a measurement.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::ident::Secret;
use crate::metric::Kind;
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::gate::Gate;
use crate::spec::launch::{Ending, Launch, Ready, StopSignal, Word};
use crate::spec::node::{self, Node};
use crate::spec::place::TargetPlace;
use crate::spec::values;
use crate::spec::variables::is_variable_name;
use crate::unit::Nanos;

const SHAPE: Shape = Shape {
    known: &["command", "env", "dir", "ready", "stop", "logs", "image"],
    later: &[],
    example: "launch: {command: [vllm, serve, my-model], ready: {http: /health, within: 10m}}",
};
const READY: Shape = Shape {
    known: &["http", "within", "then"],
    later: &[],
    example: "ready: {http: /health, within: 10m}",
};
const STOP: Shape = Shape {
    known: &["command", "signal", "grace"],
    later: &[],
    example: "stop: {signal: SIGTERM, grace: 30s}",
};
const COMMAND: &str = "command: [vllm, serve, my-model, --port, \"8000\"]";
const STOP_COMMAND: &str = "stop: [docker, stop, my-engine]";
const LOGS: &str = "logs: [docker, logs, my-engine]";
const IMAGE: &str = "image: vllm/vllm-openai@sha256:…";
const ENV: &str = "env: {CUDA_VISIBLE_DEVICES: \"0\"}";

/// What vLLM, SGLang and llama.cpp answer under when they are up.
const HEALTH: &str = "/health";
/// Large models take minutes to load.
const WITHIN: Nanos = Nanos::from_secs(600);
/// As long as a container is given before it is killed, and more.
const GRACE: Nanos = Nanos::from_secs(30);

/// A launch; a moving image is a warning.
pub(super) fn lower(node: &Node, out: &mut Diagnostics) -> Option<Launch> {
    let fields = Fields::open(node, "`launch`", &SHAPE, out)?;
    let command = fields.need("command", COMMAND, out);
    let command = command.and_then(|node| command_words(node, "`command`", COMMAND, out));
    let env = fields.or("env", BTreeMap::new(), out, environment);
    let dir = fields.optional("dir", out, |node, out| {
        let text = values::text(node, "`dir`", "dir: builds/a", out)?.trim();
        if text.is_empty() {
            fields::wrong_type(node, "`dir`", "a folder's path", "dir: builds/a", out);
            return None;
        }
        Some(PathBuf::from(text))
    });
    let ready = ready(&fields, out);
    let stop = stop(&fields, out);
    let logs = fields.optional("logs", out, |node, out| {
        command_words(node, "`logs`", LOGS, out)
    });
    let image = fields.optional("image", out, image);
    let launch = Launch {
        command: command?,
        env: env?,
        dir: dir.ok()?,
        folder: PathBuf::new(),
        ready: ready?,
        stop: stop?,
        logs: logs.ok()?,
        image: image.ok()?,
    };
    if launch.has_moving_image() {
        out.warning(
            "spec::moving-image",
            fields.key_span("image").unwrap_or(&node.span),
            "`image` is no digest, so another image may be there tomorrow under the same name",
            format!("pin it: `{IMAGE}`, which `docker images --digests` shows"),
        );
    }
    Some(launch)
}

fn image(node: &Node, out: &mut Diagnostics) -> Option<String> {
    let text = values::text(node, "`image`", IMAGE, out)?.trim();
    if text.is_empty() || text.contains(char::is_whitespace) {
        fields::wrong_type(node, "`image`", "an image's name", IMAGE, out);
        return None;
    }
    Some(text.to_owned())
}

fn command_words(
    node: &Node,
    what: &str,
    example: &str,
    out: &mut Diagnostics,
) -> Option<Vec<Word>> {
    let nodes = values::items(node, what, example, out)?;
    let mut words = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let word = word(node, &format!("a word of {what}"), example, out);
        if index == 0 && word.as_ref().is_some_and(|word| word.expose().is_empty()) {
            fields::wrong_type(node, what, "led by a program", example, out);
            return None;
        }
        words.extend(word);
    }
    (words.len() == nodes.len()).then_some(words)
}

fn environment(node: &Node, out: &mut Diagnostics) -> Option<BTreeMap<String, Word>> {
    let node::Kind::Mapping(entries) = &node.kind else {
        fields::wrong_type(node, "`env`", "a mapping", ENV, out);
        return None;
    };
    let mut env = BTreeMap::new();
    for entry in entries {
        if !is_variable_name(&entry.key) {
            out.error(
                "spec::bad-name",
                &entry.key_span,
                "`env` has a name that is no variable's",
                "use letters, digits and `_`, no digit first",
            );
            continue;
        }
        if let Some(word) = word(&entry.value, "a value of `env`", ENV, out) {
            env.insert(entry.key.clone(), word);
        }
    }
    (env.len() == entries.len()).then_some(env)
}

/// A text that a process can be given.
fn word(node: &Node, what: &str, example: &str, out: &mut Diagnostics) -> Option<Word> {
    let text = values::text(node, what, example, out)?.to_owned();
    if text.contains('\0') {
        out.error(
            "spec::bad-value",
            &node.span,
            format!("{what} has a NUL in it, which no process can be given"),
            format!("write it like `{example}`"),
        );
        return None;
    }
    let expanded = node.scalar().is_some_and(|scalar| scalar.expanded);
    Some(if expanded {
        Word::Filled(Secret::new(text))
    } else {
        Word::Written(text)
    })
}

fn ready(fields: &Fields<'_>, out: &mut Diagnostics) -> Option<Ready> {
    let section = fields.section("ready", &READY, out)?;
    let http = section.or("http", HEALTH.to_owned(), out, |node, out| {
        let text = values::text(node, "`http`", "http: /health", out)?;
        let plain = |c: char| c.is_ascii_graphic() && c != '#';
        if text.starts_with('/') && text.chars().all(plain) {
            return Some(text.to_owned());
        }
        out.error(
            "spec::bad-url",
            &node.span,
            format!(
                "`http` is a path below the target's URL, not {}",
                node.describe()
            ),
            "write it like `http: /health`",
        );
        None
    });
    let within = section.or("within", WITHIN, out, |node, out| {
        values::time(node, "`within`", "within: 10m", out)
    });
    let then = section.or("then", false, out, |node, out| {
        values::choice(node, "`then`", &[("first request", true)], &[], out)
    });
    Some(Ready {
        http: http?,
        within: within?,
        first_request: then?,
    })
}

fn stop(fields: &Fields<'_>, out: &mut Diagnostics) -> Option<Ending> {
    let whole = fields.get("stop", out);
    if let Some(node) = whole
        && matches!(node.kind, node::Kind::Sequence(_))
    {
        return Some(Ending {
            command: Some(command_words(node, "`stop`", STOP_COMMAND, out)?),
            signal: StopSignal::Term,
            grace: GRACE,
        });
    }
    let section = fields.section("stop", &STOP, out)?;
    let command = section.optional("command", out, |node, out| {
        command_words(node, "`command`", STOP_COMMAND, out)
    });
    let signal = section.or("signal", StopSignal::Term, out, |node, out| {
        let options = StopSignal::ALL.map(|signal| (signal.name(), signal));
        values::choice(node, "`signal`", &options, &[], out)
    });
    let grace = section.or("grace", GRACE, out, |node, out| {
        values::time(node, "`grace`", "grace: 30s", out)
    });
    Some(Ending {
        command: command.ok()?,
        signal: signal?,
        grace: grace?,
    })
}

/// Refuses to gate how an engine comes up that nobody launches.
pub(super) fn refuse_cold(
    target: &TargetPlace,
    baseline: Option<&TargetPlace>,
    gate: &Gate,
    out: &mut Diagnostics,
) {
    let is_launched = |place: &TargetPlace| matches!(place, TargetPlace::Launched { .. });
    let mut seen = BTreeSet::new();
    for gated in &gate.cells {
        let metric = gated.cell.metric.metric();
        let Some(place) = gated
            .place
            .as_ref()
            .filter(|_| metric.kind() == Kind::OfRun)
        else {
            continue;
        };
        let who = if !is_launched(target) {
            "the target"
        } else if gated.limit.is_relative() && !baseline.is_none_or(is_launched) {
            "the baseline"
        } else {
            continue;
        };
        if seen.insert(metric) {
            out.error(
                "spec::needs-launch",
                place,
                format!("`{metric}` is of an engine that is launched, and {who} is not"),
                "give it a `launch`, or gate something else",
            );
        }
    }
}
