//! What is published, whatever it is published to.

use super::key::Key;
use crate::exit::Exit;
use crate::verdict::Verdict;

/// A finished report, ready to go anywhere.
#[derive(Clone)]
pub struct Post<'a> {
    /// What tells it apart from other reports of the same pull request.
    pub key: Key,
    /// One line of plain text, without control characters: `Regression in chat-8b: 2 of 12 cells`.
    pub title: String,
    /// How it ended.
    pub ending: Ending,
    /// The report as Markdown in at most so many UTF-16 units.
    pub report: &'a (dyn Fn(usize) -> String + Sync),
    /// What stands at lines of the spec.
    pub annotations: Vec<Annotation>,
}

/// How a report ended, for those who only know a few states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every gated cell is within its limits.
    Pass,
    /// It is no pass, and the spec's policy lets it through.
    Excused,
    /// A gated cell is worse than its limit.
    Regression,
    /// It cannot be decided.
    Undecided,
    /// The measurement is invalid, or there is none.
    Invalid,
}

impl Ending {
    /// From the verdict and the exit code after the spec's policies. What a policy fails counts as a
    /// regression, as it does for the exit code.
    pub fn of(verdict: Verdict, exit: Exit) -> Self {
        match exit {
            Exit::Pass if verdict == Verdict::Pass => Self::Pass,
            Exit::Pass => Self::Excused,
            Exit::Regression => Self::Regression,
            Exit::Undecided => Self::Undecided,
            Exit::Usage | Exit::Invalid => Self::Invalid,
        }
    }

    /// Of a command that ended without a report: a pass without a judgement is a policy's.
    pub fn without_report(exit: Exit) -> Self {
        match exit {
            Exit::Pass => Self::Excused,
            Exit::Regression => Self::Regression,
            Exit::Undecided => Self::Undecided,
            Exit::Usage | Exit::Invalid => Self::Invalid,
        }
    }

    /// The worse of two: what several reports together come to.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        let rank = |ending: Self| match ending {
            Self::Pass => 0,
            Self::Excused => 1,
            Self::Undecided => 2,
            Self::Invalid => 3,
            Self::Regression => 4,
        };
        if rank(other) > rank(self) {
            other
        } else {
            self
        }
    }

    /// Whether it is decided, and how: `None` where nothing can be said.
    pub const fn decided(self) -> Option<bool> {
        match self {
            Self::Pass => Some(true),
            Self::Regression => Some(false),
            Self::Excused | Self::Undecided | Self::Invalid => None,
        }
    }

    /// As a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Excused => "excused",
            Self::Regression => "regression",
            Self::Undecided => "undecided",
            Self::Invalid => "invalid",
        }
    }
}

/// A remark at a line of a file in the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// The file, relative to the repository's root, with `/` between its parts.
    pub path: String,
    /// The line, from 1 on.
    pub line: u32,
    /// Whether it stands for something that broke; otherwise something is to be looked at.
    pub broken: bool,
    /// What it is about: the cell.
    pub title: String,
    /// What is to be said, as plain text.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pass_is_a_pass() {
        assert_eq!(Ending::of(Verdict::Pass, Exit::Pass), Ending::Pass);
        assert_eq!(Ending::of(Verdict::Undecided, Exit::Pass), Ending::Excused);
        assert_eq!(
            Ending::of(Verdict::Undecided, Exit::Regression),
            Ending::Regression
        );
        assert_eq!(
            Ending::of(Verdict::Undecided, Exit::Undecided),
            Ending::Undecided
        );
        assert_eq!(Ending::without_report(Exit::Pass), Ending::Excused);
        assert_eq!(Ending::without_report(Exit::Usage), Ending::Invalid);
    }

    #[test]
    fn several_are_as_bad_as_the_worst() {
        let order = [
            Ending::Pass,
            Ending::Excused,
            Ending::Undecided,
            Ending::Invalid,
            Ending::Regression,
        ];
        for (i, better) in order.iter().enumerate() {
            for worse in &order[i..] {
                assert_eq!(better.worst(*worse), *worse);
                assert_eq!(worse.worst(*better), *worse);
            }
        }
    }
}
