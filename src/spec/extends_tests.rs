//! Specs that extend others: what they say together, and where their mistakes are shown.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::compose::merge;
use super::diagnostics::Diagnostics;
use super::node::{Entry, Kind, Node, Scalar};
use super::tests::{drawn, environment, fixtures, source, traces};
use super::{FileAsk, FileText, Parsed, Reader, Spec, merged, parse, written, yaml};
use crate::diag::Diagnostic;

const SHARED: &str = "\
infergate: 1
target: {url: 'http://127.0.0.1:8000', api: chat}
pins: {model: {name: m}}
workload:
  seed: 7
  classes:
    - {name: chat, input: 40, output: 6, slo: {ttft: 1s}}
stages:
  - {name: users, closed: {users: 2}, requests: 60}
gate:
  cells:
    - {metric: ttft.p50, worse_by: 10%}
";
const OWN: &str = "\
extends: shared/base.yaml
name: chat-8b
workload: {seed: 9}
stages:
  - {name: crowd, closed: {users: 8}, requests: 80}
";

/// Files of a folder by their paths, and traces where they are of fixtures.
fn in_folder<'f>(
    files: &'f BTreeMap<&str, String>,
) -> impl Fn(FileAsk<'_>) -> Result<FileText, String> + 'f {
    |ask| {
        if ask.reader != Reader::Extends {
            return traces(ask);
        }
        let file = files.get(ask.file);
        let text = file.ok_or_else(|| "there is no such file".to_owned())?;
        Ok(FileText::Whole(text.clone()))
    }
}

fn folder<const N: usize>(files: [(&'static str, &str); N]) -> BTreeMap<&'static str, String> {
    files.map(|(path, text)| (path, text.to_owned())).into()
}

fn read(own: &str, files: &BTreeMap<&str, String>) -> Result<Parsed, Vec<Diagnostic>> {
    parse(&source(own), &environment, &in_folder(files))
}

/// What its author sees of its mistakes.
#[track_caller]
fn mistakes(own: &str, files: &BTreeMap<&str, String>) -> String {
    drawn(&read(own, files).unwrap_err(), &source(own))
}

/// Without what tells how it was written.
fn bare(spec: &Spec) -> Spec {
    let mut bare = spec.clone();
    bare.text.clear();
    bare.sources = crate::diag::Sources::new(source(""));
    for cell in &mut bare.gate.cells {
        cell.place = None;
    }
    if let Some(limits) = &mut bare.limits {
        limits.place = 0..0;
    }
    bare
}

#[test]
fn a_spec_says_what_it_and_its_shared_file_say_together() {
    let files = folder([("shared/base.yaml", SHARED)]);
    let together = read(OWN, &files).unwrap().spec;
    let alone = "\
# the same in one file, in another order
name: chat-8b
gate:
  cells:
    - {metric: ttft.p50, worse_by: 10%}
stages:
  - {name: crowd, closed: {users: 8}, requests: 80}
infergate: 1
pins: {model: {name: m}}
workload:
  classes:
    - {name: chat, input: 40, output: 6, slo: {ttft: 1s}}
  seed: 9
target: {url: 'http://127.0.0.1:8000', api: chat}
";
    let alone = read(alone, &BTreeMap::new()).unwrap().spec;
    assert_eq!(bare(&together), bare(&alone));
    assert_eq!(together.digest(), alone.digest());
    assert_eq!(together.workload_digest(), alone.workload_digest());
    // Its text is whole: it needs no other file.
    let again = read(&together.text, &BTreeMap::new()).unwrap().spec;
    assert_eq!(bare(&again), bare(&together));
    assert!(read(SHARED, &BTreeMap::new()).is_err(), "it has no name");
}

#[test]
fn what_it_says_together_can_be_read_with_its_places() {
    let files = folder([("shared/base.yaml", SHARED)]);
    let merged = merged(&source(OWN), None, &in_folder(&files)).unwrap();
    insta::assert_snapshot!("explained", merged.explained);
    insta::assert_snapshot!("merged", merged.text);
}

#[test]
fn a_key_without_a_value_takes_what_is_shared_away() {
    let files = folder([("a.yaml", SHARED)]);
    let own = "extends: a.yaml\nname: x\ntarget: {url: ~, sim: tiny}\ngate: ~\n";
    let spec = read(own, &files).unwrap().spec;
    let place = &spec.target.place;
    assert!(matches!(place, super::TargetPlace::Sim { words, .. } if words == &["tiny"]));
    // Where nothing is shared it is the mistake that it always was.
    let own = "extends: a.yaml\nname: x\nlimits: ~\n";
    assert!(mistakes(own, &files).contains("`limits` in the spec has no value"));
}

#[test]
fn places_of_gated_cells_are_in_the_file_that_declares_them() {
    let files = folder([("shared/base.yaml", SHARED)]);
    let spec = read(OWN, &files).unwrap().spec;
    let places = crate::report::CellPlace::of(&spec, "baselines/x/spec.yaml");
    let said: Vec<_> = places.iter().map(|at| (&*at.path, at.line)).collect();
    assert_eq!(said, [("shared/base.yaml", 12)]);
}

#[test]
fn a_mistake_is_shown_in_the_file_in_which_it_is_written() {
    let shared = SHARED
        .replace("pins: {model", "pinz: {model")
        .replace("requests: 60", "requests: many")
        .replace("worse_by: 10%}", "worse_by: 10%, stages: [users]}");
    let own = OWN.replace("seed: 9", "sead: 9") + "gate: {repeats: 3}\n";
    let files = folder([("shared/base.yaml", &shared)]);
    insta::assert_snapshot!("mistakes_in_two_files", mistakes(&own, &files));
}

#[test]
fn a_rule_across_files_points_at_what_is_written() {
    // The stage that the shared gate names is replaced by the spec's own list.
    let shared = SHARED.replace("worse_by: 10%}", "worse_by: 10%, stages: [users]}");
    let files = folder([("shared/base.yaml", &shared)]);
    let gone = mistakes(OWN, &files);
    // A second URL stands in the spec itself.
    let own = OWN.to_owned() + "target: {sim: tiny}\n";
    let both = mistakes(&own, &folder([("shared/base.yaml", SHARED)]));
    insta::assert_snapshot!("rules_across_files", format!("{gone}\n{both}"));
}

const DEEP: [&str; 9] = ["0", "1", "2", "3", "4", "5", "6", "7", "8"];

/// Specs that extend what can't be, with the files beside them.
fn not_extended() -> Vec<(&'static str, BTreeMap<&'static str, String>)> {
    let alone = |own| (own, BTreeMap::new());
    let beside = |own, text| (own, folder([("a.yaml", text)]));
    let round = folder([
        ("b/a.yaml", "extends: ../c.yaml\n"),
        ("c.yaml", "name: c\nextends: ./b/../b/a.yaml\n"),
    ]);
    let deep = DEEP.windows(2);
    let deep = deep.map(|pair| (pair[0], format!("extends: '{}'\n", pair[1])));
    vec![
        alone("extends: nowhere.yaml\n"),
        alone("extends: https://example.org/base.yaml\n"),
        alone("extends: /etc/base.yaml\n"),
        alone("extends: '${BASE}.yaml'\n"),
        alone("extends: [a.yaml, b.yaml]\n"),
        alone("extends: shared/\n"),
        beside("extends: a.yaml\n", "- no mapping\n"),
        beside("extends: a.yaml\n", "x: [1\ny: 2\n"),
        ("extends: b/a.yaml\n", round),
        alone("name: x\nextends: spec.yaml\n"),
        ("extends: '0'\n", deep.collect()),
    ]
}

/// The codes of their mistakes, and of those of suites.
pub(super) fn codes() -> Vec<&'static str> {
    let each = not_extended().into_iter();
    each.flat_map(|(own, files)| read(own, &files).unwrap_err())
        .map(|mistake| mistake.code)
        .chain(super::suite::tests::codes())
        .collect()
}

#[test]
fn what_cannot_be_extended_is_said() {
    let each = not_extended().into_iter();
    let told: Vec<String> = each.map(|(own, files)| mistakes(own, &files)).collect();
    insta::assert_snapshot!("what_cannot_be_extended", told.join("\n"));
}

#[test]
fn variables_of_a_shared_file_are_those_of_the_spec() {
    let shared = SHARED.replace("http://127.0.0.1:8000", "${TARGET_URL}");
    let files = folder([("shared/base.yaml", &shared)]);
    let spec = read(OWN, &files).unwrap().spec;
    assert!(spec.text.contains("${TARGET_URL}"), "{}", spec.text);
    assert!(!spec.text.contains(super::tests::SECRET));
}

/// A tree in which a key says what kind of value it has, as in specs.
fn tree(depth: u32) -> BoxedStrategy<Node> {
    let scalar = prop_oneof![
        "[a-z0-9 %./$#:,'\"{}\n\\[\\]-]{0,8}".prop_map(|text| (text, true)),
        "[a-z][a-z0-9%./-]{0,6}".prop_map(|text| (text, false)),
        "[0-9]{1,4}".prop_map(|text| (text, false)),
    ];
    let leaf = scalar
        .prop_map(|(text, quoted)| {
            node(Kind::Scalar(Scalar {
                text,
                quoted,
                expanded: false,
            }))
        })
        .boxed();
    let list = prop::collection::vec(leaf.clone(), 0..3)
        .prop_map(|items| node(Kind::Sequence(items)))
        .boxed();
    let below = if depth == 0 {
        leaf.clone()
    } else {
        tree(depth - 1)
    };
    let entry = prop_oneof![
        ("s[ab]", leaf),
        ("l[ab]", list),
        (if depth == 0 { "s[cd]" } else { "m[ab]" }, below),
    ];
    prop::collection::vec(entry, 0..5)
        .prop_map(|entries| {
            let unique: BTreeMap<String, Node> = entries.into_iter().collect();
            let entry = |(key, value)| Entry {
                key,
                key_span: 0..0,
                value,
            };
            node(Kind::Mapping(unique.into_iter().map(entry).collect()))
        })
        .boxed()
}

fn node(kind: Kind) -> Node {
    Node { span: 0..0, kind }
}

/// A tree in two parts, of which this one stands over that.
fn split(whole: &Node, draw: &mut impl FnMut() -> bool) -> (Node, Node) {
    let Kind::Mapping(entries) = &whole.kind else {
        unreachable!("only mappings are split");
    };
    let (mut below, mut over) = (Vec::new(), Vec::new());
    for entry in entries {
        let is_mapping = matches!(&entry.value.kind, Kind::Mapping(fields) if !fields.is_empty());
        if is_mapping && draw() {
            let (first, second) = split(&entry.value, draw);
            let part = |value| Entry {
                value,
                ..entry.clone()
            };
            below.push(part(first));
            over.push(part(second));
        } else if draw() {
            below.push(entry.clone());
        } else {
            over.push(entry.clone());
        }
    }
    (node(Kind::Mapping(below)), node(Kind::Mapping(over)))
}

proptest! {
    #[test]
    fn an_empty_file_changes_nothing(a in tree(2)) {
        let empty = node(Kind::Mapping(Vec::new()));
        let digest = written::digest(&a);
        prop_assert_eq!(written::digest(&merge(empty.clone(), a.clone())), digest);
        prop_assert_eq!(written::digest(&merge(a, empty)), digest);
    }

    #[test]
    fn a_chain_says_the_same_whichever_end_is_read_first(a in tree(2), b in tree(2), c in tree(2)) {
        let left = merge(merge(a.clone(), b.clone()), c.clone());
        let right = merge(a, merge(b, c));
        prop_assert_eq!(written::digest(&left), written::digest(&right));
    }

    #[test]
    fn what_is_written_reads_as_the_same_tree(a in tree(3)) {
        let text = written::yaml(&a, &|_| None);
        let mut out = Diagnostics::default();
        let again = yaml::read_shared(&text, &mut out);
        prop_assert!(again.is_some(), "{:?}\n{}", out, text);
        prop_assert_eq!(written::digest(&again.unwrap()), written::digest(&a), "{}", text);
    }

    #[test]
    fn a_key_that_moves_between_files_changes_nothing(
        fixture in prop::sample::select(fixtures("ok")),
        draws in prop::collection::vec(any::<bool>(), 64),
    ) {
        let (name, text) = fixture;
        let alone = parse(&source(&text), &environment, &traces).unwrap().spec;
        let root = yaml::read(&text, &mut Diagnostics::default()).unwrap();
        let mut draws = draws.into_iter().cycle();
        let (below, over) = split(&root, &mut || draws.next().unwrap());
        let own = match &*written::yaml(&over, &|_| None) {
            "{}\n" => "extends: base.yaml\n".to_owned(),
            own => format!("extends: base.yaml\n{own}"),
        };
        let below = written::yaml(&below, &|_| None);
        let files = BTreeMap::from([("base.yaml", below)]);
        let together = read(&own, &files);
        prop_assert!(together.is_ok(), "{name}: {}", drawn(&together.unwrap_err(), &source(&own)));
        let together = together.unwrap().spec;
        prop_assert_eq!(together.digest(), alone.digest(), "{}", name);
        prop_assert_eq!(together.workload_digest(), alone.workload_digest());
        prop_assert_eq!(bare(&together).gate, bare(&alone).gate);
    }
}
