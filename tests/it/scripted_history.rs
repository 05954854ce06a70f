//! Sixty commits whose story is known: what the gate says at each, and what the archive and `history` make
//! of it.
//!
//! One real run is the model of all; each commit's session is three copies of it with values of their
//! own, a day apart. Each is judged as a pull request's, `gate --candidate` in a job of GitHub, by what lies
//! on `main` before it; then it lands, and its session is promoted there. People do what they do by the
//! verbs: `baseline accept`, `void` and `pin`.
//!
//! | night | what happens | where it shows |
//! |---|---|---|
//! | 4 | the release `v1.0` is pinned | |
//! | 12 | a step, +7 %, which lands all the same | TTFT |
//! | 24 to 30 | a noisy week: five times the scatter, no change | TPOT |
//! | 34 | an engine upgrade, −10 %, accepted until the end | output throughput |
//! | 44 | a step, +6 %, accepted for three days to be mended, and not mended | TTFT |
//! | 50 | a run on a machine that was shared, twice as slow, made void the day after | everything |
//! | every | a slow drift, +0.3 % a night, 19 % at the end | E2E |

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use infergate::report::json::ReportFile;
use infergate::verdict::{CellState, Finding};
use serde_json::{Value, json};

use crate::support::{Project, Ran, entries, json as json_of};

/// Nights.
const NIGHTS: usize = 60;
/// The step that lands all the same.
const STEP: usize = 12;
/// The step that is accepted for a while.
const EXCUSED: usize = 44;
/// The last night on which it is.
const EXPIRES: usize = 46;
/// The noisy week.
const NOISY: std::ops::RangeInclusive<usize> = 24..=30;
/// The engine's upgrade.
const UPGRADE: usize = 34;
/// The night on a shared machine.
const SHARED: usize = 50;
/// The night that is pinned as a release.
const RELEASE: usize = 4;
/// What the scatter is drawn from.
const SEED: u64 = 24;
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
  anchor: {drift: 16%}
  cells:
    - {metric: ttft.p95, worse_by: 5%}
    - {metric: tpot.p50, worse_by: 15%}
    - {metric: e2e.p50, worse_by: 15%}
    - {metric: output_throughput, worse_by: 5%}
";

/// An archive in a repository, as it grows by a night.
struct Scripted {
    project: Project,
    model: Value,
    /// The day of the upgrade: today, for accepts are made on the day that the clock says.
    upgrade: jiff::civil::Date,
    story: Story,
}

/// What came of it.
#[derive(Default)]
struct Story {
    /// The commits, a night each.
    commits: Vec<String>,
    /// What the gate said of them.
    said: Vec<Said>,
    /// What `history --json` shows at the end.
    history: Value,
}

/// What the gate said of a night.
struct Said {
    code: i32,
    /// The report's findings, where there is a report.
    findings: Vec<Finding>,
    /// The verdict's line, or why there is none.
    line: String,
    /// Everything on both streams.
    text: String,
    /// The sessions that it was held against.
    against: Vec<String>,
}

/// Numbers that are the same on any machine: Steele's `SplitMix64`, and the sum of twelve as a normal number.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// The truth of a night, without scatter: by how much each metric is multiplied.
fn truth(night: usize, metric: &str) -> f64 {
    let shared = if night == SHARED { 2.0 } else { 1.0 };
    match metric {
        "ttft" => {
            let steps = [(STEP, 1.07), (EXCUSED, 1.06)];
            let so_far = steps.iter().filter(|(first, _)| night >= *first);
            shared * so_far.map(|(_, by)| by).product::<f64>()
        }
        "e2e" => shared * 1.003_f64.powf(night as f64),
        "output_tps" => (if night >= UPGRADE { 0.9 } else { 1.0 }) / shared,
        _ => shared,
    }
}

fn session_of(night: usize) -> String {
    format!("night-{night:02}")
}

impl Scripted {
    /// A repository with the spec on `main` and nothing promoted.
    fn new() -> Self {
        let project = Project::with_spec(SPEC);
        project
            .run(&["--quiet", "run", "spec.yaml", "--out", "model"])
            .exits(0);
        let session = entries(&project.path("model")).pop().unwrap();
        let run = entries(&session.join("runs")).pop().unwrap();
        let scripted = Self {
            model: calm(json_of(&run)),
            project,
            upgrade: jiff::tz::Offset::UTC
                .to_datetime(jiff::Timestamp::now())
                .date(),
            story: Story::default(),
        };
        scripted.git(&["init", "--quiet", "--initial-branch", "work"]);
        scripted.land("a spec");
        scripted
    }

    /// Git in the project, as nobody.
    fn git(&self, words: &[&str]) -> String {
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

    /// Commits the spec, the engine and the archive.
    fn commit(&self, message: &str) -> String {
        let there = |name: &&&str| self.project.path(name).exists();
        let paths = ["spec.yaml", "engine", "baselines"];
        let paths: Vec<&str> = paths.iter().filter(there).copied().collect();
        self.git(&[&["add"], &*paths].concat());
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// The same, and lets `main` be that.
    fn land(&self, message: &str) {
        self.commit(message);
        self.git(&["branch", "--force", "main", "HEAD"]);
    }

    fn day(&self, night: usize) -> jiff::civil::Date {
        let days = |nights: usize| jiff::Span::new().days(i64::try_from(nights).unwrap());
        let first = self.upgrade.checked_sub(days(UPGRADE)).unwrap();
        first.checked_add(days(night)).unwrap()
    }

    /// The session of a night, measured at a commit of its own; neither has landed yet.
    fn measure(&mut self, night: usize) -> PathBuf {
        fs::write(self.project.path("engine"), format!("night {night}\n")).unwrap();
        let commit = self.commit(&format!("night {night}"));
        let session = session_of(night);
        let folder = self.project.path("sessions").join(&session);
        fs::create_dir_all(folder.join("runs")).unwrap();
        let mut dice = Dice(SEED * 1000 + night as u64);
        // Scatter of the machine from night to night, and of runs within one.
        let between: Vec<f64> = (0..4).map(|_| 0.004 * dice.normal()).collect();
        for number in 0..RUNS {
            let mut run = self.model.clone();
            let id = format!("{session}-{number}");
            run["id"] = json!(id);
            run["session"] = json!(session);
            run["started"] = json!(format!("{}T03:{:02}:00Z", self.day(night), 10 * number));
            run["source"] = json!({ "commit": commit });
            let version = if night >= UPGRADE { "0.12.0" } else { "0.11.0" };
            run["pins"]["engine.version"]["observed"] =
                json!({ "seen": { "value": version, "source": "test" } });
            let mut factor = |place: usize, metric: &str| {
                let scatter = match metric {
                    "tpot" if NOISY.contains(&night) => 5.0,
                    "e2e" => 1.5,
                    _ => 1.0,
                };
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
        self.story.commits.push(commit);
        folder
    }

    /// What the gate says of a session in a job of the pull request that is checked out, and the folder in
    /// which it says so.
    fn gate(&self, session: &Path) -> (Said, Option<PathBuf>) {
        let head = self.git(&["rev-parse", "HEAD"]);
        let repository = json!({ "full_name": "a/b", "default_branch": "main" });
        let request = json!({
            "number": 1,
            "head": { "sha": head, "ref": "work", "repo": repository },
            "base": { "sha": head, "ref": "main", "repo": repository },
        });
        let event = json!({ "number": 1, "pull_request": request, "repository": repository });
        fs::write(self.project.path("event.json"), event.to_string()).unwrap();
        let session = session.to_str().unwrap();
        let ran: Ran = self
            .project
            .command(&[
                "gate",
                "spec.yaml",
                "--candidate",
                session,
                "--out",
                "judged",
            ])
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_EVENT_NAME", "pull_request")
            .env("GITHUB_EVENT_PATH", "event.json")
            .env("GITHUB_SHA", head)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap()
            .into();
        let judged = entries(&self.project.path("judged")).pop();
        let stems = |folder: PathBuf| -> Vec<String> {
            let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
            entries(&folder).into_iter().map(stem).collect()
        };
        let of_judged = |name: &str| judged.iter().map(|judged| judged.join(name)).next();
        let said = Said {
            code: ran.code.unwrap(),
            line: ran
                .out
                .lines()
                .next()
                .map_or_else(|| why(&ran), str::to_owned),
            findings: of_judged("report.json").map_or_else(Vec::new, |path| {
                let text = fs::read_to_string(path).unwrap();
                ReportFile::parse(&text).unwrap().findings
            }),
            against: of_judged("baseline").map(stems).unwrap_or_default(),
            text: ran.out + &ran.err,
        };
        (said, judged)
    }

    /// Judges a night's session and lets it land.
    fn night(&mut self, night: usize) {
        let session = self.measure(night);
        let (said, judged) = self.gate(&session);
        match night {
            UPGRADE => self.accept(
                &session,
                judged,
                &said,
                "0.12 is slower and was taken",
                NIGHTS,
            ),
            EXCUSED => self.accept(
                &session,
                judged,
                &said,
                "to be mended in three days",
                EXPIRES,
            ),
            _ => {}
        }
        self.story.said.push(said);
        let promote = [
            "--quiet",
            "baseline",
            "promote",
            session.to_str().unwrap(),
            "--reason",
            "nightly",
        ];
        self.project.run(&promote).exits(0);
        let id = session_of(night);
        if night == RELEASE {
            self.project
                .run(&["baseline", "pin", &id, "--as", "v1.0"])
                .exits(0);
        }
        if night == SHARED {
            let why = ["--reason", "the machine was shared", "--author", "night"];
            self.project
                .run(&[&["baseline", "void", &id], &why[..]].concat())
                .exits(0);
        }
        self.land(&format!("baseline of night {night}"));
        let judged = self.project.path("judged");
        if judged.exists() {
            fs::remove_dir_all(judged).unwrap();
        }
    }

    /// Accepts what the gate found, in the pull request itself, which does not help it; then it lands.
    fn accept(
        &self,
        session: &Path,
        judged: Option<PathBuf>,
        before: &Said,
        reason: &str,
        until: usize,
    ) {
        let day = self.day(until).to_string();
        let judged = judged.unwrap();
        let words = [
            "baseline",
            "accept",
            judged.to_str().unwrap(),
            "--reason",
            reason,
        ];
        let more = ["--expires", &day, "--author", "night"];
        self.project.run(&[&words[..], &more].concat()).exits(0);
        self.commit("accept");
        let (unlanded, _) = self.gate(session);
        assert_eq!(
            (unlanded.code, &unlanded.line),
            (1, &before.line),
            "{}",
            unlanded.text
        );
        self.land("accepted");
        let (landed, _) = self.gate(session);
        assert_eq!(
            landed.of(CellState::Accepted),
            before.of(CellState::Regressed),
            "{}",
            landed.text
        );
        assert_eq!(landed.code, 0, "{}", landed.text);
        assert!(landed.text.contains("accepted for now"), "{}", landed.text);
    }
}

/// The last words of a command that judged nothing.
fn why(ran: &Ran) -> String {
    // On GitHub they stand between two commands of the runner.
    let mut lines = ran.err.lines().filter(|line| !line.starts_with("::"));
    lines.next_back().unwrap_or_default().to_owned()
}

/// The story, told once.
fn story() -> &'static Story {
    static STORY: OnceLock<Story> = OnceLock::new();
    STORY.get_or_init(|| {
        let mut scripted = Scripted::new();
        for night in 0..NIGHTS {
            scripted.night(night);
        }
        let shown = scripted.project.run(&["history", "--json"]).exits(0);
        scripted.story.history = serde_json::from_str(&shown.out).unwrap();
        let mut story = Story::default();
        std::mem::swap(&mut story, &mut scripted.story);
        story
    })
}

/// A run without what its own machine did to it.
fn calm(mut run: Value) -> Value {
    for stage in run["stages"].as_array_mut().unwrap() {
        stage["settling"] = json!({ "metric": "e2e", "cut": 0, "of": 250, "settled": true });
        stage["invalid"] = json!([]);
        stage["windows"] = json!([]);
        for figure in stage["health"].as_object_mut().unwrap().values_mut() {
            match figure {
                Value::Number(number) if number.is_f64() => *figure = json!(0.0),
                Value::Number(_) => *figure = json!(0),
                _ => {}
            }
        }
        stage.as_object_mut().unwrap().remove("engine");
    }
    run
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
    let story = story();
    let (ttft, track) = story.history("steady/ttft.p95");
    assert_eq!(track["sittings"].as_array().unwrap().len(), NIGHTS);
    let found = shifts(&ttft);
    assert_eq!(found.len(), 2, "{found:?}");
    for (found, expected) in found.iter().zip([STEP, EXCUSED]) {
        assert!(found.abs_diff(expected) <= 3, "{found} {expected}");
    }
    let (tpot, _) = story.history("steady/tpot.p50");
    assert_eq!(shifts(&tpot), [0; 0], "noise is no change");
    let (rate, _) = story.history("steady/output_throughput");
    let upgrade = shifts(&rate);
    assert!(
        upgrade.len() == 1 && upgrade[0].abs_diff(UPGRADE) <= 3,
        "{upgrade:?}"
    );
    assert_eq!(rate["shifts"][0]["worse"], true);
    assert_eq!(rate["shifts"][0]["accepted"], true);
    assert_eq!(track["accepts"].as_array().unwrap().len(), 2);
    let void = &track["sittings"][SHARED]["standing"]["void"];
    assert_eq!(void["reason"], "the machine was shared");
    // A drift is a staircase, all of it upwards.
    let (e2e, _) = story.history("steady/e2e.p50");
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
    for (sitting, commit) in sittings.iter().zip(&story.commits) {
        assert_eq!(sitting["commit"], commit.as_str());
    }
    assert_eq!(sittings[UPGRADE]["pins"][0]["pin"], "engine.version");
    assert_eq!(sittings[UPGRADE]["pins"][0]["after"], "0.12.0");
    let changed = sittings.iter().filter(|sitting| !sitting["pins"].is_null());
    assert_eq!(changed.count(), 1);
}

impl Story {
    /// What `history` says of a cell, and the track that it stands in.
    fn history(&self, cell: &str) -> (Value, &Value) {
        let track = &self.history[0]["tracks"][0];
        let series = track["series"].as_array().unwrap();
        let series = series.iter().find(|series| series["cell"] == cell);
        (series.unwrap().clone(), track)
    }

    /// The nights on which a gated cell was in this state, of the rows against the stored sessions or of
    /// those against the release, with the cells.
    fn nights(&self, state: CellState, since: Option<&str>) -> BTreeMap<usize, Vec<String>> {
        let nights = self.said.iter().enumerate();
        let found = nights.map(|(night, said)| (night, said.rows(state, since)));
        found.filter(|(_, cells)| !cells.is_empty()).collect()
    }
}

impl Said {
    /// The gated cells in this state against the stored sessions.
    fn of(&self, state: CellState) -> Vec<String> {
        self.rows(state, None)
    }

    fn rows(&self, state: CellState, since: Option<&str>) -> Vec<String> {
        let gated = self.findings.iter().filter(|finding| finding.gated);
        let rows = gated.filter(|f| f.state == state && f.since.as_deref() == since);
        rows.map(|finding| finding.cell.to_string()).collect()
    }
}

/// The table of what the gate said, without what other days and machines would say otherwise: what stands
/// between backticks are folders and commits.
fn table(story: &Story) -> String {
    let mut table = "night  exit  what the gate says\n".to_owned();
    for (night, said) in story.said.iter().enumerate() {
        let parts = said.line.split('`').enumerate();
        let plain: Vec<&str> = parts
            .map(|(number, part)| if number % 2 == 0 { part } else { "…" })
            .collect();
        let is_commit =
            |word: &&str| word.len() == 13 && word[..12].bytes().all(|b| b.is_ascii_hexdigit());
        let line = plain.join("`");
        let words = line.split(' ');
        let words: Vec<&str> = words
            .map(|word| if is_commit(&word) { "…;" } else { word })
            .collect();
        let (code, line) = (said.code, words.join(" "));
        let event = event(night).map_or_else(String::new, |event| format!("  [{event}]"));
        let _ = writeln!(table, "{night:5}  {code:4}  {line}{event}");
    }
    table
}

fn event(night: usize) -> Option<&'static str> {
    Some(match night {
        RELEASE => "pinned as v1.0",
        STEP => "+7 % TTFT",
        UPGRADE => "the upgrade, -10 % throughput; then accepted",
        EXCUSED => "+6 % TTFT; then accepted",
        EXPIRES => "the accept's last day",
        SHARED => "a shared machine; then void",
        night if NOISY.contains(&night) => "noisy",
        _ => return None,
    })
}

#[test]
fn what_the_gate_says_at_each_of_sixty_commits() {
    let story = story();
    insta::assert_snapshot!(table(story));

    // Too few sessions are said to be too few, and a young baseline decides nothing.
    for said in &story.said[..3] {
        assert_eq!(said.code, 3, "{}", said.text);
        assert!(said.text.contains("promote"), "{}", said.text);
    }
    for said in &story.said[3..5] {
        assert_eq!(said.code, 3, "{}", said.text);
        assert!(said.text.contains("advisory only"), "{}", said.text);
    }
    // A regression at the commits that made one, each in its own cell, and nowhere else: not on the nights
    // that have the step in their past, and none of it the drift's. Beside those the accept that expired.
    let (ttft, rate) = ("steady/ttft.p95", "steady/output_throughput");
    let all = ["steady/ttft.p95", "steady/tpot.p50", "steady/e2e.p50", rate];
    let mut expected = BTreeMap::from([
        (STEP, vec![ttft.to_owned()]),
        (UPGRADE, vec![rate.to_owned()]),
        (EXCUSED, vec![ttft.to_owned()]),
        (SHARED, all.map(str::to_owned).to_vec()),
    ]);
    expected.extend((EXPIRES + 1..=EXPIRES + 2).map(|night| (night, vec![ttft.to_owned()])));
    let mut regressed = story.nights(CellState::Regressed, None);
    for cells in regressed.values_mut().chain(expected.values_mut()) {
        cells.sort();
    }
    assert_eq!(regressed, expected);
    // What an accept on the branch excuses, until its new level has five sessions or its day is over.
    let accepted = story.nights(CellState::Accepted, None);
    let nights: Vec<usize> = accepted.keys().copied().collect();
    let while_young = UPGRADE + 1..UPGRADE + 5;
    assert_eq!(
        nights,
        while_young.chain(EXCUSED + 1..=EXPIRES).collect::<Vec<_>>()
    );
    for night in nights {
        assert_eq!(story.said[night].code, 0, "{}", story.said[night].text);
    }
    for night in EXPIRES + 1..=EXPIRES + 2 {
        let said = &story.said[night];
        let words = "steady/ttft.p95 was accepted until";
        let loud =
            said.text.contains(words) && said.text.contains("has expired and excuses nothing");
        assert!(said.code == 1 && loud, "{}", said.text);
    }
    // Noise is no regression.
    for said in &story.said[NOISY] {
        assert!(matches!(said.code, 0 | 3), "{}", said.text);
    }
    // The drift is far from the release before it is far from the nights before: the rolling set goes along.
    let drifted = story.nights(CellState::Regressed, Some("v1.0"));
    let by_drift: Vec<usize> = drifted
        .keys()
        .copied()
        .filter(|&night| night != SHARED)
        .collect();
    assert_eq!(by_drift, (55..NIGHTS).collect::<Vec<_>>());
    for night in by_drift {
        assert_eq!(drifted[&night], ["steady/e2e.p50"]);
        assert_eq!(story.said[night].of(CellState::Regressed), [""; 0]);
        assert_eq!(story.said[night].code, 1);
    }
    // The night on the shared machine stands for nobody after it.
    let against = |night: usize, other: usize| {
        let id = format!("{}-0", session_of(other));
        story.said[night].against.contains(&id)
    };
    for night in SHARED + 1..NIGHTS {
        assert!(
            !against(night, SHARED) && against(night, SHARED - 1),
            "{night}"
        );
    }
    assert!(against(SHARED + 2, SHARED + 1));
}
