//! Ways to a target: proxies, replicas, keys in files.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::support::{Engine, Project, SMALL, json};

/// A proxy that hands everything to one server, and the request lines that it saw first on each
/// connection.
fn proxy(to: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&seen);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (to, lines, client) = (to.clone(), Arc::clone(&lines), client.unwrap());
            // A client may open a connection that it does not use at once.
            std::thread::spawn(move || hand_on(client, &to, &lines));
        }
    });
    (url, seen)
}

/// Hands a connection's bytes to the server and back; who ends one way ends it for the other too.
fn hand_on(mut client: TcpStream, to: &str, lines: &Mutex<Vec<String>>) {
    let mut first = vec![0; 65536];
    let n = client.read(&mut first).unwrap_or(0);
    let head = String::from_utf8_lossy(&first[..n]).into_owned();
    lines
        .lock()
        .unwrap()
        .extend(head.lines().next().map(str::to_owned));
    let mut server = TcpStream::connect(to).unwrap();
    server.write_all(&first[..n]).unwrap();
    let (mut back, mut out) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut out);
        let _ = out.shutdown(Shutdown::Both);
    });
    let _ = std::io::copy(&mut client, &mut server);
    let _ = server.shutdown(Shutdown::Both);
}

#[test]
fn a_target_elsewhere_is_reached_through_the_proxy_of_the_environment() {
    let engine = Engine::start(&["test"]);
    let (url, seen) = proxy(engine.address.clone());
    let project =
        Project::with_spec(&SMALL.replace("sim: SIM", "url: 'http://255.255.255.255:8000'"));
    let run = |no_proxy: &str| {
        project
            .command(&["run", "spec.yaml"])
            .env("http_proxy", &url)
            .env("no_proxy", no_proxy)
            .output()
            .unwrap()
            .into()
    };
    let ran: crate::support::Ran = run("");
    ran.exits(0);
    let lines = seen.lock().unwrap();
    let sent = "POST http://255.255.255.255:8000/v1/chat/completions HTTP/1.1";
    assert!(lines.iter().any(|line| line == sent), "{lines:?}");
    drop(lines);
    // Nothing is ever sent to this address without the proxy, and no name is asked for.
    let ran: crate::support::Ran = run("255.255.255.255");
    ran.exits(4).says("cannot reach the target");
}

#[test]
fn replicas_share_the_load() {
    let (one, other) = (Engine::start(&["test"]), Engine::start(&["test"]));
    let urls = format!(
        "urls: ['http://{}', 'http://{}']",
        one.address, other.address
    );
    let project = Project::with_spec(&SMALL.replace("sim: SIM", &urls));
    project.run(&["run", "spec.yaml"]).exits(0);
    let run = json(&project.runs()[0]);
    let target = run["client"]["target"].as_str().unwrap();
    assert!(target.contains(&one.address) && target.contains(&other.address));
    // Two users, each of whom needs a connection to either.
    let connections = run["stages"][0]["health"]["connections"].as_u64().unwrap();
    assert!((2..=4).contains(&connections), "{connections}");
}

#[test]
fn replicas_that_differ_are_refused() {
    let (one, other) = (
        Engine::start(&["test"]),
        Engine::start(&["test", "--slower-prefill", "30%"]),
    );
    let urls = format!(
        "urls: ['http://{}', 'http://{}']",
        one.address, other.address
    );
    Project::with_spec(&SMALL.replace("sim: SIM", &urls))
        .run(&["run", "spec.yaml"])
        .exits(2)
        .says("the target's replicas differ in `engine.args`");
}

#[test]
fn a_key_file_lies_beside_the_spec() {
    let engine = Engine::start(&["test"]);
    let target = format!(
        "url: 'http://{}', api_key_file: secrets/key",
        engine.address
    );
    let project = Project::with_spec(&SMALL.replace("sim: SIM", &target));
    project
        .run(&["run", "spec.yaml"])
        .exits(2)
        .says("which the spec's `api_key_file` names");
    std::fs::create_dir(project.path("secrets")).unwrap();
    std::fs::write(project.path("secrets/key"), "sk-123456\n").unwrap();
    let ran = project.run(&["run", "spec.yaml"]).exits(0);
    let file = std::fs::read_to_string(&project.runs()[0]).unwrap();
    for text in [ran.out, ran.err, file] {
        assert!(!text.contains("sk-123456"));
    }
}
