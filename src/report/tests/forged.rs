//! A report file is somebody's text: what it calls our words is rendered raw only where it is harmless.

use serde_json::{Value, json};

use crate::lang::Lang;
use crate::report::{Sides, comment};
use crate::report::{Text, json::ReportFile, markdown};

use super::fixture::{regression, runs};

fn markdown_of(spans: &Value) -> String {
    let (baseline, candidate) = (runs("b", "0.11.0", 1.0), runs("c", "0.12.0", 1.31));
    let sides = Sides {
        title: "chat-8b",
        baseline: &baseline,
        candidate: &candidate,
        reproduce: &[],
        places: &[],
    };
    let mut file = serde_json::to_value(ReportFile::new(&regression(), &sides)).unwrap();
    file["facts"]["caveats"] = json!([spans]);
    file["facts"]["method"] = json!([spans]);
    let file = ReportFile::parse(&file.to_string()).unwrap();
    let page = markdown::report(&file.model(), Lang::En);
    assert_eq!(page, comment(&[file], usize::MAX, Lang::En).text);
    let line = page
        .lines()
        .find(|line| line.contains("**Caveat**") && !line.contains("Noise"))
        .unwrap();
    line.trim_start_matches("- **Caveat**: ").to_owned()
}

#[test]
fn words_that_are_more_than_words_are_quoted() {
    for (words, rendered) in [
        (
            "plain words, 12.5 ms [+1.0 %, +2.0 %] (n 3)",
            "plain words, 12.5 ms [+1.0 %, +2.0 %] (n 3)",
        ),
        ("<img src=x>", "`<img` `src=x` <code>&#62;</code>"),
        ("@octocat", "<code>&#64;octocat</code>"),
        ("-->", "<code>&#45;&#45;&#62;</code>"),
        ("::error::x", "`::error::x`"),
        (
            "[a](//evil.example)",
            "<code>&#91;a&#93;&#40;&#47;&#47;evil&#46;example</code>)",
        ),
        ("see #1 and GH-1", "see <code>&#35;1</code> and `GH-1`"),
        ("deadbeef00", "`deadbeef00`"),
    ] {
        let page = markdown_of(&json!([{ "words": words }]));
        if words.starts_with("<img") {
            assert!(!page.contains("<img"), "{page}");
        } else {
            assert_eq!(page, rendered);
        }
    }
}

#[test]
fn words_in_halves_are_read_as_one_and_brackets_never_meet_a_parenthesis() {
    let halves = json!([{ "words": "[a]" }, { "words": "(//evil.example)" }]);
    assert!(!markdown_of(&halves).contains("]("));
    let prose = json!([{ "words": "[a]" }, { "prose": "(//evil.example)" }]);
    assert!(!markdown_of(&prose).contains("]("));
    let text: Text =
        serde_json::from_value(json!([{ "words": "so " }, { "words": "many" }])).unwrap();
    assert_eq!(text, Text::of("so many"));
}

#[test]
fn a_text_is_read_as_it_was_written() {
    let text = Text::of("TTFT p95 of ")
        .quoted("chat|x")
        .words(" → ")
        .figure("12.5 ms")
        .words(" (n 3; 1 × 2, −3 %): ")
        .prose("say `what` @you want");
    let json = serde_json::to_string(&text).unwrap();
    assert_eq!(serde_json::from_str::<Text>(&json).unwrap(), text);
    assert!(serde_json::from_value::<Text>(json!([{ "html": "<b>" }])).is_err());
}
