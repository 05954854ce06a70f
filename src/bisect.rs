//! Which of a row of states is the first bad one: the search alone, whatever they are states of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What became of one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// It is as the good end.
    Good,
    /// It is worse.
    Bad,
    /// Nobody can tell: it does not build, or its verdict is undecided.
    Skip,
}

/// What is known of a row of states: 0 is the good end, the last one the bad end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    last: usize,
    marks: BTreeMap<usize, Mark>,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Test this one.
    Test(usize),
    /// This is the first bad one.
    Found(usize),
    /// The first bad one is among these, both included: those between were skipped.
    Among(usize, usize),
    /// The bad end is no worse than the good one.
    NotBad,
    /// Nobody can tell of the bad end, so there is nothing to look for.
    EndSkipped,
}

impl Search {
    /// Of so many states after the good end; the last of them is the bad end.
    pub const fn new(after_good: usize) -> Self {
        Self {
            last: after_good,
            marks: BTreeMap::new(),
        }
    }

    /// Takes note of a test.
    pub fn mark(&mut self, state: usize, mark: Mark) {
        self.marks.insert(state, mark);
    }

    /// What is to be done next: first the bad end is seen to be bad, then the states of which nothing is known
    /// are halved, so that one that was skipped costs its own test and no more.
    pub fn next(&self) -> Next {
        match self.marks.get(&self.last) {
            None => return Next::Test(self.last),
            Some(Mark::Good) => return Next::NotBad,
            Some(Mark::Skip) => return Next::EndSkipped,
            Some(Mark::Bad) => {}
        }
        let bad = self.first(Mark::Bad).unwrap_or(self.last);
        let good = self.newest_good_before(bad);
        let open: Vec<usize> = (good + 1..bad)
            .filter(|state| !self.marks.contains_key(state))
            .collect();
        match open.get(open.len().saturating_sub(1) / 2) {
            Some(state) => Next::Test(*state),
            None if good + 1 == bad => Next::Found(bad),
            None => Next::Among(good + 1, bad),
        }
    }

    /// Tests that may still come, at most, where nothing more is skipped.
    pub fn left(&self) -> u32 {
        let bad = self.first(Mark::Bad).unwrap_or(self.last);
        let good = self.newest_good_before(bad);
        let unknown = (good + 1..bad)
            .filter(|state| !self.marks.contains_key(state))
            .count();
        let end = u32::from(!self.marks.contains_key(&self.last));
        (usize::BITS - unknown.leading_zeros()) + end
    }

    fn first(&self, wanted: Mark) -> Option<usize> {
        let found = self.marks.iter().find(|(_, mark)| **mark == wanted);
        found.map(|(state, _)| *state)
    }

    fn newest_good_before(&self, bad: usize) -> usize {
        let before = self.marks.range(..bad).rev();
        let mut good = before.filter(|(_, mark)| **mark == Mark::Good);
        good.next().map_or(0, |(state, _)| *state)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Searches for a first bad state; returns the answer and the number of tests.
    fn search(after_good: usize, first_bad: usize, skipped: &BTreeSet<usize>) -> (Next, u32) {
        let mut search = Search::new(after_good);
        let mut tests = 0;
        loop {
            match search.next() {
                Next::Test(state) => {
                    tests += 1;
                    assert!(tests <= after_good as u32, "each state once");
                    let mark = if skipped.contains(&state) {
                        Mark::Skip
                    } else if state >= first_bad {
                        Mark::Bad
                    } else {
                        Mark::Good
                    };
                    search.mark(state, mark);
                }
                answer => return (answer, tests),
            }
        }
    }

    #[test]
    fn eight_states_take_four_tests_and_a_skipped_one_leaves_a_range() {
        for first_bad in 1..=8 {
            let (answer, tests) = search(8, first_bad, &BTreeSet::new());
            assert_eq!(answer, Next::Found(first_bad));
            assert!(tests <= 4, "{first_bad}: {tests}");
        }
        assert_eq!(search(8, 4, &BTreeSet::from([4])).0, Next::Among(4, 5));
        assert_eq!(search(8, 6, &BTreeSet::from([4])).0, Next::Found(6));
        assert_eq!(search(1, 1, &BTreeSet::new()), (Next::Found(1), 1));
    }

    #[test]
    fn a_skipped_state_costs_its_own_test_and_no_more() {
        let (answer, tests) = search(122, 113, &BTreeSet::from([110]));
        assert_eq!(answer, Next::Found(113));
        assert!(tests <= 1 + 7 + 1, "{tests}");
    }

    #[test]
    fn ends_that_do_not_differ_end_it_at_once() {
        assert_eq!(search(8, 9, &BTreeSet::new()), (Next::NotBad, 1));
        assert_eq!(search(8, 3, &BTreeSet::from([8])), (Next::EndSkipped, 1));
        let mut half = Search::new(8);
        assert_eq!(half.left(), 4);
        half.mark(8, Mark::Bad);
        half.mark(4, Mark::Good);
        assert_eq!(half.left(), 2);
    }

    proptest! {
        #[test]
        fn the_answer_holds_the_truth_in_few_tests(
            (after_good, first_bad, skipped) in (1..200_usize).prop_flat_map(|n| {
                (Just(n), 1..=n, prop::collection::vec(1..n.max(2), 0..n.min(20)))
            }),
        ) {
            let skipped: BTreeSet<usize> = skipped.into_iter().filter(|s| *s < after_good).collect();
            let (answer, tests) = search(after_good, first_bad, &skipped);
            match answer {
                Next::Found(found) => prop_assert_eq!(found, first_bad),
                Next::Among(from, to) => {
                    prop_assert!((from..=to).contains(&first_bad));
                    prop_assert!((from..to).all(|state| skipped.contains(&state)));
                }
                other => prop_assert!(false, "{:?}", other),
            }
            let halvings = usize::BITS - (after_good - 1).leading_zeros();
            prop_assert!(tests <= 1 + halvings + skipped.len() as u32);
        }
    }
}
