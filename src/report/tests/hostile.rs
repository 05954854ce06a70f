//! Whatever others write into a run or a judgement, the report stays a report.
//!
//! Every string of a run and of a judgement that may be free text is found by trying: those that
//! still deserialise after being replaced are replaced, all at once, so that a new field is
//! covered the day it is added.

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::lang::Lang;
use crate::report::json::ReportFile;
use crate::report::{Sides, build, comment, markdown, run, text};
use crate::sample::OutcomeKind;
use crate::summary::{
    BothCounts, CountOf, CrossCheck, EngineFigures, EngineView, GpuView, InvalidReason, Run, RunEnd,
};
use crate::verdict::{CellState, Judgement, Reason};

use super::fixture;

/// What has been used against Markdown, GitHub's links, templates and terminals.
pub(super) const HOSTILE: &[&str] = &[
    "@octocat",
    "ping @org/team now",
    "a|b",
    "`tick",
    "``` fence",
    "`code` `@octocat`",
    "<img src=x onerror=alert(1)>",
    "</code></details><h1>",
    "[click](https://evil.example)",
    "![pixel](https://evil.example/x.png)",
    "[ref]: https://evil.example",
    "www.evil.example",
    "line\nbreak\r\n# heading",
    "-->",
    "<!-- infergate:report v=1 key=default -->",
    "right\u{202e}to left",
    "zero\u{200b}width",
    "\u{1b}[31mred\u{7}",
    "{{ 7*7 }}",
    "{% include 'x' %}",
    "#1",
    "GH-1",
    "owner/repo#1",
    "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    "$math$",
    "$$x$$",
    ":smile:",
    "&#64;octocat",
    "trailing \\",
    "**bold** _it_ ~~no~~",
    "1. list",
    "- list",
    "> quote",
    "===",
    "::error::x",
    ":",
    "##",
    "##[error]x",
    "](//evil.example)",
    "(//evil.example)",
    "[x]",
    "a@b.example",
    "",
    " ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_text_stays_text(hostile in hostile()) {
        check(&hostile);
    }
}

#[test]
fn each_known_attack_stays_text() {
    for hostile in HOSTILE {
        check(hostile);
    }
}

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => prop::sample::select(HOSTILE).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
        1 => "[ -~]{0,6}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

fn check(hostile: &str) {
    let run = poison(&crowded_run(), hostile);
    let judgement = poison(&crowded_judgement(), hostile);
    let runs = [run.clone(), fixture::run("b", "0.11.0", 1.0)];
    let reproduce = [hostile.to_owned()];
    let sides = Sides {
        title: hostile,
        baseline: &runs,
        candidate: &runs,
        reproduce: &reproduce,
        places: &[],
    };
    let report = build(&judgement, &sides);
    let single = run::build(&run);
    // A file that somebody wrote by hand, with what should be our words in it.
    let forged_file = poison(&ReportFile::new(&judgement, &sides), hostile);
    let forged = forged_file.model();
    for page in [
        markdown::report(&report, Lang::En),
        markdown::run(&single),
        markdown::report(&forged, Lang::En),
        comment(
            &[forged_file.clone(), forged_file.clone()],
            65_000,
            Lang::En,
        )
        .text,
        comment(std::slice::from_ref(&forged_file), 3_000, Lang::En).text,
        super::template::short().page(&[forged_file.clone(), forged_file], 65_000),
    ] {
        assert_markdown(&page, hostile);
    }
    for lines in [
        text::report(&report, Lang::En),
        text::run(&single),
        text::report(&forged, Lang::En),
    ] {
        for line in lines {
            let bad = line
                .text
                .chars()
                .find(|c| c.is_control() || is_invisible(*c));
            assert_eq!(bad, None, "{:?} from {hostile:?}", line.text);
            let command = line.text.trim_start().starts_with("::") || line.text.contains("##[");
            assert!(!command, "{:?} from {hostile:?}", line.text);
        }
    }
}

/// A run with every optional string filled.
fn crowded_run() -> Run {
    let mut run = fixture::run("a", "0.12.0", 1.0);
    run.end = RunEnd::TargetLost {
        error: "lost".to_owned(),
    };
    let stage = &mut run.stages[0];
    stage.invalid = vec![InvalidReason::NoRequests];
    stage.engine = Some(EngineView::Seen(Box::new(EngineFigures {
        engine: "vllm".to_owned(),
        caveats: vec!["restarted".to_owned()],
        cross_check: Some(CrossCheck {
            inexact: Some("one failed".to_owned()),
            counts: vec![BothCounts {
                of: CountOf::OutputTokens,
                client: 24,
                engine: 96,
            }],
            times: Vec::new(),
        }),
        ..EngineFigures::default()
    })));
    stage.gpus = Some(GpuView::Unknown {
        why: "no GPU".to_owned(),
    });
    stage.pooled.outcomes.insert(OutcomeKind::Timeout, 3);
    stage.pooled.errors.insert("oops".to_owned(), 3);
    stage
        .classes
        .insert("chat".to_owned(), stage.pooled.clone());
    run
}

/// A judgement with every kind of reason.
fn crowded_judgement() -> Judgement {
    let mut judgement = fixture::regression();
    let text = || "x".to_owned();
    let reasons = [
        Reason::ClientFault { what: text() },
        Reason::Absent { why: text().into() },
        Reason::Advisory {
            what: text().into(),
        },
    ];
    for (finding, reason) in judgement.findings.iter_mut().zip(reasons) {
        finding.cell.class = Some(text());
        finding.state = CellState::Invalid;
        finding.reason = Some(reason);
    }
    judgement.policy = Some(text().into());
    judgement.advice = vec![fixture::advice("x", Some("x"))];
    let mut blocking = fixture::version_pin();
    (blocking.under_test, blocking.blocks) = (false, true);
    judgement.pins.push(blocking);
    judgement
}

/// Replaces every string that may be any string.
fn poison<T: Serialize + DeserializeOwned>(subject: &T, hostile: &str) -> T {
    let mut json = serde_json::to_value(subject).unwrap();
    let mut pointers = Vec::new();
    strings(&json, "", &mut pointers);
    for pointer in pointers {
        let place = json.pointer_mut(&pointer).unwrap();
        let before = std::mem::replace(place, Value::from(hostile));
        if serde_json::from_value::<T>(json.clone()).is_err() {
            *json.pointer_mut(&pointer).unwrap() = before;
        }
    }
    rename_keys(&mut json, hostile);
    serde_json::from_value(json).unwrap()
}

fn strings(json: &Value, at: &str, out: &mut Vec<String>) {
    match json {
        Value::String(_) => out.push(at.to_owned()),
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                strings(item, &format!("{at}/{i}"), out);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                strings(item, &format!("{at}/{key}"), out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Keys of the two maps whose keys are free text.
fn rename_keys(json: &mut Value, hostile: &str) {
    match json {
        Value::Array(items) => items.iter_mut().for_each(|v| rename_keys(v, hostile)),
        Value::Object(map) => {
            for (key, item) in map.iter_mut() {
                if let (true, Some(inner)) = (
                    matches!(key.as_str(), "errors" | "classes"),
                    item.as_object_mut(),
                ) {
                    let old = std::mem::take(inner);
                    inner.extend(old.into_iter().map(|(_, v)| (hostile.to_owned(), v)));
                }
                rename_keys(item, hostile);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Outside code there is nothing but our own markup; inside there is nothing that ends it.
fn assert_markdown(page: &str, hostile: &str) {
    let ran = page.contains("49") && !hostile.contains("49");
    assert!(!ran, "a template ran what it printed");
    let mut columns = None;
    let mut fence: Option<&str> = None;
    for line in page.lines() {
        // What prints it to the log of a job runs nothing.
        assert!(
            !line.trim_start().starts_with("::") && !line.contains("##["),
            "{line}"
        );
        // Nothing is markup within a fence, and only as long a one ends it.
        if let Some(end) = fence {
            fence = (line != end).then_some(end);
            continue;
        }
        if let Some(start) = line
            .strip_suffix("diff")
            .filter(|start| start.starts_with("```"))
        {
            fence = Some(start);
            continue;
        }
        let bare = without_code(line, hostile);
        let bare = bare
            .trim_start_matches("### ")
            .replace("<details>", "")
            .replace("</details>", "")
            .replace("<summary>", "")
            .replace("</summary>", "");
        let context = || format!("{line:?}\nwithout code {bare:?}\nfrom {hostile:?}");
        for bad in [
            "@", "#", "<", ">", "$", "{", "}", "`", "~", "_", "\\", "](", "![", "]:", "www.",
            "http", "-->", "&", "!",
        ] {
            assert!(!bare.contains(bad), "{bad} in {}", context());
        }
        let pieces: Vec<&str> = bare.split(':').collect();
        let emoji = pieces.len() > 2
            && pieces[1..pieces.len() - 1].iter().any(|name| {
                !name.is_empty()
                    && name
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || "_+".contains(c))
            });
        assert!(!emoji, "emoji in {}", context());
        for word in bare.split(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
            let hex = word.len() >= 7 && word.bytes().all(|b| b.is_ascii_hexdigit());
            let issue = word.to_ascii_lowercase().starts_with("gh-");
            assert!(!hex && !issue, "{word} in {}", context());
        }
        let bad = bare.chars().find(|c| c.is_control() || is_invisible(*c));
        assert_eq!(bad, None, "{}", context());
        // Every row of a table has the pipes of its header.
        let pipes = bare.matches('|').count();
        if pipes == 0 {
            columns = None;
        } else {
            assert_eq!(pipes, *columns.get_or_insert(pipes), "{}", context());
        }
    }
}

/// A line with its code spans cut out, each checked for what it may hold.
fn without_code(line: &str, hostile: &str) -> String {
    let mut bare = String::new();
    let mut rest = line;
    loop {
        let tick = rest.find('`').unwrap_or(usize::MAX);
        let tag = rest.find("<code>").unwrap_or(usize::MAX);
        if tick == usize::MAX && tag == usize::MAX {
            bare.push_str(rest);
            return bare;
        }
        let (open, close) = if tick < tag {
            ("`", "`")
        } else {
            ("<code>", "</code>")
        };
        let start = tick.min(tag);
        bare.push_str(&rest[..start]);
        // Code stands between what is before and behind it: neither joins the other.
        bare.push('·');
        let inside = &rest[start + open.len()..];
        let end = inside
            .find(close)
            .unwrap_or_else(|| panic!("unclosed code in {line:?} from {hostile:?}"));
        let code = &inside[..end];
        let allowed = |c: char| match open {
            "`" => c.is_ascii_alphanumeric() || "._/-+=,:* @".contains(c),
            _ => c.is_ascii_alphanumeric() || "&#; ".contains(c) || !c.is_ascii(),
        };
        assert!(code.chars().all(allowed), "{code:?} from {hostile:?}");
        rest = &inside[end + close.len()..];
    }
}
