//! Documents that would rot: what they list is held against the code.

#![allow(clippy::unwrap_used, reason = "tests: a panic is the failure")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use infergate::diag::{Source, Style, render};
use infergate::exit::Exit;
use infergate::metric::{Direction, Metric};
use infergate::probe::engine::Engine;
use infergate::provenance::PinPath;
use infergate::spec::{FileAsk, FileText, Suite};

const README: &str = include_str!("../README.md");

/// The part of the README between `<!-- name -->` and `<!-- /name -->`.
fn part(name: &str) -> &'static str {
    let start = format!("<!-- {name} -->\n");
    let end = format!("<!-- /{name} -->");
    let from = README
        .find(&start)
        .unwrap_or_else(|| panic!("no part `{name}`"))
        + start.len();
    let to = from
        + README[from..]
            .find(&end)
            .unwrap_or_else(|| panic!("`{name}` does not end"));
    README[from..to].trim()
}

#[test]
fn the_metrics_table_is_the_codes() {
    let mut table = String::from("| metric | better | definition |\n|---|---|---|\n");
    for metric in Metric::ALL {
        let better = match metric.direction() {
            Direction::LowerIsBetter => "lower",
            Direction::HigherIsBetter => "higher",
        };
        let _ = writeln!(table, "| `{metric}` | {better} | {} |", metric.definition());
    }
    assert_eq!(
        part("metrics"),
        table.trim(),
        "put this table into the README:\n{table}"
    );
}

#[test]
fn the_exit_codes_are_the_codes() {
    let mut table = String::from("| exit | meaning |\n|---|---|\n");
    for exit in Exit::ALL {
        let _ = writeln!(table, "| {} | {} |", exit.code(), exit.meaning());
    }
    assert_eq!(
        part("exit codes"),
        table.trim(),
        "put this table into the README:\n{table}"
    );
}

#[test]
fn the_sources_of_pins_are_the_codes() {
    let engines: Vec<Engine> = Engine::ALL
        .into_iter()
        .filter(|engine| !matches!(engine, Engine::Embedded | Engine::Other))
        .collect();
    let names: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
    let mut table = format!("| pin | {} |\n|---|", names.join(" | "));
    table.push_str(&"---|".repeat(names.len()));
    table.push('\n');
    for pin in PinPath::all() {
        let cells = engines.iter().map(|engine| {
            let sources = engine.sources();
            let paths = sources.get(&pin).into_iter().flatten();
            let paths: Vec<String> = paths.map(|path| format!("`{path}`")).collect();
            paths.join(", ")
        });
        let cells: Vec<String> = cells.collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            let _ = writeln!(table, "| `{pin}` | {} |", cells.join(" | "));
        }
    }
    assert_eq!(
        part("pins"),
        table.trim(),
        "put this table into the README:\n{table}"
    );
}

#[test]
fn the_spec_in_the_readme_is_right_and_without_warnings() {
    let start = README.find("```yaml\ninfergate: 1").unwrap() + "```yaml\n".len();
    let end = start + README[start..].find("```").unwrap();
    let source = Source {
        path: "README.md".to_owned(),
        text: README[start..end].to_owned(),
    };
    let environment =
        |name: &str| (name == "TARGET_URL").then(|| "http://127.0.0.1:8000".to_owned());
    let shown = |diagnostics: &[_]| render(diagnostics, &source, Style::Plain);
    let parsed =
        infergate::spec::parse(&source, &environment, &|_| Err("there is none".to_owned()))
            .unwrap_or_else(|diagnostics| panic!("{}", shown(&diagnostics)));
    assert!(parsed.warnings.is_empty(), "{}", shown(&parsed.warnings));
}

#[test]
fn the_demo_in_the_readme_is_the_demos_report() {
    let report = part("demo");
    for line in [
        "Regression in demo",
        "steady/ttft.p95",
        "As a gate this exits 1",
    ] {
        assert!(report.contains(line), "no {line:?}");
    }
}

#[test]
fn the_ready_workloads_are_right_without_warnings_and_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let file = |ask: FileAsk<'_>| {
            fs::read_to_string(path.with_file_name(ask.file))
                .map(FileText::Whole)
                .map_err(|error| error.to_string())
        };
        let source = Source {
            path: path.display().to_string(),
            text: fs::read_to_string(&path).unwrap(),
        };
        let shown = |diagnostics: &[_]| render(diagnostics, &source, Style::Plain);
        let parsed = infergate::spec::parse(&source, &|_| None, &file)
            .unwrap_or_else(|diagnostics| panic!("{}", shown(&diagnostics)));
        assert!(parsed.warnings.is_empty(), "{}", shown(&parsed.warnings));
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert_eq!(parsed.spec.name.as_str(), name);
        names.push(name);
    }
    names.sort_unstable();
    let mut listed: Vec<&str> = part("workloads")
        .lines()
        .filter_map(|line| line.strip_prefix("| [`")?.split('`').next())
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, names);
}

#[test]
fn the_tests_of_known_cases_exist() {
    fn sources(folder: &Path, text: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, text);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut code = String::new();
    sources(&root.join("src"), &mut code);
    sources(&root.join("tests"), &mut code);
    let held = include_str!("it/cases.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//! | ")?.split(" | ").nth(1));
    let names: Vec<&str> = held
        .flat_map(|names| names.split('`').skip(1).step_by(2))
        .collect();
    assert!(names.len() > 40, "{}", names.len());
    for name in names {
        assert!(code.contains(&format!("fn {name}(")), "no test `{name}`");
    }
}

#[test]
fn the_suite_in_the_examples_is_right_without_warnings_in_each_of_its_members() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/suite");
    let source = |name: &str| Source {
        path: name.to_owned(),
        text: fs::read_to_string(folder.join(name)).unwrap(),
    };
    let suite = Suite::parse(&source("suite.yaml")).unwrap();
    let specs = ["chat.yaml", "summarize.yaml"].map(str::to_owned);
    let mut names = Vec::new();
    for member in suite.members(&specs) {
        let source = source(&member.spec);
        let file = |ask: FileAsk<'_>| {
            let text = fs::read_to_string(folder.join(ask.file));
            text.map(FileText::Whole).map_err(|error| error.to_string())
        };
        let parsed = infergate::spec::parse_in(&source, member.cell.as_ref(), &|_| None, &file)
            .unwrap_or_else(|wrong| panic!("{}", render(&wrong, &source, Style::Plain)));
        let warnings = render(&parsed.warnings, &source, Style::Plain);
        assert!(parsed.warnings.is_empty(), "{warnings}");
        names.push(parsed.spec.name.to_string());
    }
    assert_eq!(names.len(), 7, "{names:?}");
    assert!(names.contains(&"chat-vllm-bf16".to_owned()), "{names:?}");
    // The one in the README is of the same form.
    let start = README.find("```yaml\ninfergate-suite: 1").unwrap() + "```yaml\n".len();
    let end = start + README[start..].find("```").unwrap();
    let shown = Source {
        path: "README.md".to_owned(),
        text: README[start..end].to_owned(),
    };
    let suite = Suite::parse(&shown).unwrap();
    assert_eq!(suite.members(&["chat.yaml".to_owned()]).len(), 4);
}
