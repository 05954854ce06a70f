//! What a stored baseline was read from, in words: what [`BaseStamp::says`] says, in every language.

use crate::lang::{Phrase, say};
use crate::unit::scale;
use crate::verdict::{BaseStamp, Nearest};

use super::span::Text;

/// One sentence on where the baseline is from, then one on each thing to know of its sessions.
pub(super) fn says(stamp: &BaseStamp) -> Vec<Text> {
    let why = Text::default().prose(&stamp.why);
    let mut said = vec![match &stamp.commit {
        Some(commit) => Text::say(say::BASE_COMMIT, [Text::value(commit.short()), why]),
        None => Text::say(say::BASE_TREE, [why]),
    }];
    if stamp.gate_differs {
        said.push(Text::word(say::GATE_DIFFERS));
    }
    if let Some(Nearest { commit, distance }) = &stamp.nearest {
        let at = Text::value(commit.short());
        let count = Text::just(scale::count(*distance));
        said.push(match (stamp.commit.is_some(), distance) {
            (true, 0) => Text::say(say::NEAREST_BASE_ITSELF, [at]),
            (false, 0) => Text::say(say::NEAREST_TREE_ITSELF, [at]),
            (true, _) => Text::say(say::NEAREST_BASE, [count, at]),
            (false, _) => Text::say(say::NEAREST_TREE, [count, at]),
        });
    }
    let of = |n: u32, what: Phrase| {
        let count = Text::just(scale::count(n.into()));
        (n > 0).then(|| Text::say(what, [count]))
    };
    said.extend(of(stamp.unstamped, say::UNSTAMPED));
    said.extend(of(stamp.rewritten, say::REWRITTEN));
    said.extend(of(stamp.elsewhere, say::ELSEWHERE));
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_says_what_the_stamp_says() {
        let commit = |digit: &str| digit.repeat(40).parse().unwrap();
        for (nearest, n) in [(0, 1), (1, 2), (12, 3)] {
            for base in [None, Some(commit("a"))] {
                let stamp = BaseStamp {
                    nearest: Some(Nearest {
                        commit: commit("b"),
                        distance: nearest,
                    }),
                    unstamped: n,
                    rewritten: n,
                    elsewhere: n,
                    gate_differs: true,
                    ..BaseStamp::new(base, "`main` and the checkout share it")
                };
                let said = says(&stamp).iter().map(Text::plain).collect::<Vec<_>>();
                assert_eq!(said, stamp.says());
            }
        }
    }
}
