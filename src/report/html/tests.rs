//! Pages are whole, hold to their policy, and take nothing that others wrote for markup.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

use super::*;
use crate::history::History;
use crate::report::tests::{fixture, history as archive};
use crate::report::{Sides, build};
use crate::summary::{Run, Window};
use crate::verdict::Judgement;

const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`& {{ 7*7 }}";

/// Elements that have no end tag in HTML, and those of SVG that end themselves.
const VOID: [&str; 4] = ["meta", "br", "path", "circle"];

/// Reads a page strictly: every tag is closed in order, attributes are quoted, ids are there once and
/// what is named by id exists.
fn check(page: &str) {
    assert!(page.starts_with("<!doctype html>"));
    let (mut open, mut ids, mut named): (Vec<String>, _, Vec<String>) =
        (Vec::new(), BTreeSet::new(), Vec::new());
    let mut rest = &page["<!doctype html>".len()..];
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(!text.contains('>'), "a bare `>` in {text:?}");
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "</{name}>");
            continue;
        }
        let tag = tag.trim_end_matches('/');
        let name: String = tag
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        for (attribute, value) in attributes(&tag[name.len()..]) {
            assert!(!attribute.starts_with("on"), "{tag}");
            assert!(
                !["src", "style", "action", "srcset"].contains(&attribute.as_str()),
                "{tag}"
            );
            match attribute.as_str() {
                "id" => assert!(ids.insert(value.clone()), "id {value} comes twice"),
                "aria-labelledby" => named.extend(value.split(' ').map(str::to_owned)),
                "href" => match value.strip_prefix('#') {
                    Some(id) => named.push(id.to_owned()),
                    None => assert!(
                        value.starts_with("https://") || value == "demo.html",
                        "{tag}"
                    ),
                },
                _ => {}
            }
        }
        if name == "style" || name == "script" {
            let close = format!("</{name}>");
            let end = rest.find(&close).expect("it ends");
            let digest = BASE64_STANDARD.encode(Sha256::digest(&rest.as_bytes()[..end]));
            let allowed = format!("{name}-src &#39;sha256-{digest}&#39;");
            assert!(page.contains(&allowed), "the policy does not allow {name}");
            assert!(!rest[..end].contains('<'), "markup in {name}");
            rest = &rest[end + close.len()..];
        } else if !VOID.contains(&name.as_str()) || page_needs_end(&name, rest) {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
    for id in named {
        assert!(ids.contains(&id), "nothing has the id {id}");
    }
    for part in [
        "<html lang=\"en\">",
        "name=\"viewport\"",
        "<main id=\"main\">",
        "<h1 ",
        "<title>",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    let plots = page.matches("<svg ").count();
    assert_eq!(
        page.matches(" role=\"img\" aria-labelledby=").count(),
        plots
    );
    let tables = page.matches("The values as a table").count();
    assert_eq!(tables, plots, "each plot has its table");
}

/// Marks of plots with a hint have an end tag.
fn page_needs_end(name: &str, rest: &str) -> bool {
    ["path", "circle"].contains(&name) && (rest.starts_with("<title>") || rest.starts_with("</"))
}

fn attributes(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c == '=' || c.is_whitespace())
            .unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(quoted) = rest.strip_prefix('=') {
            let quoted = quoted.strip_prefix('"').expect("values are quoted");
            let end = quoted.find('"').expect("quotes end");
            quoted[..end].clone_into(&mut value);
            rest = &quoted[end + 1..];
        }
        rest = rest.trim_start();
        found.push((name, value));
    }
    found
}

/// A run with a sweep and the course of a window.
fn sweeping(id: &str, slow: f64) -> Run {
    let mut run = fixture::run(id, "0.12.0", slow);
    for users in [2_u32, 4, 8] {
        let speed = slow * (1.0 + f64::from(users) / 8.0);
        let mut stage = fixture::stage(&format!("sweep@{users}"), speed);
        stage.users = Some(users);
        stage.rate_rps = None;
        stage.pooled.rates.completed_rps = 2.0 * f64::from(users) / slow;
        run.stages.push(stage);
    }
    run.stages[0].windows = (0..6_u32)
        .map(|i| Window {
            start_s: 30.0 * f64::from(i),
            scheduled: 240,
            completed: 240,
            unsent: 0,
            lateness_max_s: 0.001,
            cpu_share: None,
            loop_lag_max_s: None,
            connections: None,
            output_tokens: 1,
            ttft_p50_s: (i != 3).then(|| 0.12 + 0.01 * f64::from(i)),
            ..Window::default()
        })
        .collect();
    run
}

fn compared(judgement: &Judgement, baseline: &[Run], candidate: &[Run], title: &str) -> String {
    let sides = Sides {
        title,
        baseline,
        candidate,
        reproduce: &["infergate compare session".to_owned()],
        places: &[],
    };
    comparison(judgement, &sides)
}

fn archived(histories: &[History]) -> String {
    let forge = Forge::of("https://github.com/o/r.git").unwrap();
    history(histories, Some(&forge), "2026-06-02T00:00:00Z")
}

#[test]
fn a_run_is_a_page_with_its_curves() {
    let page = run(&[sweeping("a", 1.0)]);
    check(&page);
    for part in [
        "TTFT p95 against throughput",
        "TTFT over the window of",
        "Stage <code>steady</code>",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    check(&run(&[
        fixture::run("a", "0.12.0", 1.0),
        sweeping("b", 1.0),
    ]));
}

#[test]
fn curves_have_the_knee_and_the_slo_of_both_sides() {
    use crate::capacity::tests::{SWEEP, planned, run as sweep};
    let side = |factor: f64| {
        let rows = SWEEP.map(|(users, rps, good)| (users, rps * factor, good));
        planned(sweep(&rows, 1))
    };
    let (base, head) = ([side(1.0)], [side(0.8)]);
    let page = compared(&fixture::regression(), &base, &head, "demo");
    check(&page);
    for part in [
        ">B</text>",
        ">C</text>",
        ">SLO 500.0 ms</text>",
        "What a replica carries, how many a peak needs and what that costs",
        "this change needs 2 more replicas",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    let page = run(&base);
    check(&page);
    assert!(page.contains(">knee</text>") && page.contains(">SLO 500.0 ms</text>"));
}

#[test]
fn a_comparison_is_a_page_with_curves_of_both_sides_and_intervals() {
    let (base, head) = ([sweeping("a", 1.0)], [sweeping("b", 1.3)]);
    let page = compared(&fixture::regression(), &base, &head, "chat-8b");
    check(&page);
    for part in [
        ">baseline</text>",
        ">candidate</text>",
        "Relative changes of gated cells",
        "Beyond their limits",
        "infergate compare session",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    // The judgement alone, without runs.
    check(&compared(&fixture::regression(), &[], &[], "chat-8b"));
    let model = build(
        &fixture::regression(),
        &Sides {
            title: "chat-8b",
            baseline: &base,
            candidate: &head,
            reproduce: &[],
            places: &[],
        },
    );
    let rows = model.broken.rows.len() + model.undecided.rows.len() + model.within.rows.len();
    for row in model
        .broken
        .rows
        .iter()
        .chain(&model.undecided.rows)
        .chain(&model.within.rows)
    {
        assert!(page.contains(&row.change.plain()), "{}", row.change.plain());
    }
    assert!(rows > 0);
}

#[test]
fn the_archive_is_a_page_with_its_marks_and_links() {
    let mut history = archive::history();
    history.tracks[0].age_days = Some(20.0);
    let page = archived(std::slice::from_ref(&history));
    check(&page);
    for part in [
        "https://github.com/o/r/commit/0cc0ffee",
        "anchor <code>v1.0</code>",
        "void, the GPU was shared",
        "E1 begins, vLLM 0.12 is slower and was taken",
        "An acceptance has expired, its last day was <code>2026-06-01</code>",
        "Stale: the newest session is",
        "class=\"cross ",
        "class=\"hollow ",
        "class=\"level ",
        "class=\"mark\"",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    check(&index(std::slice::from_ref(&history)));
    // Without a forge commits are texts.
    let plain = super::history(&[history], None, "2026-04-07T00:00:00Z");
    check(&plain);
    assert!(!plain.contains("github.com"));
}

#[test]
fn what_others_wrote_stays_text_in_every_page() {
    let mut history = archive::history();
    HOSTILE.clone_into(&mut history.name);
    for track in &mut history.tracks {
        HOSTILE.clone_into(&mut track.environment);
        for sitting in &mut track.sittings {
            HOSTILE.clone_into(&mut sitting.session);
            HOSTILE.clone_into(&mut sitting.started);
            sitting.commit = Some(HOSTILE.to_owned());
            sitting.reason = Some(HOSTILE.to_owned());
            sitting.anchor = sitting.anchor.take().map(|_| HOSTILE.to_owned());
            sitting.epoch = sitting.epoch.take().map(|_| HOSTILE.to_owned());
        }
        for series in &mut track.series {
            series.cell.stage = Some(HOSTILE.to_owned());
            series.cell.class = Some(HOSTILE.to_owned());
        }
        for accept in &mut track.accepts {
            HOSTILE.clone_into(&mut accept.reason);
            accept.cells = vec![HOSTILE.to_owned()];
        }
    }
    let hostile_run = |id: &str| {
        let mut run = sweeping(id, 1.0);
        HOSTILE.clone_into(&mut run.spec.name);
        HOSTILE.clone_into(&mut run.id);
        HOSTILE.clone_into(&mut run.client.target);
        for stage in &mut run.stages {
            stage.name = stage.name.replace("sweep", HOSTILE);
            stage.pooled.errors.insert(HOSTILE.to_owned(), 3);
        }
        for pin in run.pins.values_mut() {
            *pin = fixture::seen(HOSTILE);
        }
        run
    };
    let runs = [hostile_run("a")];
    let mut judgement = fixture::regression();
    for finding in &mut judgement.findings {
        finding.cell.stage = Some(HOSTILE.to_owned());
    }
    judgement.caveats.push(HOSTILE.into());
    for page in [
        archived(&[history]),
        run(&runs),
        compared(&judgement, &runs, &runs, HOSTILE),
    ] {
        check(&page);
        assert!(!page.contains("<img") && !page.contains("<script>alert"));
        assert!(page.contains("{{ 7*7 }}"), "it is there, as text");
    }
}
