//! Damaged, changed, newer and foreign files of an archive: each is named, and skipped or refused as it is
//! documented, by `baseline verify`, `gate` and `baseline list`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json as value};

use crate::support::{Project, entries, json};

/// A project with three sessions that stand; most tests damage a copy of its archive.
fn promoted() -> Project {
    let project = Project::new("test");
    for _ in 0..3 {
        project
            .run(&["--quiet", "run", "spec.yaml", "--repeats", "2"])
            .exits(0);
        let session = project.sessions().pop().unwrap();
        let words = [
            "baseline",
            "promote",
            session.to_str().unwrap(),
            "--reason",
            "a test",
        ];
        project.run(&words).exits(0);
    }
    project
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in entries(from) {
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

fn environment(archive: &Path) -> PathBuf {
    let folders = entries(&archive.join("small")).into_iter();
    folders
        .filter(|path| path.is_dir() && !path.ends_with("accepts"))
        .next_back()
        .unwrap()
}

fn first_run(archive: &Path) -> PathBuf {
    entries(&environment(archive).join("runs")).remove(0)
}

fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut file = json(path);
    change(&mut file);
    fs::write(path, serde_json::to_string_pretty(&file).unwrap() + "\n").unwrap();
}

/// What a command makes of a damaged archive.
#[derive(Clone, Copy)]
enum Made {
    /// It goes on, and judges or lists.
    Well,
    /// It stops and names the file.
    Refused,
}

/// A way in which an archive is damaged.
struct Fault {
    name: &'static str,
    damage: fn(&Path),
    /// What `verify` calls it, and whether that is an error.
    code: &'static str,
    error: bool,
    gate: Made,
    list: Made,
}

const ACCEPT: &str = include_str!("../fixtures/archive/single/accept-1.yaml");

const FAULTS: &[Fault] = &[
    Fault {
        name: "a run file cut short",
        damage: |archive| {
            let path = first_run(archive);
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, &text[..text.len() / 2]).unwrap();
        },
        code: "corrupt",
        error: true,
        gate: Made::Refused,
        list: Made::Well,
    },
    Fault {
        name: "an empty run file",
        damage: |archive| fs::write(first_run(archive), "").unwrap(),
        code: "corrupt",
        error: true,
        gate: Made::Refused,
        list: Made::Well,
    },
    Fault {
        name: "a run file of bytes",
        damage: |archive| fs::write(first_run(archive), [0xff, 0xfe, 0x00]).unwrap(),
        code: "unreadable",
        error: true,
        gate: Made::Refused,
        list: Made::Well,
    },
    Fault {
        name: "a run file with another figure",
        damage: |archive| {
            edit(&first_run(archive), |run| {
                *run.pointer_mut("/stages/0/window_s").unwrap() = value!(1.5);
            });
        },
        code: "tampered",
        error: true,
        gate: Made::Refused,
        list: Made::Well,
    },
    Fault {
        name: "a run of a newer format",
        damage: |archive| {
            edit(&first_run(archive), |run| {
                run["format"] = value!("infergate.run/2")
            });
        },
        code: "newer",
        error: true,
        gate: Made::Refused,
        list: Made::Well,
    },
    Fault {
        name: "another file in a run's place",
        damage: |archive| fs::write(first_run(archive), r#"{"format": "other.thing/1"}"#).unwrap(),
        code: "foreign",
        error: true,
        gate: Made::Refused,
        list: Made::Well,
    },
    Fault {
        name: "a run that is gone",
        damage: |archive| fs::remove_file(first_run(archive)).unwrap(),
        code: "missing-run",
        error: true,
        gate: Made::Refused,
        list: Made::Well,
    },
    Fault {
        name: "a run under another's name",
        damage: |archive| {
            let runs = entries(&environment(archive).join("runs"));
            fs::copy(&runs[1], &runs[0]).unwrap();
            edit(&environment(archive).join("reference.json"), |reference| {
                reference.as_object_mut().unwrap().remove("digests");
            });
        },
        code: "misplaced",
        error: true,
        gate: Made::Well,
        list: Made::Well,
    },
    Fault {
        name: "a run that no session names",
        damage: |archive| {
            let mut run = json(&first_run(archive));
            run["id"] = value!("20200101T000000000Z-000000000000-0000");
            let path = environment(archive).join("runs/20200101T000000000Z-000000000000-0000.json");
            fs::write(path, run.to_string()).unwrap();
        },
        code: "orphan",
        error: false,
        gate: Made::Well,
        list: Made::Well,
    },
    Fault {
        name: "what a crash left",
        damage: |archive| {
            fs::write(
                environment(archive).join("reference.json.4711.tmp"),
                "{\"for",
            )
            .unwrap();
        },
        code: "temporary",
        error: false,
        gate: Made::Well,
        list: Made::Well,
    },
    Fault {
        name: "a file of someone else",
        damage: |archive| fs::write(environment(archive).join("runs/notes.txt"), "hm").unwrap(),
        code: "foreign",
        error: false,
        gate: Made::Well,
        list: Made::Well,
    },
    Fault {
        name: "a reference cut short",
        damage: |archive| {
            let path = environment(archive).join("reference.json");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, &text[..text.len() / 2]).unwrap();
        },
        code: "corrupt",
        error: true,
        gate: Made::Refused,
        list: Made::Refused,
    },
    Fault {
        name: "a reference of a newer format",
        damage: |archive| {
            edit(&environment(archive).join("reference.json"), |reference| {
                reference["format"] = value!("infergate.reference/2");
            });
        },
        code: "newer",
        error: true,
        gate: Made::Refused,
        list: Made::Refused,
    },
    Fault {
        name: "a session entered twice",
        damage: |archive| {
            edit(&environment(archive).join("reference.json"), |reference| {
                let sessions = reference["sessions"].as_array_mut().unwrap();
                sessions.push(sessions[0].clone());
            });
        },
        code: "twice",
        error: true,
        gate: Made::Well,
        list: Made::Well,
    },
    Fault {
        name: "an anchor that is not kept",
        damage: |archive| {
            edit(&environment(archive).join("reference.json"), |reference| {
                reference["anchors"] = value!([
                    {"session": "gone", "label": "v1", "pinned": "2026-01-01T00:00:00Z"}
                ]);
            });
        },
        code: "dangling",
        error: true,
        gate: Made::Well,
        list: Made::Well,
    },
    Fault {
        name: "pins of another environment",
        damage: |archive| {
            edit(
                &environment(archive).join("environment.json"),
                |environment| {
                    environment["pins"]["model.name"] = value!("sim/other");
                },
            );
        },
        code: "tampered",
        error: true,
        gate: Made::Well,
        list: Made::Well,
    },
    Fault {
        name: "an old archive",
        damage: |archive| {
            edit(&environment(archive).join("reference.json"), |reference| {
                for session in reference["sessions"].as_array_mut().unwrap() {
                    session["promoted"] = value!("2020-01-01T00:00:00.000Z");
                }
            });
        },
        code: "stale",
        error: true,
        gate: Made::Well,
        list: Made::Well,
    },
    Fault {
        name: "every session void",
        damage: |archive| {
            edit(&environment(archive).join("reference.json"), |reference| {
                let sessions = reference["sessions"].as_array().unwrap();
                let voids: Vec<Value> = sessions
                    .iter()
                    .map(|session| {
                        value!({"session": session["session"], "reason": "x", "by": "me", "voided": "2026-01-01T00:00:00Z"})
                    })
                    .collect();
                reference["voids"] = value!(voids);
            });
        },
        code: "no-history",
        error: true,
        gate: Made::Well,
        list: Made::Well,
    },
    Fault {
        name: "an accept that can't be read",
        damage: |archive| accept(archive, &ACCEPT.replace("expires", "expire")),
        code: "corrupt",
        error: true,
        gate: Made::Refused,
        list: Made::Well,
    },
    Fault {
        name: "an accept of a newer format",
        damage: |archive| accept(archive, &ACCEPT.replace("accept/1", "accept/2")),
        code: "corrupt",
        error: true,
        gate: Made::Refused,
        list: Made::Well,
    },
    Fault {
        name: "an accept that has expired",
        damage: |archive| accept(archive, &ACCEPT.replace("2027-02-28", "2020-01-01")),
        code: "accept-expired",
        error: true,
        gate: Made::Well,
        list: Made::Well,
    },
    Fault {
        name: "an accept of another environment",
        damage: |archive| {
            let path = archive.join("small/accepts/2026-11-30-a.yaml");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, ACCEPT.replace("a1a2b95a", "00000000")).unwrap();
        },
        code: "dangling",
        error: true,
        gate: Made::Well,
        list: Made::Well,
    },
];

/// Puts an accept of the archive's own environment there.
fn accept(archive: &Path, text: &str) {
    let path = archive.join("small/accepts/2026-11-30-a.yaml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let own = environment(archive);
    let own = own.file_name().unwrap().to_str().unwrap();
    fs::write(path, text.replace("cpu-infergate-sim-a1a2b95a", own)).unwrap();
}

fn codes(project: &Project, archive: &str) -> Vec<(String, String)> {
    let found = project.run(&["baseline", "verify", "--baselines", archive, "--json"]);
    let found: Value = serde_json::from_str(&found.out).unwrap();
    let findings = found["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| {
            let text = |key: &str| finding[key].as_str().unwrap().to_owned();
            assert!(
                !text("what").is_empty() && !text("remedy").is_empty(),
                "{finding}"
            );
            (text("gravity"), text("code"))
        })
        .collect()
}

#[test]
fn every_fault_is_named_and_skipped_or_refused() {
    let project = promoted();
    let whole = project.path("baselines");
    project
        .run(&["baseline", "verify"])
        .exits(0)
        .shows("0 errors, 0 warnings, 0 notes");
    for (number, fault) in FAULTS.iter().enumerate() {
        let name = format!("damaged-{number}");
        let archive = project.path(&name);
        copy(&whole, &archive);
        (fault.damage)(&archive);
        let found = codes(&project, &name);
        let gravity = if fault.error { "error" } else { "warning" };
        assert!(
            found.contains(&(gravity.to_owned(), fault.code.to_owned())),
            "{}: {found:?}",
            fault.name
        );
        let verified = project.run(&["baseline", "verify", "--baselines", &name]);
        let code = if fault.error { 4 } else { 0 };
        assert_eq!(
            verified.code,
            Some(code),
            "{}: {}",
            fault.name,
            verified.out
        );
        assert!(
            verified.out.contains(&format!("[{}]", fault.code)),
            "{}",
            fault.name
        );

        let listed = project.run(&["baseline", "list", "--baselines", &name]);
        match fault.list {
            Made::Well => assert_eq!(listed.code, Some(0), "{}: {}", fault.name, listed.err),
            Made::Refused => {
                assert_eq!(listed.code, Some(2), "{}", fault.name);
                assert!(
                    listed.err.contains("reference.json"),
                    "{}: {}",
                    fault.name,
                    listed.err
                );
            }
        }
        if let Made::Refused = fault.gate {
            let gated = project.run(&["gate", "spec.yaml", "--baselines", &name]);
            assert_eq!(gated.code, Some(2), "{}: {}", fault.name, gated.err);
            assert!(gated.err.contains(&name), "{}: {}", fault.name, gated.err);
        }
        fs::remove_dir_all(&archive).unwrap();
    }
}

#[test]
fn a_gate_goes_on_beside_what_it_does_not_need_and_leaves_out_what_is_void() {
    let project = promoted();
    let archive = project.path("baselines");
    let faults = FAULTS.iter().filter(|fault| !fault.error);
    for fault in faults {
        (fault.damage)(&archive);
    }
    let gated = project.run(&["gate", "spec.yaml"]);
    assert!(
        matches!(gated.code, Some(0 | 1 | 3)),
        "{:?}: {}",
        gated.code,
        gated.err
    );
    assert!(gated.out.contains("3 stored sessions"), "{}", gated.out);

    let reference = environment(&archive).join("reference.json");
    edit(&reference, |reference| {
        let session = reference["sessions"][0]["session"].clone();
        reference["voids"] = value!([{"session": session, "reason": "x", "by": "me", "voided": "2026-01-01T00:00:00Z"}]);
    });
    project
        .run(&["gate", "spec.yaml"])
        .exits(3)
        .says("has 2 sessions and needs 3");
}

#[test]
fn an_archive_of_nothing_is_an_error_of_its_own() {
    let project = Project::new("test");
    project
        .run(&["baseline", "verify"])
        .exits(4)
        .shows("no-history");
}
