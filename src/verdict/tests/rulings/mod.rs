//! The rules that fill the gaps of the procedure, one test each, by their numbers.

mod grounds;
mod states;

use super::*;
use crate::compare::compare;
use crate::compare::synthetic::{cell, fail};
use crate::provenance::UnderTest;
use crate::sample::OutcomeKind;
use crate::stats::proportion::{Share, score_test};
use crate::stats::quantile::quantile;
use crate::summary::InvalidReason;

fn explained(data: &Pairs, archive: &[Run], gate: &Gate, metric: &str) -> Explanation {
    let sides = Sides {
        baseline: &data.baseline,
        candidate: &data.candidate,
        archive,
    };
    explain(
        &compare(&sides, gate, &UnderTest::NOTHING),
        gate,
        &cell(metric),
    )
    .remove(0)
}

fn without_archive(data: &Pairs, gate: &Gate) -> Judgement {
    of(&data.baseline, &data.candidate, &[], gate)
}

/// So many requests a run instead of 1,000, of which so many fail.
fn requests(runs: &mut [Run], all: u64, failed: u64) {
    for run in runs {
        fail(run, failed);
        let pooled = &mut run.stages[0].pooled;
        pooled.scheduled = all;
        pooled.sent = all;
        pooled.good = all - failed;
        pooled.outcomes.insert(OutcomeKind::Completed, all - failed);
    }
}

const TTFT_10: [(&str, Limit); 1] = [("ttft.p95", worse_by(0.1))];
