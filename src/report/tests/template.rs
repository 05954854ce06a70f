//! Templates of users: what they find, what they may take, and what they can't leave out.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use crate::lang::Lang;
use crate::report::json::ReportFile;
use crate::report::template::{Finder, Kind, Template, fields};
use crate::report::view::{VIEW_FORMAT, View};
use crate::verdict::{CellState, Reason, Verdict};

use super::comment::{many_cells, of_runs};
use super::fixture::{finding, healthy, judgement, regression};

const SHORT: &str = include_str!("../../../examples/templates/short.md.j2");

fn nothing() -> Finder {
    Arc::new(|_| Ok(None))
}

/// The one in the examples.
pub(super) fn short() -> &'static Template {
    static SHORT_ONE: LazyLock<Template> = LazyLock::new(|| parsed("short.md.j2", SHORT).unwrap());
    &SHORT_ONE
}

fn parsed(name: &str, source: &str) -> Result<Template, String> {
    let kind = Kind::of(name).unwrap();
    Template::parse(name, source.to_owned(), (kind, Lang::En), nothing())
        .map_err(|error| error.to_string())
}

/// Why a template is refused before anything is measured.
fn refused(source: &str) -> String {
    parsed("t.md.j2", source).expect_err(source)
}

fn undecided() -> ReportFile {
    let mut findings = healthy();
    findings[2] = finding("ttft.p95", CellState::Suspect, 0.3, 0.17);
    findings.sort_by_key(|finding| finding.state);
    of_runs("chat-8b", &judgement(Verdict::Undecided, findings))
}

fn invalid() -> ReportFile {
    let mut findings = healthy();
    findings[0].state = CellState::Invalid;
    findings[0].reason = Some(Reason::ClientFault {
        what: "late".to_owned(),
    });
    of_runs("chat-8b-int4", &judgement(Verdict::Invalid, findings))
}

#[test]
fn the_example_renders_every_verdict() {
    let passing = of_runs("chat-8b", &judgement(Verdict::Pass, healthy()));
    let failing = of_runs("chat-8b", &regression());
    for (name, reports) in [
        ("pass", vec![passing.clone()]),
        ("regression", vec![failing.clone()]),
        ("undecided", vec![undecided()]),
        ("suite", vec![passing, failing, invalid()]),
    ] {
        let page = short().page(&reports, 65_000);
        insta::assert_snapshot!(format!("template_{name}.md"), page);
    }
}

#[test]
fn a_view_is_as_its_schema_says_and_the_example_uses_nothing_else() {
    let schema = serde_json::to_value(schemars::schema_for!(View)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut views = View::examples(Lang::En);
    views.push(View::of(&[of_runs("chat-8b", &regression())], Lang::En));
    views.push(View::of(&[undecided(), invalid()], Lang::Zh));
    views.push(View::of(&[], Lang::En));
    for view in &views {
        let value = serde_json::to_value(view).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|e| e.to_string())
            .collect();
        assert_eq!(errors, [""; 0]);
        assert_eq!(value["format"], VIEW_FORMAT);
        // Every field is there, as the schema's description promises.
        let keys = schema["properties"].as_object().unwrap().keys();
        assert!(keys.into_iter().all(|key| value.get(key).is_some()));
    }
    let mut broken = serde_json::to_value(&views[0]).unwrap();
    broken["specs"][0]["rows"][0]["state"] = Value::from("bad");
    assert!(!validator.is_valid(&broken));

    let fields = fields();
    for field in [
        "headline",
        "rows",
        "state_said",
        "command",
        "regressed",
        "line",
    ] {
        assert!(fields.contains(field), "{field}");
    }
    assert!(
        !fields.contains("words"),
        "the inside of texts is not for templates"
    );
    let asked = SHORT.split(['{', '}']).filter(|code| !code.contains("#}"));
    let asked = asked.flat_map(|code| code.split_whitespace());
    let asked = asked.filter_map(|word| {
        let (of, field) = word.split_once('.')?;
        ["spec", "row"].contains(&of).then_some(field)
    });
    let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let asked: Vec<&str> = asked.filter_map(|field| field.split(ends).next()).collect();
    assert!(asked.len() > 10, "{asked:?}");
    for field in asked {
        assert!(fields.contains(field), "{field}");
    }
}

#[test]
fn what_no_view_has_is_said_with_its_line_and_what_was_meant() {
    assert_eq!(
        refused("a\n{{ headlin }}\n"),
        "`t.md.j2`: `headlin` is nothing that a view has at its top (`infergate schema view` lists its fields); \
         did you mean `headline`?"
    );
    assert_eq!(
        refused("a\n{% for spec in specs %}\n{{ spec.row }}\n{% endfor %}\n"),
        "`t.md.j2`, line 3: `spec.row` is undefined; did you mean `rows`?"
    );
    let error = refused("a\n{% for x in specs %}\n");
    assert!(error.starts_with("`t.md.j2`, line 2"), "{error}");
    assert!(error.contains("syntax error"), "{error}");
    let error = refused("{{ specs[0].name|uper }}");
    assert!(
        error.contains("unknown filter") && error.contains("line 1"),
        "{error}"
    );
    for printed in [
        "{{ specs }}",
        "{{ specs[0] }}",
        "{{ specs[0].rows[0].gated }}",
    ] {
        let error = refused(printed);
        assert!(error.contains("line 1"), "{error}");
    }
    // A cell that an example does not have may be in a report.
    let own = "{{ (specs[0].rows|selectattr('id', 'equalto', 'x/e2e.p50')|first).change }}";
    assert!(parsed("t.md.j2", own).is_ok());
}

#[test]
fn a_template_takes_neither_time_nor_memory_nor_depth_without_end() {
    for source in [
        "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
        "{% for a in range(1000000000) %}x{% endfor %}",
        "{{ range(1000000000)|list|length }}",
        "{{ 'x' * 1000000000 }}",
        "{{ ('x' * 100000000)|length }}",
        "{% set ns = namespace(x='x') %}{% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
        "{% for i in range(20000) %}{{ 'x' * 150 }}{% endfor %}",
    ] {
        refused(source);
    }
    // One that includes itself.
    let own = "{% include 't.md.j2' %}";
    refused(own);
    let nested = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    refused(&format!("{{{{ {nested} }}}}"));
}

#[test]
fn no_block_or_filter_declares_a_string_harmless() {
    let hostile = of_runs("<b>@octocat|x", &regression());
    for source in [
        "{{ specs[0].name|safe }}",
        "{{ specs[0].name|e }}",
        "{{ specs[0].name|tojson }}",
        "{{ '%s'|format(specs[0].name) }}",
        "{{ debug() }}",
    ] {
        refused(source);
    }
    for source in [
        "{{ specs[0].name }}",
        "{% autoescape false %}{{ specs[0].name }}{% endautoescape %}",
        "{% autoescape 'html' %}{{ specs[0].name }}{% endautoescape %}",
        "{% autoescape 'none' %}{% set x %}{{ specs[0].name }}{% endset %}{{ x }}{% endautoescape %}",
        "{{ specs[0].name ~ specs[0].name }}",
        "{{ [specs[0].name, specs[0].name]|join(' ') }}",
        "{% macro m(x) %}{{ x }}{% endmacro %}{{ m(specs[0].name) }}",
        "{{ specs[0].headline }} {{ specs[0].headline|plain }}",
    ] {
        let text = parsed("t.md.j2", source)
            .unwrap()
            .render(std::slice::from_ref(&hostile));
        let text = text.unwrap();
        assert!(
            !text.contains('@') && !text.contains("<b>"),
            "{source}: {text}"
        );
        assert!(text.contains("octocat"), "{source}: {text}");
    }
    let page = parsed(
        "t.html.j2",
        "<p title=\"{{ specs[0].name }}\">{{ headline }}</p>",
    )
    .unwrap();
    let page = page.render(std::slice::from_ref(&hostile)).unwrap();
    assert!(
        page.starts_with("<p title=\"&lt;b&gt;@octocat|x\">Regression in <code>&lt;b&gt;"),
        "{page}"
    );
    let lines = parsed("t.txt.j2", "{{ specs[0].name }}: {{ exit_code }}").unwrap();
    let lines = lines.render(&[hostile]).unwrap();
    assert!(
        lines.starts_with("Regression in <b>@octocat|x: "),
        "{lines}"
    );
    assert!(lines.ends_with("\n<b>@octocat|x: 1\n"), "{lines}");
}

#[test]
fn the_verdict_stands_before_what_a_template_makes() {
    let report = of_runs("chat-8b", &regression());
    let silent = parsed("t.md.j2", "<!-- PASS").unwrap();
    let page = silent.page(std::slice::from_ref(&report), 65_000);
    let first = "**Regression in `chat-8b`: 1 of 5 gated cells is beyond its limit";
    assert!(page.starts_with(first), "{page}");
    assert!(page.ends_with("\n\n<!-- PASS\n"), "{page}");
    // So do what a policy made of it, and whose figures they are.
    let mut excused = undecided();
    excused.exit = crate::exit::Exit::Pass;
    excused.policy = Some("`undecided: pass`".into());
    excused.facts.untrusted = vec![crate::summary::Side::Candidate];
    let page = silent.page(&[excused.clone()], 65_000);
    assert!(page.contains("Exit 0 by the spec's policy"), "{page}");
    assert_eq!(
        page.split("<!-- PASS")
            .next()
            .unwrap()
            .matches("\n\n")
            .count(),
        3,
        "{page}"
    );
    let page = silent.page(&[report, excused], 65_000);
    assert!(page.starts_with("**Regression in 1 of 2 specs"), "{page}");
}

#[test]
fn one_that_fails_or_does_not_fit_leaves_the_usual_report_and_says_why() {
    let report = [of_runs("chat-8b", &many_cells(&["1", "2", "4", "8"], 4))];
    // Ten rows are more than an example has.
    let failing = "{% if specs[0].rows|length > 9 %}{{ specs[0].rows[99].cell }}{% endif %}";
    let failing = parsed("own.md.j2", failing).unwrap();
    let error = failing.render(&report).unwrap_err().to_string();
    assert!(error.starts_with("`own.md.j2`, line 1, at `"), "{error}");
    let page = failing.page(&report, usize::MAX);
    let usual = crate::report::comment(&report, usize::MAX, Lang::En).text;
    assert!(page.starts_with(usual.trim_end()), "{page}");
    assert!(page.contains("The template `own.md.j2` failed"), "{page}");

    let long = "{% for row in specs[0].rows %}{{ 'x' * 190 }} {% endfor %}";
    let long = parsed("own.md.j2", long).unwrap();
    for limit in [2_000, 5_000] {
        let page = long.page(&report, limit);
        assert!(page.encode_utf16().count() <= limit);
        assert!(page.contains("UTF-16 units that fit here"), "{page}");
        assert!(page.starts_with("**Regression in"), "{page}");
    }
    // The verdict is the last to go.
    assert!(long.page(&report, 40).contains("Regression"));
    assert!(long.page(&report, usize::MAX).contains("xxx"));
}
