//! `run --shard` and `merge`: one plan, four processes, one run.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use infergate::archive::RecordReader;
use infergate::diag::Source;
use infergate::plan::{Phase, Plan};
use infergate::sample::RequestRecord;
use infergate::unit::Nanos;

use crate::support::{Project, Ran, SMALL, entries, json};

/// The embedded engine, which ends with this value.
struct Engine(Child);

impl Engine {
    fn start(project: &Project) -> (Self, String) {
        let mut command = project.command(&["sim", "test", "--port", "0", "--parent-watch"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let url = line
            .trim()
            .strip_prefix("listening on ")
            .unwrap()
            .to_owned();
        (Self(child), url)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spec(url: &str) -> String {
    SMALL.replace("sim: SIM", &format!("url: '{url}'")).replace(
        "  - {name: steady, closed: {users: 2}, requests: 60, warmup: 4}\n",
        "  - {name: steady, open: {rate: 40/s}, requests: 80, warmup: 1s, drain_timeout: 1s}\n  \
               - {name: crowd, closed: {users: 6}, duration: 2s, warmup: 1s, drain_timeout: 1s}\n",
    )
}

#[test]
fn four_shards_are_one_run() {
    let project = Project::new("test");
    let (_engine, url) = Engine::start(&project);
    std::fs::write(project.path("spec.yaml"), spec(&url)).unwrap();
    // Long enough for four processes to be up, however busy the machine is.
    let start = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(12);
    let start = start.to_string();
    let run = |share: &str| {
        let mut command =
            project.command(&["run", "spec.yaml", "--shard", share, "--start-at", &start]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let running = ["1/4", "2/4", "3/4", "4/4"].map(run);
    for child in running {
        let ran: Ran = child.wait_with_output().unwrap().into();
        ran.exits(0);
    }
    let [session] = &project.sessions()[..] else {
        panic!("one session")
    };
    let session = session.display().to_string();
    let runs = project.runs();
    assert_eq!(runs.len(), 4);
    // A shard alone is neither compared nor promoted nor merged.
    let one = runs[0].display().to_string();
    project
        .run(&["compare", &one, &one])
        .exits(3)
        .says("shard 1 of 4");
    project
        .run(&["merge", &one, "-o", "merged"])
        .exits(2)
        .says("[2, 3, 4] of 4");
    let merged = project.run(&["merge", &session, "-o", "merged"]).exits(0);
    merged.says("run file:");

    let path = &entries(&project.path("merged/runs"))[0];
    let run = json(path);
    assert_eq!(run["end"], "complete");
    assert_eq!(run["merged"].as_array().unwrap().len(), 4);
    assert_eq!(run["shard"], serde_json::Value::Null);
    let [steady, crowd] = &run["stages"].as_array().unwrap()[..] else {
        panic!("two stages")
    };
    assert_eq!(steady["pooled"]["scheduled"], 80);
    assert_eq!(steady["pooled"]["outcomes"]["completed"], 80);
    assert_eq!(
        (&steady["window_s"], &crowd["window_s"]),
        (&2.0.into(), &2.0.into())
    );
    let scheduled = steady["windows"]["scheduled"].as_array().unwrap();
    let in_windows: u64 = scheduled.iter().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(in_windows, 80);
    assert!(crowd["pooled"]["outcomes"]["completed"].as_u64().unwrap() > 0);

    let records = &entries(&project.path("merged/records"))[0];
    let records: Vec<RequestRecord> = RecordReader::open(records)
        .unwrap()
        .map(|record| record.unwrap())
        .collect();
    // The whole plan was sent, each request once and due at its own instant.
    let of = |stage, phase| {
        let own = records
            .iter()
            .filter(move |r| r.stage == stage && r.phase == phase);
        let mut own: Vec<_> = own.map(|r| (r.index, r.scheduled)).collect();
        own.sort_unstable();
        own
    };
    let source = Source {
        path: "spec.yaml".to_owned(),
        text: spec(&url),
    };
    let parsed = infergate::spec::parse(&source, &|_| None, &|_| Err("no files".to_owned()));
    let plan = Plan::expand(&parsed.unwrap().spec);
    let schedule = plan.stages()[0].schedule.as_ref().unwrap();
    let planned = |instants: &[Nanos]| (0..).zip(instants.iter().copied()).collect::<Vec<_>>();
    assert_eq!(of(0, Phase::Measured), planned(&schedule.measured));
    assert_eq!(of(0, Phase::Warmup), planned(&schedule.warmup));
    // Users of different shards draw different requests.
    for phase in [Phase::Warmup, Phase::Measured] {
        let numbers: Vec<_> = of(1, phase).into_iter().map(|(index, _)| index).collect();
        let distinct: BTreeSet<_> = numbers.iter().collect();
        assert_eq!(distinct.len(), numbers.len());
    }
}

#[test]
fn what_cannot_be_shared_out_is_refused_before_anything_is_sent() {
    let refused = |from: &str, to: &str, says: &str| {
        let text = spec("http://127.0.0.1:9").replace(from, to);
        let project = Project::with_spec(&text);
        let shard = ["--shard", "2/4", "--start-at", "2099-01-01T00:00:00Z"];
        let words = [&["run", "spec.yaml"][..], &shard].concat();
        project.run(&words).exits(2).says(says);
    };
    refused("duration: 2s", "requests: 90", "write `duration: 5m`");
    refused(
        "duration: 2s, warmup: 1s",
        "duration: 2s, warmup: 9",
        "write `warmup: 30s`",
    );
    refused("users: 6", "users: 3", "3 users for 4 shares");
    refused(
        "url: 'http://127.0.0.1:9'",
        "sim: test",
        "start the engine once",
    );
    let project = Project::with_spec(&spec("http://127.0.0.1:9"));
    for (words, says) in [
        (
            &["--shard", "5/4", "--start-at", "2099-01-01T00:00:00Z"][..],
            "second of four",
        ),
        (&["--shard", "2/4", "--start-at", "tomorrow"], "time zone"),
        (&["--shard", "2/4"], "--start-at"),
        (
            &["--shard", "2/4", "--start-at", "2020-01-01T00:00:00Z"],
            "has passed",
        ),
        (
            &[
                "--repeats",
                "2",
                "--shard",
                "2/4",
                "--start-at",
                "2099-01-01T00:00:00Z",
            ],
            "takes one run",
        ),
    ] {
        let words = [&["run", "spec.yaml"][..], words].concat();
        project.run(&words).exits(2).says(says);
    }
}

#[test]
fn the_examples_are_yaml_and_name_flags_that_exist() {
    let project = Project::new("test");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shards");
    let files = entries(&folder);
    assert_eq!(files.len(), 2);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let parsed: serde_json::Value = serde_yaml::from_str(&text).unwrap();
        assert!(parsed.is_object(), "{}", file.display());
        // A command goes on over folded lines, up to the next key.
        let commands = text.split("infergate ").skip(1);
        let mut seen = BTreeSet::new();
        for command in commands {
            let verb = command.split_whitespace().next().unwrap();
            if !["run", "merge", "report"].contains(&verb) {
                continue;
            }
            let help = project.run(&[verb, "--help"]).exits(0).out;
            let words = command.lines().take(4).flat_map(str::split_whitespace);
            let flags = words.take_while(|word| !word.ends_with(':') && !word.starts_with('#'));
            for flag in flags.filter(|word| word.starts_with('-') && word.len() > 1) {
                assert!(help.contains(flag), "`{verb}` has no `{flag}`");
                seen.insert(flag.to_owned());
            }
        }
        for flag in ["--shard", "--start-at", "-o"] {
            assert!(seen.contains(flag), "{}: no {flag}", file.display());
        }
    }
}
