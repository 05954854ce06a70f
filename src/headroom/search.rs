//! The next load to try: up by steps of four until a rule breaks, then between the two.

/// A search for the largest load at which every rule holds, in a bounded number of trials.
///
/// A load at which a rule broke gets a second chance, so that one hiccup of the machine does not
/// end the search. From 250 with the true limit at 3,000: 250, 1000, 4000 twice, 2000, 2828.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    lowest: f64,
    highest: f64,
    start: f64,
    holds: Option<f64>,
    breaks: Option<f64>,
    again: Option<f64>,
    left: u32,
}

/// Loads of two trials differ by so much at the most, and are then as good as equal.
const CLOSE: f64 = 1.2;
const STEP: f64 = 4.0;

impl Search {
    /// A search between two loads, from `start` on, of at most so many trials.
    pub fn new(lowest: f64, start: f64, highest: f64, trials: u32) -> Self {
        let highest = highest.max(lowest);
        Self {
            lowest,
            highest,
            start: start.clamp(lowest, highest),
            holds: None,
            breaks: None,
            again: None,
            left: trials,
        }
    }

    /// The load to try; `None` where the search is over.
    pub fn next(&self) -> Option<f64> {
        if self.left == 0 {
            return None;
        }
        if self.again.is_some() {
            return self.again;
        }
        match (self.holds, self.breaks) {
            (None, None) => Some(self.start),
            (Some(holds), None) => {
                let next = (holds * STEP).min(self.highest);
                (next > holds).then_some(next)
            }
            (None, Some(breaks)) => {
                let next = (breaks / STEP).max(self.lowest);
                (next < breaks).then_some(next)
            }
            (Some(holds), Some(breaks)) => {
                (breaks / holds > CLOSE).then(|| (holds * breaks).sqrt().round())
            }
        }
    }

    /// Notes whether every rule held in the trial of this load.
    pub fn note(&mut self, load: f64, holds: bool) {
        self.left = self.left.saturating_sub(1);
        if holds {
            self.again = None;
            self.holds = Some(self.holds.map_or(load, |kept| kept.max(load)));
        } else if self.again.is_none() {
            self.again = Some(load);
        } else {
            self.again = None;
            self.breaks = Some(self.breaks.map_or(load, |kept| kept.min(load)));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(mut search: Search, limit: f64) -> (Vec<f64>, Search) {
        let mut tried = Vec::new();
        while let Some(load) = search.next() {
            tried.push(load);
            search.note(load, load <= limit);
        }
        (tried, search)
    }

    #[test]
    fn it_steps_up_and_then_in_between() {
        let (tried, search) = run(Search::new(10.0, 250.0, 64_000.0, 20), 3000.0);
        assert_eq!(
            tried,
            [
                250.0, 1000.0, 4000.0, 4000.0, 2000.0, 2828.0, 3363.0, 3363.0
            ]
        );
        assert_eq!((search.holds, search.breaks), (Some(2828.0), Some(3363.0)));
    }

    #[test]
    fn a_hiccup_is_forgiven_once() {
        let mut search = Search::new(1.0, 100.0, 1000.0, 9);
        search.note(100.0, false);
        assert_eq!(search.next(), Some(100.0));
        search.note(100.0, true);
        assert_eq!((search.holds, search.breaks), (Some(100.0), None));
    }

    proptest! {
        #[test]
        fn what_is_found_brackets_the_limit(limit in 20.0..60_000.0_f64) {
            let (tried, search) = run(Search::new(10.0, 250.0, 64_000.0, 40), limit);
            let (holds, breaks) = (search.holds.unwrap(), search.breaks.unwrap());
            prop_assert!(holds <= limit && limit < breaks);
            // Loads are whole, so small ones can't come closer.
            prop_assert!(breaks / holds <= CLOSE || breaks - holds <= 2.0, "{holds} to {breaks}");
            prop_assert!(tried.len() <= 30, "{tried:?}");
        }

        #[test]
        fn it_ends_after_its_trials(limit in 0.0..1e6_f64, trials in 0..12_u32) {
            let (tried, _) = run(Search::new(10.0, 250.0, 64_000.0, trials), limit);
            prop_assert!(tried.len() <= trials as usize);
            prop_assert!(tried.iter().all(|load| (10.0..=64_000.0).contains(load)));
        }
    }
}
