//! What a change makes of capacity, in the report of a comparison.

use crate::capacity::tests::{Row, SWEEP, declare, planned, run};
use crate::lang::Lang;
use crate::report::json::ReportFile;
use crate::report::{Sides, Text, comment, html, text};
use crate::summary::Run;
use crate::verdict::{Design, Judgement, Verdict};

use super::chinese::{english, told};
use super::fixture::{healthy, judgement, regression, version_pin};

fn side(rows: &[Row], first: u32) -> Vec<Run> {
    (0..3)
        .map(|minute| planned(run(rows, first + minute)))
        .collect()
}

fn slower() -> Vec<Run> {
    side(&SWEEP.map(|(users, rps, good)| (users, rps * 0.8, good)), 3)
}

fn file(judgement: &Judgement, baseline: &[Run], candidate: &[Run]) -> ReportFile {
    let sides = Sides {
        title: "demo",
        baseline,
        candidate,
        reproduce: &[],
        places: &[],
    };
    let file = ReportFile::new(judgement, &sides);
    let read = ReportFile::parse(&file.render()).unwrap();
    assert_eq!(
        read.model(),
        file.model(),
        "the file renders as the runs do"
    );
    read
}

fn page(file: &ReportFile, lang: Lang) -> String {
    comment(std::slice::from_ref(file), usize::MAX, lang).text
}

fn passed() -> Judgement {
    judgement(Verdict::Pass, healthy())
}

/// The sentences below the headline that speak of capacity.
fn lead(file: &ReportFile) -> Vec<String> {
    let lead = file.model().lead.into_iter().map(|text| text.plain());
    lead.filter(|text| text.starts_with("Capacity")).collect()
}

#[test]
fn a_slower_candidate_needs_more_replicas_and_costs_more() {
    let file = file(&regression(), &side(&SWEEP, 0), &slower());
    assert_eq!(
        lead(&file),
        [
            "Capacity: at 50.00 req/s this change needs 2 more replicas (9 → 11); \
             1,000 good requests cost 0.028 USD more: +25.0 % [+20.3 %, +29.8 %]"
        ]
    );
    insta::assert_snapshot!("capacity.md", page(&file, Lang::En));
    insta::assert_snapshot!(
        "capacity.txt",
        text::plain(&text::report(&file.model(), Lang::En))
    );
}

#[test]
fn in_chinese_too() {
    let file = file(&told(regression()), &side(&SWEEP, 0), &slower());
    let page = page(&file, Lang::Zh);
    let lines = text::plain(&text::report(&file.model(), Lang::Zh));
    assert_eq!(english(&page), [] as [String; 0]);
    assert_eq!(english(&lines), [] as [String; 0]);
    insta::assert_snapshot!("capacity_zh.md", page);
}

#[test]
fn the_same_again_has_no_difference_beyond_noise() {
    let file = file(&passed(), &side(&SWEEP, 0), &side(&SWEEP, 3));
    assert_eq!(
        lead(&file),
        [
            "Capacity: no difference beyond noise; one replica carries 8.90 req/s [8.60, 9.21] within \
             the SLO; 9 replicas for 50.00 req/s"
        ]
    );
}

#[test]
fn a_load_that_jumps_by_a_step_where_shares_are_close_is_no_difference() {
    // 32 users are just within on one side and just not on the other: 95 % of 100 good against 94 %.
    let close =
        |good| SWEEP.map(|(users, rps, own)| (users, rps, if users == 32 { good } else { own }));
    let file = file(&passed(), &side(&close(0.954), 0), &side(&close(0.946), 3));
    let capacity = file.facts.capacity.as_ref().unwrap();
    let difference = &capacity.against.as_ref().unwrap().difference;
    assert!(
        difference.rps.unwrap().change.is_beyond_noise(),
        "9.8 to 8.9"
    );
    assert!(
        lead(&file)[0].starts_with("Capacity: no difference beyond noise"),
        "{:?}",
        lead(&file)
    );
}

#[test]
fn without_an_slo_the_best_rate_is_told_and_why_there_is_no_more() {
    let plain = |runs: Vec<Run>| -> Vec<Run> {
        let without = |mut run: Run| {
            run.spec.slos.clear();
            for stage in &mut run.stages {
                stage.pooled.attainment = None;
            }
            run
        };
        runs.into_iter().map(without).collect()
    };
    let file = file(&passed(), &plain(side(&SWEEP, 0)), &plain(slower()));
    let lead = lead(&file);
    assert!(
        lead[0]
            .starts_with("Capacity: at its best it brings 7.92 req/s, 9.90 req/s before: −20.0 %"),
        "{lead:?}"
    );
    let page = page(&file, Lang::En);
    assert!(page.contains("no class has an SLO"), "{page}");
}

#[test]
fn a_first_run_says_what_one_replica_carries() {
    let first = Judgement {
        design: Design::Unpaired {
            baseline: 0,
            candidate: 3,
        },
        ..passed()
    };
    let file = file(&first, &[], &side(&SWEEP, 0));
    assert_eq!(
        lead(&file),
        [
            "Capacity: one replica carries 8.90 req/s [8.60, 9.21] within the SLO; 9 replicas for 50.00 req/s"
        ]
    );
}

#[test]
fn sides_that_are_not_comparable_stand_beside_each_other() {
    let mut pin = version_pin();
    (pin.blocks, pin.under_test) = (true, false);
    let blocked = Judgement {
        pins: vec![pin],
        ..passed()
    };
    let file = file(&blocked, &side(&SWEEP, 0), &slower());
    assert_eq!(lead(&file), [] as [String; 0]);
    let section = file.model().capacity.unwrap();
    let changes: Vec<String> = section.rows.iter().map(|row| row.change.plain()).collect();
    assert!(changes.iter().all(|change| change == "–"), "{changes:?}");
    let told = section.notes.iter().map(Text::plain);
    assert!(told.into_iter().any(|text| text.contains("not comparable")));
}

#[test]
fn what_sweeps_nothing_has_no_section_unless_it_declares_a_capacity() {
    let still = |declares: bool| -> Vec<Run> {
        let mut run = crate::compare::synthetic::run("today", 0);
        if declares {
            run = planned(run);
        }
        vec![run]
    };
    assert!(
        file(&passed(), &still(false), &still(false))
            .model()
            .capacity
            .is_none()
    );
    let declared = file(&passed(), &still(true), &still(true));
    assert_eq!(lead(&declared), [] as [String; 0]);
    let section = declared.model().capacity.unwrap();
    assert!(section.rows.is_empty());
    let told: Vec<String> = section.notes.iter().map(Text::plain).collect();
    assert!(
        told.iter().any(|text| text.ends_with("no sweep")),
        "{told:?}"
    );
}

#[test]
fn the_section_goes_where_it_does_not_fit_and_its_line_stays() {
    let file = file(&regression(), &side(&SWEEP, 0), &slower());
    let whole = page(&file, Lang::En).encode_utf16().count();
    let mut seen = [false, false];
    for limit in (600..whole).rev().step_by(40) {
        let comment = comment(std::slice::from_ref(&file), limit, Lang::En);
        assert!(comment.text.encode_utf16().count() <= limit);
        let section = comment.text.contains("<summary>Capacity</summary>");
        seen[usize::from(section)] = true;
        if comment.text.contains("Left out to fit") && !section {
            assert!(comment.text.contains("this change needs 2 more replicas"));
        }
    }
    assert_eq!(seen, [true, true]);
}

#[test]
fn names_and_currencies_of_others_make_no_markup() {
    let hostile = |mut run: Run| {
        for stage in &mut run.stages {
            stage.name = stage.name.replace("sweep", "<b>|sweep](x)");
        }
        let cost = run.spec.cost.as_mut().unwrap();
        cost.currency = "<img src=x>|".to_owned();
        declare(&mut run.pins, "limits.kv_blocks", "17");
        declare(&mut run.pins, "limits.block_size", "16");
        run
    };
    let runs = |rows: Vec<Run>| rows.into_iter().map(hostile).collect::<Vec<Run>>();
    let file = file(&regression(), &runs(side(&SWEEP, 0)), &runs(slower()));
    for text in [page(&file, Lang::En), html::of_file(&file)] {
        assert!(!text.contains("<img") && !text.contains("<b>|"), "{text}");
    }
}
