//! What someone else wrote as a value or a comment of a YAML file.

use std::fmt::Write as _;

/// A text in double quotes, which YAML reads back as it is; what can't be seen is escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if is_plain(c) => out.push(c),
            c if u32::from(c) <= 0xffff => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => {
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

/// ASCII that prints, and letters of any script.
fn is_plain(c: char) -> bool {
    c == ' ' || c.is_ascii_graphic() || (!c.is_ascii() && c.is_alphanumeric())
}

/// A text as part of a comment: one line, nothing that can't be seen, at most 80 characters.
pub(super) fn remark(text: &str) -> String {
    const MOST: usize = 80;
    let plain = text.chars().map(|c| if is_plain(c) { c } else { ' ' });
    plain.take(MOST).collect::<String>().trim().to_owned()
}

/// Whether a value of `target` or `pins` may be this text: it is not empty, keeps its ends, holds no
/// variable and is none of the words that mean something else.
pub(super) fn is_writable(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.contains("${")
        && !["observed", "same"].contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        assert_eq!(quoted("a \"b\" \\ ü"), "\"a \\\"b\\\" \\\\ ü\"");
        assert_eq!(
            quoted("x\n\u{202e}\u{1f600}"),
            "\"x\\u000a\\u202e\\U0001f600\""
        );
        assert_eq!(remark("a\nb: {\u{1b}[2J"), "a b: { [2J");
    }
}
