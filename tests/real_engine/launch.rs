//! `launch` in a spec: two settings of llama.cpp's server, in turn at one port.

use crate::engine::prefix;
use std::process::{Command, Stdio};

use crate::support::{Port, Project, Ran, entries, json};

/// The same that leaves the server's number.
const WITH_PID: &str = "\
tail -f /dev/null | exec \"$1/venv/bin/python\" -c 'import os, runpy, sys; \
open(\"engine.pid\", \"w\").write(str(os.getpid())); sys.argv = sys.argv[1:]; \
runpy.run_path(sys.argv[0], run_name=\"__main__\")' \"$1/serve.py\" --model \"$1/models/tiny-f16.gguf\" \
--alias tiny --port \"$2\" --threads \"$3\"
";

/// This server ends with its standard input, which a launched engine's is at its end from the start.
const SCRIPT: &str = "\
tail -f /dev/null | \"$1/venv/bin/python\" \"$1/serve.py\" --model \"$1/models/tiny-f16.gguf\" \
--alias tiny --port \"$2\" --threads \"$3\"
";

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn two_settings_of_one_engine_take_turns() {
    let port = Port::reserve();
    let (number, prefix) = (port.number(), prefix());
    let launch = |threads: u32| {
        let prefix = prefix.display();
        format!("{{command: [sh, engine.sh, '{prefix}', {number}, {threads}]}}")
    };
    let spec = format!(
        "\
infergate: 1
name: threads
target: {{url: 'http://127.0.0.1:{number}', launch: {}}}
baseline: {{launch: {}}}
under_test: [engine.args]
workload:
  classes:
    - {{name: chat, input: 100, output: 16}}
stages:
  - {{name: steady, closed: {{users: 2}}, requests: 60, warmup: 6}}
gate:
  repeats: {{min: 5, max: 5}}
  cells:
    - {{metric: e2e.p50, worse_by: 30%}}
    - {{metric: error_ratio, at_most: 5%}}
",
        launch(2),
        launch(1)
    );
    let project = Project::with_spec(&spec);
    std::fs::write(project.path("engine.sh"), SCRIPT).unwrap();
    let ran = project.run(&["ab", "spec.yaml"]);
    let said = format!("{:?}\n{}\n{}", ran.code, ran.out, ran.err);
    assert_eq!(project.runs().len(), 10, "{said}");
    for run in project.runs().iter().map(|run| json(run)) {
        assert_eq!(run["end"], "complete", "{said}");
        let args = &run["pins"]["engine.args"]["observed"]["seen"];
        let threads = if run["side"] == "baseline" {
            " 1"
        } else {
            " 2"
        };
        assert_eq!(args["source"], "launch", "it does not show them itself");
        assert!(args["value"].as_str().unwrap().ends_with(threads), "{args}");
        let cold = &run["cold_start"];
        println!("{} {cold} {}", run["side"], run["network"]);
        let seconds = |pointer: &str| cold.pointer(pointer).unwrap().as_f64().unwrap();
        assert!(
            seconds("/ready_s") > seconds("/warm/answered/e2e_s"),
            "{cold}"
        );
        assert!(seconds("/first/answered/ttft_s") > 0.0, "{cold}");
    }
    let session = &project.sessions()[0];
    assert_eq!(entries(&session.join("logs")).len(), 5 + 6, "{said}");
    assert_eq!(
        json(&session.join("report.json"))["pins"][0]["pin"],
        "engine.args"
    );
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn a_launched_engine_that_is_killed_in_mid_run_leaves_its_last_words() {
    let port = Port::reserve();
    let (number, prefix) = (port.number(), prefix());
    let spec = format!(
        "\
infergate: 1
name: killed
target:
  url: http://127.0.0.1:{number}
  launch:
    command: [sh, engine.sh, '{}', {number}, 1]
    ready: {{then: first request, within: 2m}}
workload:
  classes:
    - {{name: chat, input: 100, output: 16}}
stages:
  - {{name: steady, closed: {{users: 2}}, duration: 10m, warmup: 6}}
",
        prefix.display()
    );
    let project = Project::with_spec(&spec);
    std::fs::write(project.path("engine.sh"), WITH_PID).unwrap();
    let mut child = project
        .command(&["run", "spec.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    project.wait_for_load(&mut child);
    let pid = std::fs::read_to_string(project.path("engine.pid")).unwrap();
    let sent = Command::new("kill").args(["-KILL", &pid]).status();
    assert!(sent.unwrap().success());
    Ran::from(child.wait_with_output().unwrap()).exits(4);
    let end = json(&project.runs()[0])["end"]["target-lost"]["error"].to_string();
    assert!(end.contains("the launched engine ended"), "{end}");
    assert!(end.contains("its log ends: "), "{end}");
    println!("{end}");
}
