//! `infergate compare` and `report`: files in, the same answer out.

use crate::support::Project;

#[test]
fn the_same_run_twice_is_said_and_exits_3() {
    let project = Project::new("test");
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = project.runs()[0].to_str().unwrap().to_owned();
    project
        .run(&["compare", &run, &run])
        .exits(3)
        .shows("same run");
}

#[test]
fn single_runs_give_no_verdict() {
    let project = Project::new("test");
    project
        .run(&["run", "spec.yaml", "--repeats", "2"])
        .exits(0);
    let runs = project.runs();
    let (a, b) = (runs[0].to_str().unwrap(), runs[1].to_str().unwrap());
    project.run(&["compare", a, b]).exits(3);
}

#[test]
fn files_that_are_no_runs_are_named() {
    let project = Project::new("test");
    project
        .run(&["compare", "spec.yaml", "spec.yaml"])
        .exits(2)
        .says("spec.yaml");
    project
        .run(&["compare", "gone", "gone"])
        .exits(2)
        .says("gone");
    project.run(&["run", "spec.yaml"]).exits(0);
    let session = project.sessions()[0].to_str().unwrap().to_owned();
    project
        .run(&["compare", &session])
        .exits(2)
        .says("no session of `ab`");
}

#[test]
fn a_report_of_a_run_renders_in_every_format() {
    let project = Project::new("test");
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = project.runs()[0].to_str().unwrap().to_owned();
    project.run(&["report", &run]).exits(0).shows("steady");
    project
        .run(&["report", &run, "--format", "text"])
        .exits(0)
        .shows("steady");
    let json = project
        .run(&["report", &run, "--format", "json"])
        .exits(0)
        .out;
    let again: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(again["format"], "infergate.run/1");
}

#[test]
fn a_report_file_renders_in_the_language_that_is_asked_for() {
    let project = Project::new("test");
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = project.runs()[0].to_str().unwrap().to_owned();
    let in_chinese = ["compare", &run, &run, "--out", "out", "--lang", "zh"];
    project.run(&in_chinese).exits(3).shows("无法判定");
    let page = std::fs::read_to_string(project.path("out/report.md")).unwrap();
    assert!(page.starts_with("**无法判定（`small`）"), "{page}");
    // The file is in no language.
    let json = std::fs::read_to_string(project.path("out/report.json")).unwrap();
    assert!(!json.contains("判定"), "{json}");
    project
        .run(&["report", "out/report.json"])
        .exits(0)
        .shows("**Undecided in `small`");
    let by_variable = |tag: &str| {
        let mut command = project.command(&["report", "out/report.json", "--format", "text"]);
        command.env("INFERGATE_LANG", tag).output().unwrap()
    };
    let text = String::from_utf8(by_variable("zh").stdout).unwrap();
    assert!(text.starts_with("无法判定（small）"), "{text}");
    let wrong = by_variable("tlh");
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        said.contains("`INFERGATE_LANG`: `tlh` is no language of reports"),
        "{said}"
    );
}

#[test]
fn a_template_writes_the_report_and_never_changes_what_it_says() {
    let project = Project::new("test");
    let short = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/templates/short.md.j2"
    );
    let write = |name: &str, text: &str| std::fs::write(project.path(name), text).unwrap();
    write("broken.md.j2", "one\n{{ headlin }}\n");
    write("syntax.md.j2", "one\n{% if %}\n");
    write(
        "late.md.j2",
        "{% if specs[0].name == 'small' %}{{ specs[0].rows[999].cell }}{% endif %}",
    );
    write("page.html.j2", "<h1>{{ headline }}</h1>");
    // A mistake shows before anything is measured.
    project
        .run(&["ab", "spec.yaml", "--template", "broken.md.j2"])
        .exits(2)
        .says("did you mean `headline`?");
    project
        .run(&["gate", "spec.yaml", "--template", "syntax.md.j2"])
        .exits(2)
        .says("cannot use the template `syntax.md.j2`: `syntax.md.j2`, line 2");
    project
        .run(&["ab", "spec.yaml", "--template", "page.html.j2"])
        .exits(2)
        .says("ends in `.md.j2`");
    assert!(!project.path("infergate-out").exists());

    project
        .run(&[
            "ab",
            "spec.yaml",
            "--candidate-sim",
            "test --slower 2000%",
            "--template",
            short,
        ])
        .exits(1);
    let session = project.sessions()[0].to_str().unwrap().to_owned();
    let page = std::fs::read_to_string(format!("{session}/report.md")).unwrap();
    assert!(page.starts_with("**Regression in `small`"), "{page}");
    assert!(page.contains("| cell | baseline | candidate |"), "{page}");
    assert!(!page.contains("### "), "{page}");
    project
        .run(&["report", &session, "--template", short])
        .exits(0)
        .shows("| cell | baseline | candidate |");
    project
        .run(&["report", &session, "--template", "page.html.j2"])
        .exits(0)
        .shows("<h1>Regression in <code>small</code>");
    for more in [["--format", "json"], ["--html", "x.html"], ["--limit", "9"]] {
        let template = if more[0] == "--limit" {
            "page.html.j2"
        } else {
            short
        };
        let words = [&["report", &session, "--template", template][..], &more].concat();
        project.run(&words).exits(2);
    }
    // One that fails only then leaves the usual report, and the exit code.
    let ran = project.run(&[
        "compare",
        &session,
        "--out",
        "out",
        "--template",
        "late.md.j2",
    ]);
    ran.exits(1).says(
        "warning: the template failed, so the report is in its usual form: `late.md.j2`, line 1",
    );
    let page = std::fs::read_to_string(project.path("out/report.md")).unwrap();
    assert!(
        page.starts_with("**Regression in `small`") && page.contains("### "),
        "{page}"
    );
    assert!(page.contains("The template `late.md.j2` failed"), "{page}");
    // In a comment too.
    let published = |template: &str| {
        let report = format!("{session}/report.json");
        let words = [
            "publish",
            &report,
            "--to",
            "buildkite",
            "--dry-run",
            "--template",
            template,
        ];
        project.run(&words).exits(0).out
    };
    assert!(published(short).contains("| cell | baseline | candidate |"));
    assert!(published("late.md.j2").contains("The template `late.md.j2` failed"));
    let run = project.runs()[0].to_str().unwrap().to_owned();
    project
        .run(&["report", &run, "--template", short])
        .exits(2)
        .says("is no comparison");
}
