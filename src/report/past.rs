//! The baseline against its own past, in words.

use crate::lang::say;
use crate::unit::scale;
use crate::verdict::LevelChange;

use super::span::Text;
use super::words;

/// One sentence for all cells that changed between the same two sessions and the same way.
pub(super) fn sentences(levels: &[LevelChange]) -> Vec<Text> {
    let mut groups: Vec<Vec<&LevelChange>> = Vec::new();
    for level in levels {
        let alike = |group: &&mut Vec<&LevelChange>| {
            let first = group[0];
            (&first.last, &first.first, first.worse) == (&level.last, &level.first, level.worse)
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(level),
            None => groups.push(vec![level]),
        }
    }
    groups.iter().map(|group| sentence(group)).collect()
}

fn sentence(group: &[&LevelChange]) -> Text {
    let first = group[0];
    let cells = group.iter().map(|level| {
        words::cell(&level.cell)
            .words(" ")
            .then(words::change(level.cell.metric.metric(), level.change))
    });
    let moved = if first.worse {
        say::GOT_WORSE
    } else {
        say::GOT_BETTER
    };
    let args = [
        Text::list(cells),
        session(&first.last),
        session(&first.first),
        Text::just(scale::count(first.since.into())),
    ];
    Text::say(moved, args)
}

fn session(name: &crate::compare::SessionName) -> Text {
    match &name.commit {
        Some(commit) => Text::say(say::COMMIT, [Text::value(commit.short())]),
        None => Text::say(say::SESSION, [Text::value(&name.session)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::SessionName;
    use crate::compare::synthetic::cell;
    use crate::verdict::Change;

    #[test]
    fn one_sentence_says_what_changed_where_and_that_it_is_not_the_candidates() {
        let name = |session: &str, digit: Option<char>| SessionName {
            session: session.to_owned(),
            commit: digit.map(|digit| digit.to_string().repeat(40).parse().unwrap()),
        };
        let level = |metric: &str, estimate: f64, last, first| LevelChange {
            cell: cell(metric),
            change: Change::Ratio {
                estimate,
                low: estimate - 0.01,
                high: estimate + 0.01,
            },
            worse: estimate > 0.0,
            last,
            first,
            since: 6,
        };
        let (a, b, c) = (
            name("s8", Some('a')),
            name("s9", Some('b')),
            name("s3", None),
        );
        let levels = [
            level("ttft.p95", 0.12, a.clone(), b.clone()),
            level("e2e.p50", -0.08, c, a.clone()),
            level("tpot.p95", 0.10, a, b),
        ];
        let said: Vec<String> = sentences(&levels).iter().map(Text::plain).collect();
        insta::assert_snapshot!(said.join("\n"));
    }
}
