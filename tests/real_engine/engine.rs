//! The engine as a child process, its own counters, and specs for it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A running server; ends with this value.
pub(crate) struct Engine {
    child: Child,
    url: String,
}

/// How a server is started.
pub(crate) struct Setting {
    /// `f16`, `q8_0` or `q4_0`: the same numbers in another quantization.
    pub(crate) weights: &'static str,
    /// Requests that it serves at a time; each has 2048 tokens of context.
    pub(crate) slots: u32,
}

/// What the server has counted since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Counters {
    /// Prompt tokens, those from its cache included.
    pub(crate) prompt_tokens: f64,
    /// Those from its cache.
    pub(crate) cached_tokens: f64,
    /// Time spent on prompts, summed over requests.
    pub(crate) prompt_s: f64,
    /// Tokens generated.
    pub(crate) output_tokens: f64,
    /// Time spent on generating, from first to last token, summed over requests.
    pub(crate) output_s: f64,
}

impl Counters {
    /// What was added since an earlier reading.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens - earlier.prompt_tokens,
            cached_tokens: self.cached_tokens - earlier.cached_tokens,
            prompt_s: self.prompt_s - earlier.prompt_s,
            output_tokens: self.output_tokens - earlier.output_tokens,
            output_s: self.output_s - earlier.output_s,
        }
    }
}

/// The folder that the set-up script filled.
#[expect(
    clippy::disallowed_methods,
    reason = "the switch of this suite is a variable"
)]
pub(crate) fn prefix() -> PathBuf {
    let prefix = std::env::var("INFERGATE_ENGINE").expect(
        "set INFERGATE_ENGINE to the folder that `tests/engines/setup.sh FOLDER` filled, as CONTRIBUTING.md says",
    );
    std::fs::canonicalize(&prefix).unwrap_or_else(|error| {
        panic!("cannot find INFERGATE_ENGINE=`{prefix}`: {error}; run `tests/engines/setup.sh {prefix}` first")
    })
}

impl Engine {
    /// Four slots of a quantization.
    pub(crate) fn start(weights: &'static str) -> Self {
        Self::with(&Setting { weights, slots: 4 })
    }

    /// Starts a server on a free port and waits until it listens. Every server calls its model
    /// `tiny`, so that two of them differ in what a test makes them differ in and nothing else.
    pub(crate) fn with(setting: &Setting) -> Self {
        let prefix = prefix();
        let model = prefix.join(format!("models/tiny-{}.gguf", setting.weights));
        let mut child = Command::new(prefix.join("venv/bin/python"))
            .arg(prefix.join("serve.py"))
            .arg("--model")
            .arg(model)
            .args(["--alias", "tiny", "--threads", "1"])
            .args(["--parallel", &setting.slots.to_string()])
            .args(["--context", &(setting.slots * 2048).to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .trim_end()
            .strip_prefix("listening on ")
            .unwrap_or_else(|| panic!("the engine did not come up, it said {line:?}"))
            .to_owned();
        Self { child, url }
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has counted. It answers between two steps of its work, so an answer that was
    /// received in full has been counted.
    pub(crate) fn counters(&self) -> Counters {
        let text = self.get("/metrics");
        let value = |name: &str| -> f64 {
            text.lines()
                .find_map(|line| line.strip_prefix(&format!("llamacpp:{name} ")))
                .unwrap_or_else(|| panic!("no {name} in\n{text}"))
                .trim()
                .parse()
                .unwrap()
        };
        let cached_tokens = value("prompt_tokens_cached_total");
        Counters {
            prompt_tokens: value("prompt_tokens_total") + cached_tokens,
            cached_tokens,
            prompt_s: value("prompt_seconds_total"),
            output_tokens: value("tokens_predicted_total"),
            output_s: value("tokens_predicted_seconds_total"),
        }
    }

    /// Ends it at once, in the middle of whatever it does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn get(&self, path: &str) -> String {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        text
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two classes, one of which shares a system prompt. The limits on TTFT are far above what is
/// measured: they are there because the client's own lateness is held against a twentieth of them.
pub(crate) const WORKLOAD: &str = "\
workload:
  seed: 7
  output_length: pinned
  classes:
    - {name: chat, weight: 3, input: 160, output: 32, slo: {ttft: 5s, e2e: 20s}}
    - name: summarize
      weight: 1
      input: {uniform: [300, 500]}
      output: {uniform: [4, 16]}
      prefix: {tokens: 96, groups: 1, share: 1}
      slo: {ttft: 5s, e2e: 20s}
";

/// A short class of one length, so that many runs take little time.
pub(crate) const SHORT: &str = "\
workload:
  seed: 7
  output_length: pinned
  classes:
    - {name: chat, weight: 1, input: 96, output: 12, slo: {ttft: 5s, e2e: 20s}}
";

/// A spec on this engine with greedy sampling.
pub(crate) fn spec(engine: &Engine, rest: &[&str]) -> String {
    format!(
        "infergate: 1\nname: real\ntarget: {{url: '{}', api: chat}}\nrequest: {{temperature: 0}}\n{}",
        engine.url(),
        rest.concat()
    )
}
