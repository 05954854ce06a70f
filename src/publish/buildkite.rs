//! Buildkite: an annotation of the build, by its own agent.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::post::{Ending, Post};
use super::posted::{Channel, Posted};

/// Bytes of an annotation.
const LONGEST: usize = 1 << 20;
/// Most characters of the agent's words that are passed on.
const SAID: usize = 300;

/// How the agent is called for a report: the same context takes the place of what was there.
pub fn command(post: &Post<'_>) -> Vec<String> {
    let style = match post.ending {
        Ending::Pass => "success",
        Ending::Excused | Ending::Undecided => "warning",
        Ending::Regression | Ending::Invalid => "error",
    };
    let context = format!("infergate-{}", post.key);
    ["annotate", "--style", style, "--context", &context]
        .map(str::to_owned)
        .to_vec()
}

/// The text of the annotation.
pub fn text(post: &Post<'_>) -> String {
    let text = (post.report)(LONGEST);
    if text.len() <= LONGEST {
        text
    } else {
        (post.report)(LONGEST / 3)
    }
}

/// Hands a report to `buildkite-agent`.
pub fn annotate(post: &Post<'_>) -> Posted {
    match agent(&command(post), &text(post)) {
        Ok(()) => Posted::done(Channel::Annotation, "written", None),
        Err(why) => Posted::failed(
            Channel::Annotation,
            &format!("cannot annotate the build: {why}"),
        ),
    }
}

fn agent(words: &[String], text: &str) -> Result<(), String> {
    let started = Command::new("buildkite-agent")
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut agent = started.map_err(|error| {
        format!("`buildkite-agent` can't be started ({error}); in a container, mount the agent's binary and its job's variables")
    })?;
    if let Some(mut input) = agent.stdin.take() {
        // An agent that ends before it has read all says by itself why.
        let _ = input.write_all(text.as_bytes());
    }
    let ended = agent
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    if ended.status.success() {
        return Ok(());
    }
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let said: String = String::from_utf8_lossy(&ended.stderr)
        .trim()
        .chars()
        .map(plain)
        .take(SAID)
        .collect();
    Err(format!("`buildkite-agent annotate` failed: {said}"))
}
