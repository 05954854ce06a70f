//! Lines of the log that the runner takes as commands, and lines that it must not take as such.

use std::fmt::Write as _;

use crate::publish::post::Annotation;

/// Most remarks of one kind that a step shows.
const MOST: usize = 10;

/// Remarks at lines of files, as commands: for jobs whose token can't make a check run.
pub fn remarks(annotations: &[Annotation]) -> String {
    let mut text = String::new();
    for (kind, broken) in [("error", true), ("warning", false)] {
        let of_kind = annotations
            .iter()
            .filter(|annotation| annotation.broken == broken);
        for annotation in of_kind.take(MOST) {
            let _ = writeln!(
                text,
                "::{kind} file={},line={},title={}::{}",
                property(&annotation.path),
                annotation.line,
                property(&annotation.title),
                message(&annotation.message)
            );
        }
    }
    text
}

/// A warning on the job's page.
pub fn warning(title: &str, text: &str) -> String {
    format!("::warning title={}::{}\n", property(title), message(text))
}

/// A text in which the runner takes no line as a command; `token` is a word that nobody can guess.
pub fn fence(text: &str, token: &str) -> String {
    format!(
        "::stop-commands::{token}\n{}\n::{token}::\n",
        text.trim_end_matches('\n')
    )
}

/// As the runner reads what follows the second `::`.
fn message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// As the runner reads the value of a property.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn annotation(title: &str, text: &str) -> Annotation {
        Annotation {
            path: "gate/a,b:c.yaml".to_owned(),
            line: 7,
            broken: true,
            title: title.to_owned(),
            message: text.to_owned(),
        }
    }

    #[test]
    fn nothing_leaves_its_place_in_a_command() {
        assert_eq!(
            remarks(&[annotation(
                "ttft.p95: steady",
                "100 %\n::set-output name=x::y"
            )]),
            "::error file=gate/a%2Cb%3Ac.yaml,line=7,title=ttft.p95%3A steady::100 %25%0A::set-output name=x::y\n"
        );
        assert_eq!(
            warning("a:b", "c\r\nd"),
            "::warning title=a%3Ab::c%0D%0Ad\n"
        );
    }

    #[test]
    fn ten_of_a_kind_are_all_that_is_shown() {
        let many: Vec<_> = (0..30)
            .map(|n| Annotation {
                broken: n % 2 == 0,
                ..annotation("t", "m")
            })
            .collect();
        let text = remarks(&many);
        assert_eq!(text.matches("::error ").count(), 10);
        assert_eq!(text.matches("::warning ").count(), 10);
    }

    #[test]
    fn what_an_engine_prints_is_no_command() {
        assert_eq!(
            fence("oops\n::error::x\n", "t0ken"),
            "::stop-commands::t0ken\noops\n::error::x\n::t0ken::\n"
        );
    }

    proptest! {
        #[test]
        fn a_remark_is_one_line(title in "\\PC*|[\r\n:,%]*", text in "(\\PC|[\r\n])*") {
            let line = remarks(&[annotation(&title, &text)]);
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert!(!line.contains('\r'));
        }
    }
}
