//! What the benches share: the engine as a child, the binary, tables, and the machine's load.

pub(crate) mod gate;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// The binary under test.
pub(crate) const INFERGATE: &str = env!("CARGO_BIN_EXE_infergate");

/// The embedded engine in a process of its own; killed when dropped.
pub(crate) struct Engine {
    child: Child,
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: String,
}

impl Engine {
    /// Starts `infergate sim` with these words and waits until it listens.
    pub(crate) fn start(words: &[&str]) -> Self {
        let mut child = Command::new(INFERGATE)
            .arg("sim")
            .args(words)
            .arg("--parent-watch")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .trim()
            .strip_prefix("listening on ")
            .unwrap()
            .to_owned();
        Self { child, url }
    }

    /// The address without its scheme.
    pub(crate) fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// Lets it end, with its logs written out.
    pub(crate) fn stop(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An empty folder of this name, which stays for inspection.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The folder of this name as an earlier bench left it, unless that had another `key`: then empty.
pub(crate) fn kept_folder(name: &str, key: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if fs::read_to_string(path.join("key")).ok().as_deref() != Some(key) {
        folder(name);
        fs::write(path.join("key"), key).unwrap();
    }
    path
}

/// Runs the binary in a folder, its words to a file of that folder.
pub(crate) fn infergate(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> ExitStatus {
    let said = fs::File::options()
        .create(true)
        .append(true)
        .open(folder.join("said.txt"))
        .unwrap();
    Command::new(INFERGATE)
        .arg("--quiet")
        .args(words)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .stdout(said.try_clone().unwrap())
        .stderr(said)
        .status()
        .unwrap()
}

/// What is in a folder, sorted; nothing where there is no folder.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = found.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Whether `cargo bench` started this. `cargo test --all-targets` starts benches too, without
/// `--bench`, and is not to wait for minutes.
pub(crate) fn is_bench() -> bool {
    let is_bench = std::env::args().any(|word| word == "--bench");
    if !is_bench {
        println!("nothing is measured without `--bench`, which `cargo bench` gives");
    }
    is_bench
}

/// The `N` of `cargo bench --bench NAME -- N`.
pub(crate) fn count(default: u32) -> u32 {
    std::env::args()
        .skip(1)
        .find_map(|word| word.parse().ok())
        .unwrap_or(default)
}

/// The numbers of `cargo bench --bench NAME -- A B C`, those that are not given as they are here.
pub(crate) fn counts<const N: usize>(default: [u32; N]) -> [u32; N] {
    let words = std::env::args().skip(1);
    let given: Vec<u32> = words.filter_map(|word| word.parse().ok()).collect();
    std::array::from_fn(|i| given.get(i).copied().unwrap_or(default[i]))
}

/// Cores, load average and build: a figure means little without them.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().filter(|load| !load.is_empty());
    let build = if cfg!(debug_assertions) {
        "debug build: only the shape of this table means anything"
    } else {
        "release build"
    };
    format!(
        "{cores} cores, load average {} at the start, {build}",
        load.unwrap_or("unknown")
    )
}

/// The head of a Markdown table; columns after the first `left` ones hold numbers.
pub(crate) fn head(names: &[&str], left: usize) {
    println!("| {} |", names.join(" | "));
    let rules: Vec<&str> = (0..names.len())
        .map(|column| if column < left { ":--" } else { "--:" })
        .collect();
    println!("|{}|", rules.join("|"));
}

/// A row of it.
pub(crate) fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// The middle value; of an even number of values the upper one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
