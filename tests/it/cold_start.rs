//! How a launched engine came up: measured, shown, gated.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::launch::{launch, spec};
use crate::support::{Port, Project, json};

/// The text of a spec with these cells.
fn gating(spec: &str, cells: &str) -> String {
    let (before, _) = spec.split_once("  cells:\n").unwrap();
    format!("{before}  cells:\n{cells}")
}

#[test]
fn a_cold_start_is_measured_shown_and_gated() {
    let port = Port::reserve();
    let cells = "    - {metric: cold_ready, at_most: 1m}\n\
                 \x20   - {metric: cold_first_request, worse_by: 900%}\n\
                 \x20   - {metric: cold_warm_request, informational: true}\n";
    let project = Project::with_spec(&gating(&spec(&port, &launch(&port, "--seed, 0")), cells));
    project
        .run(&["run", "spec.yaml"])
        .exits(0)
        .shows("Cold start: ready after ");
    let cold = &json(&project.runs()[0])["cold_start"];
    let seconds = |pointer: &str| cold.pointer(pointer).unwrap().as_f64().unwrap();
    assert!(seconds("/ready_s") > 0.0, "{cold}");
    for answer in ["first", "warm"] {
        let [ttft, e2e] =
            ["ttft_s", "e2e_s"].map(|time| seconds(&format!("/{answer}/answered/{time}")));
        assert!(0.0 < ttft && ttft <= e2e, "{cold}");
    }
    let ran = project.run(&["ab", "spec.yaml"]);
    let report = json(&project.sessions().last().unwrap().join("report.json"));
    let findings = report["findings"].as_array().unwrap();
    let state = |metric: &str| {
        let mut findings = findings.iter();
        let found = findings.find(|finding| finding["cell"]["metric"] == metric);
        let found = found.unwrap_or_else(|| panic!("no {metric} in {report}"));
        (found["gated"].clone(), found["state"].clone())
    };
    assert_eq!(state("cold_ready"), (true.into(), "ok".into()));
    assert_eq!(state("cold_first_request"), (true.into(), "ok".into()));
    assert_eq!(state("cold_warm_request").0, false);
    ran.exits(0);
}

#[test]
fn an_engine_that_is_up_later_every_time_breaks_its_limit() {
    let port = Port::reserve();
    let cells = "    - {metric: cold_ready, at_most: 1ms}\n";
    let project = Project::with_spec(&gating(&spec(&port, &launch(&port, "--seed, 0")), cells));
    project
        .run(&["ab", "spec.yaml"])
        .exits(1)
        .shows("run/cold_ready");
}

/// What a server that is no engine of ours answers, path by path; `asked` counts them.
struct Fake {
    /// Answers of 503 before it is ready.
    unready: u32,
    /// Answers of 500 before a first request is answered.
    broken: u32,
    health: AtomicU32,
    requests: AtomicU32,
}

impl Fake {
    /// Listens at the port from when the launched command has left the first file until its stop
    /// command has left the second.
    fn start(self, port: &Port, [started, stopped]: [PathBuf; 2]) {
        let number = port.number();
        std::thread::spawn(move || {
            while !started.exists() {
                std::thread::yield_now();
            }
            let listener = TcpListener::bind(("127.0.0.1", number)).unwrap();
            for client in listener.incoming().flatten() {
                if stopped.exists() {
                    break;
                }
                // A client that goes away early is none of the test's business.
                let _ = self.answer(client);
            }
        });
    }

    fn answer(&self, mut client: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(client.try_clone()?);
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first)?;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim().to_lowercase();
            if let Some(bytes) = line.strip_prefix("content-length:") {
                length = bytes.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length])?;
        let path = first.split(' ').nth(1).unwrap_or_default();
        let counted = |count: &AtomicU32, least: u32| count.fetch_add(1, Ordering::SeqCst) >= least;
        let (status, body) = match path {
            "/health" if counted(&self.health, self.unready) => (200, ""),
            "/health" => (503, "loading"),
            "/v1/models" => (200, r#"{"data": [{"id": "fake"}]}"#),
            "/v1/chat/completions" if counted(&self.requests, self.broken) => (
                200,
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n\
                 data: [DONE]\n\n",
            ),
            "/v1/chat/completions" => (500, "not so fast"),
            _ => (404, "no such path"),
        };
        write!(
            client,
            "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    }
}

fn fake(ready: &str, unready: u32, broken: u32) -> (Project, Port) {
    let port = Port::reserve();
    let launch = format!(
        "{{command: [sh, -c, 'touch started; exec sleep 1000'], stop: [touch, stopped], ready: {ready}}}"
    );
    let project = Project::with_spec(&spec(&port, &launch));
    let fake = Fake {
        unready,
        broken,
        health: AtomicU32::new(0),
        requests: AtomicU32::new(0),
    };
    fake.start(&port, ["started", "stopped"].map(|file| project.path(file)));
    (project, port)
}

#[test]
fn ready_waits_through_503_and_for_a_first_answer_where_it_is_to() {
    let (project, _port) = fake("{then: first request}", 3, 2);
    project.run(&["run", "spec.yaml"]);
    let run = json(&project.runs()[0]);
    assert!(run["cold_start"]["first"]["answered"].is_object(), "{run}");
    assert!(run["cold_start"]["warm"]["answered"].is_object(), "{run}");

    let (project, _port) = fake("{within: 1m}", 1, 2);
    let ran = project.run(&["run", "spec.yaml"]);
    let run = json(&project.runs()[0]);
    let first = run["cold_start"]["first"]["failed"]["error"].to_string();
    assert!(
        first.contains("500") && first.contains("not so fast"),
        "{first}"
    );
    assert!(ran.out.contains("first request failed: "), "{}", ran.out);
}

#[test]
fn a_first_request_that_is_never_answered_is_no_start() {
    let (project, _port) = fake("{then: first request, within: 1500ms}", 0, u32::MAX);
    project
        .run(&["run", "spec.yaml"])
        .exits(4)
        .says("was not ready at `/health` and for a first request within 1500ms")
        .says("not so fast");
    assert!(project.runs().is_empty());
}
