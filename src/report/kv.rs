//! What the engine's KV cache holds of a stage's requests, beside what it would run at once.

use super::capacity::sequences;
use super::span::Text;
use crate::capacity::KvBound;
use crate::provenance::Pins;
use crate::summary::{EngineView, StageSummary};

/// That an engine would run more sequences at once than fit its cache, with the preemptions that it counted in
/// the stage; `None` where they fit, and where the engine shows neither blocks nor how many it runs.
pub(super) fn remark(pins: &Pins, stage: &StageSummary) -> Option<Text> {
    let tokens = &stage.pooled.tokens;
    let ended = stage.pooled.ended_well();
    let mean = (tokens.input_observed + tokens.output_observed) as f64 / ended as f64;
    let bound = KvBound::of(pins, mean, None).ok()?;
    sequences(&KvBound {
        preemptions: match &stage.engine {
            Some(EngineView::Seen(figures)) => figures.preemptions,
            Some(EngineView::Unknown { .. }) | None => None,
        },
        ..bound
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic;
    use crate::provenance::{Observation, Pin};
    use crate::summary::EngineFigures;

    fn said(most: &str, preemptions: Option<u64>) -> Option<String> {
        let seen = |value: &str| Pin {
            declared: None,
            observed: Observation::Seen {
                value: value.to_owned(),
                source: "/metrics".to_owned(),
            },
        };
        let pins = [
            ("limits.kv_blocks", "17"),
            ("limits.block_size", "128"),
            ("limits.max_num_seqs", most),
        ];
        let pins = pins.map(|(path, value)| (path.parse().unwrap(), seen(value)));
        let mut stage = synthetic::stage("steady");
        stage.pooled.tokens.input_observed = 600 * stage.pooled.ended_well();
        stage.pooled.tokens.output_observed = 100 * stage.pooled.ended_well();
        stage.engine = Some(EngineView::Seen(Box::new(EngineFigures {
            preemptions,
            ..EngineFigures::default()
        })));
        remark(&pins.into_iter().collect(), &stage).map(|text| text.plain())
    }

    #[test]
    fn more_sequences_than_fit_are_told_with_the_preemptions_that_were_seen() {
        // 700 tokens take 6 blocks of 128, and 17 hold two of those.
        assert_eq!(
            said("8", Some(32)).unwrap(),
            "KV cache: max_num_seqs is 8, and 2 requests of this workload fit; 32 preemptions were seen"
        );
        assert!(
            said("8", None)
                .unwrap()
                .ends_with("not asked for preemptions")
        );
        assert!(
            said("8", Some(0))
                .unwrap()
                .ends_with("no preemption was seen")
        );
        assert_eq!(said("2", Some(0)), None);
    }
}
