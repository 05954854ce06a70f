//! The looks at one replica's metrics, as much of each as what follows needs.

use super::counted::{Counted, restarted};
use super::course::Course;
use crate::sample::EngineTrack;
use crate::unit::Nanos;
use crate::wire::engine_metrics::{Counter, EngineReading, Level, LevelReading};

/// Looks at levels that are kept apart at the most; from there on, two become one.
const MOST: usize = 1 << 15;

/// The levels, in the order in which a look has them.
const LEVELS: [Level; 5] = [
    Level::Running,
    Level::Waiting,
    Level::KvUsage,
    Level::KvBlocks,
    Level::Memory,
];

/// The looks at one replica, from before a stage to after its drain.
///
/// Whole are the first, the last and those around the instants that were asked for: at a window's edges
/// counters and histograms are wanted. Of the others, two hundred bytes are kept: levels, and whether the
/// engine began anew. 2^15 of them are 7 MB, whatever the stage's length.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplicaScrapes {
    /// Where its metrics are.
    pub url: String,
    /// Why the last look that brought nothing did not.
    pub trouble: Option<String>,
    /// In order of time.
    looks: Vec<Look>,
    most: usize,
}

/// One look at a replica's metrics, or several that were put together.
#[derive(Debug, Clone, PartialEq)]
struct Look {
    /// When: half way between question and answer.
    at: Nanos,
    /// How many looks.
    n: u32,
    /// The longest time without a look until then.
    unseen: Nanos,
    /// Whether the engine was started anew since the look before.
    anew: bool,
    engine: &'static str,
    /// By [`LEVELS`].
    levels: [Option<LevelReading>; 5],
    /// Preemptions so far.
    preemptions: Option<f64>,
    /// All that was said, where that is kept.
    whole: Option<Box<EngineReading>>,
    /// Whether it was asked for.
    asked: bool,
}

impl ReplicaScrapes {
    /// Nothing yet, of the metrics at this URL.
    pub const fn new(url: String) -> Self {
        Self {
            url,
            trouble: None,
            looks: Vec::new(),
            most: MOST,
        }
    }

    /// Takes a look, after all before it; `asked` where it stands for an instant that counts, such as a
    /// window's edge.
    pub fn see(&mut self, at: Nanos, reading: EngineReading, asked: bool) {
        let last = self.looks.last();
        let before = last.and_then(|look| look.whole.as_deref());
        let look = Look {
            at,
            n: 1,
            unseen: last.map_or(Nanos::ZERO, |look| at.since(look.at)),
            anew: before.is_some_and(|before| restarted(before, &reading)),
            engine: reading.engine,
            levels: LEVELS.map(|level| reading.levels.get(&level).copied()),
            preemptions: reading.counters.get(&Counter::Preemptions).copied(),
            whole: Some(Box::new(reading)),
            asked,
        };
        self.looks.push(look);
        // Now it is known what stands around the look before.
        if let [.., earlier, before, now] = self.looks.as_mut_slice()
            && !(earlier.asked || before.asked || now.asked)
        {
            before.whole = None;
        }
        if self.looks.len() > self.most {
            self.halve();
        }
    }

    /// Puts two looks that stand side by side together, where neither is whole.
    fn halve(&mut self) {
        let mut kept: Vec<Look> = Vec::with_capacity(self.most);
        let mut single = false;
        for look in self.looks.drain(..) {
            match kept.last_mut() {
                Some(last) if single && last.whole.is_none() && look.whole.is_none() => {
                    *last = last.with(&look);
                    single = false;
                }
                _ => {
                    kept.push(look);
                    single = true;
                }
            }
        }
        self.looks = kept;
    }

    /// Looks that there were.
    pub(super) fn seen(&self) -> u32 {
        self.looks.iter().map(|look| look.n).sum()
    }

    /// The first of them.
    pub(super) fn first(&self) -> Option<&EngineReading> {
        self.looks.first()?.whole.as_deref()
    }

    /// What tells the engine from one that was started anew, by the last look at it.
    pub fn track(&self) -> Option<EngineTrack> {
        let last = self.looks.last()?.whole.as_deref()?;
        let counters = [
            Counter::PromptTokens,
            Counter::OutputTokens,
            Counter::Finished,
        ];
        Some(EngineTrack {
            url: self.url.clone(),
            started_s: last.started_s,
            counted: counters.map(|counter| last.counters.get(&counter).copied()),
        })
    }

    /// Whose names were found, look by look.
    pub(super) fn engines(&self) -> impl Iterator<Item = &'static str> {
        self.looks.iter().map(|look| look.engine)
    }

    /// What was counted from the first look to the last.
    pub(super) fn whole(&self) -> Result<Counted, String> {
        let last = self.looks.len().saturating_sub(1);
        if last == 0 {
            return Err(self
                .trouble
                .clone()
                .unwrap_or_else(|| "its metrics were not read twice".to_owned()));
        }
        self.counted(0, last)
            .ok_or_else(|| "its counters went back: it was started anew".to_owned())
    }

    /// What was counted between two looks that are whole; `None` where the engine began anew between
    /// them.
    pub(super) fn counted(&self, first: usize, last: usize) -> Option<Counted> {
        let whole = |index: usize| self.looks.get(index)?.whole.as_deref();
        let anew = self
            .looks
            .get(first + 1..=last)?
            .iter()
            .any(|look| look.anew);
        let (first, last) = (whole(first)?, whole(last)?);
        (!anew).then(|| Counted::between(first, last))
    }

    /// The whole look nearest to an instant, the earlier one of two, and how far it is off.
    pub(super) fn nearest(&self, to: Nanos) -> Option<(usize, Nanos)> {
        let off = |at: Nanos| at.since(to).max(to.since(at));
        let looks = self.looks.iter().enumerate();
        looks
            .filter(|(_, look)| look.whole.is_some())
            .map(|(index, look)| (index, off(look.at)))
            .min_by_key(|(_, off)| *off)
    }

    /// Looks from one to another, both counted.
    pub(super) fn between(&self, first: usize, last: usize) -> u32 {
        let looks = self.looks.get(first..=last).unwrap_or_default();
        looks.iter().map(|look| look.n).sum()
    }

    /// The longest time within these instants in which nobody looked.
    pub(super) fn longest_gap(&self, from: Nanos, to: Nanos) -> Nanos {
        let inside = |look: &&Look| from < look.at && look.at < to;
        let mut inside = self.looks.iter().filter(inside);
        let Some(first) = inside.next() else {
            return to.since(from);
        };
        let (mut last, mut longest) = (first.at, first.at.since(from));
        for look in inside {
            last = look.at;
            longest = longest.max(look.unseen);
        }
        longest.max(to.since(last))
    }

    /// Preemptions between two instants, by the looks around them; `None` where the engine does not count
    /// them, or began anew.
    pub(super) fn preempted(&self, from: Nanos, to: Nanos) -> Option<f64> {
        let looks = self.looks.iter();
        let counts = looks.filter_map(|look| Some((look.at, look.preemptions?)));
        let counts = Course::new(counts);
        let between = counts.at(to)? - counts.at(from)?;
        (between >= 0.0).then_some(between)
    }

    /// A level over time, by its value or the largest of any label set.
    pub(super) fn course(&self, level: Level, of: impl Fn(&LevelReading) -> f64) -> Option<Course> {
        let place = LEVELS.iter().position(|known| *known == level)?;
        let looks = self.looks.iter();
        let seen: Vec<(Nanos, f64)> = looks
            .filter_map(|look| Some((look.at, of(look.levels[place].as_ref()?))))
            .collect();
        (!seen.is_empty()).then(|| Course::new(seen))
    }
}

impl Look {
    /// Both as one, in the middle between them: the mean of their values, the larger of their largest.
    fn with(&self, next: &Self) -> Self {
        let both = |one: Option<LevelReading>, other: Option<LevelReading>| match (one, other) {
            (Some(one), Some(other)) => Some(LevelReading {
                value: f64::midpoint(one.value, other.value),
                largest: one.largest.max(other.largest),
            }),
            (one, other) => one.or(other),
        };
        Self {
            at: Nanos::new(self.at.get().midpoint(next.at.get())),
            n: self.n + next.n,
            unseen: self.unseen.max(next.unseen),
            anew: self.anew || next.anew,
            engine: next.engine,
            levels: std::array::from_fn(|i| both(self.levels[i], next.levels[i])),
            preemptions: next.preemptions,
            whole: None,
            asked: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::engine_metrics::read;

    /// A reading with a whole histogram of 40 buckets.
    fn reading(tokens: u64, running: u64) -> EngineReading {
        use std::fmt::Write as _;
        let mut text = format!(
            "vllm:generation_tokens_total {tokens}\nvllm:num_requests_running {running}\n\
             vllm:time_to_first_token_seconds_count {tokens}\n\
             vllm:time_to_first_token_seconds_sum 1\n"
        );
        for bound in 1..=40 {
            let _ = writeln!(
                text,
                "vllm:time_to_first_token_seconds_bucket{{le=\"{bound}\"}} {tokens}"
            );
        }
        read(&text).unwrap()
    }

    fn at(second: u64) -> Nanos {
        Nanos::from_secs(second)
    }

    /// A look a second for so long, with the edges of a window asked for, every one as large.
    fn soak(seconds: u64, opens: u64, closes: u64, most: usize) -> ReplicaScrapes {
        let mut replica = ReplicaScrapes::new("http://a/metrics".to_owned());
        replica.most = most;
        for second in 0..seconds {
            let asked = second == opens || second == closes;
            replica.see(at(second), reading(10 * second, second % 3), asked);
        }
        replica
    }

    #[test]
    fn half_a_day_keeps_ten_whole_looks_and_few_bytes_of_the_others() {
        // 12 h of a look a second, in the proportions of an hour.
        let replica = soak(3600, 60, 3500, 1 << 10);
        let whole = replica
            .looks
            .iter()
            .filter(|look| look.whole.is_some())
            .count();
        assert_eq!(whole, 2 + 3 + 3, "first, last, and three around each edge");
        assert!(replica.looks.len() <= 1 << 10, "{}", replica.looks.len());
        assert_eq!(replica.seen(), 3600);
        assert!(size_of::<Look>() <= 200, "{}", size_of::<Look>());
        // What is kept tells the same as everything would.
        let (first, last) = (replica.nearest(at(60)), replica.nearest(at(3500)));
        let ((first, off), (last, _)) = (first.unwrap(), last.unwrap());
        assert_eq!(off, Nanos::ZERO);
        let counted = replica.counted(first, last).unwrap();
        assert_eq!(counted.count(Counter::OutputTokens), Some(10 * 3440));
        assert_eq!(replica.between(first, last), 3441);
        let course = replica.course(Level::Running, |level| level.value);
        let running = course.unwrap().over(at(60), at(3500)).unwrap();
        assert!((running.mean - 1.0).abs() < 0.01, "{running:?}");
        let course = replica.course(Level::Running, |level| level.largest);
        assert!(course.unwrap().over(at(60), at(3500)).unwrap().max >= 2.0);
        assert!(replica.longest_gap(at(60), at(3500)) <= at(5));
    }

    #[test]
    fn a_restart_and_a_gap_are_not_lost_where_looks_become_one() {
        let mut replica = ReplicaScrapes::new("http://a/metrics".to_owned());
        replica.most = 64;
        let mut second = 0;
        for look in 0..1000_u64 {
            second += if look == 500 { 30 } else { 1 };
            let tokens = if look < 700 { 1000 + look } else { look };
            replica.see(at(second), reading(tokens, 1), look == 0 || look == 999);
        }
        assert!(replica.looks.len() <= 65, "{}", replica.looks.len());
        assert!(replica.whole().unwrap_err().contains("anew"));
        assert_eq!(replica.longest_gap(at(1), at(second)), at(30));
    }
}
