//! The order in which the prompts of a dataset are sent.

use super::seed::Draws;
use crate::spec::{Class, RowsKind};

/// The classes, with the prompts of datasets in the order in which they are sent.
pub(super) fn shuffled(seed: u64, classes: &[Class]) -> Vec<Class> {
    let mut classes = classes.to_vec();
    for class in &mut classes {
        let Some(rows) = &mut class.rows else {
            continue;
        };
        if rows.kind == RowsKind::Dataset {
            let purpose = format!("dataset/{}", class.name);
            let mut draws = Draws::new(&seed.to_string(), &purpose, 0);
            let mut order = rows.rows.to_vec();
            // Fisher and Yates.
            for last in (1..order.len()).rev() {
                order.swap(last, draws.below(last as u64 + 1) as usize);
            }
            rows.rows = order.into();
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ident::Digest;
    use crate::plan::{Phase, PlannedRequest};
    use crate::spec::{FileRow, Length, Rows, RowsSize, Said};

    fn prompts(count: u32) -> Class {
        let row = |number: u32| FileRow {
            input_tokens: 9,
            output_tokens: 5,
            pinned: number.is_multiple_of(2),
            said: Some(Said::Prompt(format!("prompt {number}"))),
            expected: None,
        };
        let fixed = Length::Fixed(1);
        Class {
            rows: Some(Rows {
                file: "prompts.jsonl".to_owned(),
                digest: Digest::of(b""),
                kind: RowsKind::Dataset,
                size: RowsSize {
                    count,
                    output_tokens: u64::from(5 * count),
                    largest_output: 5,
                },
                rows: (0..count).map(row).collect(),
            }),
            ..Class::new("prompts".parse().unwrap(), fixed, fixed)
        }
    }

    #[test]
    fn a_dataset_is_gone_through_in_a_seeded_order_and_then_again() {
        let said = |seed, phase, numbers: std::ops::Range<u32>| -> Vec<String> {
            let classes = shuffled(seed, &[prompts(40)]);
            let rows = &classes[0].rows.as_ref().unwrap().rows;
            numbers
                .map(|number| {
                    let request = PlannedRequest::draw(seed, "s", phase, number, &classes);
                    let row = &rows[request.row.unwrap() as usize];
                    match row.said.as_ref().unwrap() {
                        Said::Prompt(text) | Said::Messages(text) => text.clone(),
                    }
                })
                .collect()
        };
        let all = said(1, Phase::Measured, 0..40);
        let mut sorted = all.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), 40, "each once");
        assert_eq!(said(1, Phase::Measured, 40..80), all);
        assert_ne!(said(2, Phase::Measured, 0..40), all);
        // A warm-up of ten takes what a window of thirty leaves.
        let warmup = said(1, Phase::Warmup, 0..10);
        assert!(warmup.iter().all(|text| !all[..30].contains(text)));
    }
}
