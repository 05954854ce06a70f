//! An engine that is started for a measurement, and how it is ended.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ident::{Digest, Secret};
use crate::unit::Nanos;

/// An engine that is started for a measurement, and how it is ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program, then its arguments; no shell reads them.
    pub command: Vec<Word>,
    /// Environment variables beside those that infergate itself has.
    pub env: BTreeMap<String, Word>,
    /// Where it runs, as written; the spec's folder where there is none.
    pub dir: Option<PathBuf>,
    /// The spec's folder, from which `dir` counts.
    pub folder: PathBuf,
    /// When it is up.
    pub ready: Ready,
    /// How it is ended.
    pub stop: Ending,
    /// A command that prints what it wrote elsewhere, as a container does.
    pub logs: Option<Vec<Word>>,
    /// The container image that it runs from, as written.
    pub image: Option<String>,
}

/// A text of a command. What a variable gave may be a secret, so it is never shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// As the spec has it.
    Written(String),
    /// With a variable in it.
    Filled(Secret),
}

/// When an engine is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// A path below its URL that then answers with a status of 200 to 299.
    pub http: String,
    /// How long that may take.
    pub within: Nanos,
    /// Whether a first tiny request has to be answered as well, within the same time.
    pub first_request: bool,
}

/// How an engine is ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// What is run first: it ends what is no child of the command, such as a container.
    pub command: Option<Vec<Word>>,
    /// What asks it, and its children, to end.
    pub signal: StopSignal,
    /// How long they may take before they are killed.
    pub grace: Nanos,
}

/// A signal that asks a process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// What `kill` sends.
    Term,
    /// What Ctrl-C sends.
    Int,
    /// What Ctrl-\ sends.
    Quit,
    /// What a terminal that goes away sends.
    Hup,
}

impl StopSignal {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Term, Self::Int, Self::Quit, Self::Hup];

    /// The name, as in `SIGTERM`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Term => "SIGTERM",
            Self::Int => "SIGINT",
            Self::Quit => "SIGQUIT",
            Self::Hup => "SIGHUP",
        }
    }
}

impl Word {
    /// The text itself, for the process only.
    pub fn expose(&self) -> &str {
        match self {
            Self::Written(text) => text,
            Self::Filled(secret) => secret.expose(),
        }
    }

    /// The text, in quotes where it needs them; of a secret one its digest, so that two that differ
    /// show it.
    fn shown(&self) -> String {
        match self {
            Self::Written(text) if text.is_empty() || text.contains(char::is_whitespace) => {
                format!("'{text}'")
            }
            Self::Written(text) => text.clone(),
            Self::Filled(secret) => {
                let digest = Digest::of(secret.expose().as_bytes());
                format!("[sha256:{}]", digest.short())
            }
        }
    }
}

impl Launch {
    /// The command with all that may make another engine of it, for people and as a pin:
    /// `builds/a$ CUDA_VISIBLE_DEVICES=0 vllm serve model`.
    pub fn shown(&self) -> String {
        let dir = self.dir.iter().map(|dir| format!("{}$", dir.display()));
        let env = self.env.iter();
        let env = env.map(|(name, value)| format!("{name}={}", value.shown()));
        let command = self.command.iter().map(Word::shown);
        let words: Vec<String> = dir.chain(env).chain(command).collect();
        words.join(" ")
    }

    /// How long its end may take: the stop command and the engine itself have the grace each.
    pub fn patience(&self) -> Duration {
        let commands = 1 + u32::from(self.stop.command.is_some());
        self.stop.grace.to_duration() * commands
    }

    /// Whether its image is named by a tag that may move, and not by the digest of what is in it.
    pub fn has_moving_image(&self) -> bool {
        let digest = |image: &String| {
            let (_, digest) = image.split_once("@sha256:")?;
            let hex = digest.bytes().all(|byte| byte.is_ascii_hexdigit());
            (digest.len() == 64 && hex).then_some(())
        };
        self.image
            .as_ref()
            .is_some_and(|image| digest(image).is_none())
    }

    /// The folder that it runs in.
    pub fn working_folder(&self) -> PathBuf {
        match &self.dir {
            Some(dir) => self.folder.join(dir),
            None => self.folder.clone(),
        }
    }

    /// A text that the engine wrote, without what variables gave to its command.
    pub fn mask(&self, text: &str) -> String {
        /// A shorter value is no secret, and may be a word of the text.
        const LEAST: usize = 6;
        let asides = [&self.stop.command, &self.logs].into_iter().flatten();
        let words = self.command.iter().chain(self.env.values());
        let words = words.chain(asides.flatten());
        words.fold(text.to_owned(), |text, word| match word {
            Word::Filled(secret) if secret.expose().len() >= LEAST => secret.mask(&text),
            Word::Filled(_) | Word::Written(_) => text,
        })
    }

    /// With its folder found from this one, the spec's.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::tests::{environment, fixtures, source, traces};
    use crate::spec::{TargetPlace, parse};

    fn launch() -> Launch {
        let word = |text: &str| Word::Written(text.to_owned());
        Launch {
            command: vec![
                word("serve"),
                word("a model"),
                Word::Filled(Secret::new("s3cr3t!".to_owned())),
            ],
            env: BTreeMap::from([("GPU".to_owned(), word("0"))]),
            dir: Some("builds/a".into()),
            folder: PathBuf::new(),
            ready: Ready {
                http: "/health".to_owned(),
                within: Nanos::from_secs(600),
                first_request: false,
            },
            stop: Ending {
                command: Some(vec![
                    word("stop"),
                    Word::Filled(Secret::new("other-s3cr3t".to_owned())),
                ]),
                signal: StopSignal::Term,
                grace: Nanos::from_secs(30),
            },
            logs: None,
            image: None,
        }
    }

    #[test]
    fn a_launch_shows_all_but_its_secrets() {
        let digest = Digest::of(b"s3cr3t!").short();
        assert_eq!(
            launch().shown(),
            format!("builds/a$ GPU=0 serve 'a model' [sha256:{digest}]")
        );
        assert_eq!(
            launch().mask("key s3cr3t! is bad, model is 'a model'"),
            "key [masked] is bad, model is 'a model'"
        );
        assert_eq!(launch().mask("stop other-s3cr3t"), "stop [masked]");
        assert!(!format!("{:?}", launch()).contains("s3cr3t"));
    }

    #[test]
    fn only_a_digest_holds_an_image() {
        let moving = |image: &str| {
            let image = Some(image.to_owned());
            Launch { image, ..launch() }.has_moving_image()
        };
        assert!(!moving(&format!("vllm/vllm@sha256:{}", "0a".repeat(32))));
        assert!(moving("vllm/vllm:v1"));
        assert!(moving("vllm/vllm@sha256:0a"));
        assert!(!launch().has_moving_image(), "there is none");
        assert_eq!(launch().patience().as_secs(), 2 * 30);
    }

    #[test]
    fn it_runs_in_a_folder_beside_the_spec() {
        let launch = launch().in_folder(Path::new("specs"));
        assert_eq!(launch.working_folder(), Path::new("specs/builds/a"));
    }

    #[test]
    fn a_launch_is_read_whole() {
        let launches = fixtures("ok")
            .into_iter()
            .find(|(name, _)| name == "launch");
        let source = source(&launches.unwrap().1);
        let spec = parse(&source, &environment, &traces).unwrap().spec;
        let TargetPlace::Launched { url, launch } = &spec.target.place else {
            panic!("{:?}", spec.target.place);
        };
        assert_eq!(url, "http://127.0.0.1:8000");
        let command: Vec<&str> = launch.command.iter().map(Word::expose).collect();
        assert_eq!(command, ["builds/new/llama-server", "--port", "8000"]);
        assert_eq!(
            launch.env["HF_TOKEN"],
            Word::Filled(Secret::new(environment("MODEL").unwrap()))
        );
        assert_eq!(launch.dir.as_deref(), Some(Path::new("engines")));
        let (minutes, seconds) = (Nanos::from_secs(300), Nanos::from_secs(10));
        assert_eq!(
            (launch.ready.http.as_str(), launch.ready.within),
            ("/v1/models", minutes)
        );
        assert_eq!(
            (launch.stop.signal, launch.stop.grace),
            (StopSignal::Int, seconds)
        );
        let words = |words: &Option<Vec<Word>>| -> Vec<String> {
            let words = words.iter().flatten();
            words.map(|word| word.expose().to_owned()).collect()
        };
        assert!(launch.ready.first_request);
        assert_eq!(words(&launch.stop.command), ["docker", "stop", "engine"]);
        assert_eq!(words(&launch.logs), ["docker", "logs", "engine"]);
        assert!(!launch.has_moving_image());
        let Some(TargetPlace::Launched {
            url: shared,
            launch,
        }) = &spec.baseline
        else {
            panic!("{:?}", spec.baseline);
        };
        assert_eq!(shared, url, "without a URL of its own it is the target's");
        assert_eq!(launch.shown(), "builds/old/llama-server --port 8000");
        assert_eq!(launch.ready.http, "/health");
        assert!(!launch.ready.first_request);
        // The list alone.
        assert_eq!(words(&launch.stop.command), ["pkill", "old"]);
        assert_eq!(launch.stop.grace, Nanos::from_secs(30));
    }
}
