//! One planned request: class, lengths and shared prefix.

use serde::{Deserialize, Serialize};

use super::draw::{given_up, lengths, pick, shared, tenant};
use super::seed::Draws;
use crate::spec::{Class, OutputLength, PrefixSharing, ReplayRow};
use crate::unit::Nanos;

/// Part of a stage that a request belongs to, by its `scheduled` instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Before the window: never in a sample.
    Warmup,
    /// In the window.
    Measured,
}

/// What a request is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PlannedRequest {
    /// Warm-up or measured.
    pub phase: Phase,
    /// Number in its phase of the stage.
    pub number: u32,
    /// Index of the class in the workload.
    pub class: u32,
    /// Number of the tenant that it belongs to, where the workload has tenants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<u32>,
    /// Which row of its class's file it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// Its place in a conversation, where the stage has conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// Input length in tokens, prefix included; of a later turn, what its user says then, to which
    /// the history comes on top.
    pub input_tokens: u32,
    /// Output length in tokens; the most there may be where it is natural.
    pub output_tokens: u32,
    /// Who decides where the answer ends.
    pub output_length: OutputLength,
    /// The shared text that it starts with.
    pub prefix: Option<Prefix>,
    /// How long after the send its client gives it up.
    pub cancel_after: Option<Nanos>,
}

/// The place of a request in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// The conversation's number in the stage.
    pub conversation: u32,
    /// Which of its turns, from 1.
    pub number: u32,
}

/// A shared text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Prefix {
    /// Which of the class's groups.
    pub group: u32,
    /// Its length in tokens.
    pub tokens: u32,
}

impl PlannedRequest {
    /// Draws the request with this number: a pure function of seed, stage, phase and number.
    pub(super) fn draw(
        seed: u64,
        stage: &str,
        phase: Phase,
        number: u32,
        classes: &[Class],
    ) -> Self {
        let mut draws = draws(seed, stage, phase, number);
        let class = pick(&mut draws, classes, |class| class.weight);
        let Class { prefix, cancel, .. } = classes[class];
        let drawn = lengths(&mut draws, &classes[class], (phase, number));
        let prefix = prefix.and_then(|sharing| shared(&mut draws, sharing));
        let cancel_after = cancel.and_then(|cancel| given_up(&mut draws, cancel));
        let least = prefix.map_or(1, |prefix| prefix.tokens + PrefixSharing::BEYOND);
        Self {
            phase,
            number,
            class: class as u32,
            tenant: tenant(&mut draws, &classes[class]),
            turn: None,
            row: drawn.row,
            input_tokens: drawn.input.max(least),
            output_tokens: drawn.output,
            output_length: drawn.output_length,
            prefix,
            cancel_after,
        }
    }

    /// The request of the row with this number; a warm-up goes through the rows again and again.
    ///
    /// Lengths are the row's; of a class whose output length is natural, its bound is the class's. One
    /// without blocks may carry its class's shared prefix, where there is room for it. `rows` has
    /// some.
    pub(super) fn replay(
        seed: u64,
        stage: &str,
        phase: Phase,
        number: u32,
        classes: &[Class],
        rows: &[ReplayRow],
    ) -> Self {
        let row = &rows[number as usize % rows.len()];
        let class = &classes[row.class as usize];
        let mut draws = draws(seed, stage, phase, number);
        let fits = |prefix: &Prefix| {
            row.blocks.is_empty() && prefix.tokens + PrefixSharing::BEYOND <= row.input_tokens
        };
        Self {
            phase,
            number,
            class: row.class,
            row: None,
            turn: None,
            input_tokens: row.input_tokens,
            output_tokens: match class.output_length {
                OutputLength::Pinned => row.output_tokens,
                OutputLength::Natural => class.largest_output(),
            },
            output_length: class.output_length,
            prefix: class
                .prefix
                .and_then(|sharing| shared(&mut draws, sharing))
                .filter(fits),
            cancel_after: class.cancel.and_then(|cancel| given_up(&mut draws, cancel)),
            // Drawn last, so that nothing else depends on whether there are any.
            tenant: tenant(&mut draws, class),
        }
    }
}

fn draws(seed: u64, stage: &str, phase: Phase, number: u32) -> Draws {
    let purpose = match phase {
        Phase::Warmup => format!("request/warmup/{stage}"),
        Phase::Measured => format!("request/{stage}"),
    };
    Draws::new(&seed.to_string(), &purpose, u64::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Bucket, Cancel, Length, Tenants};

    fn class(name: &str, weight: f64, input: Length) -> Class {
        Class {
            weight,
            ..Class::new(name.parse().unwrap(), input, Length::Fixed(8))
        }
    }

    fn draw(classes: &[Class], number: u32) -> PlannedRequest {
        PlannedRequest::draw(42, "steady", Phase::Measured, number, classes)
    }

    #[test]
    fn classes_come_by_weight() {
        let classes = [
            class("a", 3.0, Length::Fixed(5)),
            class("b", 1.0, Length::Fixed(9)),
        ];
        let b = (0..4000).filter(|&n| draw(&classes, n).class == 1).count();
        assert!((900..1100).contains(&b), "{b}");
    }

    #[test]
    fn lognormal_lengths_have_their_percentiles() {
        let classes = [class(
            "a",
            1.0,
            Length::Lognormal {
                p50: 200.0,
                p95: 800.0,
                max: 100_000,
            },
        )];
        let mut lengths: Vec<u32> = (0..4000).map(|n| draw(&classes, n).input_tokens).collect();
        lengths.sort_unstable();
        assert!((185..216).contains(&lengths[2000]), "{}", lengths[2000]);
        assert!((720..890).contains(&lengths[3800]), "{}", lengths[3800]);
    }

    #[test]
    fn uniform_lengths_reach_both_ends() {
        let classes = [class("a", 1.0, Length::Uniform { low: 3, high: 6 })];
        let mut seen: Vec<u32> = (0..200).map(|n| draw(&classes, n).input_tokens).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [3, 4, 5, 6]);
    }

    #[test]
    fn buckets_keep_their_lengths_together() {
        let bucket = |weight, input, output| Bucket {
            weight,
            input: Length::Uniform {
                low: input,
                high: input + 9,
            },
            output: Length::Fixed(output),
        };
        let mut mixed = class("a", 1.0, Length::Fixed(1));
        mixed.lengths = vec![bucket(3.0, 100, 700), bucket(1.0, 6000, 20)];
        let requests: Vec<_> = (0..4000)
            .map(|n| draw(std::slice::from_ref(&mixed), n))
            .collect();
        let long = requests
            .iter()
            .filter(|request| request.input_tokens >= 6000)
            .count();
        assert!((900..1100).contains(&long), "{long}");
        for request in requests {
            let output = if request.input_tokens < 110 { 700 } else { 20 };
            assert_eq!(request.output_tokens, output);
        }
    }

    #[test]
    fn a_prefix_fits_inside_its_input() {
        let mut shared = class("a", 1.0, Length::Fixed(20));
        shared.prefix = Some(PrefixSharing {
            tokens: 64,
            groups: 4,
            share: 0.5,
        });
        let requests: Vec<_> = (0..1000)
            .map(|n| draw(std::slice::from_ref(&shared), n))
            .collect();
        let carrying = requests
            .iter()
            .filter(|request| request.prefix.is_some())
            .count();
        assert!((430..570).contains(&carrying), "{carrying}");
        for request in requests {
            match request.prefix {
                Some(prefix) => {
                    assert!(prefix.group < 4);
                    assert_eq!(request.input_tokens, 80);
                }
                None => assert_eq!(request.input_tokens, 20),
            }
        }
    }

    #[test]
    fn a_share_is_cancelled_and_nothing_else_changes() {
        let lengths = Length::Uniform { low: 1, high: 9 };
        let plain = class("a", 1.0, lengths);
        let mut given_up = plain.clone();
        let after = Nanos::from_secs(2);
        given_up.cancel = Some(Cancel { share: 0.25, after });
        let mut cancelled = 0;
        for n in 0..4000 {
            let request = draw(std::slice::from_ref(&given_up), n);
            cancelled += u32::from(request.cancel_after == Some(after));
            let without = PlannedRequest {
                cancel_after: None,
                ..request
            };
            assert_eq!(without, draw(std::slice::from_ref(&plain), n));
        }
        assert!((900..1100).contains(&cancelled), "{cancelled}");
    }

    #[test]
    fn tenants_come_by_zipf_and_nothing_else_changes() {
        let plain = class("a", 1.0, Length::Uniform { low: 1, high: 9 });
        let mut shared = plain.clone();
        shared.tenants = Some(Tenants::new(3, 1.0));
        let mut requests = [0; 3];
        for n in 0..5500 {
            let request = draw(std::slice::from_ref(&shared), n);
            requests[request.tenant.unwrap() as usize] += 1;
            let without = PlannedRequest {
                tenant: None,
                ..request
            };
            assert_eq!(without, draw(std::slice::from_ref(&plain), n));
        }
        // 3,000, 1,500 and 1,000 in expectation.
        assert!((2890..3110).contains(&requests[0]), "{requests:?}");
        assert!((1400..1600).contains(&requests[1]), "{requests:?}");
    }

    #[test]
    fn warmup_and_measured_requests_differ() {
        let classes = [class(
            "a",
            1.0,
            Length::Uniform {
                low: 1,
                high: 1_000_000,
            },
        )];
        let warmup = PlannedRequest::draw(42, "steady", Phase::Warmup, 0, &classes);
        assert_ne!(warmup.input_tokens, draw(&classes, 0).input_tokens);
    }

    #[test]
    fn a_replayed_request_has_its_rows_lengths() {
        let mut shared = class("a", 1.0, Length::Fixed(20));
        shared.prefix = Some(PrefixSharing {
            tokens: 64,
            groups: 4,
            share: 1.0,
        });
        let row = |input_tokens, blocks: &[u64]| ReplayRow {
            at: Nanos::ZERO,
            class: 0,
            input_tokens,
            output_tokens: 7,
            blocks: blocks.to_vec(),
        };
        let rows = [row(79, &[]), row(80, &[]), row(600, &[1])];
        let replay = |phase, number| {
            let classes = std::slice::from_ref(&shared);
            PlannedRequest::replay(42, "day", phase, number, classes, &rows)
        };
        // A shared prefix where there is room for it, and never beside blocks.
        let carries: Vec<bool> = (0..3)
            .map(|number| replay(Phase::Measured, number).prefix.is_some())
            .collect();
        assert_eq!(carries, [false, true, false]);
        // The warm-up goes through the rows again and again.
        let again = replay(Phase::Warmup, 5);
        assert_eq!(
            (again.number, again.input_tokens, again.output_tokens),
            (5, 600, 7)
        );
    }
}
