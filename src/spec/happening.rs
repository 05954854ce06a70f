//! What happens to the target while a stage loads it: its `events`.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::unit::Nanos;

/// One thing that happens while a stage loads its target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Happening {
    /// What reports and cells call it, unique in its stage.
    pub name: String,
    /// When, from the start of the measured window.
    pub at: Nanos,
    /// What is done.
    pub action: Action,
    /// How long doing it may take.
    #[serde(skip)]
    pub within: Nanos,
}

/// What is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A program is run; no shell reads its words.
    Command {
        /// The program, then its arguments.
        words: Vec<String>,
        /// Where it runs: the spec's folder.
        folder: PathBuf,
    },
    /// A request is sent.
    Http {
        /// Its method.
        method: Method,
        /// A path below the target's first URL, or a URL of its own, which gets none of the target's
        /// credentials.
        to: String,
        /// Its body, sent as JSON.
        body: Option<String>,
    },
    /// Trouble that the embedded engine makes for itself.
    Embedded {
        /// Which.
        trouble: Trouble,
        /// Which replica, from 1.
        replica: u32,
        /// How long it lasts; `None` of what is over at once, or never.
        lasts: Option<Nanos>,
    },
}

/// Trouble of the embedded engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It is gone, its connections and caches with it; where it comes back it starts cold.
    Kill,
    /// It computes nothing.
    Stall,
    /// All its connections end, once.
    Drop,
    /// It answers 503.
    Refuse,
}

impl Trouble {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Kill, Self::Stall, Self::Drop, Self::Refuse];

    /// The word in specs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Stall => "stall",
            Self::Drop => "drop",
            Self::Refuse => "refuse",
        }
    }
}

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Post, Self::Get, Self::Put, Self::Patch, Self::Delete];

    /// The word in specs and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

impl Action {
    /// What is done, for people: `docker kill engine-2`, `POST /sleep`, `kill replica 2 for 20s`.
    pub fn shown(&self) -> String {
        match self {
            Self::Command { words, .. } => {
                let quoted = |word: &String| {
                    if word.is_empty() || word.contains(char::is_whitespace) {
                        format!("'{word}'")
                    } else {
                        word.clone()
                    }
                };
                words.iter().map(quoted).collect::<Vec<_>>().join(" ")
            }
            Self::Http { method, to, .. } => format!("{} {to}", method.name()),
            Self::Embedded {
                trouble,
                replica,
                lasts,
            } => {
                let lasts = lasts.map(|lasts| format!(" for {lasts}"));
                let lasts = lasts.unwrap_or_default();
                format!("{} replica {replica}{lasts}", trouble.name())
            }
        }
    }

    /// How long it lasts, where it says so itself.
    pub const fn lasts(&self) -> Option<Nanos> {
        match self {
            Self::Embedded { lasts, .. } => *lasts,
            Self::Command { .. } | Self::Http { .. } => None,
        }
    }

    fn in_folder(self, from: &Path) -> Self {
        match self {
            Self::Command { words, .. } => Self::Command {
                words,
                folder: from.to_owned(),
            },
            other @ (Self::Http { .. } | Self::Embedded { .. }) => other,
        }
    }
}

/// What it is held to be in comparisons: as it is shown, with the body of a request.
impl Serialize for Action {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let body = match self {
            Self::Http { body, .. } => body.as_deref(),
            Self::Command { .. } | Self::Embedded { .. } => None,
        };
        (self.shown(), body).serialize(to)
    }
}

impl Happening {
    /// With the folder that its command runs in, the spec's.
    #[must_use]
    pub fn in_folder(self, folder: &Path) -> Self {
        Self {
            action: self.action.in_folder(folder),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_shows_what_it_does() {
        let command = Action::Command {
            words: ["docker", "kill", "engine 2", ""]
                .map(str::to_owned)
                .to_vec(),
            folder: PathBuf::new(),
        };
        assert_eq!(command.shown(), "docker kill 'engine 2' ''");
        let moved = command.clone().in_folder(Path::new("specs"));
        assert_ne!(moved, command);
        let same = |one: &Action, other: &Action| {
            serde_json::to_value(one).unwrap() == serde_json::to_value(other).unwrap()
        };
        assert!(same(&moved, &command), "a clone elsewhere is comparable");
        let kill = |lasts| Action::Embedded {
            trouble: Trouble::Kill,
            replica: 2,
            lasts,
        };
        assert_eq!(kill(None).shown(), "kill replica 2");
        let while_it = kill(Some(Nanos::from_secs(20)));
        assert_eq!(while_it.shown(), "kill replica 2 for 20s");
        assert!(!same(&kill(None), &while_it));
        let http = |body: Option<&str>| Action::Http {
            method: Method::Post,
            to: "/scale".to_owned(),
            body: body.map(str::to_owned),
        };
        assert_eq!(http(None).shown(), "POST /scale");
        assert!(!same(&http(None), &http(Some("{}"))));
    }
}
