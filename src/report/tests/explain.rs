//! What `explain` prints of a cell.

use crate::compare::synthetic::{Pairs, gate, reference_archive, worse_by};
use crate::compare::{Sides, compare};
use crate::lang::Lang;
use crate::metric::Metric;
use crate::provenance::UnderTest;
use crate::report::explain::explanation;
use crate::report::text;
use crate::spec::Limit;
use crate::summary::InvalidReason;
use crate::verdict::{Decided, Explanation, explain};

fn explained(data: &Pairs, cell: &str, archive: bool) -> Vec<Explanation> {
    let gate = gate(&[
        ("ttft.p95", worse_by(0.1)),
        ("tpot.p95", worse_by(0.1)),
        ("e2e.p95", worse_by(0.1)),
        ("e2e.p95", Limit::AtMost(3.0)),
        ("error_ratio", Limit::AtMost(0.01)),
    ]);
    let sides = Sides {
        baseline: &data.baseline,
        candidate: &data.candidate,
        archive: &if archive {
            reference_archive()
        } else {
            Vec::new()
        },
    };
    let comparison = compare(&sides, &gate, &UnderTest::NOTHING);
    let cells = comparison.cells.iter().map(|cell| &cell.cell);
    let wanted = cells.into_iter().find(|c| c.to_string() == cell).unwrap();
    explain(&comparison, &gate, wanted)
}

fn text(explanations: &[Explanation]) -> String {
    let pages = explanations
        .iter()
        .map(|e| text::plain(&explanation(e, Lang::En)));
    pages.collect::<Vec<_>>().join("\n")
}

/// The reference decision 2 with a third pair more: TTFT and TPOT pass, E2E is open.
fn open() -> Pairs {
    Pairs::new(5)
        .shift(Metric::Ttft, &[0.0, 0.03, -0.02, 0.02, 0.01])
        .shift(Metric::Tpot, &[0.01, -0.02, 0.015, 0.0, 0.01])
        .shift(Metric::E2e, &[0.06, 0.10, 0.04, 0.09, 0.07])
}

#[test]
fn an_open_cell_says_what_more_pairs_would_show() {
    let got = explained(&open(), "steady/e2e.p95", true);
    let [relative, absolute] = got.as_slice() else {
        panic!("two limits, two explanations");
    };
    let [first, second] = relative.looks.as_slice() else {
        panic!("two looks at five pairs");
    };
    // The values of the reference, for five hypotheses of which two are limits and p = 1 or less.
    assert!((first.estimate - 0.066_666_7_f64.exp_m1()).abs() < 1e-6);
    assert!((first.p_regression - 3.699_43e-4).abs() < 1e-8);
    assert!((second.p_regression - 6.573_66e-6).abs() < 1e-10);
    assert!((second.p_pass - 0.020_597_4).abs() < 1e-6);
    assert_eq!(
        (first.decided, second.decided),
        (Decided::Open, Decided::Open)
    );
    assert!(
        relative
            .ahead
            .windows(2)
            .all(|two| two[0].resolvable > two[1].resolvable)
    );
    assert_eq!(relative.ahead.last().unwrap().would, Decided::Passed);
    assert_eq!(absolute.tolerance, None);
    insta::assert_snapshot!("explain_open", text(&got));
}

#[test]
fn a_regression_a_left_out_pair_and_shares() {
    let mut data = Pairs::new(4).shift(Metric::Ttft, &[0.14, 0.17, 0.12, 0.16]);
    data.candidate[1].stages[0].invalid = vec![InvalidReason::ClientCpu { share: 0.97 }];
    let got = explained(&data, "steady/ttft.p95", true);
    assert_eq!(got[0].looks.len(), 1);
    assert_eq!(got[0].looks[0].decided, Decided::Regressed);
    assert!(!got[0].repeats[1].used && got[0].repeats[1].candidate.is_none());
    insta::assert_snapshot!("explain_regressed", text(&got));
    let shares = explained(&data, "steady/error_ratio", true);
    insta::assert_snapshot!("explain_share", text(&shares));
    let informational = explained(&data, "steady/ttft.p50", false);
    assert_eq!(informational[0].noise.unwrap().sessions, 0);
    insta::assert_snapshot!("explain_informational", text(&informational));
}

#[test]
fn in_chinese_no_sentence_is_english() {
    let pages = explained(&open(), "steady/e2e.p95", true);
    let page = pages.iter().map(|e| text::plain(&explanation(e, Lang::Zh)));
    let page: String = page.collect();
    assert_eq!(super::chinese::english(&page), Vec::<String>::new());
    insta::assert_snapshot!("explain_chinese", page);
}
