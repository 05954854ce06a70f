//! `infergate init`: what it writes is right at once, of a server that runs and of none.

use std::process::Command;

use serde_json::Value;

use crate::support::{Engine, Project};

/// A folder that is nobody's repository.
fn empty() -> Project {
    let project = Project::with_spec("");
    std::fs::remove_file(project.path("spec.yaml")).unwrap();
    project
}

fn text(project: &Project, path: &str) -> String {
    std::fs::read_to_string(project.path(path)).unwrap()
}

#[test]
fn a_first_spec_checks_in_silence_and_runs() {
    let project = empty();
    project
        .run(&["init"])
        .exits(0)
        .shows("wrote infergate/first.yaml")
        .shows("wrote .github/workflows/infergate.yaml")
        .shows("infergate doctor infergate/first.yaml");
    let checked = project.run(&["check", "infergate/first.yaml"]).exits(0);
    assert_eq!(checked.err, "", "not one warning");
    assert!(!checked.out.contains("note:"), "{}", checked.out);
    project.run(&["run", "infergate/first.yaml"]).exits(0);
    assert_eq!(project.runs().len(), 1);
}

#[test]
fn a_spec_of_a_server_holds_what_the_server_says_and_runs() {
    let engine = Engine::start(&["demo", "--model", "acme/Tiny:8B"]);
    let url = format!("http://{}", engine.address);
    let project = empty();
    project
        .run(&["init", "--url", &format!("{url}/v1/")])
        .exits(0)
        .shows("wrote infergate/tiny-8b.yaml");
    let path = "infergate/tiny-8b.yaml";
    let spec = text(&project, path);
    for line in [
        format!("  url: \"${{TARGET_URL:-{url}}}\""),
        "  model: \"acme/Tiny:8B\"   # seen at /v1/models".to_owned(),
        "    name: \"infergate-sim\"   # what serves it, seen at its answers".to_owned(),
    ] {
        assert!(
            spec.lines().any(|written| written == line),
            "no {line:?} in\n{spec}"
        );
    }
    assert!(
        spec.contains("    version: observed   # its release, seen at /version: ")
            && spec.contains("    max_model_len: 4096   # "),
        "{spec}"
    );
    let checked = project.run(&["check", path]).exits(0);
    assert_eq!(checked.err, "", "not one warning");
    assert!(!checked.out.contains("note:"), "{}", checked.out);
    // The default warm-up of a real server takes 30 s; the load itself is the same.
    let short = spec.replace("requests: 200}", "requests: 200, warmup: 4}");
    assert_ne!(short, spec);
    std::fs::write(project.path(path), short).unwrap();
    project.run(&["run", path]).exits(0);
    // As another server, it is not what the spec declares.
    let other = Engine::start(&["demo", "--model", "acme/Tiny:8B"]);
    let moved = text(&project, path).replace("max_model_len: 4096", "max_model_len: 2048");
    std::fs::write(project.path(path), moved).unwrap();
    let ran: crate::support::Ran = project
        .command(&["run", path])
        .env("TARGET_URL", format!("http://{}", other.address))
        .output()
        .unwrap()
        .into();
    ran.exits(2)
        .says("`limits.max_model_len` is declared `2048` and seen `4096`");
}

#[test]
fn nothing_is_overwritten_unless_asked() {
    let project = empty();
    let words = ["init", "--name", "chat", "--json"];
    let ran = project.run(&words).exits(0);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["name"], "chat");
    assert_eq!(report["written"][0]["path"], "infergate/chat.yaml");
    assert_eq!(report["written"][1]["replaced"], false);
    std::fs::write(project.path("infergate/chat.yaml"), "mine").unwrap();
    project
        .run(&words)
        .exits(2)
        .says("`infergate/chat.yaml` is there already, and nothing was written")
        .says("--force");
    // The workflow is there too: another name alone does not do.
    project
        .run(&["init", "--name", "other"])
        .exits(2)
        .says("workflows/infergate.yaml");
    assert!(
        !project.path("infergate/other.yaml").exists(),
        "all or nothing"
    );
    project
        .run(&["init", "--name", "other", "--no-workflow"])
        .exits(0);
    assert_eq!(text(&project, "infergate/chat.yaml"), "mine");
    project
        .run(&["init", "--name", "chat", "--force"])
        .exits(0)
        .shows("replaced infergate/chat.yaml");
    assert!(text(&project, "infergate/chat.yaml").contains("infergate: 1"));
}

#[test]
fn it_writes_at_the_root_of_the_repository() {
    let project = empty();
    std::fs::create_dir_all(project.path(".git")).unwrap();
    std::fs::create_dir_all(project.path("a/b")).unwrap();
    let mut command = project.command(&["init"]);
    let ran: crate::support::Ran = command
        .current_dir(project.path("a/b"))
        .output()
        .unwrap()
        .into();
    ran.exits(0).shows("wrote ../../infergate/first.yaml");
    assert!(project.path(".github/workflows/infergate.yaml").is_file());
    project.run(&["init", "--dir", "elsewhere"]).exits(0);
    assert!(project.path("elsewhere/infergate/first.yaml").is_file());
}

#[test]
fn a_server_that_does_not_answer_is_said_with_the_way_around() {
    let project = empty();
    // Bound and dropped: nothing listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://127.0.0.1:{port}");
    project
        .run(&["init", "--url", &url])
        .exits(4)
        .says("cannot reach the target")
        .says("--offline");
    assert!(!project.path("infergate").exists());
    project.run(&["init", "--url", &url, "--offline"]).exits(0);
    project.run(&["check", "infergate/first.yaml"]).exits(0);
    for wrong in ["127.0.0.1:8000", "http://h/${X}", "http://u:p@h"] {
        project
            .run(&["init", "--url", wrong])
            .exits(2)
            .says("`--url` ");
    }
    project
        .run(&["init", "--name", "../x"])
        .exits(2)
        .says("is not a name");
    project.run(&["init", "--launch"]).exits(2);
}

#[test]
fn a_spec_can_go_to_standard_output() {
    let project = empty();
    let ran = project.run(&["init", "--stdout"]).exits(0);
    assert!(ran.out.starts_with("# What infergate measures"));
    assert!(!project.path("infergate").exists() && !project.path(".github").exists());
    std::fs::write(project.path("spec.yaml"), ran.out).unwrap();
    project.run(&["check", "spec.yaml"]).exits(0);
}

#[cfg(unix)]
#[test]
fn an_engine_is_launched_once_to_ask_it() {
    let port = crate::support::Port::reserve();
    let (number, program) = (port.number().to_string(), env!("CARGO_BIN_EXE_infergate"));
    let url = format!("http://127.0.0.1:{number}");
    let project = empty();
    let words = [
        "init", "--url", &url, "--launch", "--", program, "sim", "demo", "--port", &number,
    ];
    project
        .run(&words)
        .exits(0)
        .shows("wrote infergate/demo.yaml");
    let spec = text(&project, "infergate/demo.yaml");
    let command =
        format!("    command: [\"{program}\", \"sim\", \"demo\", \"--port\", \"{number}\"]");
    assert!(spec.contains(&command), "{spec}");
    assert!(spec.contains("model: \"sim/demo\""), "{spec}");
    let checked = project.run(&["check", "infergate/demo.yaml"]).exits(0);
    assert_eq!(checked.err, "");
    project
        .run(&[
            "init",
            "--url",
            &url,
            "--launch",
            "--no-workflow",
            "--",
            "no-such-engine",
        ])
        .exits(4)
        .says("cannot launch `no-such-engine`");
}

#[test]
fn the_workflow_is_yaml_whose_actions_are_pinned() {
    let project = empty();
    for (name, words) in [
        ("first", &["init"][..]),
        (
            "url",
            &[
                "init",
                "--name",
                "url",
                "--url",
                "http://h:1",
                "--offline",
                "--force",
            ],
        ),
        (
            "launch",
            &[
                "init",
                "--name",
                "launch",
                "--offline",
                "--force",
                "--launch",
                "--",
                "e",
            ],
        ),
    ] {
        project.run(words).exits(0);
        let path = project.path(".github/workflows/infergate.yaml");
        let workflow = std::fs::read_to_string(&path).unwrap();
        let parsed: Value = serde_yaml::from_str(&workflow).unwrap();
        assert!(parsed["on"].get("pull_request").is_some(), "{workflow}");
        assert_eq!(parsed["permissions"], serde_json::json!({}));
        let job = &parsed["jobs"]["gate"];
        let least =
            serde_json::json!({"contents": "read", "pull-requests": "write", "checks": "write"});
        assert_eq!(job["permissions"], least);
        let steps = job["steps"].as_array().unwrap();
        let uses = steps.iter().filter_map(|step| step["uses"].as_str());
        let pinned = |action: &str| {
            action.split_once('@').is_some_and(|(_, commit)| {
                commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit())
            })
        };
        assert!(
            uses.clone().count() == 2 && uses.clone().all(pinned),
            "{workflow}"
        );
        let ab = format!("infergate ab infergate/{name}.yaml");
        let runs = steps.iter().filter_map(|step| step["run"].as_str());
        assert!(runs.clone().any(|run| run.starts_with(&ab)), "{workflow}");
        // What a pull request names must reach a shell through the environment alone.
        assert!(runs.clone().all(|run| !run.contains("${{")), "{workflow}");
        assert!(
            !workflow.contains('@') || !workflow.contains("@SPEC@"),
            "{workflow}"
        );
        if let Ok(linted) = Command::new("actionlint").arg(&path).output() {
            assert!(
                linted.status.success(),
                "{}",
                String::from_utf8_lossy(&linted.stdout)
            );
        }
    }
}
