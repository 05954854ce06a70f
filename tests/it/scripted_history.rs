//! Sixty commits whose story is known: what the archive, the gate and `history` make of it.
//!
//! One real run is the model of all; each commit's session is three copies of it with values of their
//! own, so an archive of sixty nights takes seconds. Sessions go in through `baseline promote`, into a
//! repository in which each night is a commit.
//!
//! | night | what happens | where it shows |
//! |---|---|---|
//! | 12, 44 | two steps, +9 % and +8 % | TTFT |
//! | every | a slow drift, +0.25 % a night, 15 % at the end | E2E |
//! | 24 to 30 | a noisy week: five times the scatter, no change | TPOT |
//! | 34 | an engine upgrade, −10 % | output throughput |
//! | 50 | a run on a machine that was shared: twice as slow | everything |

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Project, json as json_of};

/// Nights.
pub(crate) const NIGHTS: usize = 60;
/// First nights of the steps.
pub(crate) const STEPS: [usize; 2] = [12, 44];
/// The noisy week.
pub(crate) const NOISY: std::ops::RangeInclusive<usize> = 24..=30;
/// The engine's upgrade.
pub(crate) const UPGRADE: usize = 34;
/// The night on a shared machine.
pub(crate) const SHARED: usize = 50;
/// The night that is pinned as a release.
pub(crate) const RELEASE: usize = 4;
/// Runs of a session.
const RUNS: usize = 3;

const SPEC: &str = "\
infergate: 1
name: nightly
target: {sim: test, api: chat}
under_test: [engine.args, engine.version]
workload:
  seed: 7
  output_length: pinned
  classes:
    - {name: chat, weight: 1, input: 40, output: 6}
stages:
  - {name: steady, closed: {users: 2}, requests: 250, warmup: 4}
gate:
  cells:
    - {metric: ttft.p95, worse_by: 15%}
    - {metric: tpot.p50, worse_by: 15%}
    - {metric: e2e.p50, worse_by: 15%}
    - {metric: output_throughput, worse_by: 15%}
";

/// An archive in a repository, as it grows by a night.
pub(crate) struct Scripted {
    pub(crate) project: Project,
    model: Value,
    /// The commits so far, a night each.
    pub(crate) commits: Vec<String>,
}

/// Numbers that are the same on any machine: a multiplicative generator, and the sum of twelve as a normal
/// number.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// The truth of a night, without scatter: by how much each metric is multiplied.
pub(crate) fn truth(night: usize, metric: &str) -> f64 {
    let shared = if night == SHARED { 2.0 } else { 1.0 };
    match metric {
        "ttft" => {
            let steps = [(STEPS[0], 1.09), (STEPS[1], 1.08)];
            let so_far = steps.iter().filter(|(first, _)| night >= *first);
            shared * so_far.map(|(_, by)| by).product::<f64>()
        }
        "e2e" => shared * 1.0025_f64.powf(night as f64),
        "output_tps" => (if night >= UPGRADE { 0.9 } else { 1.0 }) / shared,
        _ => shared,
    }
}

impl Scripted {
    /// A repository with the spec and nothing promoted.
    pub(crate) fn new() -> Self {
        let project = Project::with_spec(SPEC);
        project
            .run(&["--quiet", "run", "spec.yaml", "--out", "model"])
            .exits(0);
        let session = crate::support::entries(&project.path("model"))
            .pop()
            .unwrap();
        let run = crate::support::entries(&session.join("runs"))
            .pop()
            .unwrap();
        let model = json_of(&run);
        let scripted = Self {
            project,
            model,
            commits: Vec::new(),
        };
        scripted.git(&["init", "--quiet", "--initial-branch", "main"]);
        scripted
    }

    /// Git in the project, as nobody.
    pub(crate) fn git(&self, words: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.project.path(""))
            .args([
                "-c",
                "user.name=night",
                "-c",
                "user.email=night@example.org",
            ])
            .args(words)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The session of a night, measured at a commit of its own, not promoted yet.
    pub(crate) fn measure(&mut self, night: usize) -> PathBuf {
        fs::write(self.project.path("engine"), format!("night {night}\n")).unwrap();
        self.git(&["add", "engine", "spec.yaml"]);
        self.git(&["commit", "--quiet", "--message", &format!("night {night}")]);
        let commit = self.git(&["rev-parse", "HEAD"]);
        self.commits.push(commit.clone());
        let session = format!("night-{night:02}");
        let folder = self.project.path("sessions").join(&session);
        fs::create_dir_all(folder.join("runs")).unwrap();
        let mut dice = Dice(night as u64 * 7919 + 12_345);
        // Scatter of the machine from night to night, and of runs within one.
        let between: Vec<f64> = (0..4).map(|_| 0.004 * dice.normal()).collect();
        for number in 0..RUNS {
            let mut run = self.model.clone();
            let id = format!("{session}-{number}");
            let day = night + 1;
            let (month, day) = (1 + (day - 1) / 28, 1 + (day - 1) % 28);
            run["id"] = json!(id);
            run["session"] = json!(session);
            run["started"] = json!(format!(
                "2026-{month:02}-{day:02}T03:{:02}:00Z",
                10 * number
            ));
            run["source"] = json!({ "commit": commit });
            let version = if night >= UPGRADE { "0.12.0" } else { "0.11.0" };
            run["pins"]["engine.version"]["observed"] =
                json!({ "seen": { "value": version, "source": "test" } });
            let mut factor = |place: usize, metric: &str| {
                let noisy = metric == "tpot" && NOISY.contains(&night);
                let scatter = if noisy { 5.0 } else { 1.0 };
                let within = 0.004 * dice.normal();
                truth(night, metric) * (scatter * (between[place] + within)).exp()
            };
            let factors = [
                factor(0, "ttft"),
                factor(1, "tpot"),
                factor(2, "e2e"),
                factor(3, "output_tps"),
            ];
            for stage in run["stages"].as_array_mut().unwrap() {
                let pooled = &mut stage["pooled"];
                let base = [("ttft", 0.2), ("tpot", 0.02), ("e2e", 2.0)];
                for ((metric, seconds), factor) in base.into_iter().zip(factors) {
                    set(&mut pooled["distributions"][metric], seconds * factor);
                }
                pooled["rates"]["output_tps"] = json!(1000.0 * factors[3]);
            }
            let text = serde_json::to_string_pretty(&run).unwrap();
            fs::write(folder.join("runs").join(format!("{id}.json")), text).unwrap();
        }
        folder
    }

    /// Promotes a night's session and commits the archive.
    pub(crate) fn promote(&self, folder: &std::path::Path) {
        let session = folder.to_str().unwrap();
        self.project
            .run(&[
                "--quiet", "baseline", "promote", session, "--reason", "nightly",
            ])
            .exits(0);
    }

    /// All nights, promoted.
    pub(crate) fn whole() -> Self {
        let mut scripted = Self::new();
        for night in 0..NIGHTS {
            let session = scripted.measure(night);
            scripted.promote(&session);
        }
        scripted
    }

    /// What people do about it: the night on a shared machine is void, an early one is a release, and
    /// the upgrade is accepted until the end of February.
    pub(crate) fn curate(&self) {
        let shared = format!("night-{SHARED:02}");
        let why = ["--reason", "the machine was shared", "--author", "night"];
        let words = [&["baseline", "void", &shared], &why[..]].concat();
        self.project.run(&words).exits(0);
        let release = format!("night-{RELEASE:02}");
        self.project
            .run(&["baseline", "pin", &release, "--as", "v1.0"])
            .exits(0);
        let of_spec = self.project.path("baselines/nightly");
        let folders = crate::support::entries(&of_spec);
        let folder = folders.into_iter().find(|path| path.is_dir()).unwrap();
        let environment = folder.file_name().unwrap().to_str().unwrap();
        let upgrade = format!("night-{UPGRADE:02}");
        let mut reference = json_of(&folder.join("reference.json"));
        reference["epochs"] = json!([{
            "from": upgrade, "accept": "2026-02-07-upgrade", "started": "2026-02-07T03:30:00Z"
        }]);
        let text = serde_json::to_string_pretty(&reference).unwrap();
        fs::write(folder.join("reference.json"), text).unwrap();
        let accept = format!(
            "format: infergate.accept/1\ncreated: 2026-02-07T04:00:00Z\nexpires: 2026-02-28\n\
             author: night\nreason: 0.12 is slower and was taken\nenvironment: {environment}\n\
             sessions: [{upgrade}]\ncells:\n  - {{cell: steady/output_throughput, old: 1000.0, new: 900.0}}\n"
        );
        fs::create_dir_all(of_spec.join("accepts")).unwrap();
        fs::write(of_spec.join("accepts/2026-02-07-upgrade.yaml"), accept).unwrap();
    }

    /// What `history` says of a cell, as JSON, and the track that it stands in.
    pub(crate) fn history(&self, cell: &str) -> (Value, Value) {
        let out = self.project.run(&["history", "--json"]).exits(0).out;
        let histories: Value = serde_json::from_str(&out).unwrap();
        let track = &histories[0]["tracks"][0];
        let series = track["series"].as_array().unwrap();
        let series = series.iter().find(|series| series["cell"] == cell);
        (series.unwrap().clone(), track.clone())
    }
}

/// Every quantile of a distribution at one value, and nothing else in it.
fn set(distribution: &mut Value, seconds: f64) {
    for name in ["min_s", "mean_s", "max_s"] {
        distribution[name] = json!(seconds);
    }
    for quantile in distribution["quantiles"]
        .as_object_mut()
        .unwrap()
        .values_mut()
    {
        *quantile = json!({ "value_s": seconds, "adjusted_s": seconds });
    }
    distribution.as_object_mut().unwrap().remove("hdr");
}

fn shifts(series: &Value) -> Vec<usize> {
    let shifts = series["shifts"].as_array().unwrap().iter();
    shifts
        .map(|shift| shift["sitting"].as_u64().unwrap() as usize)
        .collect()
}

#[test]
fn history_finds_the_steps_the_drift_and_the_upgrade_and_no_change_in_noise() {
    let scripted = Scripted::whole();
    scripted.curate();
    let (ttft, track) = scripted.history("steady/ttft.p95");
    assert_eq!(track["sittings"].as_array().unwrap().len(), NIGHTS);
    let found = shifts(&ttft);
    assert_eq!(found.len(), STEPS.len(), "{found:?}");
    for (found, expected) in found.iter().zip(STEPS) {
        assert!(found.abs_diff(expected) <= 3, "{found} {expected}");
    }
    let (tpot, _) = scripted.history("steady/tpot.p50");
    assert_eq!(shifts(&tpot), [0; 0], "noise is no change");
    let (rate, _) = scripted.history("steady/output_throughput");
    let upgrade = shifts(&rate);
    assert!(
        upgrade.len() == 1 && upgrade[0].abs_diff(UPGRADE) <= 3,
        "{upgrade:?}"
    );
    assert_eq!(rate["shifts"][0]["worse"], true);
    assert_eq!(rate["shifts"][0]["accepted"], true);
    assert_eq!(track["accepts"][0]["expires"], "2026-02-28");
    let void = &track["sittings"][SHARED]["standing"]["void"];
    assert_eq!(void["reason"], "the machine was shared");
    // A drift is a staircase, all of it upwards.
    let (e2e, _) = scripted.history("steady/e2e.p50");
    let stairs = e2e["shifts"].as_array().unwrap();
    assert!(stairs.len() >= 2, "{stairs:?}");
    assert!(
        stairs.iter().all(|shift| shift["worse"] == true),
        "{stairs:?}"
    );
    // And far from the release, by what 50 nights of it make.
    let drift = &e2e["drift"];
    assert_eq!(
        (&drift["anchor"], &drift["worse"]),
        (&json!(RELEASE), &json!(true))
    );
    let expected = truth(NIGHTS - 3, "e2e") / truth(RELEASE, "e2e") - 1.0;
    let change = drift["change"].as_f64().unwrap();
    assert!((change - expected).abs() < 0.02, "{change} {expected}");
    // Each night knows its commit, and the upgrade's pin.
    let sittings = track["sittings"].as_array().unwrap();
    for (sitting, commit) in sittings.iter().zip(&scripted.commits) {
        assert_eq!(sitting["commit"], commit.as_str());
    }
    assert_eq!(sittings[UPGRADE]["pins"][0]["pin"], "engine.version");
    assert_eq!(sittings[UPGRADE]["pins"][0]["after"], "0.12.0");
    let changed = sittings.iter().filter(|sitting| !sitting["pins"].is_null());
    assert_eq!(changed.count(), 1);
}
