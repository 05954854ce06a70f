//! What a capacity looks like to people.

use super::*;
use crate::capacity::tests::{SWEEP, declare, planned, run};
use crate::capacity::{Capacity, Compared, read};
use crate::lang::Lang;
use crate::report::tests::chinese::english;
use crate::report::text::plain;

fn one() -> Capacity {
    let mut run = planned(run(&SWEEP, 1));
    declare(&mut run.pins, "limits.kv_blocks", "380");
    declare(&mut run.pins, "limits.block_size", "16");
    declare(&mut run.pins, "limits.max_num_seqs", "64");
    read(&[run], None)
}

fn both() -> Compared {
    let side = |factor: f64| {
        let rows = SWEEP.map(|(users, rps, good)| (users, rps * factor, good));
        let runs: Vec<_> = (0..3).map(|minute| planned(run(&rows, minute))).collect();
        read(&runs, None)
    };
    Compared::of(side(1.0), side(0.8))
}

#[test]
fn one_side_as_text() {
    insta::assert_snapshot!(plain(&text(&of_one(&one()), Lang::En)));
}

#[test]
fn one_side_as_markdown() {
    insta::assert_snapshot!(markdown(&of_one(&one()), Lang::En));
}

#[test]
fn both_sides_as_text() {
    insta::assert_snapshot!(plain(&text(&of_both(&both()), Lang::En)));
}

#[test]
fn both_sides_as_markdown() {
    insta::assert_snapshot!(markdown(&of_both(&both()), Lang::En));
}

#[test]
fn no_difference_is_said_so() {
    let compared = both();
    let same = Compared::of(compared.before.clone(), compared.before);
    let said = of_both(&same).headline.plain();
    assert!(said.ends_with("no difference beyond noise"), "{said}");
}

#[test]
fn nothing_measured_says_why_and_what_to_do() {
    insta::assert_snapshot!(plain(&text(&of_one(&read(&[], None)), Lang::En)));
}

#[test]
fn both_are_in_chinese_too() {
    for model in [of_one(&one()), of_both(&both()), of_one(&read(&[], None))] {
        let page = markdown(&model, Lang::Zh);
        let lines = plain(&text(&model, Lang::Zh));
        // What is to be written into a spec is in no language.
        let prose: Vec<&str> = lines.lines().filter(|line| !line.contains('{')).collect();
        assert_eq!(english(&page), [] as [String; 0]);
        assert_eq!(english(&prose.join("\n")), [] as [String; 0]);
    }
    insta::assert_snapshot!(markdown(&of_both(&both()), Lang::Zh));
}
