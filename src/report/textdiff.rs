//! Pinned facts as a unified diff: what changed between two sides or two reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use similar::TextDiff;

use crate::lang::{Lang, say};
use crate::provenance::Pins;

use super::escape;
use super::facts::BothPins;
use super::json::ReportFile;
use super::setup::pin_value;

/// What the candidates of two reports differ in by their pins, as a unified diff; `None` where in nothing.
pub fn between(old: &ReportFile, new: &ReportFile) -> Option<String> {
    let name = |report: &ReportFile| {
        let run = report.candidate.first().map_or("no run", String::as_str);
        escape::plain(&format!("{} ({run})", report.spec.name))
    };
    let [old_lines, new_lines] =
        [old, new].map(|report| lines(&report.facts.pins.candidate, Lang::En));
    diff([&name(old), &name(new)], [&old_lines, &new_lines])
}

/// A diff as Markdown, in a fence that nothing in it can close.
pub fn fenced(diff: &str) -> String {
    let longest = diff.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}diff\n{diff}{fence}\n")
}

/// What differs in the pins of a report's two sides; `None` where nothing does, or one of them has none.
pub(super) fn of_sides(pins: &BothPins) -> Option<Diff> {
    if pins.baseline.is_empty() || pins.candidate.is_empty() {
        return None;
    }
    let mut all = BTreeMap::new();
    for lang in Lang::ALL {
        let texts = [&pins.baseline, &pins.candidate].map(|pins| lines(pins, lang));
        let names = [say::BASELINE, say::CANDIDATE].map(|side| side.text(lang));
        let diff = diff(names, [&texts[0], &texts[1]])?;
        all.insert(lang.tag(), fenced(&diff).trim_end().to_owned());
    }
    Some(Diff { fenced: all })
}

/// A unified diff as Markdown in every language, of lines of which nothing is markup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diff {
    fenced: BTreeMap<&'static str, String>,
}

fn diff(names: [&str; 2], texts: [&str; 2]) -> Option<String> {
    let changes = TextDiff::from_lines(texts[0], texts[1]);
    let mut unified = changes.unified_diff();
    let text = unified
        .context_radius(2)
        .header(names[0], names[1])
        .to_string();
    (!text.is_empty()).then_some(text)
}

/// A line a pin, in the order of their paths.
fn lines(pins: &Pins, lang: Lang) -> String {
    let mut out = String::new();
    for (path, pin) in pins {
        // Whoever looks for our marker in a page finds none of somebody else's.
        let value = pin_value(pin).plain_in(lang).replace("<!--", "<! --");
        let _ = writeln!(out, "{}: {value}", path.as_str());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::fixture::seen;

    #[test]
    fn what_changed_stands_between_what_did_not() {
        let pins = |version: &str| -> Pins {
            [
                ("engine.name", "vllm"),
                ("engine.version", version),
                ("hardware.gpu", "NVIDIA H200"),
            ]
            .into_iter()
            .map(|(path, value)| (path.parse().unwrap(), seen(value)))
            .collect()
        };
        let [old, new] = [
            lines(&pins("0.11.0"), Lang::En),
            lines(&pins("0.12.0"), Lang::En),
        ];
        assert_eq!(
            diff(["a", "b"], [&old, &new]).unwrap(),
            "--- a\n+++ b\n@@ -1,3 +1,3 @@\n engine.name: vllm\n-engine.version: 0.11.0\n+engine.version: 0.12.0\n \
             hardware.gpu: NVIDIA H200\n"
        );
        assert_eq!(diff(["a", "b"], [&old, &old]), None);
        let hostile = lines(&pins("x\n````\n# heading"), Lang::En);
        assert_eq!(hostile.lines().count(), 3, "one line a pin");
        let page = fenced(&diff(["a", "b"], [&old, &hostile]).unwrap());
        assert!(page.starts_with("`````diff\n") && page.ends_with("`````\n"));
    }
}
