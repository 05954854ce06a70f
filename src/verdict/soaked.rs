//! What soaks found: cells don't gate it, and it is no pass all the same.

use std::collections::BTreeSet;

use super::model::{Judgement, Verdict};
use crate::exit::Exit;
use crate::lang::{Said, of_judged};
use crate::summary::{Run, SoakCode};

/// Takes note of what the soaks of both sides found. What only the candidate's found is a regression, or where
/// it is the client's own an invalid measurement; what the baseline's found too is said.
pub fn heed_soaks(judgement: &mut Judgement, baseline: &[Run], candidate: &[Run]) {
    let (before, after) = (found(baseline), found(candidate));
    for (stage, code) in after {
        let said = |phrase| Said::new(phrase, [stage.to_owned(), code.name().to_owned()]);
        if before.contains(&(stage, code)) {
            judgement.caveats.push(said(of_judged::SOAK_ON_BOTH));
            continue;
        }
        let (verdict, exit) = if code.is_clients() {
            (Verdict::Invalid, Exit::Invalid)
        } else {
            (Verdict::Regression, Exit::Regression)
        };
        judgement.caveats.push(said(of_judged::SOAK_ON_CANDIDATE));
        let before = judgement.exit;
        judgement.exit = before.worst(exit);
        if judgement.exit == exit && before != exit {
            judgement.verdict = verdict;
        }
    }
}

fn found(runs: &[Run]) -> BTreeSet<(&str, SoakCode)> {
    let stages = runs.iter().flat_map(|run| &run.stages);
    let soaks = stages.filter_map(|stage| Some((stage.name.as_str(), stage.soak.as_ref()?)));
    soaks
        .flat_map(|(stage, soak)| soak.findings.iter().map(move |found| (stage, found.code)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::compare::{Sides, compare, synthetic};
    use crate::provenance::UnderTest;
    use crate::summary::{SoakFinding, SoakView};

    fn runs(code: Option<SoakCode>) -> Vec<Run> {
        let findings = code.into_iter().map(|code| SoakFinding {
            code,
            evidence: Vec::new(),
        });
        let mut run = synthetic::run("x", 1);
        run.stages[0].soak = Some(SoakView {
            window_s: 60.0,
            windows: 480,
            tolerance: 0.05,
            trends: BTreeMap::new(),
            pauses: Vec::new(),
            findings: findings.collect(),
        });
        vec![run]
    }

    fn heeded(before: Option<SoakCode>, after: Option<SoakCode>, exit: Exit) -> (Exit, usize) {
        let (baseline, candidate) = (runs(before), runs(after));
        let sides = Sides {
            baseline: &baseline,
            candidate: &candidate,
            archive: &[],
        };
        let gate = synthetic::gate(&[]);
        let comparison = compare(&sides, &gate, &UnderTest::default());
        let mut judgement = crate::verdict::judge(&comparison, &gate);
        judgement.exit = exit;
        let said = judgement.caveats.len();
        heed_soaks(&mut judgement, &baseline, &candidate);
        (judgement.exit, judgement.caveats.len() - said)
    }

    #[test]
    fn what_only_the_candidates_soak_finds_is_no_pass() {
        let leak = Some(SoakCode::EngineLeak);
        assert_eq!(heeded(None, None, Exit::Pass), (Exit::Pass, 0));
        assert_eq!(heeded(None, leak, Exit::Pass), (Exit::Regression, 1));
        assert_eq!(heeded(None, leak, Exit::Undecided), (Exit::Regression, 1));
        assert_eq!(
            heeded(leak, leak, Exit::Pass),
            (Exit::Pass, 1),
            "inherited, and said"
        );
        assert_eq!(heeded(leak, None, Exit::Pass), (Exit::Pass, 0), "mended");
        let own = Some(SoakCode::ClientLeak);
        assert_eq!(heeded(None, own, Exit::Pass), (Exit::Invalid, 1));
        assert_eq!(heeded(None, own, Exit::Regression), (Exit::Regression, 1));
    }
}
