//! Pages in a real browser: Chromium, headless, without network.
//!
//! Ignored, since it needs one: `INFERGATE_CHROMIUM=/usr/bin/chromium cargo test --test browser -- --ignored`.
//! Every page is loaded at two widths, in light and dark. Its script checks itself what a browser alone can
//! tell (is anything wider than the screen? does text stand off its ground?) and writes what it finds into
//! the page, which Chromium prints; screenshots stay in `target/screenshots`.

#![allow(clippy::unwrap_used, reason = "tests: a panic is the failure")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WIDTHS: [u32; 2] = [1280, 390];

#[expect(
    clippy::disallowed_methods,
    reason = "the switch of an ignored test, as documented above"
)]
fn chromium() -> PathBuf {
    let path = std::env::var_os("INFERGATE_CHROMIUM");
    PathBuf::from(path.expect("INFERGATE_CHROMIUM names a Chromium"))
}

fn infergate(folder: &Path, words: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_infergate"));
    command
        .current_dir(folder)
        .args(words)
        .env("INFERGATE_LOCKS", folder.join("locks"));
    // What a job of CI may not do to an archive is not what is looked at here.
    for variable in ["CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE"] {
        command.env_remove(variable);
    }
    let ran = command.output().unwrap();
    let err = String::from_utf8_lossy(&ran.stderr);
    // What is judged may be undecided on a busy machine; the page is looked at either way.
    assert!(ran.status.code().is_some_and(|code| code != 2), "{err}");
}

const SPEC: &str = "\
infergate: 1
name: browsed
target: {sim: test, api: chat}
under_test: [engine.args]
workload:
  seed: 7
  output_length: pinned
  classes:
    - {name: chat, weight: 1, input: 40, output: 6, slo: {ttft: 1s, e2e: 2s}}
stages:
  - {name: sweep, closed: {users: [1, 2, 4, 8]}, requests: 60, warmup: 4}
  - {name: steady, closed: {users: 2}, requests: 80, warmup: 4}
gate:
  cells:
    - {metric: e2e.p50, stages: [steady], worse_by: 60%}
    - {metric: error_ratio, stages: [steady], at_most: 10%}
";

/// The page of a run, of a comparison and of an archive, from the real binary.
fn pages(folder: &Path) -> Vec<PathBuf> {
    fs::write(folder.join("spec.yaml"), SPEC).unwrap();
    let newest = || {
        let sessions = fs::read_dir(folder.join("infergate-out")).unwrap();
        let mut sessions: Vec<PathBuf> = sessions.map(|entry| entry.unwrap().path()).collect();
        sessions.sort();
        sessions.pop().unwrap().to_str().unwrap().to_owned()
    };
    for _ in 0..6 {
        infergate(folder, &["--quiet", "run", "spec.yaml", "--repeats", "2"]);
        let words = ["baseline", "promote", &newest(), "--reason", "nightly"];
        infergate(folder, &words);
    }
    infergate(folder, &["--quiet", "run", "spec.yaml"]);
    infergate(folder, &["report", &newest(), "--html", "run.html"]);
    let candidate = ["--candidate-sim", "test --slower 100%"];
    let words = [&["--quiet", "ab", "spec.yaml"][..], &candidate].concat();
    infergate(folder, &words);
    infergate(folder, &["report", &newest(), "--html", "comparison.html"]);
    infergate(folder, &["history", "--html", "history.html"]);
    infergate(folder, &["history", "--html", "site"]);
    let names = [
        "run.html",
        "comparison.html",
        "history.html",
        "site/index.html",
    ];
    names.map(|name| folder.join(name)).to_vec()
}

/// Without network: every name leads nowhere, and a request to an address has no proxy to go through.
fn browse(page: &Path, width: u32, dark: bool, words: &[&str]) -> Output {
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new(chromium());
    command
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--proxy-server=127.0.0.1:9",
            "--enable-logging=stderr",
            "--log-level=0",
            "--virtual-time-budget=4000",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={width},1400"));
    if dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    } else {
        command.arg("--blink-settings=preferredColorScheme=1");
    }
    let output = command
        .args(words)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

/// A copy of a page in a frame of this width, with a script beside it that looks at the result.
///
/// The page's own policy forbids foreign scripts, so the copy has none; Chromium's smallest window is 500
/// wide, so the frame makes the width.
fn examined(page: &Path, width: u32) -> PathBuf {
    let text = fs::read_to_string(page).unwrap();
    let from = text
        .find("<meta http-equiv=\"Content-Security-Policy\"")
        .unwrap();
    let end = from + text[from..].find('>').unwrap() + 1;
    let copy = page.with_extension(format!("{width}.copy.html"));
    let text = format!("{}{}", &text[..from], &text[end..]);
    let check = include_str!("browser/check.js");
    fs::write(
        &copy,
        text.replace("</body>", &format!("<script>{check}</script></body>")),
    )
    .unwrap();
    let frame = page.with_extension(format!("{width}.frame.html"));
    let name = copy.file_name().unwrap().to_str().unwrap();
    let html = format!(
        "<!doctype html><meta name=color-scheme content='light dark'><body style='margin:0'>\
         <iframe src='{name}' style='border:0;width:{width}px;height:1400px'></iframe>\
         <pre id=found></pre><script>onmessage = e => found.textContent = e.data</script>"
    );
    fs::write(&frame, html).unwrap();
    frame
}

#[test]
#[ignore = "needs Chromium: see above"]
fn pages_work_in_a_browser_without_network() {
    let folder = tempfile::tempdir().unwrap();
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    fs::create_dir_all(&shots).unwrap();
    for page in pages(folder.path()) {
        let name = page.file_stem().unwrap().to_str().unwrap().to_owned();
        // As it is, under its own policy: nothing on the console, nothing fetched.
        let opened = browse(&page, 1280, false, &["--dump-dom"]);
        let log = String::from_utf8_lossy(&opened.stderr);
        let complaints: Vec<&str> = log
            .lines()
            .filter(|line| line.contains("CONSOLE") || line.contains("net::ERR"))
            .collect();
        assert!(complaints.is_empty(), "{name}: {complaints:?}");
        let dom = String::from_utf8_lossy(&opened.stdout);
        let buttons = dom.matches("<button type=\"button\">").count();
        assert!(buttons > 0, "{name}: the script made the tables sortable");
        for width in WIDTHS {
            for dark in [false, true] {
                let scheme = if dark { "dark" } else { "light" };
                let frame = examined(&page, width);
                let dom = browse(&frame, width.max(500), dark, &["--dump-dom"]).stdout;
                let dom = String::from_utf8_lossy(&dom);
                let found = dom.split("<pre id=\"found\">").nth(1).unwrap();
                let found = found.split("</pre>").next().unwrap();
                assert_eq!(
                    found,
                    format!("{scheme}, all is well"),
                    "{name} at {width} px in {scheme}"
                );
                let shot = shots.join(format!("{name}-{width}-{scheme}.png"));
                let word = format!("--screenshot={}", shot.display());
                browse(&frame, width.max(500), dark, &[&word]);
                assert!(fs::metadata(&shot).unwrap().len() > 3_000, "{name}");
            }
        }
    }
}

/// The charts of a comment, drawn by the real Mermaid: no error, and a line a side in each.
#[test]
#[ignore = "needs a browser and Mermaid: tests/browser/setup.sh"]
#[expect(
    clippy::disallowed_methods,
    reason = "the switch of an ignored test, as documented above"
)]
fn charts_of_a_comment_have_a_line_a_side() {
    let mermaid = std::env::var_os("INFERGATE_MERMAID").expect("INFERGATE_MERMAID names a folder");
    let mermaid = std::path::absolute(mermaid).unwrap();
    let script = mermaid.join("node_modules/mermaid/dist/mermaid.min.js");
    let project = tempfile::tempdir().unwrap();
    let folder = project.path();
    fs::write(folder.join("spec.yaml"), SPEC).unwrap();
    let slower = ["--candidate-sim", "test --slower 100%"];
    infergate(
        folder,
        &[&["--quiet", "ab", "spec.yaml"][..], &slower].concat(),
    );
    let session = fs::read_dir(folder.join("infergate-out")).unwrap().next();
    let comment = fs::read_to_string(session.unwrap().unwrap().path().join("report.md")).unwrap();
    let charts: Vec<&str> = comment
        .split("```mermaid\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert_eq!(charts.len(), 2, "TTFT and TPOT\n{comment}");
    let drawn = charts.iter().map(|chart| {
        let text = chart.replace('<', "&lt;").replace('>', "&gt;");
        format!("<pre class=\"mermaid\">{text}</pre>")
    });
    let run = "mermaid.initialize({startOnLoad: false}); mermaid.run().then(() => { document.title = 'lines ' + \
               [...document.querySelectorAll('svg')].map(s => s.querySelectorAll('path[stroke=\"#8c959f\"], \
               path[stroke=\"#cf222e\"]').length).join(' '); }).catch(e => { document.title = 'error ' + e; });";
    let page = folder.join("charts.html");
    let text = format!(
        "<!doctype html><meta charset=utf-8><title></title>{}<script src=\"file://{}\"></script><script>{run}</script>",
        drawn.collect::<String>(),
        script.display()
    );
    fs::write(&page, text).unwrap();
    let words = ["--allow-file-access-from-files", "--dump-dom"];
    let dom = browse(&page, 900, false, &words).stdout;
    let dom = String::from_utf8_lossy(&dom);
    assert!(dom.contains("<title>lines 2 2</title>"), "{dom}");
}
