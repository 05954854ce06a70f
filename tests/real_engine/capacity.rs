//! From figures to decisions on a real engine: a knee that its slots bound, a replica that dies and comes back, a
//! burst.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::engine::{Engine, SHORT, Setting, prefix, spec};
use crate::support::{Project, json};

fn two_slots() -> Engine {
    Engine::with(&Setting {
        weights: "f16",
        slots: 2,
    })
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn slots_bound_a_sweep_and_what_waits_for_one_waits_for_its_first_token() {
    let engine = two_slots();
    let sweep =
        "stages:\n  - {name: sweep, closed: {users: [1, 2, 4, 8]}, duration: 4s, warmup: 4}\n";
    let project = Project::with_spec(&spec(&engine, &[SHORT, sweep]));
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = json(&project.runs()[0]);
    assert_eq!(
        run["pins"]["limits.max_num_seqs"]["observed"]["seen"]["value"],
        "2"
    );
    let stage = |users: u32| {
        let name = format!("sweep@{users}");
        let stages = run["stages"].as_array().unwrap();
        stages
            .iter()
            .find(|stage| stage["name"] == *name)
            .unwrap()
            .clone()
    };
    let ttft = |stage: &Value| number(&stage["pooled"]["distributions"]["ttft"]["mean_s"]);
    let rate = |stage: &Value| number(&stage["pooled"]["rates"]["completed_rps"]);
    let seen = |stage: &Value, level: &str| number(&stage["engine"]["seen"][level]["max"]);
    let steps = [1, 2, 4, 8].map(stage);
    for step in &steps {
        println!(
            "{}: {:.1} req/s, TTFT {:.1} ms, running {} waiting {}",
            step["name"],
            rate(step),
            1e3 * ttft(step),
            seen(step, "running"),
            seen(step, "waiting")
        );
        assert!(
            seen(step, "running") <= 2.0,
            "no more than its slots: {step}"
        );
    }
    let [_, two, four, eight] = &steps;
    assert!(seen(two, "waiting") < 1.0 && seen(eight, "waiting") >= 4.0);
    // Beyond the slots a request waits for one to end: six others before it, and two at four users.
    assert!(
        ttft(eight) > 2.0 * ttft(two),
        "{} {}",
        ttft(eight),
        ttft(two)
    );
    assert!(ttft(eight) > ttft(four));
    let session = project.sessions()[0].display().to_string();
    let ran = project.run(&["capacity", &session]).exits(0);
    println!("{}", ran.out);
    let ran = ran
        .shows("Capacity of real: one replica carries ")
        .shows("knee ");
    drop(ran);
    let file = project.run(&["capacity", &session, "--json"]).exits(0);
    let file: Value = serde_json::from_str(&file.out).unwrap();
    let sweep = &file["capacity"]["sweeps"][0];
    assert_eq!(sweep["axis"], "users");
    let knee = &sweep["knee"]["figure"];
    println!("{knee}");
    // More users than slots bring no more, so fewer may be as good as any.
    assert!(number(&knee["set"][0]) <= 4.0, "{knee}");
}

/// What an event brought back; it ends with the test.
struct Revived<'a>(&'a Path);

impl Drop for Revived<'_> {
    fn drop(&mut self) {
        if let Ok(pid) = std::fs::read_to_string(self.0) {
            let _ = Command::new("kill").args(["-KILL", pid.trim()]).status();
        }
    }
}

/// Starts the server again where it was, and returns when it answers.
const REVIVE: &str = "\
mkfifo hold && (exec 3<>hold; exec \"$1/venv/bin/python\" \"$1/serve.py\" --model \"$1/models/tiny-f16.gguf\" \
--alias tiny --port \"$2\" --parallel 4 --context 8192 <&3 >/dev/null 2>&1 & echo $! > revived.pid)
python=\"$1/venv/bin/python\"
until \"$python\" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1])' \"http://127.0.0.1:$2/health\" 2>/dev/null
do :; done
";

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn of_two_replicas_one_is_killed_and_started_again() {
    let (one, other) = (Engine::start("f16"), Engine::start("f16"));
    let port = other.url().rsplit(':').next().unwrap();
    let spec = format!(
        "\
infergate: 1
name: failover
target: {{urls: ['{}', '{}'], api: chat}}
request: {{temperature: 0}}
{SHORT}stages:
  - name: failover
    open: {{rate: 12/s, arrivals: constant}}
    duration: 16s
    warmup: 4
    events:
      - {{name: gone, at: 4s, command: [kill, -KILL, '{}']}}
      - {{name: back, at: 7s, command: [sh, revive.sh, '{}', '{port}'], within: 30s}}
gate:
  cells: [{{metric: error_ratio, at_most: 60%}}]
",
        one.url(),
        other.url(),
        other.id(),
        prefix().display()
    );
    let project = Project::with_spec(&spec);
    std::fs::write(project.path("revive.sh"), REVIVE).unwrap();
    let pid = project.path("revived.pid");
    let _revived = Revived(&pid);
    let ran = project.run(&["run", "spec.yaml"]).exits(0);
    println!("{}", ran.out);
    let run = json(&project.runs()[0]);
    assert_eq!(run["end"], "complete", "one replica is no lost target");
    let stage = &run["stages"][0];
    let [gone, back] = [0, 1].map(|at| &stage["events"][at]);
    assert_eq!(
        (&gone["outcome"], &back["outcome"]),
        (&"done".into(), &"done".into()),
        "{stage}"
    );
    let after = &gone["aftermath"];
    // Every second request of three seconds finds nobody, and what was in flight is cut.
    let lost: f64 = after["lost"]
        .as_object()
        .unwrap()
        .values()
        .map(number)
        .sum();
    assert!(number(&after["lost"]["connect_error"]) >= 6.0, "{after}");
    assert!(
        lost <= 6.0 * 12.0,
        "half of what came until then at most: {after}"
    );
    assert_eq!(after["attainment_before"], 1.0);
    let remained = number(&after["goodput_while_rps"]) / number(&after["goodput_before_rps"]);
    assert!((0.2..0.9).contains(&remained), "about half: {after}");
    let recovered = number(&after["recovery"]["after"]["s"]);
    println!(
        "lost {lost}, {:.0} % remained, back after {recovered:.1} s",
        100.0 * remained
    );
    assert!(recovered >= 2.0, "not before it was started again: {after}");
}

#[test]
#[ignore = "needs a real engine: tests/engines/setup.sh, see CONTRIBUTING.md"]
fn a_burst_fills_the_engines_queue_and_drains() {
    let engine = two_slots();
    let stage = "stages:\n  - {name: bursts, open: {rate: 2/s, burst: {every: 6s, for: 2s, rate: 150/s}}, \
                 duration: 20s, warmup: 4}\n";
    let project = Project::with_spec(&spec(&engine, &[SHORT, stage]));
    let before = engine.counters();
    let ran = project.run(&["run", "spec.yaml"]).exits_any();
    println!("{}", ran.out);
    let counted = engine.counters().since(before);
    let run = json(&project.runs()[0]);
    let stage = &run["stages"][0];
    let bursts = &stage["bursts"];
    assert!(number(&bursts["bursts"]) >= 2.0, "{bursts}");
    let most = number(&bursts["in_flight_most"]);
    let waiting = number(&stage["engine"]["seen"]["waiting"]["max"]);
    println!("{bursts}; the engine saw {waiting} waiting");
    assert!(
        most > 2.0 && number(&bursts["in_flight_before"]) < most,
        "{bursts}"
    );
    // `in_flight_most` is read at the ends of slices, between which the engine's own may be higher.
    let in_flight = number(&stage["health"]["in_flight_max"]);
    assert!(
        waiting >= 1.0 && waiting <= in_flight,
        "what waits there is in flight here: {waiting} of {in_flight}"
    );
    // The engine's own counts: all output that the run has, and that of its calibration and warm-up.
    let output = number(&stage["pooled"]["tokens"]["output_observed"]);
    assert!(
        counted.output_tokens >= output,
        "{} {output}",
        counted.output_tokens
    );
    let check = &stage["engine"]["seen"]["cross_check"];
    assert!(check.is_object(), "{}", stage["engine"]);
}
