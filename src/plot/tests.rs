//! No label covers another, and nothing leaves the view box, whatever is drawn.

use proptest::prelude::*;

use super::drawing::{Anchor, Drawing, Item, LETTER, width_of};
use super::*;

#[derive(Debug, Clone, PartialEq)]
struct Box {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    text: String,
}

fn labels(drawing: &Drawing) -> Vec<Box> {
    drawing
        .items
        .iter()
        .filter_map(|item| {
            let Item::Text {
                at, anchor, text, ..
            } = item
            else {
                return None;
            };
            let width = width_of(text);
            let left = match anchor {
                Anchor::Start => at.0,
                Anchor::Middle => at.0 - width / 2.0,
                Anchor::End => at.0 - width,
            };
            Some(Box {
                left,
                right: left + width,
                top: at.1 - LETTER * 0.8,
                bottom: at.1 + LETTER * 0.2,
                text: text.clone(),
            })
        })
        .collect()
}

/// Asserts both rules.
pub(super) fn check(drawing: &Drawing) {
    let (width, height) = (drawing.width, drawing.height);
    let is_inside = |(x, y): (f64, f64), r: f64| {
        x - r >= 0.0 && x + r <= width && y - r >= 0.0 && y + r <= height
    };
    for item in &drawing.items {
        match item {
            Item::Path { points, .. } | Item::Shape { points, .. } => {
                assert!(
                    points.iter().all(|point| is_inside(*point, 0.0)),
                    "{item:?}"
                );
            }
            Item::Circle { at, radius, .. } => assert!(is_inside(*at, *radius), "{item:?}"),
            Item::Text { .. } => {}
        }
    }
    let labels = labels(drawing);
    for (i, label) in labels.iter().enumerate() {
        assert!(
            label.left >= 0.0 && label.right <= width && label.top >= 0.0 && label.bottom <= height,
            "{label:?} leaves {width} × {height}"
        );
        for other in &labels[i + 1..] {
            let apart = label.right <= other.left
                || other.right <= label.left
                || label.bottom <= other.top
                || other.bottom <= label.top;
            assert!(apart, "{label:?} covers {other:?}");
        }
    }
}

fn seconds(ticks: &[f64]) -> (Vec<String>, String) {
    let labels = ticks.iter().map(|tick| format!("{tick:.3}")).collect();
    (labels, " s".to_owned())
}

fn line(name: &str, values: &[f64]) -> Line {
    let dots = values.iter().zip(0..).map(|(value, i)| Dot {
        x: f64::from(i),
        y: value.is_finite().then_some(*value),
        shape: [
            Shape::Dot,
            Shape::Hollow,
            Shape::Cross,
            Shape::Up,
            Shape::Down,
            Shape::Diamond,
        ][i as usize % 6],
        hint: "<b>&\"'".to_owned(),
    });
    Line {
        name: name.to_owned(),
        dots: dots.collect(),
        levels: vec![(0.0, 1.0, values[0])],
        joined: true,
    }
}

fn chart(lines: Vec<Line>, places: usize, axis: Axis<'_>) -> Lines<'_> {
    Lines {
        title: "a title".to_owned(),
        description: "what it shows".to_owned(),
        ground: Ground::Places {
            name: "session",
            names: (0..places)
                .map(|i| format!("2026-03-{:02}", i % 28 + 1))
                .collect(),
        },
        axis,
        marks: (0..places)
            .step_by(3)
            .map(|i| Mark {
                x: i as f64,
                tag: format!("E{i}"),
            })
            .collect(),
        lines,
    }
}

const AXIS: Axis<'static> = Axis {
    write: &seconds,
    name: "TTFT",
    zero: true,
};

#[test]
fn a_chart_says_what_it_shows_and_escapes_what_others_wrote() {
    let drawing = chart(vec![line("p95 <b>", &[0.1, 0.2, 0.15])], 3, AXIS).draw();
    check(&drawing);
    let svg = drawing.svg("f1");
    let svg = svg.as_str();
    assert!(svg.starts_with(
        "<svg class=\"lines\" viewBox=\"0 0 420 250\" role=\"img\" aria-labelledby=\"f1-t f1-d\">"
    ));
    assert!(
        svg.contains("<title id=\"f1-t\">a title</title><desc id=\"f1-d\">what it shows</desc>")
    );
    assert!(svg.contains("&lt;b&gt;&amp;&quot;&#39;"));
    assert!(!svg.contains("<b>"));
    assert!(svg.contains(">TTFT, s<") && svg.contains(">2026-03-01<"));
}

#[test]
fn names_at_the_ends_of_lines_that_meet_keep_apart() {
    let lines = ["p50", "p90", "p95", "p99"].map(|name| line(name, &[1.0, 1.0]));
    let drawing = chart(lines.to_vec(), 2, AXIS).draw();
    check(&drawing);
    for name in ["p50", "p90", "p95", "p99"] {
        assert!(labels(&drawing).iter().any(|label| label.text == name));
    }
}

#[test]
fn a_voided_point_breaks_no_line_and_a_missing_one_does() {
    let paths = |values: &[f64]| {
        let mut line = line("x", values);
        for dot in &mut line.dots {
            dot.shape = Shape::Dot;
        }
        line.dots[1].shape = Shape::Cross;
        let drawing = chart(vec![line], values.len(), AXIS).draw();
        let lines = drawing
            .items
            .iter()
            .filter(|item| matches!(item, Item::Path { class, .. } if class.starts_with("line")));
        lines.count()
    };
    assert_eq!(paths(&[1.0, 5.0, 1.0, 1.0, 1.0, 1.0]), 1);
    assert_eq!(paths(&[1.0, 5.0, 1.0, f64::NAN, 1.0, 1.0]), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_label_covers_another_and_nothing_leaves_the_box(
        values in prop::collection::vec(prop::collection::vec(prop_oneof![
            4 => 1e-6_f64..1e4,
            1 => Just(0.0),
            1 => Just(f64::NAN),
        ], 1..80), 1..5),
        name in "\\PC{0,40}",
        zero: bool,
    ) {
        let lines: Vec<Line> = values.iter().map(|values| line(&name, values)).collect();
        let places = values.iter().map(Vec::len).max().unwrap_or(1);
        let axis = Axis { zero, name: &name, ..AXIS };
        let mut chart = chart(lines, places, axis);
        check(&chart.draw());
        chart.ground = Ground::Numbers(axis);
        chart.marks.clear();
        check(&chart.draw());
    }

    #[test]
    fn intervals_keep_to_the_same_rules(
        rows in prop::collection::vec((-5.0_f64..5.0, 0.0_f64..3.0, prop::option::of(0.0_f64..1.0)), 1..12),
        name in "\\PC{0,80}",
    ) {
        let rows = rows.into_iter().map(|(estimate, half, limit)| Interval {
            name: name.clone(),
            note: name.clone(),
            estimate,
            low: estimate - half,
            high: estimate + half,
            limit,
            broken: half > 1.0,
        });
        let intervals = Intervals {
            title: name.clone(),
            description: name.clone(),
            axis: name.clone(),
            rows: rows.collect(),
        };
        check(&intervals.draw(|tick| format!("{:+.0} %", tick * 100.0)));
    }
}
