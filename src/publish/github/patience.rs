//! When a request is sent again, and how long that may take.

use std::time::Duration;

use super::fault::Fault;

/// How often one request is sent at most.
pub(super) const TRIES: u32 = 4;
/// The first wait after an answer that says nothing of waiting; each next one is twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// The wait where GitHub limits requests and does not say for how long, as its documentation asks.
const LIMITED: Duration = Duration::from_mins(1);
/// All waiting of one publication: longer, and a job of a GPU would stand still for a comment.
pub(super) const ALL: Duration = Duration::from_mins(2);

/// What may be sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeats {
    /// Twice is as good as once.
    Harmless,
    /// Twice is two: a comment, an issue.
    Doubles,
}

/// How long to wait before this request is sent again after so many tries, with so much waiting left;
/// `None` gives it up.
pub(super) fn wait(
    fault: &Fault,
    repeats: Repeats,
    tries: u32,
    left: Duration,
) -> Option<Duration> {
    if tries >= TRIES {
        return None;
    }
    let backoff = FIRST * 2u32.pow(tries.saturating_sub(1));
    let wait = match fault {
        Fault::Limited { wait, .. } => wait.unwrap_or(LIMITED * 2u32.pow(tries.saturating_sub(1))),
        Fault::Unavailable { .. } | Fault::Silent { .. }
            if repeats == Repeats::Harmless || !fault.may_be_done() =>
        {
            backoff
        }
        Fault::Unavailable { .. }
        | Fault::Silent { .. }
        | Fault::Refused { .. }
        | Fault::Odd { .. } => return None,
    };
    (wait <= left).then_some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent(arrived: bool) -> Fault {
        Fault::Silent {
            why: "cut".to_owned(),
            arrived,
        }
    }

    #[test]
    fn what_doubles_is_not_sent_again_where_it_may_be_done() {
        let broken = Fault::Unavailable { status: 502 };
        for fault in [&broken, &silent(true)] {
            assert_eq!(wait(fault, Repeats::Doubles, 1, ALL), None);
            assert_eq!(wait(fault, Repeats::Harmless, 1, ALL), Some(FIRST));
            assert_eq!(wait(fault, Repeats::Harmless, 3, ALL), Some(FIRST * 4));
            assert_eq!(wait(fault, Repeats::Harmless, TRIES, ALL), None);
        }
        assert_eq!(wait(&silent(false), Repeats::Doubles, 1, ALL), Some(FIRST));
    }

    #[test]
    fn github_is_waited_for_as_it_asks_and_not_longer_than_a_job_can() {
        let limited = |wait| Fault::Limited {
            wait,
            said: String::new(),
        };
        let seconds = Duration::from_secs;
        assert_eq!(
            wait(&limited(Some(seconds(7))), Repeats::Doubles, 1, ALL),
            Some(seconds(7))
        );
        assert_eq!(
            wait(&limited(Some(seconds(3600))), Repeats::Doubles, 1, ALL),
            None
        );
        assert_eq!(
            wait(&limited(Some(seconds(7))), Repeats::Doubles, 1, seconds(6)),
            None
        );
        assert_eq!(
            wait(&limited(None), Repeats::Doubles, 1, ALL),
            Some(seconds(60))
        );
        assert_eq!(wait(&limited(None), Repeats::Doubles, 3, ALL), None);
    }

    #[test]
    fn a_no_is_a_no() {
        let no = Fault::Refused {
            status: 403,
            said: String::new(),
        };
        assert_eq!(wait(&no, Repeats::Harmless, 1, ALL), None);
    }
}
