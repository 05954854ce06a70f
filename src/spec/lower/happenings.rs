//! `events` of a stage: what happens to the target while it is loaded.

use std::ops::Range;
use std::path::PathBuf;

use super::workload::{duplicate_name, named};
use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::happening::{Action, Happening, Method, Trouble};
use crate::spec::model::{Extent, Target};
use crate::spec::node::{Kind, Node};
use crate::spec::place::TargetPlace;
use crate::spec::values;
use crate::unit::Nanos;

use super::target::base_url;

const EXAMPLE: &str = "events: [{name: kill, at: 60s, command: [docker, kill, engine-2]}]";
const SHAPE: Shape = Shape {
    known: &[
        "name", "at", "command", "http", "sim", "replica", "for", "within",
    ],
    later: &["shell"],
    example: "{name: kill, at: 60s, command: [docker, kill, engine-2], within: 10s}",
};
const HTTP: Shape = Shape {
    known: &["method", "path", "url", "body"],
    later: &["headers", "expect"],
    example: "http: {method: POST, path: /sleep, body: '{\"level\": 1}'}",
};
const KINDS: [&str; 3] = ["command", "http", "sim"];
const COMMAND: &str = "command: [docker, kill, engine-2]";
const URL: &str = "url: http://gateway:9000/replicas";
/// Time that an action has where the spec says nothing.
const WITHIN: Nanos = Nanos::from_secs(30);
/// Events of one stage at the most.
const MOST: usize = 100;

/// An event as written.
pub(super) struct Draft {
    pub(super) happening: Happening,
    span: Range<usize>,
}

/// The events of a stage, in order of time.
pub(super) fn lower(node: &Node, out: &mut Diagnostics) -> Option<Vec<Draft>> {
    let items = values::items(node, "`events`", EXAMPLE, out)?;
    if items.len() > MOST {
        fields::out_of_range(node, "`events`", format!("a stage has at most {MOST}"), out);
        return None;
    }
    let mut drafts: Vec<Draft> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let Some(happening) = happening(item, index, out) else {
            continue;
        };
        if drafts.iter().any(|d| d.happening.name == happening.name) {
            duplicate_name("event", &item.span, &happening.name, out);
            continue;
        }
        drafts.push(Draft {
            happening,
            span: item.span.clone(),
        });
    }
    let complete = drafts.len() == items.len();
    drafts.sort_by_key(|draft| draft.happening.at);
    complete.then_some(drafts)
}

fn happening(node: &Node, index: usize, out: &mut Diagnostics) -> Option<Happening> {
    let fields = Fields::open(node, named("event", node), &SHAPE, out)?;
    let name = fields.or("name", format!("event-{}", index + 1), out, |node, out| {
        Some(values::name(node, "`name`", "name: kill", out)?.to_string())
    });
    let at = fields.need("at", "at: 60s", out);
    let at = at.and_then(|node| values::quantity::<Nanos>(node, "`at`", "at: 60s", out));
    let within = fields.or("within", WITHIN, out, |node, out| {
        values::time(node, "`within`", "within: 10s", out)
    });
    let kind = fields.exactly_one(&KINDS, COMMAND, out);
    if kind != Some("sim") {
        for key in ["replica", "for"] {
            if let Some(span) = fields.key_span(key) {
                out.error(
                    "spec::conflicting-fields",
                    span,
                    format!("`{key}` is of the embedded engine's own trouble, `sim`"),
                    "a command or call that undoes it is an event of its own, with its own `at`",
                );
                return None;
            }
        }
    }
    let action = match kind? {
        "command" => command(fields.get("command", out)?, out),
        "http" => http(fields.get("http", out)?, out),
        _ => embedded(&fields, out),
    };
    Some(Happening {
        name: name?,
        at: at?,
        action: action?,
        within: within?,
    })
}

fn command(node: &Node, out: &mut Diagnostics) -> Option<Action> {
    if matches!(node.kind, Kind::Scalar(_)) {
        fields::wrong_type(
            node,
            "`command`",
            "a list of words, which no shell reads",
            COMMAND,
            out,
        );
        return None;
    }
    let items = values::items(node, "`command`", COMMAND, out)?;
    let words: Option<Vec<String>> = items
        .iter()
        .map(|item| {
            let text = values::text(item, "a word of `command`", COMMAND, out)?;
            if text.contains('\0') {
                fields::wrong_type(
                    item,
                    "a word of `command`",
                    "a text without NUL",
                    COMMAND,
                    out,
                );
                return None;
            }
            Some(text.to_owned())
        })
        .collect();
    let words = words?;
    if words.first().is_none_or(String::is_empty) {
        fields::wrong_type(node, "`command`", "led by a program", COMMAND, out);
        return None;
    }
    Some(Action::Command {
        words,
        folder: PathBuf::new(),
    })
}

fn http(node: &Node, out: &mut Diagnostics) -> Option<Action> {
    let fields = Fields::open(node, "`http`", &HTTP, out)?;
    let method = fields.or("method", Method::Post, out, |node, out| {
        let options = Method::ALL.map(|method| (method.name(), method));
        values::choice(node, "`method`", &options, &[], out)
    });
    let to = if fields.exactly_one(&["path", "url"], "path: /sleep", out)? == "path" {
        let node = fields.get("path", out)?;
        let text = values::text(node, "`path`", "path: /sleep", out)?;
        let plain = |c: char| c.is_ascii_graphic() && c != '#';
        if !text.starts_with('/') || !text.chars().all(plain) {
            out.error(
                "spec::bad-url",
                &node.span,
                format!(
                    "`path` is a path below the target's URL, not {}",
                    node.describe()
                ),
                "write it like `path: /sleep`, or name another server by `url`",
            );
            return None;
        }
        text.to_owned()
    } else {
        let node = fields.get("url", out)?;
        let text = values::text(node, "`url`", URL, out)?.trim();
        let base = text.split(['?', '#']).next().unwrap_or_default();
        if let Err(fault) = base_url(base) {
            let help = format!("write it like `{URL}`");
            out.error("spec::bad-url", &node.span, format!("`url` {fault}"), help);
            return None;
        }
        text.to_owned()
    };
    let body = fields.optional("body", out, |node, out| {
        let example = "body: '{\"replicas\": 1}'";
        let text = values::text(node, "`body`", example, out)?;
        if serde_json::from_str::<serde_json::Value>(text).is_err() {
            fields::wrong_type(node, "`body`", "a text of JSON", example, out);
            return None;
        }
        Some(text.to_owned())
    });
    Some(Action::Http {
        method: method?,
        to,
        body: body.ok()?,
    })
}

fn embedded(fields: &Fields<'_>, out: &mut Diagnostics) -> Option<Action> {
    let node = fields.get("sim", out)?;
    let options = Trouble::ALL.map(|trouble| (trouble.name(), trouble));
    let trouble = values::choice(node, "`sim` of an event", &options, &[], out);
    let replica = fields.or("replica", 1, out, |node, out| {
        values::whole_number(node, "`replica`", 1..=u32::MAX, "replica: 2", out)
    });
    let lasts = fields.optional("for", out, |node, out| {
        values::time(node, "`for`", "for: 20s", out)
    });
    let (trouble, replica, lasts) = (trouble?, replica?, lasts.ok()?);
    let wrong = match (trouble, lasts) {
        (Trouble::Drop, Some(_)) => Some("`drop` is over at once, and `for` says how long"),
        (Trouble::Stall | Trouble::Refuse, None) => Some("it has to end again: `for` is missing"),
        _ => None,
    };
    if let Some(wrong) = wrong {
        out.error(
            "spec::contradiction",
            fields.key_span("for").unwrap_or(&node.span),
            wrong,
            "`kill` may have a `for`, `stall` and `refuse` need one, `drop` has none: \
             `{at: 60s, sim: stall, for: 5s}`",
        );
        return None;
    }
    Some(Action::Embedded {
        trouble,
        replica,
        lasts,
    })
}

/// Refuses events that can't happen: after the window, or at a replica that is not there.
pub(super) fn refuse_late(drafts: &[Draft], extent: Extent, out: &mut Diagnostics) -> Option<()> {
    let Extent::Duration(window) = extent else {
        return Some(());
    };
    let Some(late) = drafts.iter().find(|draft| draft.happening.at >= window) else {
        return Some(());
    };
    out.error(
        "spec::out-of-range",
        &late.span,
        format!(
            "the event `{}` is at {}, and its stage's window ends at {window}",
            late.happening.name, late.happening.at
        ),
        "let it come sooner, or lengthen the stage: what follows from it is measured in the window",
    );
    None
}

/// The same of the target.
pub(super) fn refuse_elsewhere(drafts: &[Draft], target: &Target, out: &mut Diagnostics) {
    for Draft { happening, span } in drafts {
        let Action::Embedded { replica, .. } = &happening.action else {
            continue;
        };
        let replicas = target.place.replicas();
        if matches!(target.place, TargetPlace::Launched { .. }) {
            out.error(
                "spec::contradiction",
                span,
                "`sim` is trouble of the embedded engine, and the target launches another one",
                "use a `command` or an `http` call",
            );
        } else if *replica as usize > replicas {
            out.error(
                "spec::out-of-range",
                span,
                format!("there is no replica {replica}: the target has {replicas}"),
                "number replicas from 1; `target: {sim: demo, replicas: 2}` starts two",
            );
        }
    }
}
