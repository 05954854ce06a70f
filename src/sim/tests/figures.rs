//! Figures of this machine, for people.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;

/// Figures for people: `c1 test --lib sim::tests::figures -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures of this machine, checks nothing"]
async fn figures() {
    for (profile, clients) in [("demo", 1), ("demo", 8), ("h100-8b", 32)] {
        let server = start_profile(profile, |_| {}).await;
        let body = json!({"prompt": "river ".repeat(64), "max_tokens": 64, "stream": true});
        let raw = request("POST", "/v1/completions", "", &body.to_string());
        let tasks: Vec<_> = (0..clients)
            .map(|_| tokio::spawn(send(server.addr(), raw.clone())))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let mut late: Vec<u64> = server
            .truth()
            .iter()
            .flat_map(|r| {
                let written = r.token_us.clone().unwrap();
                let due = r.due_us.clone().unwrap();
                written.into_iter().zip(due).map(|(w, d)| w - d)
            })
            .collect();
        late.sort_unstable();
        let at = |q: f64| late[(q * (late.len() - 1) as f64) as usize];
        let (p50, p90, p99, max) = (at(0.5), at(0.9), at(0.99), at(1.0));
        println!("{profile} × {clients}: lateness µs p50 {p50} p90 {p90} p99 {p99} max {max}");
    }
    let server = start_profile("demo", |_| {}).await;
    let before = cpu_ticks();
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    println!("idle for 4 s: {} ticks of CPU", cpu_ticks() - before);
    let before = cpu_ticks();
    let body = json!({"prompt": "river ".repeat(64), "max_tokens": 16, "stream": true});
    let raw = request("POST", "/v1/completions", "", &body.to_string());
    let mut every = tokio::time::interval(std::time::Duration::from_micros(12_500));
    let mut tasks = Vec::new();
    for _ in 0..320 {
        every.tick().await;
        tasks.push(tokio::spawn(send(server.addr(), raw.clone())));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let ticks = cpu_ticks() - before;
    println!("80 requests a second for 4 s: {ticks} ticks of CPU, the client's among them");

    let server = start_profile("null", |_| {}).await;
    let body = json!({"prompt": "river ".repeat(64), "max_tokens": 256, "stream": true});
    let raw = request("POST", "/v1/completions", "", &body.to_string())
        .replace("connection: close\r\n", "");
    let requests = 400;
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    let clock = clock::Clock::start();
    let mut buffer = vec![0; 1 << 18];
    for _ in 0..requests {
        stream.write_all(raw.as_bytes()).await.unwrap();
        let mut filled = 0;
        while !buffer[..filled].ends_with(b"\r\n0\r\n\r\n") {
            filled += stream.read(&mut buffer[filled..]).await.unwrap();
        }
    }
    let secs = clock.now().as_secs_f64();
    println!(
        "null: {:.0} chunks/s, one connection",
        f64::from(requests * 257) / secs
    );
}

/// CPU time of this process in ticks of 10 ms.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
