//! `infergate doctor` at servers that do not keep to what everybody takes for granted: each is a small
//! server over real sockets, and what is wrong with it is named with what to do.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::support::{Project, SMALL};

/// What is wrong with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Nothing that it says is wrong; it has no metrics and no `/version`.
    Plain,
    /// Answers carry no usage.
    NoUsage,
    /// The whole stream is sent at once, after its last token.
    Buffers,
    /// The model ends its answers when it likes.
    IgnoresPin,
    /// It asks for a key.
    Locked,
    /// It has another model, and refuses others.
    OtherModel,
    /// Its connection closes in the middle of an answer.
    DiesMidStream,
    /// Its metrics are of something else.
    StrangeMetrics,
    /// It closes each connection after its answer.
    Closes,
}

/// A server with this fault, and its URL.
fn server(fault: Fault) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || while answer(&stream, fault).is_some() {});
        }
    });
    base
}

/// Answers one request; `None` ends the connection.
fn answer(stream: &TcpStream, fault: Fault) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        let (name, value) = header.split_once(':')?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut stream = stream;
    let mut whole = |status: &str, text: &str| {
        let length = text.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{text}");
        stream.write_all(head.as_bytes()).ok()
    };
    if fault == Fault::Locked {
        return whole("401 Unauthorized", r#"{"error": "no key"}"#);
    }
    let model = if fault == Fault::OtherModel {
        "other"
    } else {
        "tiny"
    };
    match path.as_str() {
        "/v1/models" => whole("200 OK", &json!({"data": [{"id": model}]}).to_string()),
        "/metrics" if fault == Fault::StrangeMetrics => whole("200 OK", "go_goroutines 7\n"),
        "/v1/chat/completions" => {
            let asked: Value = serde_json::from_slice(&body).ok()?;
            if asked["model"] != model {
                return whole("404 Not Found", r#"{"error": "no such model"}"#);
            }
            chat(stream, &asked, fault)
        }
        _ => whole("404 Not Found", "{}"),
    }
}

fn chat(mut stream: &TcpStream, asked: &Value, fault: Fault) -> Option<()> {
    let most = asked["max_tokens"].as_u64()?;
    let text = asked["messages"][0]["content"].as_str()?;
    let prompt = text.split(' ').count() + 5;
    let tokens = if fault == Fault::IgnoresPin {
        most.min(3)
    } else {
        most
    };
    let usage = json!({"prompt_tokens": prompt, "completion_tokens": tokens});
    let usage = (fault != Fault::NoUsage).then_some(usage);
    if asked["stream"] != true {
        let message = json!({"choices": [{"message": {"content": "a"}, "finish_reason": "length"}],
                             "usage": usage});
        let text = message.to_string();
        let length = text.len();
        return write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{text}"
        )
        .ok();
    }
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).ok()?;
    let mut events: Vec<String> = (0..tokens)
        .map(|_| json!({"choices": [{"delta": {"content": "a "}}]}).to_string())
        .collect();
    let reason = if tokens < most { "stop" } else { "length" };
    events.push(json!({"choices": [{"delta": {}, "finish_reason": reason}]}).to_string());
    events.extend(usage.map(|usage| json!({"choices": [], "usage": usage}).to_string()));
    events.push("[DONE]".to_owned());
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let pace = std::time::Duration::from_millis(2);
    let mut held = String::new();
    for (sent, event) in events.iter().enumerate() {
        if fault == Fault::DiesMidStream && sent == 2 {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return None;
        }
        // An engine takes its time for each token.
        std::thread::sleep(pace);
        let event = format!("data: {event}\n\n");
        if fault == Fault::Buffers {
            held.push_str(&event);
        } else {
            stream.write_all(chunk(&event).as_bytes()).ok()?;
        }
    }
    if !held.is_empty() {
        stream.write_all(chunk(&held).as_bytes()).ok()?;
    }
    stream.write_all(b"0\r\n\r\n").ok()?;
    if fault == Fault::Closes {
        let _ = stream.shutdown(std::net::Shutdown::Both);
        return None;
    }
    Some(())
}

/// What a checkup of the server says, less what this machine, its load and the archive make of it.
fn findings(fault: Fault) -> (i32, Vec<Value>) {
    let base = server(fault);
    let spec = SMALL.replace("sim: SIM", &format!("url: '{base}', model: tiny"));
    let project = Project::with_spec(&spec);
    std::fs::write(project.path("here.json"), super::doctor::HERE).unwrap();
    let ran = project.run(&["doctor", "spec.yaml", "--headroom", "here.json", "--json"]);
    let text = ran.out.replace(&base, "http://HERE");
    let found: Value = serde_json::from_str(&text).unwrap();
    let about = |finding: &Value| {
        let topic = finding["topic"].as_str().unwrap();
        !["archive", "tolerances", "cpu", "power", "disk", "ci", "gpu"].contains(&topic)
    };
    let findings = found["findings"].as_array().unwrap().iter();
    let findings = findings.filter(|finding| about(finding)).cloned();
    (ran.code.unwrap(), findings.collect())
}

/// Findings that are not as they should be, a line each.
fn wrong(findings: &[Value]) -> Vec<String> {
    let wrong = findings.iter().filter(|finding| finding["level"] != "ok");
    wrong
        .map(|finding| {
            let [topic, level, seen] =
                ["topic", "level", "seen"].map(|name| finding[name].as_str().unwrap());
            for advice in ["why", "remedy"] {
                assert!(finding[advice].as_str().unwrap().len() > 10, "{finding}");
            }
            format!("{level} {topic}: {seen}")
        })
        .collect()
}

#[test]
fn a_plain_server_is_well_and_what_it_lacks_is_noted() {
    let (code, found) = findings(Fault::Plain);
    assert_eq!(
        wrong(&found),
        [
            "note metrics: `http://HERE` shows none: /metrics answers 404",
            "note context: the longest request, in stage `steady`, may take 110 tokens; how many the model \
             takes is not known",
        ],
        "{found:#?}"
    );
    assert_eq!(code, 0);
}

#[test]
fn what_is_wrong_with_a_server_is_named() {
    for (fault, level, topic, says) in [
        (Fault::NoUsage, "note", "usage", "no usage"),
        (
            Fault::Buffers,
            "trouble",
            "streaming",
            "held back until they are whole",
        ),
        (
            Fault::IgnoresPin,
            "trouble",
            "output-length",
            "3 of 3 answers are shorter than the 32 tokens asked for (one has 3, the model having ended it)",
        ),
        (Fault::Locked, "trouble", "endpoint", "answers 401"),
        (
            Fault::OtherModel,
            "trouble",
            "model",
            "`tiny` is not among the models that are there (`other`)",
        ),
        (Fault::OtherModel, "trouble", "requests", "status 404"),
        (
            Fault::DiesMidStream,
            "trouble",
            "requests",
            "4 of 4 requests failed",
        ),
        (
            Fault::StrangeMetrics,
            "note",
            "metrics",
            "no name of an engine that is known",
        ),
        (
            Fault::Closes,
            "note",
            "connections",
            "4 connections were opened for 4 requests",
        ),
    ] {
        let (code, found) = findings(fault);
        let expected = format!("{level} {topic}: ");
        let named = wrong(&found)
            .iter()
            .any(|line| line.starts_with(&expected) && line.contains(says));
        assert!(
            named,
            "{fault:?}: no {level} of {topic} that says {says:?} in {found:#?}"
        );
        let in_the_way = found.iter().any(|finding| finding["level"] == "trouble");
        assert_eq!(
            code,
            if in_the_way { 4 } else { 0 },
            "{fault:?}: {found:#?}"
        );
    }
}

#[test]
fn a_healthy_engine_is_told_in_a_line_each() {
    let project = Project::new("demo");
    std::fs::write(project.path("here.json"), super::doctor::HERE).unwrap();
    let ran = project.run(&["doctor", "spec.yaml", "--headroom", "here.json", "--json"]);
    let found: Value = serde_json::from_str(&ran.exits(0).out).unwrap();
    let findings = found["findings"].as_array().unwrap().iter();
    let lines: Vec<String> = findings
        .filter(|finding| {
            !["cpu", "power", "disk", "ci", "gpu"].contains(&finding["topic"].as_str().unwrap())
        })
        .map(|finding| {
            let [level, topic, seen] =
                ["level", "topic", "seen"].map(|name| finding[name].as_str().unwrap());
            format!("{level} {topic}: {seen}")
        })
        .collect();
    insta::with_settings!({filters => vec![
        (r"127\.0\.0\.1:\d+", "HERE"),
        (r"planned tokens have \d+", "planned tokens have N"),
        (r"\d+ of \d+ were seen", "all were seen"),
    ]}, {
        insta::assert_snapshot!(lines.join("\n"));
    });
}

#[test]
fn two_pins_that_disagree_are_both_told() {
    let spec = SMALL.replace("SIM", "demo").replace(
        "under_test:",
        "pins: {engine: {version: 9.9.9, name: sglang}}\nunder_test:",
    );
    let project = Project::with_spec(&spec);
    std::fs::write(project.path("here.json"), super::doctor::HERE).unwrap();
    project
        .run(&["doctor", "spec.yaml", "--headroom", "here.json"])
        .exits(4)
        .shows("2 things are in the way of a run")
        .shows("`engine.name` is declared `sglang` and seen `infergate-sim`")
        .shows("`engine.version` is declared `9.9.9` and seen");
}
