//! What comes out is read by the grammar of OpenMetrics 1.0.

use std::collections::BTreeSet;

use super::*;
use crate::report::tests::fixture;

/// A sample: its name, labels in order, value and instant.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::report) struct Read {
    pub(in crate::report) name: String,
    pub(in crate::report) labels: Vec<(String, String)>,
    pub(in crate::report) value: f64,
    /// NaN where it has none.
    at: f64,
}

/// Reads a whole text, strictly: families in one piece and once, units that end their names, samples of
/// the family that was announced, no label twice, no sample twice, `# EOF` last and once.
pub(in crate::report) fn parse(text: &str) -> Vec<Read> {
    let ends = text.lines().filter(|line| *line == "# EOF");
    assert!(text.ends_with("# EOF\n") && ends.count() == 1);
    assert!(!text.contains('\r'));
    let mut families = BTreeSet::new();
    let (mut family, mut kind) = (String::new(), String::new());
    let (mut samples, mut seen) = (Vec::new(), BTreeSet::new());
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(about) = line.strip_prefix("# ") {
            let mut words = about.splitn(3, ' ');
            let (what, name, rest) = (
                words.next().unwrap(),
                words.next().unwrap(),
                words.next().unwrap(),
            );
            assert!(is_name(name), "{line}");
            match what {
                "TYPE" => {
                    assert!(families.insert(name.to_owned()), "{name} comes twice");
                    assert!(["gauge", "info"].contains(&rest), "{line}");
                    name.clone_into(&mut family);
                    rest.clone_into(&mut kind);
                }
                "UNIT" => assert!(name == family && name.ends_with(rest), "{line}"),
                "HELP" => assert!(name == family && !rest.is_empty(), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let sample = sample_of(line);
        let expected = if kind == "info" {
            format!("{family}_info")
        } else {
            family.clone()
        };
        assert_eq!(sample.name, expected, "{line}");
        assert!(
            kind != "info" || sample.value.to_bits() == 1.0_f64.to_bits(),
            "{line}"
        );
        let names: BTreeSet<&String> = sample.labels.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), sample.labels.len(), "{line}");
        assert!(
            seen.insert(format!("{}{:?}", sample.name, sample.labels)),
            "{line} comes twice"
        );
        samples.push(sample);
    }
    samples
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn sample_of(line: &str) -> Read {
    let (name, rest) = line.split_once('{').unwrap();
    let mut labels = Vec::new();
    let mut chars = rest.chars().peekable();
    while chars.peek() != Some(&'}') {
        let label: String = chars.by_ref().take_while(|c| *c != '=').collect();
        let label = label.trim_start_matches(',').to_owned();
        assert!(is_name(&label), "{line}");
        assert_eq!(chars.next(), Some('"'), "{line}");
        let mut value = String::new();
        loop {
            match chars.next().unwrap() {
                '"' => break,
                '\\' => value.push(match chars.next().unwrap() {
                    'n' => '\n',
                    c @ ('\\' | '"') => c,
                    c => panic!("\\{c} in {line}"),
                }),
                c => value.push(c),
            }
        }
        assert!(!value.is_empty(), "{line}");
        labels.push((label, value));
    }
    let rest: String = chars.skip(1).collect();
    let mut numbers = rest.trim_start().split(' ');
    let value = match numbers.next().unwrap() {
        "+Inf" => f64::INFINITY,
        number => number.parse().unwrap(),
    };
    let at = numbers.next().map_or(f64::NAN, |at| at.parse().unwrap());
    assert_eq!(numbers.next(), None, "{line}");
    Read {
        name: name.to_owned(),
        labels,
        value,
        at,
    }
}

fn is_of(sample: &Read, name: &str, labels: &[(&str, &str)]) -> bool {
    let has = |(label, value): &(&str, &str)| {
        let mut own = sample.labels.iter();
        own.any(|(l, v)| l == label && v == value)
    };
    sample.name == name && labels.iter().all(has)
}

#[test]
fn every_value_of_every_run_comes_out_as_it_went_in() {
    let runs = [
        fixture::run("a", "0.11.0", 1.0),
        fixture::run("b", "0.12.0", 1.2),
    ];
    let read = parse(&openmetrics(&runs));
    for run in &runs {
        for (cell, measure) in cells::of(run) {
            let name = name(cell.metric.metric());
            let statistic = cells::statistic(&cell);
            let mut labels = vec![("run", run.id.as_str())];
            labels.extend(cell.stage.as_deref().map(|stage| ("stage", stage)));
            if !statistic.is_empty() {
                labels.push(("statistic", &statistic));
            }
            let found: Vec<&Read> = read
                .iter()
                .filter(|sample| is_of(sample, &name, &labels))
                .collect();
            match measure.measured() {
                Some(value) => {
                    assert_eq!(found.len(), 1, "{cell} {found:?}");
                    assert_eq!(found[0].value.to_bits(), value.to_bits(), "{cell}");
                    // 2026-11-29T19:00:00Z.
                    assert!((found[0].at - 1_795_978_800.0).abs() < 1e-3);
                }
                None => assert_eq!(found.len(), 0, "{cell}"),
            }
        }
    }
    let version = [("run", "b"), ("engine_version", "0.12.0")];
    let info = |sample: &Read| is_of(sample, "infergate_run_info", &version);
    assert!(read.iter().any(info), "{read:?}");
}

#[test]
fn hostile_labels_stay_labels_and_what_failed_is_infinite_or_counted() {
    let mut run = fixture::run("a", "0.11\"} 1\n# EOF\n\\", 1.0);
    let pooled = &mut run.stages[0].pooled;
    let ttft = pooled.distributions.get_mut(&Metric::Ttft).unwrap();
    ttft.failed = 700;
    for quantile in ttft.quantiles.values_mut() {
        quantile.adjusted_s = None;
    }
    let mut late = run.stages[0].clone();
    late.name = "late".to_owned();
    late.invalid = vec![crate::summary::InvalidReason::NoRequests];
    run.stages.push(late);
    let text = openmetrics(&[run]);
    let read = parse(&text);
    let p95 = [("statistic", "p95"), ("stage", "steady")];
    let sample = read
        .iter()
        .find(|sample| is_of(sample, "infergate_ttft_seconds", &p95));
    assert!(sample.unwrap().value.is_infinite());
    let hostile = [("engine_version", "0.11\"} 1\n# EOF\n\\")];
    let info = |sample: &Read| is_of(sample, "infergate_run_info", &hostile);
    assert!(read.iter().any(info), "{text}");
    let counted = |sample: &Read| {
        let invalid = [("state", "invalid")];
        is_of(sample, "infergate_cells_without_value", &invalid) && sample.value > 0.0
    };
    assert!(read.iter().any(counted), "{text}");
}
