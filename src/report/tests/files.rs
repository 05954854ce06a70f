//! JUnit XML and OpenMetrics of a verdict, read back by parsers.

use crate::exit::Exit;
use crate::report::export::openmetrics::tests::parse;
use crate::report::json::ReportFile;
use crate::report::{Sides, junit, metrics};
use crate::verdict::{CellState, Design, Judgement, Reason, Verdict};

use super::fixture::{finding, healthy, judgement, regression, runs};

fn file(title: &str, judgement: &Judgement) -> ReportFile {
    let (baseline, candidate) = (runs("b", "0.11.0", 1.0), runs("c", "0.12.0", 1.31));
    let sides = Sides {
        title,
        baseline: &baseline,
        candidate: &candidate,
        reproduce: &[],
        places: &[],
    };
    ReportFile::new(judgement, &sides)
}

/// What the schema that Jenkins validates by (junit-10.xsd) allows of an element: its attributes, those
/// that it has to have, its children.
fn rules(element: &str) -> [&'static [&'static str]; 3] {
    match element {
        "testsuites" => [
            &["name", "time", "tests", "failures", "errors"],
            &[],
            &["testsuite"],
        ],
        "testsuite" => [
            &[
                "name",
                "tests",
                "failures",
                "errors",
                "group",
                "time",
                "skipped",
                "timestamp",
                "hostname",
                "id",
                "package",
                "file",
                "log",
                "url",
            ],
            &["name", "tests", "failures", "errors"],
            &[
                "testsuite",
                "properties",
                "testcase",
                "system-out",
                "system-err",
            ],
        ],
        "properties" => [&[], &[], &["property"]],
        "property" => [&["name", "value"], &["name", "value"], &[]],
        "testcase" => [
            &["name", "time", "classname", "group"],
            &["name"],
            &["skipped", "error", "failure", "system-out", "system-err"],
        ],
        "skipped" | "error" | "failure" => [&["type", "message"], &[], &[]],
        "system-out" | "system-err" => [&[], &[], &[]],
        other => panic!("{other} is no element of it"),
    }
}

/// Each test case with what it ended by, after the whole was held against the schema.
fn read(xml: &str) -> Vec<(String, String)> {
    let document = roxmltree::Document::parse(xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    let mut cases = Vec::new();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        let [known, needed, children] = rules(name);
        for attribute in node.attributes() {
            assert!(
                known.contains(&attribute.name()),
                "{} of {name}",
                attribute.name()
            );
        }
        for attribute in needed {
            assert!(node.has_attribute(*attribute), "no {attribute} of {name}");
        }
        let own = || node.children().filter(roxmltree::Node::is_element);
        for child in own() {
            assert!(
                children.contains(&child.tag_name().name()),
                "{name} holds another"
            );
        }
        if name == "testsuite" {
            let count = |ended: &str| {
                let cases = own().filter(|case| case.has_tag_name("testcase"));
                let ended = cases.filter(|case| case.children().any(|c| c.has_tag_name(ended)));
                ended.count().to_string()
            };
            assert_eq!(node.attribute("failures"), Some(count("failure").as_str()));
            assert_eq!(node.attribute("errors"), Some(count("error").as_str()));
            assert_eq!(node.attribute("skipped"), Some(count("skipped").as_str()));
        }
        if name == "testcase" {
            let ended = own().find(|child| !child.has_tag_name("system-out"));
            let ended = ended.map_or("passed".to_owned(), |child| {
                format!(
                    "{} {}",
                    child.tag_name().name(),
                    child.attribute("type").unwrap()
                )
            });
            let class = node.attribute("classname").unwrap();
            cases.push((
                format!("{class} {}", node.attribute("name").unwrap()),
                ended,
            ));
        }
    }
    cases
}

fn ended(judgement: &Judgement) -> Vec<String> {
    let cases = read(&junit::render(&[file("chat-8b", judgement)]));
    cases.into_iter().map(|(_, ended)| ended).collect()
}

#[test]
fn a_regression_and_a_doubt_are_failures() {
    let xml = junit::render(&[
        file("chat-8b", &regression()),
        file("other", &judgement(Verdict::Pass, healthy())),
    ]);
    insta::assert_snapshot!("junit.xml", xml);
    let cases = read(&xml);
    assert_eq!(cases.len(), 10, "a case a gated cell");
    assert_eq!(
        cases[0],
        (
            "infergate.chat-8b.steady ttft.p95".to_owned(),
            "failure regression".to_owned()
        )
    );
    assert_eq!(cases[1].1, "failure undecided");
    assert!(cases[2..].iter().all(|(_, ended)| ended == "passed"));
}

#[test]
fn what_was_not_judged_is_skipped_only_where_the_policy_passes_it() {
    let mut findings = healthy();
    for (finding, state) in findings
        .iter_mut()
        .zip([CellState::Inconclusive, CellState::Incomparable])
    {
        finding.state = state;
    }
    let mut undecided = judgement(Verdict::Undecided, findings);
    assert_eq!(
        ended(&undecided)[..2],
        ["failure undecided", "failure incomparable"]
    );
    undecided.exit = Exit::Regression;
    assert_eq!(
        ended(&undecided)[..2],
        ["failure undecided", "failure incomparable"]
    );
    undecided.exit = Exit::Pass;
    assert_eq!(
        ended(&undecided)[..2],
        ["skipped undecided", "skipped incomparable"]
    );

    let mut invalid = healthy();
    invalid[0].state = CellState::Invalid;
    invalid[1].state = CellState::Missing;
    let mut invalid = judgement(Verdict::Invalid, invalid);
    assert_eq!(ended(&invalid)[..2], ["error invalid", "error invalid"]);
    invalid.design = Design::Unpaired {
        baseline: 0,
        candidate: 1,
    };
    assert_eq!(ended(&invalid)[1], "failure no-baseline");
}

#[test]
fn a_verdict_that_no_cell_speaks_for_is_a_case_of_its_own() {
    assert_eq!(
        ended(&judgement(Verdict::Undecided, Vec::new())),
        ["failure undecided"]
    );
    assert_eq!(ended(&judgement(Verdict::Pass, Vec::new())), ["passed"]);
    let mut same = judgement(Verdict::Undecided, healthy());
    same.design = Design::SameRun;
    assert_eq!(ended(&same)[0], "failure undecided");
}

#[test]
fn no_text_breaks_the_xml_or_the_metrics() {
    let mut all = super::hostile::HOSTILE.join("\u{0}\u{8}\u{fffe}\u{ffff}]]>");
    all.push_str("<!ENTITY x SYSTEM \"file:///\">&x;");
    let mut hostile = regression();
    hostile.policy = Some(all.clone().into());
    for finding in &mut hostile.findings {
        finding.cell.class = Some(all.clone());
        finding.since = Some(all.clone());
        finding.reason = Some(Reason::Absent {
            why: all.clone().into(),
        });
    }
    let report = file(&all, &hostile);
    assert_eq!(read(&junit::render(std::slice::from_ref(&report))).len(), 5);
    parse(&metrics::openmetrics(&[report]));
}

#[test]
fn metrics_have_the_verdict_and_both_sides() {
    let mut report = regression();
    let mut zero = finding("e2e.p95", CellState::Missing, 8.5, 0.0);
    (zero.candidate, zero.change) = (None, None);
    zero.limit = Some(crate::spec::Limit::AtMost(1.0));
    report.findings.push(zero);
    let text = metrics::openmetrics(&[file("chat-8b", &report), file("other", &regression())]);
    insta::assert_snapshot!("metrics.txt", text);
    let samples = parse(&text);
    let value = |name: &str, labels: &[(&str, &str)]| {
        let has = |sample: &&crate::report::export::openmetrics::tests::Read| {
            sample.name == name
                && labels.iter().all(|(label, value)| {
                    sample.labels.iter().any(|(l, v)| l == label && v == value)
                })
        };
        samples.iter().find(has).map(|sample| sample.value)
    };
    assert_eq!(
        value("infergate_exit_code", &[("spec", "chat-8b")]),
        Some(1.0)
    );
    let p95 = [("spec", "chat-8b"), ("statistic", "p95")];
    let base = value(
        "infergate_ttft_seconds",
        &[p95[0], p95[1], ("side", "baseline")],
    );
    assert_eq!(base, Some(0.3));
    assert_eq!(
        value("infergate_cell_broken", &[p95[0], ("state", "suspect")]).map(f64::is_nan),
        Some(true)
    );
}
