//! What can go wrong on the way to a GitLab, and when it is tried again.

use std::time::Duration;

/// How often one request is sent at most.
const TRIES: u32 = 4;
/// The first wait where nothing says how long; each next one is twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// The wait where GitLab limits requests without a word: its limits are by the minute.
const LIMITED: Duration = Duration::from_mins(1);
/// Most waiting for one request: longer, and a job of a GPU would stand still for a note.
const ALL: Duration = Duration::from_mins(2);
/// Most characters of GitLab's words that are passed on.
const SAID: usize = 300;

/// Why a request brought nothing.
#[derive(Debug)]
pub(super) enum Fault {
    /// An answer that says no.
    Refused { status: u16, said: String },
    /// Too many requests, for so long.
    Limited { wait: Option<Duration> },
    /// No answer.
    Silent { why: String },
}

/// How often a request was sent, and how long was waited for it.
#[derive(Debug, Default)]
pub(super) struct Patience {
    tries: u32,
    waited: Duration,
}

impl Patience {
    /// How long to wait before a request that met this fault is sent again; `None` gives it up.
    /// One that `doubles` is not sent again where it may be done already.
    pub(super) fn wait(&mut self, fault: &Fault, doubles: bool) -> Option<Duration> {
        self.tries += 1;
        let wait = match fault {
            Fault::Limited { wait } => wait.unwrap_or(LIMITED),
            _ if fault.may_be_done() && !doubles => FIRST * 2u32.pow(self.tries - 1),
            _ => return None,
        };
        self.waited += wait;
        (self.tries < TRIES && self.waited <= ALL).then_some(wait)
    }
}

/// Somebody else's words on one line.
pub(super) fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(plain).take(SAID).collect()
}

impl Fault {
    /// Whether the request may have been carried out all the same.
    pub(super) const fn may_be_done(&self) -> bool {
        matches!(
            self,
            Self::Silent { .. } | Self::Refused { status: 500.., .. }
        )
    }

    /// It in words, with what to do about it.
    pub(super) fn says(&self) -> String {
        match self {
            Self::Refused {
                status: status @ (401 | 403),
                said,
            } => format!(
                "the token is not allowed to ({status}, {said}); it takes a project or group access token with the scope \
                 `api` and the role Reporter in `GITLAB_TOKEN` (a job's own `CI_JOB_TOKEN` can't write notes)"
            ),
            Self::Refused { status: 404, said } => format!(
                "it is not there, or the token can't see it (404, {said}); look at `CI_PROJECT_ID` and \
                 `CI_MERGE_REQUEST_IID`"
            ),
            Self::Refused {
                status: status @ 500..,
                ..
            } => {
                format!(
                    "GitLab answers {status}; publish the report later with `infergate publish`"
                )
            }
            Self::Refused { status, said } => format!("GitLab refuses it ({status}, {said})"),
            Self::Limited { wait } => {
                let long = wait.map_or_else(String::new, |wait| {
                    format!(" for another {} s", wait.as_secs())
                });
                format!(
                    "GitLab takes no more requests of this token{long} (429); publish the report later with \
                     `infergate publish`"
                )
            }
            Self::Silent { why } => {
                format!("no answer ({why}); look at `CI_API_V4_URL`, proxies and `--timeout`")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn limited(seconds: u64) -> Fault {
        Fault::Limited {
            wait: Some(Duration::from_secs(seconds)),
        }
    }

    #[test]
    fn gitlab_is_waited_for_as_it_asks_and_not_longer_than_a_job_can() {
        let mut patience = Patience::default();
        assert_eq!(
            patience.wait(&limited(70), true),
            Some(Duration::from_secs(70))
        );
        assert_eq!(patience.wait(&limited(70), true), None, "140 s in all");
        assert_eq!(Patience::default().wait(&limited(3600), false), None);
        let mut patience = Patience::default();
        let waits = std::iter::from_fn(|| patience.wait(&limited(1), false)).count();
        assert_eq!(waits, 3, "four tries");
    }

    #[test]
    fn what_doubles_is_not_sent_again_where_it_may_be_done_and_a_no_is_a_no() {
        let refused = |status| Fault::Refused {
            status,
            said: String::new(),
        };
        assert_eq!(Patience::default().wait(&refused(502), true), None);
        assert_eq!(Patience::default().wait(&refused(502), false), Some(FIRST));
        assert_eq!(Patience::default().wait(&refused(403), false), None);
    }
}
