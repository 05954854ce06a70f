//! What a job of GitHub Actions may do, as far as it shows without asking GitHub.

use super::finding::{Finding, Topic};

/// What the environment of a job shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actions {
    /// Whether there is a token in `GITHUB_TOKEN`.
    pub token: bool,
    /// Whether there is a file for the job's summary.
    pub summary: bool,
    /// The event that started the job.
    pub event: String,
    /// Whether the job runs on somebody's own machine, as far as it says.
    pub self_hosted: Option<bool>,
}

/// What a job can publish, and whether its machine is one to measure on.
pub fn actions(job: &Actions) -> Vec<Finding> {
    let mut found = Vec::new();
    found.push(if job.token {
        Finding::ok(
            Topic::Ci,
            "`GITHUB_TOKEN` is there; what it may do shows only when something is posted",
        )
    } else {
        Finding::note(
            Topic::Ci,
            "`GITHUB_TOKEN` is not in the environment",
            "nothing could be posted on the pull request; exit code and job summary don't need it",
            "where a later step posts: `env: {GITHUB_TOKEN: ${{ github.token }}}` and `permissions: \
             {pull-requests: write}`",
        )
    });
    if !job.summary {
        found.push(Finding::note(
            Topic::Ci,
            "`GITHUB_STEP_SUMMARY` is not set",
            "the report can't be shown on the job's page",
            "run the step on a runner of today, not in a container without its variables",
        ));
    }
    if job.event == "pull_request_target" {
        found.push(Finding::note(
            Topic::Ci,
            "the job was started by `pull_request_target`",
            "its token may write, and code of a fork that runs in it may use that",
            "use `pull_request`, and never build a fork's code in this job",
        ));
    }
    if job.self_hosted == Some(false) {
        found.push(Finding::note(
            Topic::Ci,
            "the job runs on a machine of GitHub's",
            "it is shared, and another one each time: sessions of other days are of other machines",
            "compare both sides in one job with `infergate ab`, or use a runner of your own",
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::finding::tests::shown;
    use super::*;

    #[test]
    fn a_job_says_what_it_lacks() {
        let good = Actions {
            token: true,
            summary: true,
            event: "pull_request".to_owned(),
            self_hosted: Some(true),
        };
        let poor = Actions {
            token: false,
            summary: false,
            event: "pull_request_target".to_owned(),
            self_hosted: Some(false),
        };
        assert_eq!(actions(&good).len(), 1);
        insta::assert_snapshot!(shown(&actions(&poor)));
    }
}
