//! Whether there are sessions to judge by, and how old they are.

use super::finding::{Finding, Topic};
use crate::stats::stored::{FEWEST_SESSIONS, FIRM_SESSIONS};
use crate::verdict::ARCHIVE_DAYS;

/// The sessions of one environment that a candidate would be compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Sessions {
    /// The environment's folder.
    pub environment: String,
    /// How many sessions stand.
    pub standing: usize,
    /// How many show the noise alone.
    pub noise: usize,
    /// Days since the newest that stands; `None` where there is none.
    pub age_days: Option<f64>,
}

/// One finding an environment; one where there is none.
pub fn archive(environments: &[Sessions]) -> Vec<Finding> {
    if environments.is_empty() {
        return vec![Finding::note(
            Topic::Archive,
            format!("no session of this spec is kept; `gate` needs {FEWEST_SESSIONS}"),
            "`gate` refuses, and `ab` assumes this machine's noise and looks at 5 pairs first",
            "`infergate ab` needs none; for its noise `infergate calibrate SPEC`, for `gate` promote sessions: \
             `infergate run SPEC --repeats 3`, then `infergate baseline promote SESSION --reason TEXT`",
        )];
    }
    environments.iter().map(environment).collect()
}

fn environment(sessions: &Sessions) -> Finding {
    let Sessions {
        environment,
        standing,
        noise,
        age_days,
    } = sessions;
    let seen = format!(
        "`{environment}` has {standing} {} that stand and {noise} for its noise",
        if *standing == 1 {
            "session"
        } else {
            "sessions"
        }
    );
    let promote = |missing: usize| {
        format!(
            "promote {missing} more, of other days: `infergate run SPEC --repeats 3`, then `infergate baseline \
             promote SESSION --reason TEXT`"
        )
    };
    if *standing < FEWEST_SESSIONS {
        return Finding::note(
            Topic::Archive,
            seen,
            format!("`gate` refuses below {FEWEST_SESSIONS}; `ab` does not need them"),
            promote(FEWEST_SESSIONS - standing),
        );
    }
    if *standing < FIRM_SESSIONS {
        return Finding::note(
            Topic::Archive,
            seen,
            format!(
                "below {FIRM_SESSIONS} the verdict of `gate` is advisory: it never passes or fails"
            ),
            promote(FIRM_SESSIONS - standing),
        );
    }
    match age_days {
        Some(days) if *days > ARCHIVE_DAYS => Finding::note(
            Topic::Archive,
            format!("{seen}, the newest is {days:.0} days old"),
            format!(
                "beyond {ARCHIVE_DAYS} days the verdict of `gate` is advisory: machines change"
            ),
            "promote a session of today",
        ),
        _ => Finding::ok(Topic::Archive, seen),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::tests::shown;
    use super::*;

    fn sessions(standing: usize, age_days: f64) -> Sessions {
        Sessions {
            environment: "vllm-h200".to_owned(),
            standing,
            noise: 2,
            age_days: (standing > 0).then_some(age_days),
        }
    }

    #[test]
    fn sessions_that_are_missing_are_counted() {
        let all: Vec<String> = [(0, 0.0), (2, 1.0), (3, 1.0), (5, 13.9), (5, 20.2)]
            .into_iter()
            .map(|(standing, days)| shown(&archive(&[sessions(standing, days)])))
            .collect();
        insta::assert_snapshot!(all.join("\n"));
        assert!(shown(&archive(&[])).contains("no session of this spec"));
    }
}
