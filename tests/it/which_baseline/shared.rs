//! Specs that extend a shared file: what judges a pull request is that file as its base has it.

use super::*;

/// A clone whose spec has its gate and archive from `shared.yaml`.
fn sharing(target: &str) -> Clone {
    let clone = Clone::new(target);
    let (own, gate) = split(&read(&clone, "spec.yaml"));
    write(&clone, "spec.yaml", &format!("extends: shared.yaml\n{own}"));
    write(&clone, "shared.yaml", &gate);
    clone.commit("a shared gate");
    clone.push();
    clone
}

/// A spec without its gate, and that.
fn split(spec: &str) -> (String, String) {
    let at = spec.find("gate:\n").unwrap();
    (spec[..at].to_owned(), spec[at..].to_owned())
}

fn read(clone: &Clone, name: &str) -> String {
    fs::read_to_string(clone.project.path(name)).unwrap()
}

fn write(clone: &Clone, name: &str, text: &str) {
    fs::write(clone.project.path(name), text).unwrap();
}

/// Replaces something that is there.
fn edit(clone: &Clone, name: &str, from: &str, to: &str) {
    let text = read(clone, name);
    assert!(text.contains(from), "no {from:?} in {name}: {text}");
    write(clone, name, &text.replace(from, to));
}

const OTHER_GATE: &str = "another `gate:` or `under_test:`, which takes effect when it has landed";

#[test]
fn a_pull_request_cannot_loosen_its_tolerance_by_way_of_a_shared_file() {
    let clone = sharing("sim: h100-8b");
    let sessions = Sessions::measure(&clone);
    let first = clone.git(&["rev-parse", "HEAD"]);
    sessions.stand(&[(Some(first.as_str()), 1.0); 5]);
    let base = clone.commit("five sessions");
    clone.push();
    clone.branch("slow");
    edit(
        &clone,
        "spec.yaml",
        "sim: h100-8b",
        "sim: 'h100-8b --slower 400%'",
    );
    edit(&clone, "shared.yaml", "worse_by: 60%", "worse_by: 1000%");
    let head = clone.commit("slow, and nobody is to know");
    clone.event("pull_request", &head, &base);
    clone.gate("pull_request").exits(1).says(OTHER_GATE);
    let judged = report(&clone);
    assert_eq!(judged["base"]["gate_differs"], true);
    // The session is whole in itself: it is judged again without any of the files.
    let session = clone.project.sessions().pop().unwrap();
    for file in ["spec.yaml", "shared.yaml"] {
        fs::remove_file(clone.project.path(file)).unwrap();
    }
    let kept = fs::read_to_string(session.join("spec.yaml")).unwrap();
    assert!(
        kept.contains("worse_by: 1000%") && !kept.contains("extends"),
        "{kept}"
    );
    let again = clone.command(&["compare", session.to_str().unwrap(), "--json"]);
    let again = Ran::from({ again }.output().unwrap()).exits(1);
    let again: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["findings"], judged["findings"]);
}

#[test]
fn nor_by_moving_it_into_a_file_of_its_own_or_out_of_one() {
    // Into a new file.
    let clone = Clone::new(NOBODY);
    let base = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("faster");
    let (own, gate) = split(&read(&clone, "spec.yaml"));
    write(&clone, "spec.yaml", &format!("extends: mine.yaml\n{own}"));
    write(&clone, "mine.yaml", &gate.replace("60%", "1000%"));
    let head = clone.commit("a file of my own");
    clone.event("pull_request", &head, &base);
    based_on(clone.gate("pull_request"), &base).says(OTHER_GATE);
    // Out of the shared one, and to another shared one.
    for spec in ["GATE", "extends: mine.yaml\n"] {
        let clone = sharing(NOBODY);
        let base = clone.git(&["rev-parse", "HEAD"]);
        clone.branch("faster");
        let gate = read(&clone, "shared.yaml").replace("60%", "1000%");
        fs::remove_file(clone.project.path("shared.yaml")).unwrap();
        edit(
            &clone,
            "spec.yaml",
            "extends: shared.yaml\n",
            &spec.replace("GATE", &gate),
        );
        write(&clone, "mine.yaml", &gate);
        let head = clone.commit("without the shared file");
        clone.event("pull_request", &head, &base);
        based_on(clone.gate("pull_request"), &base).says(OTHER_GATE);
    }
}

#[test]
fn a_gate_that_only_moves_between_files_is_the_same_gate() {
    let clone = Clone::new(NOBODY);
    let base = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("faster");
    let (own, gate) = split(&read(&clone, "spec.yaml"));
    fs::create_dir(clone.project.path("shared")).unwrap();
    write(
        &clone,
        "spec.yaml",
        &format!("extends: shared/all.yaml\n{own}"),
    );
    write(&clone, "shared/all.yaml", "extends: ../gate.yaml\n");
    write(&clone, "gate.yaml", &gate);
    let head = clone.commit("a shared gate");
    clone.event("pull_request", &head, &base);
    let ran = based_on(clone.gate("pull_request"), &base);
    assert!(!ran.err.contains("another `gate:`"), "{}", ran.err);
}

#[test]
fn policies_and_archive_of_a_shared_file_are_the_base_s_too() {
    let clone = sharing(NOBODY);
    let base = clone.git(&["rev-parse", "HEAD"]);
    clone.branch("faster");
    let lenient = "archive: {branch: mine}\ngate:\n  no_baseline: pass\n  incomparable: pass\n";
    edit(&clone, "shared.yaml", "gate:\n", lenient);
    edit(&clone, "spec.yaml", "requests: 60", "requests: 80");
    let head = clone.commit("another workload, and lenient");
    clone.event("pull_request", &head, &base);
    clone
        .gate("pull_request")
        .exits(3)
        .says("its workload is not that of `spec.yaml` at commit");
}

#[test]
fn what_the_base_extends_is_never_read_from_the_working_tree() {
    // A file that git has never seen, and one that is a link out of the base's tree.
    let clone = sharing(NOBODY);
    clone.git(&["rm", "--quiet", "--cached", "shared.yaml"]);
    write(
        &clone,
        ".gitignore",
        "infergate-out\nremote\nevent.json\nlocks\nshared.yaml\n",
    );
    let base = clone.commit("the shared file is not kept");
    clone.push();
    clone.branch("faster");
    let head = clone.commit("faster");
    clone.event("pull_request", &head, &base);
    clone
        .gate("pull_request")
        .exits(3)
        .says(&format!("commit {} has no such file", &base[..12]))
        .says("the gate of the base can't be read, so nothing can be judged by it");
}

#[test]
fn nothing_outside_of_the_repository_is_extended() {
    let clone = Clone::new(NOBODY);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("gate.yaml"), "gate: {repeats: 1}\n").unwrap();
    let spec = read(&clone, "spec.yaml");
    #[cfg(unix)]
    {
        let link = clone.project.path("link.yaml");
        std::os::unix::fs::symlink(outside.path().join("gate.yaml"), link).unwrap();
        write(
            &clone,
            "linked.yaml",
            &format!("extends: link.yaml\n{spec}"),
        );
        let check = clone.command(&["check", "linked.yaml"]);
        Ran::from({ check }.output().unwrap())
            .exits(2)
            .says("it lies outside of the repository");
    }
    let up = outside.path().file_name().unwrap().to_str().unwrap();
    write(
        &clone,
        "up.yaml",
        &format!("extends: ../{up}/gate.yaml\n{spec}"),
    );
    let check = clone.command(&["check", "up.yaml"]);
    Ran::from({ check }.output().unwrap())
        .exits(2)
        .says("it lies outside of the repository");
}

#[test]
fn a_check_says_which_file_says_what_and_shows_mistakes_there() {
    let clone = sharing(NOBODY);
    let run = |words: &[&str]| Ran::from(clone.command(words).output().unwrap());
    run(&["check", "spec.yaml", "--explain"])
        .exits(0)
        .shows("worse_by: 60%  # shared.yaml:3")
        .shows("name: small  # spec.yaml:3");
    // A tolerance below the least that can be told, in the file that says so.
    edit(&clone, "shared.yaml", "worse_by: 60%", "worse_by: sixty");
    run(&["check", "spec.yaml"])
        .exits(2)
        .says("--> shared.yaml:3:");
}

#[test]
fn a_pull_request_cannot_loosen_its_tolerance_by_way_of_its_suite() {
    let clone = Clone::new(NOBODY);
    fs::create_dir(clone.project.path("perf")).unwrap();
    let spec = read(&clone, "spec.yaml");
    write(&clone, "perf/chat.yaml", &spec);
    let suite = "infergate-suite: 1\nmatrix:\n  engine:\n    vllm: {gate: {undecided: fail}}\n    sglang: {}\n";
    write(&clone, "perf/suite.yaml", suite);
    let base = clone.commit("a suite");
    clone.push();
    clone.branch("faster");
    let loose = "{gate: {undecided: pass, cells: [{metric: e2e.p50, worse_by: 1000%}]}}";
    write(
        &clone,
        "perf/suite.yaml",
        &suite
            .replace("{gate: {undecided: fail}}", loose)
            .replace("sglang: {}", "mine: {gate: {no_baseline: pass}}"),
    );
    let head = clone.commit("a loose cell, and one of my own");
    clone.event("pull_request", &head, &base);
    let ran = clone.github("pull_request", &["gate", "perf"]).exits(4);
    // The cell that the base has is judged by the base's; the one that is new decides nothing by itself.
    let ran = ran
        .says(&format!("the baseline is that of commit {}:", &base[..12]))
        .says(OTHER_GATE);
    let new = ran.err.split("member 2 of 2: chat-mine").nth(1).unwrap();
    assert!(!new.contains(OTHER_GATE), "{new}");
    assert!(!new.contains("makes this exit 0"), "{new}");
}

#[test]
fn nor_can_it_get_rid_of_the_member_that_would_see_it() {
    let clone = Clone::new(NOBODY);
    fs::create_dir(clone.project.path("perf")).unwrap();
    let spec = read(&clone, "spec.yaml").replace(NOBODY, "sim: test");
    let passes = spec.replace("gate:\n", "gate:\n  no_baseline: pass\n");
    write(&clone, "perf/chat.yaml", &passes);
    write(
        &clone,
        "perf/code.yaml",
        &passes.replace("name: small", "name: code"),
    );
    let base = clone.commit("two specs");
    clone.push();
    clone.branch("faster");
    fs::remove_file(clone.project.path("perf/code.yaml")).unwrap();
    let head = clone.commit("who needs that one");
    clone.event("pull_request", &head, &base);
    clone
        .github("pull_request", &["gate", "perf"])
        .exits(3)
        .says("`code` was not measured: commit")
        .shows("of 2 specs");
    // Where it has landed there is nothing that it is missing from.
    let landed = clone.command(&["gate", "perf"]);
    Ran::from({ landed }.output().unwrap())
        .exits(0)
        .shows("of 1 spec");
}
