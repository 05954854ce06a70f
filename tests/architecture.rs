//! The house's rules, checked on the source text: which layer may import which, which crate is
//! named where, and how long a file may be.

#![allow(clippy::unwrap_used, reason = "tests: a panic is the failure")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Modules in the order in which they may import: each may name those above it.
///
/// `L0` is vocabulary, `L1` the pure core in the order of the journey, `L2` the I/O shell, `L3` the
/// shell of shells.
const LAYERS: &[&[&str]] = &[
    &["unit", "schema"],
    &["metric", "ident", "provenance", "exit", "diag"],
    &["event", "lang"],
    // L1: a module may import anything to its left.
    &["stats", "bisect", "plot"],
    &["trace", "quality"],
    &["spec"],
    &["plan"],
    &["sample"],
    &["wire"],
    &["summary"],
    &["headroom"],
    &["capacity"],
    &["compare"],
    &["layers"],
    &["diagnosis"],
    &["rehearsal"],
    &["verdict"],
    &["checkup"],
    &["scaffold"],
    &["history"],
    &["importer"],
    &["report"],
    // L2: no imports among each other, but for those in NAMED.
    &["access", "priority"],
    &["load", "sim", "probe", "archive", "publish"],
    &["git"],
    &["baseline"],
    // L3.
    &["term"],
    &["session"],
    &["cli"],
];

/// Layers below this one are pure: no clock, environment, file, socket or thread.
const FIRST_IMPURE: &str = "access";

/// Crates that are confined, and where they may be named.
const CONFINED: &[(&str, &[&str])] = &[
    (
        "serde_yaml",
        &[
            "spec/yaml.rs",
            "baseline/accept.rs",
            "importer/yaml.rs",
            "report/export/llm_d.rs",
        ],
    ),
    ("hdrhistogram", &["stats/histogram.rs"]),
    ("statrs", &["stats/"]),
    ("minijinja", &["report/engine.rs", "report/engine/"]),
    ("reqwest", &["probe/client.rs", "probe/client/", "publish/"]),
    ("octocrab", &["publish/github/transport.rs"]),
    ("hyper", &["load/"]),
    ("hyper_rustls", &["load/"]),
    (
        "rustix",
        &["priority.rs", "probe/power.rs", "session/guard.rs"],
    ),
    ("similar", &["diag/suggest.rs", "report/textdiff.rs"]),
    ("annotate_snippets", &["diag/render.rs"]),
    ("axum", &["sim/"]),
    ("clap", &["cli/"]),
    ("indicatif", &["term/"]),
    ("terminal_size", &["term/"]),
    (
        "comfy_table",
        &[
            "report/lines.rs",
            "report/forecast.rs",
            "report/imports.rs",
            "cli/check.rs",
            "cli/calibrate/model/table.rs",
        ],
    ),
    ("x509_parser", &["probe/certificate.rs"]),
    ("jsonschema", &["quality/check.rs"]),
    ("regex", &["quality/check.rs"]),
    ("sysinfo", &["probe/host.rs"]),
    ("nvml_wrapper", &["probe/gpu/nvml.rs"]),
    (
        "jiff",
        &[
            "cli/context.rs",
            "compare/pairing.rs",
            "history/instant.rs",
            "ident/day.rs",
            "importer/",
            "report/export/",
            "trace/instant.rs",
        ],
    ),
    (
        "csv",
        &[
            "importer/",
            "report/export/table.rs",
            "trace/pairs.rs",
            "trace/table.rs",
        ],
    ),
    (
        "flate2",
        &[
            "archive/records.rs",
            "archive/writer.rs",
            "load/connection.rs",
        ],
    ),
    (
        "tokio",
        &["load/", "sim/", "probe/", "publish/", "session/", "cli/"],
    ),
];

const LONGEST: usize = 400;

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((path.clone(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    walk(&root, &mut found);
    assert!(found.len() > 30, "the source was found");
    found
        .into_iter()
        .map(|(path, text)| (path.strip_prefix(&root).unwrap().to_owned(), text))
        .collect()
}

/// The text without comments and without the test module at its end.
fn code(path: &Path, text: &str) -> String {
    let name = path.to_string_lossy();
    let test_only = ["tests", "synthetic.rs", "properties.rs"];
    if test_only.iter().any(|part| name.contains(part)) {
        return String::new();
    }
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let text = text
        .split("#[cfg(test)]\npub(crate) mod tests {")
        .next()
        .unwrap();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| line.split(" // ").next().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

fn module(path: &Path) -> String {
    let first = path
        .components()
        .next()
        .unwrap()
        .as_os_str()
        .to_string_lossy()
        .into_owned();
    first.trim_end_matches(".rs").to_owned()
}

fn rank(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// Modules named as `crate::module`, and those in a `use crate::{…}` group.
fn imports(code: &str) -> Vec<String> {
    let mut found: Vec<String> = code
        .split("crate::")
        .skip(1)
        .map(|rest| {
            rest.chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect()
        })
        .collect();
    for group in code.split("crate::{").skip(1) {
        let group = group.split("};").next().unwrap();
        let mut depth = 0;
        let mut word = String::new();
        for c in group.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => found.push(std::mem::take(&mut word)),
                c if depth == 0 && (c.is_ascii_alphanumeric() || c == '_') => word.push(c),
                ':' if depth == 0 => {
                    if !word.is_empty() {
                        found.push(std::mem::take(&mut word));
                    }
                    depth = 0;
                }
                _ => {}
            }
        }
        found.push(word);
    }
    found.retain(|name| rank(name).is_some());
    found
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let own = module(&path);
        let Some(own_rank) = rank(&own) else {
            assert!(
                ["lib", "main", "manual"].contains(&own.as_str()),
                "`{own}` stands in no layer: add it to LAYERS"
            );
            continue;
        };
        for import in imports(&code(&path, &text)) {
            if import == own {
                continue;
            }
            if rank(&import).is_none_or(|rank| rank >= own_rank) {
                wrong.push(format!("{} imports `{import}`", path.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "imports go down and left only:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_core_is_pure() {
    let impure = rank(FIRST_IMPURE).unwrap();
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if rank(&module(&path)).is_none_or(|rank| rank >= impure) {
            continue;
        }
        let code = code(&path, &text);
        for forbidden in [
            "async fn",
            "Instant::now",
            "SystemTime",
            "std::env",
            "std::fs",
            "std::net",
            "std::thread",
            "std::process::Command",
            "tokio",
        ] {
            if code.contains(forbidden) {
                wrong.push(format!("{} names `{forbidden}`", path.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "the core touches nothing outside:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn crates_are_confined() {
    let mut wrong = Vec::new();
    let mut used: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, text) in sources() {
        let name = path.to_string_lossy().into_owned();
        let code = code(&path, &text);
        for (krate, places) in CONFINED {
            let named = code.contains(&format!("{krate}::"))
                || code.contains(&format!("use {krate}"))
                || code.contains(&format!("#[{krate}("));
            if !named {
                continue;
            }
            *used.entry(krate).or_default() += 1;
            if !places.iter().any(|place| name.starts_with(place)) {
                wrong.push(format!(
                    "{name} names `{krate}`, which belongs in {places:?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (krate, _) in CONFINED {
        assert!(
            used.contains_key(krate),
            "`{krate}` is confined and never used"
        );
    }
}

#[test]
fn files_stay_short() {
    let long: Vec<String> = sources()
        .into_iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > LONGEST)
        .map(|(path, lines)| format!("{}: {lines}", path.display()))
        .collect();
    assert!(
        long.is_empty(),
        "over {LONGEST} lines:\n{}",
        long.join("\n")
    );
}

#[test]
fn names_say_what_a_file_holds() {
    for (path, _) in sources() {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let empty = [
            "util", "utils", "helper", "helpers", "common", "misc", "manager", "imp",
        ];
        assert!(
            !empty.contains(&stem.as_str()),
            "{} says nothing",
            path.display()
        );
    }
}
