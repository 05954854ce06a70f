//! What must hold of a summary, whatever its records.

use proptest::prelude::*;

use super::tests::{class, free, request};
pub(crate) use super::tests::{observation, stage};
use super::*;
use crate::metric::{Metric, Quantile};
use crate::plan::Phase;
use crate::sample::{Outcome, RequestRecord, Timeline};
use crate::spec::{Class, SloClause};
use crate::stats::quantile::quantile;
use crate::unit::Nanos;

/// Classes with an SLO, without, and with natural lengths.
pub(crate) fn classes() -> [Class; 3] {
    let mut plain = class(&[]);
    plain.name = "plain".parse().unwrap();
    [class(&[(SloClause::Ttft, 300)]), plain, free()]
}

/// A stage's records: any class, outcome and error, events with and without counts of tokens.
pub(crate) fn records() -> impl Strategy<Value = Vec<RequestRecord>> {
    let one = (
        0..3_u32,
        9_000..20_500_u64,
        prop_oneof![
            5 => Just(Outcome::Completed),
            1 => Just(Outcome::StreamError),
            1 => Just(Outcome::Unsent),
            1 => Just(Outcome::Cancelled),
        ],
        prop::collection::vec((0..400_000_000_u64, 0..3_u32), 0..12),
        any::<bool>(),
        0..8_u8,
    );
    prop::collection::vec(one, 0..60).prop_map(|all| {
        let numbered = all.into_iter().zip(0..);
        numbered
            .map(|((class, at, outcome, events, counted, error), index)| {
                let mut record = request(index, at, outcome);
                record.class = class;
                let (mut now, mut tokens) = (record.scheduled, 0);
                record.events.clear();
                for (gap, count) in events {
                    now = now + Nanos::new(gap);
                    tokens += count;
                    record.events.push(now);
                    if counted {
                        record.event_tokens.push(tokens);
                    }
                }
                record.first_answer = record.events.first().copied();
                record.done = Some(now + Nanos::new(1));
                if outcome == Outcome::Unsent {
                    (record.sent, record.done) = (None, None);
                    record.events.clear();
                    record.event_tokens.clear();
                }
                record.error = record.error.map(|text| format!("{text} {error}"));
                record
            })
            .collect()
    })
}

pub(crate) fn summarised(records: &[RequestRecord]) -> StageSummary {
    let classes = classes();
    let Ok(summary) = summarise_stage(context(&stage(), &classes), records, &observation());
    summary
}

pub(crate) fn context<'a>(stage: &'a crate::spec::Stage, classes: &'a [Class]) -> StageContext<'a> {
    StageContext {
        stage,
        classes,
        quantiles: &Quantile::STANDARD,
        token_mismatch: 0.05,
    }
}

proptest! {
    #[test]
    fn the_order_of_the_records_does_not_matter(
        (records, shuffled) in records().prop_flat_map(|records| {
            (Just(records.clone()), Just(records).prop_shuffle())
        }),
    ) {
        prop_assert_eq!(summarised(&records), summarised(&shuffled));
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values(records in records()) {
        let summary = summarised(&records);
        let mut sorted: Vec<f64> = records
            .iter()
            .filter(|record| record.phase == Phase::Measured)
            .filter_map(|record| Timeline::new(record, true).ttft().ok())
            .collect();
        sorted.sort_by(f64::total_cmp);
        let found = summary.pooled.distributions.get(&Metric::Ttft);
        prop_assert_eq!(found.map_or(0, |found| found.n), sorted.len() as u64);
        for q in Quantile::STANDARD {
            let expected = quantile(&sorted, q.fraction());
            let value = found.map(|found| found.quantiles[&q].value_s);
            let to_picoseconds = |seconds: f64| (seconds * 1e12).round() / 1e12;
            prop_assert_eq!(value, expected.map(to_picoseconds));
        }
    }
}
