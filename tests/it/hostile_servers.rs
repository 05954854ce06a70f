//! Servers that answer what nobody expects: the first answer decides, and the message says why.

use std::io::{Read as _, Write as _};

use crate::support::{Project, SMALL};

/// A server that answers every request with this status and body, and its URL.
fn server(status: &'static str, body: &'static str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 8192]);
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    base
}

#[test]
fn answers_that_name_no_model_are_told_apart() {
    for (status, body, says) in [
        ("200 OK", "7", "lists no model"),
        ("200 OK", r#"{"data": [{"id": ""}]}"#, "lists no model"),
        ("200 OK", "<html>", "is not JSON"),
        (
            "500 Oops",
            "boom \u{1b}[31m red",
            "500 to `/v1/models`: boom  [31m red",
        ),
        ("401 No", "{}", "api_key_env"),
        ("404 No", "{}", "OpenAI-compatible"),
    ] {
        let base = server(status, body);
        let spec = SMALL.replace("sim: SIM", &format!("url: '{base}'"));
        let ran = Project::with_spec(&spec)
            .run(&["run", "spec.yaml"])
            .exits(4)
            .says(says);
        assert!(!ran.err.contains("panic"), "{}", ran.err);
    }
}

#[test]
fn a_refused_key_is_no_regression_of_both_sides() {
    let base = server("401 No", "{}");
    let spec = SMALL.replace("sim: SIM", &format!("url: '{base}', model: m"));
    Project::with_spec(&spec)
        .run(&["ab", "spec.yaml"])
        .exits(4)
        .says("401");
}
