//! Which state of a repository runs were taken from.

use crate::lang::say;
use crate::summary::{Run, Side, SourceStamp};
use crate::unit::scale;

use super::span::Text;

/// Commits that a line names before it counts the rest.
const NAMED: usize = 6;

/// Of one run: `Source: commit 0123456789ab with local changes, branch main, pull request 41`.
pub(super) fn line(source: &SourceStamp) -> Text {
    let mut parts = vec![commit(source)];
    if let Some(head) = &source.head {
        parts.push(Text::say(say::TRIAL_MERGE, [Text::value(head.short())]));
    }
    if let Some(branch) = &source.branch {
        parts.push(Text::say(say::BRANCH, [Text::value(branch)]));
    }
    if let Some(number) = source.pull_request {
        parts.push(Text::say(
            say::PULL_REQUEST,
            [Text::just(number.to_string())],
        ));
    }
    if let Some(event) = &source.event {
        parts.push(Text::say(say::EVENT, [Text::value(event)]));
    }
    Text::say(say::SOURCE, [Text::list(parts)])
}

/// Of both sides of a comparison, each commit once, the latest run's first.
pub(super) fn sides(baseline: &[Run], candidate: &[Run]) -> Vec<Text> {
    [(Side::Baseline, baseline), (Side::Candidate, candidate)]
        .into_iter()
        .filter_map(|(side, runs)| {
            let mut commits: Vec<Text> = Vec::new();
            for source in runs.iter().rev().filter_map(|run| run.source.as_ref()) {
                let text = commit(source);
                if !commits.contains(&text) {
                    commits.push(text);
                }
            }
            let more = commits.len().saturating_sub(NAMED);
            commits.truncate(NAMED);
            let of = match side {
                Side::Baseline => say::BASELINE_SOURCE,
                Side::Candidate => say::CANDIDATE_SOURCE,
            };
            let mut named = Text::list(commits.clone());
            if more > 0 {
                let more = Text::just(scale::count(more as u64));
                named = Text::say(say::AND_MORE, [named, more]);
            }
            (!commits.is_empty()).then(|| Text::say(of, [named]))
        })
        .collect()
}

fn commit(source: &SourceStamp) -> Text {
    let text = Text::say(say::COMMIT, [Text::value(source.commit.short())]);
    if source.dirty {
        Text::say(say::DIRTY, [text])
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic;

    fn stamp(digit: char) -> SourceStamp {
        SourceStamp {
            commit: digit.to_string().repeat(40).parse().unwrap(),
            dirty: false,
            head: None,
            branch: None,
            pull_request: None,
            event: None,
        }
    }

    #[test]
    fn a_run_says_all_of_it_and_a_side_each_commit_once() {
        let mut run = synthetic::run("a", 1);
        let whole = SourceStamp {
            dirty: true,
            head: Some("d".repeat(40).parse().unwrap()),
            branch: Some("faster".to_owned()),
            pull_request: Some(41),
            event: Some("pull_request".to_owned()),
            ..stamp('c')
        };
        assert_eq!(
            line(&whole).plain(),
            "Source: commit cccccccccccc with local changes, a trial merge of dddddddddddd, branch faster, \
             pull request 41, event pull_request"
        );
        run.source = Some(whole);
        let old = synthetic::run("b", 2);
        let of = |digit| {
            let mut run = synthetic::run("c", 3);
            run.source = Some(stamp(digit));
            run
        };
        let baseline = ['1', '2', '2', '3', '4', '5', '6', '7', '8'].map(of);
        let said: Vec<String> = sides(&baseline, &[run]).iter().map(Text::plain).collect();
        assert_eq!(
            said,
            [
                "Baseline's source: commit 888888888888, commit 777777777777, commit 666666666666, commit \
                 555555555555, commit 444444444444, commit 333333333333 and 2 more",
                "Candidate's source: commit cccccccccccc with local changes",
            ]
        );
        assert_eq!(sides(&[old], &[]), []);
    }
}
