//! The verdict as JUnit XML, which every CI shows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::verdict::{CellState, Finding, Judgement, Verdict};

use super::cells::{self, Group, group};
use super::headline;
use super::json::ReportFile;
use super::span::Text;
use super::{setup, words};

/// A suite a spec and stage, a test case a gated cell.
///
/// A cell beyond its limit is a failure of the type `regression`. What could not be decided is a failure
/// too, for a skipped test is green in most CIs: of the type `undecided`, `incomparable` or `no-baseline`;
/// it is skipped only where the spec's policy made the gate pass all the same. What the client or the
/// harness did wrong is an error.
pub fn render(reports: &[ReportFile]) -> String {
    let suites: Vec<Suite> = reports.iter().flat_map(suites).collect();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let sum = |of: Outcome| suites.iter().map(|suite| suite.count(of)).sum::<usize>();
    let tests: usize = suites.iter().map(|suite| suite.cases.len()).sum();
    let _ = writeln!(
        out,
        "<testsuites name=\"infergate\" tests=\"{tests}\" failures=\"{}\" errors=\"{}\">",
        sum(Outcome::Failure),
        sum(Outcome::Error),
    );
    for suite in &suites {
        suite.write(&mut out);
    }
    out.push_str("</testsuites>\n");
    out
}

/// How a test case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failure,
    Error,
    Skipped,
}

struct Suite {
    name: String,
    properties: Vec<(&'static str, String)>,
    cases: Vec<Case>,
}

struct Case {
    class: String,
    name: String,
    outcome: Outcome,
    kind: &'static str,
    message: String,
    detail: String,
}

fn suites(report: &ReportFile) -> Vec<Suite> {
    let judgement = report.clone().judgement();
    let mut by_stage: Vec<(String, Vec<Case>)> = Vec::new();
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    for finding in judgement.findings.iter().filter(|finding| finding.gated) {
        let suite = match &finding.cell.stage {
            Some(stage) => format!("{}/{stage}", report.spec.name),
            None => report.spec.name.clone(),
        };
        let mut case = case(&suite, finding, &judgement);
        // Two limits on one cell are two test cases.
        let seen = names.entry(format!("{suite}\n{}", case.name)).or_default();
        *seen += 1;
        if let (2.., Some(limit)) = (*seen, finding.limit) {
            case.name = format!("{} {}", case.name, limit.key());
        }
        match by_stage.iter_mut().find(|(name, _)| *name == suite) {
            Some((_, cases)) => cases.push(case),
            None => by_stage.push((suite, vec![case])),
        }
    }
    if by_stage.is_empty() || disagrees(&judgement, &by_stage) {
        by_stage.insert(
            0,
            (report.spec.name.clone(), vec![whole(report, &judgement)]),
        );
    }
    let properties = properties(report, &judgement);
    by_stage
        .into_iter()
        .map(|(name, cases)| Suite {
            name,
            properties: properties.clone(),
            cases,
        })
        .collect()
}

/// Whether no test case shows that the gate did not pass.
fn disagrees(judgement: &Judgement, suites: &[(String, Vec<Case>)]) -> bool {
    let mut cases = suites.iter().flat_map(|(_, cases)| cases);
    judgement.exit.code() != 0
        && cases.all(|case| matches!(case.outcome, Outcome::Passed | Outcome::Skipped))
}

/// The verdict as a test case, where no cell speaks for it.
fn whole(report: &ReportFile, judgement: &Judgement) -> Case {
    let (outcome, kind) = match (judgement.exit.code(), judgement.verdict) {
        (0, Verdict::Undecided) => (Outcome::Skipped, "undecided"),
        (0, _) => (Outcome::Passed, ""),
        (_, Verdict::Invalid) => (Outcome::Error, "invalid"),
        (_, Verdict::Regression) => (Outcome::Failure, "regression"),
        _ if headline::no_baseline(judgement) => (Outcome::Failure, "no-baseline"),
        (_, Verdict::Undecided | Verdict::Pass) => (Outcome::Failure, "undecided"),
    };
    let lead: Vec<String> = headline::lead(judgement).iter().map(Text::plain).collect();
    Case {
        class: format!("infergate.{}", report.spec.name),
        name: "verdict".to_owned(),
        outcome,
        kind,
        message: headline::headline(judgement, &report.spec.name).plain(),
        detail: lead.join("\n"),
    }
}

fn case(suite: &str, finding: &Finding, judgement: &Judgement) -> Case {
    let passed_by_policy = judgement.exit.code() == 0;
    let undecided = |kind| {
        if passed_by_policy {
            (Outcome::Skipped, kind)
        } else {
            (Outcome::Failure, kind)
        }
    };
    let (outcome, kind) = match (group(finding.state), finding.state) {
        (Group::Within, _) => (Outcome::Passed, ""),
        (Group::Broken, _) => (Outcome::Failure, "regression"),
        (Group::Undecided, _) => undecided("undecided"),
        (Group::Unmeasured, CellState::Incomparable) => undecided("incomparable"),
        (Group::Unmeasured, CellState::Missing) if headline::no_baseline(judgement) => {
            undecided("no-baseline")
        }
        (Group::Unmeasured, _) => (Outcome::Error, "invalid"),
    };
    let row = cells::row(finding, &judgement.design);
    let mut detail = vec![
        format!("baseline: {}", row.baseline.plain()),
        format!("candidate: {}", row.candidate.plain()),
        format!("change: {}", row.change.plain()),
        format!("limit: {}", row.limit.plain()),
        format!("state: {}", finding.state.label()),
    ];
    detail.extend(words::why(finding).map(|why| format!("why: {}", why.plain())));
    let class = finding.cell.class.iter().map(|class| format!("{class}/"));
    let since = finding.since.iter().map(|since| format!(" since {since}"));
    Case {
        class: format!("infergate.{}", suite.replace('/', ".")),
        name: class
            .chain([finding.cell.metric.to_string()])
            .chain(since)
            .collect(),
        outcome,
        kind,
        message: words::sentence(finding).plain(),
        detail: detail.join("\n"),
    }
}

/// What was compared, for whoever looks at the suite alone.
fn properties(report: &ReportFile, judgement: &Judgement) -> Vec<(&'static str, String)> {
    let mut out = vec![
        (
            "verdict",
            headline::verdict(judgement.verdict)
                .text(crate::lang::Lang::En)
                .to_lowercase(),
        ),
        ("exit_code", judgement.exit.code().to_string()),
        ("design", words::design(&judgement.design).plain()),
    ];
    let setup = setup::line(&report.facts.pins.candidate);
    if !setup.is_empty() {
        out.push(("candidate", setup.plain()));
    }
    let setup = setup::line(&report.facts.pins.baseline);
    if !setup.is_empty() {
        out.push(("baseline", setup.plain()));
    }
    out.extend(
        report
            .spec
            .digest
            .map(|digest| ("spec_digest", digest.to_string())),
    );
    out.extend(
        judgement
            .policy
            .as_ref()
            .map(|policy| ("policy", policy.to_string())),
    );
    out
}

impl Suite {
    fn count(&self, outcome: Outcome) -> usize {
        self.cases
            .iter()
            .filter(|case| case.outcome == outcome)
            .count()
    }

    fn write(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            attribute(&self.name),
            self.cases.len(),
            self.count(Outcome::Failure),
            self.count(Outcome::Error),
            self.count(Outcome::Skipped),
        );
        out.push_str("    <properties>\n");
        for (name, value) in &self.properties {
            let value = attribute(value);
            let _ = writeln!(out, "      <property name=\"{name}\" value=\"{value}\"/>");
        }
        out.push_str("    </properties>\n");
        for case in &self.cases {
            case.write(out);
        }
        out.push_str("  </testsuite>\n");
    }
}

impl Case {
    fn write(&self, out: &mut String) {
        let (class, name) = (attribute(&self.class), attribute(&self.name));
        let _ = writeln!(out, "    <testcase classname=\"{class}\" name=\"{name}\">");
        let (kind, message, detail) = (self.kind, attribute(&self.message), content(&self.detail));
        let _ = match self.outcome {
            Outcome::Passed => writeln!(out, "      <system-out>{detail}</system-out>"),
            Outcome::Skipped => writeln!(
                out,
                "      <skipped type=\"{kind}\" message=\"{message}\">{detail}</skipped>"
            ),
            Outcome::Failure => writeln!(
                out,
                "      <failure type=\"{kind}\" message=\"{message}\">{detail}</failure>"
            ),
            Outcome::Error => writeln!(
                out,
                "      <error type=\"{kind}\" message=\"{message}\">{detail}</error>"
            ),
        };
        out.push_str("    </testcase>\n");
    }
}

/// A text in an attribute: on one line.
fn attribute(text: &str) -> String {
    content(&text.replace(['\n', '\r', '\t'], " "))
}

/// A text in an element; XML 1.0 has no form for most control characters.
fn content(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
