//! The first line of everything that is edited in place: invisible to people, found again by us.

use std::fmt::{self, Display, Write as _};

use super::key::Key;
use crate::ident::Commit;

/// A job of CI by its number and the time that it is tried; later ones are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobRun {
    /// The number of the run.
    pub id: u64,
    /// Which try of it, from 1 on.
    pub attempt: u64,
}

/// What a comment of ours says of itself. Whoever can write comments can write such a line too, so it
/// counts only in comments of our own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    /// Which kind of text it stands in.
    pub(super) kind: Kind,
    /// Whose place it takes.
    pub(super) key: Key,
    /// The commit that was judged.
    pub(super) sha: Commit,
    /// The job that judged it.
    pub(super) run: Option<JobRun>,
    /// The last decision: whether it passed. Endings in between that decided nothing keep it.
    pub(super) decided: Option<bool>,
}

/// What a marked text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The report.
    Report,
    /// That pass became regression, or back.
    Change,
    /// The issue about the default branch.
    Branch,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Change => "change",
            Self::Branch => "branch",
        }
    }
}

/// The version of the line.
const VERSION: &str = "v=1";

impl Marker {
    /// Reads the first line of a text; `None` where it is no marker of this kind and key.
    pub(super) fn find(text: &str, kind: Kind, key: &Key) -> Option<Self> {
        let line = text.lines().next()?;
        let inner = line.strip_prefix("<!-- infergate:")?.strip_suffix(" -->")?;
        let mut words = inner.split(' ');
        if words.next()? != kind.word() || words.next()? != VERSION {
            return None;
        }
        let (mut own, mut sha, mut id, mut attempt, mut decided) = (None, None, None, None, None);
        for word in words {
            let (name, value) = word.split_once('=')?;
            match name {
                "key" => own = Some(value.parse::<Key>().ok()?),
                "sha" => sha = Some(value.parse().ok()?),
                "run" => id = Some(value.parse().ok()?),
                "attempt" => attempt = Some(value.parse().ok()?),
                "decided" => decided = Some(value == "pass"),
                // A later version may say more.
                _ => {}
            }
        }
        let run = id.map(|id| JobRun {
            id,
            attempt: attempt.unwrap_or(1),
        });
        let key = own.filter(|own| own == key)?;
        Some(Self {
            kind,
            key,
            sha: sha?,
            run,
            decided,
        })
    }

    /// Whether this one comes from a later job than that one; nothing is known of jobs without numbers.
    pub(super) fn is_after(&self, other: &Self) -> bool {
        matches!((self.run, other.run), (Some(own), Some(other)) if own > other)
    }
}

impl Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = format!(
            "<!-- infergate:{} {VERSION} key={} sha={}",
            self.kind.word(),
            self.key,
            self.sha.as_str()
        );
        if let Some(run) = self.run {
            write!(line, " run={} attempt={}", run.id, run.attempt)?;
        }
        if let Some(passed) = self.decided {
            let word = if passed { "pass" } else { "regression" };
            write!(line, " decided={word}")?;
        }
        write!(f, "{line} -->")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marker() -> Marker {
        Marker {
            kind: Kind::Report,
            key: "chat-8b".parse().unwrap(),
            sha: "ec26c3e57ca3a959ca5aad62de7213c562f8c821".parse().unwrap(),
            run: Some(JobRun { id: 17, attempt: 2 }),
            decided: Some(false),
        }
    }

    #[test]
    fn a_marker_is_read_as_it_was_written() {
        let line = marker().to_string();
        assert_eq!(
            line,
            "<!-- infergate:report v=1 key=chat-8b sha=ec26c3e57ca3a959ca5aad62de7213c562f8c821 run=17 attempt=2 \
             decided=regression -->"
        );
        let text = format!("{line}\r\n## Report");
        assert_eq!(
            Marker::find(&text, Kind::Report, &marker().key),
            Some(marker())
        );
        let local = Marker {
            run: None,
            decided: None,
            ..marker()
        };
        assert_eq!(
            Marker::find(&local.to_string(), Kind::Report, &local.key),
            Some(local)
        );
    }

    #[test]
    fn only_the_first_line_of_this_kind_and_key_counts() {
        let line = marker().to_string();
        let key = marker().key;
        for text in [
            format!("> {line}"),
            format!("Look:\n{line}"),
            line.replace("chat-8b", "chat-70b"),
            line.replace("report v", "change v"),
            line.replace("v=1", "v=2"),
            line.replace("sha=ec", "sha=zz"),
            line.replace(" -->", ""),
        ] {
            assert_eq!(Marker::find(&text, Kind::Report, &key), None, "{text}");
        }
    }

    #[test]
    fn a_later_try_is_later() {
        let later = Marker {
            run: Some(JobRun { id: 17, attempt: 3 }),
            ..marker()
        };
        let next = Marker {
            run: Some(JobRun { id: 18, attempt: 1 }),
            ..marker()
        };
        let local = Marker {
            run: None,
            ..marker()
        };
        assert!(later.is_after(&marker()) && next.is_after(&later));
        assert!(!marker().is_after(&marker()) && !marker().is_after(&later));
        assert!(!marker().is_after(&local) && !local.is_after(&marker()));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,200}") {
            let _ = Marker::find(&text, Kind::Report, &marker().key);
            let _ = Marker::find(&format!("<!-- infergate:report v=1 {text} -->"), Kind::Report, &marker().key);
        }
    }
}
