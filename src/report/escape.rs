//! Strings that others wrote, made harmless for the place where they are printed.
//!
//! GitHub links mentions, issue numbers and commits *after* Markdown is parsed, so a backslash or
//! an entity in running text does not stop it; code is the one place where it never does. Hence
//! the rule: what is not plainly a word goes into code.

use std::fmt::Write as _;

/// A value in code: in backticks where it is a plain identifier, else in `<code>` with every ASCII
/// character other than letters, digits and spaces as a numeric entity.
///
/// `engine 0.12` stays readable; `a|b` becomes `<code>a&#124;b</code>`.
pub(super) fn markdown_code(text: &str) -> String {
    if is_identifier(text) {
        return format!("`{text}`");
    }
    summary_code(text)
}

/// Every ASCII character other than letters, digits and spaces as a numeric entity.
fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text) {
        match c {
            c if c.is_ascii_alphanumeric() || c == ' ' => out.push(c),
            c if c.is_ascii() => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// A value in code where Markdown is not read, as in a `<summary>`.
pub(super) fn summary_code(text: &str) -> String {
    format!("<code>{}</code>", entities(text))
}

/// A sentence: plain words stay, what stands between backticks and every word that GitHub or
/// Markdown could read as more than a word goes into code.
pub(super) fn markdown_prose(text: &str) -> String {
    let text: String = visible(text).collect();
    let mut out = String::with_capacity(text.len());
    let pieces: Vec<&str> = text.split('`').collect();
    let paired = pieces.len() % 2 == 1;
    for (i, piece) in pieces.iter().enumerate() {
        if paired && i % 2 == 1 {
            if !piece.trim().is_empty() {
                push_code(&mut out, piece.trim());
            }
            continue;
        }
        for (j, word) in piece.split(' ').enumerate() {
            if j > 0 {
                out.push(' ');
            }
            push_word(&mut out, word);
        }
        if !paired && i + 1 < pieces.len() {
            out.push_str("<code>&#96;</code>");
        }
    }
    out
}

fn push_word(out: &mut String, word: &str) {
    const BEFORE: [char; 1] = ['('];
    const AFTER: [char; 6] = [')', ',', '.', ';', ':', '?'];
    let core = word.trim_start_matches(BEFORE).trim_end_matches(AFTER);
    if (core.is_empty() && word.chars().count() <= 1) || is_plain_word(core) {
        out.push_str(word);
        return;
    }
    if core.is_empty() {
        push_code(out, word);
        return;
    }
    let start = word.len() - word.trim_start_matches(BEFORE).len();
    out.push_str(&word[..start]);
    push_code(out, core);
    out.push_str(&word[start + core.len()..]);
}

/// Backticks that touch would make one longer fence.
fn push_code(out: &mut String, text: &str) {
    if out.ends_with('`') {
        out.push(' ');
    }
    out.push_str(&markdown_code(text));
}

/// A word that no part of GitHub's pipeline turns into a link, a reference or markup.
fn is_plain_word(word: &str) -> bool {
    word.chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '.' | ',' | '%' | '/' | '-' | '−' | '+' | '∞'))
        && (word.chars().any(char::is_alphanumeric) || matches!(word, "%" | "−" | "+" | "∞"))
        && !is_linked(word)
}

/// Whether GitHub would look for a page, an issue or a commit behind a word.
fn is_linked(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let hex = |w: &str| w.len() >= 7 && w.bytes().all(|b| b.is_ascii_hexdigit());
    let issue = |(at, _)| !lower[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
    lower.match_indices("gh-").any(issue)
        || lower.contains("www.")
        || lower.contains("http")
        || lower.split(|c: char| !c.is_ascii_alphanumeric()).any(hex)
}

/// A text for a page, in an element or in a quoted attribute.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A value in a page.
pub(super) fn html_code(text: &str) -> String {
    format!("<code>{}</code>", html(text))
}

/// A sentence in a page; what stands between backticks becomes code.
pub(super) fn html_prose(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        return html(text);
    }
    let each = pieces.iter().enumerate();
    each.map(|(i, piece)| {
        if i % 2 == 1 {
            html_code(piece)
        } else {
            html(piece)
        }
    })
    .collect()
}

/// For terminals, logs and plain files: one line, nothing that moves the cursor, reorders text or is a
/// command to the runner of a job that prints it.
pub(super) fn plain(text: &str) -> String {
    let text: String = visible(text).collect();
    let text = text.replace("##[", "## [");
    match text.trim_start().strip_prefix("::") {
        Some(rest) => format!(": :{rest}"),
        None => text,
    }
}

/// The first `max` characters, with `…` where something was cut.
pub(super) fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Line breaks shown as `␤`; control, bidirectional, zero-width and tag characters as U+FFFD.
fn visible(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => '␤',
        c if c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}') =>
        {
            '\u{fffd}'
        }
        c => c,
    })
}

/// Letters, digits and marks that mean nothing inside backticks, in tables or to GitHub; `@` only
/// as in `sweep@32`, where no mention can start.
fn is_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    !text.is_empty()
        && text.trim() == text
        && bytes.iter().enumerate().all(|(i, b)| match b {
            b'.' | b'_' | b'/' | b'-' | b'+' | b'=' | b',' | b':' | b'*' | b' ' => true,
            b'@' => {
                i > 0
                    && bytes[i - 1].is_ascii_alphanumeric()
                    && bytes.get(i + 1).is_some_and(u8::is_ascii_digit)
            }
            b => b.is_ascii_alphanumeric(),
        })
}

/// Whether a text is nothing but figures, units and words, which mean nothing to Markdown.
pub(super) fn is_figure(text: &str) -> bool {
    let harmless = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(
                c,
                ' ' | '.' | ',' | '+' | '−' | '-' | '%' | '/' | '∞' | 'µ' | '×' | '≈' | '–' | '°'
            )
    };
    text.chars().all(harmless) && !text.split(' ').any(is_linked)
}

/// Whether a text that claims to be ours may stand as it is: words and marks that mean nothing to
/// Markdown, to GitHub or to a terminal, wherever on a line they come to stand.
pub(super) fn is_harmless(text: &str) -> bool {
    const MARKS: &str = " .,;:?()[]+−-%/'\"=∞µ×≈–…°→≤≥±·²√";
    const TOGETHER: [&str; 6] = ["](", "]:", "--", "::", "==", "[ ]"];
    let known = |c: char| c.is_alphanumeric() || MARKS.contains(c) || is_cjk_mark(c);
    let marks = text.chars().all(known);
    // `:name:` is a picture.
    let mut behind_colons = text.split(':').skip(1);
    let picture = behind_colons.any(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
    marks
        && !picture
        && !starts_list(text)
        && !TOGETHER.iter().any(|marks| text.contains(marks))
        && !text.split(' ').any(is_linked)
}

/// `- `, `12. ` and the like, which make a list or a heading at the start of a line.
fn starts_list(text: &str) -> bool {
    let start = text.trim_start();
    let mark = start.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = mark.len() < start.len();
    let is_mark = |c: char| {
        if numbered {
            ".)".contains(c)
        } else {
            "-+=".contains(c)
        }
    };
    let mut rest = mark.chars();
    rest.next().is_some_and(is_mark)
        && rest
            .next()
            .is_none_or(|c| c == ' ' || !numbered && c == '=')
}

/// Words with spaces that don't break within figures: `300.0 ms`, `(n 4,320)`, `+27.9 %, +34.6 %`.
pub(super) fn tight(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let glued = |i: usize| {
        let before = i.checked_sub(1).and_then(|i| chars.get(i)).copied();
        let ahead = chars.get(i + 1).copied();
        let is_open = ahead.is_none_or(|c| "([（→×".contains(c));
        match before {
            Some(c) if c.is_ascii_digit() || c == '∞' => !is_open,
            Some(',') => ahead.is_some_and(|c| "+−".contains(c)),
            Some('n') => i > 1 && chars[i - 2] == '(',
            _ => false,
        }
    };
    let tight = chars.iter().enumerate();
    let tight = tight.map(|(i, c)| if *c == ' ' && glued(i) { '\u{a0}' } else { *c });
    tight.collect()
}

/// Punctuation of Chinese sentences.
const fn is_cjk_mark(c: char) -> bool {
    matches!(
        c,
        '，' | '。' | '：' | '；' | '、' | '（' | '）' | '《' | '》' | '“' | '”'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_stay_readable_and_the_rest_becomes_entities() {
        assert_eq!(markdown_code("steady/ttft.p95"), "`steady/ttft.p95`");
        assert_eq!(markdown_code("sweep@32"), "`sweep@32`");
        assert_eq!(markdown_code("a|b"), "<code>a&#124;b</code>");
        assert_eq!(markdown_code("@octocat"), "<code>&#64;octocat</code>");
        assert_eq!(markdown_code("x\ny"), "<code>x␤y</code>");
        assert_eq!(markdown_code("a\u{202e}b"), "<code>a\u{fffd}b</code>");
    }

    #[test]
    fn figures_do_not_break() {
        let broken = |text: &str| tight(text).replace('\u{a0}', "~");
        assert_eq!(broken("300.0 ms (n 4,320)"), "300.0~ms (n~4,320)");
        assert_eq!(
            broken("+31.2 % [+27.9 %, +34.6 %] slower"),
            "+31.2~% [+27.9~%,~+34.6~%] slower"
        );
        assert_eq!(broken("worse by 15 % and 10 ms"), "worse by 15~% and 10~ms");
        assert_eq!(broken("∞ at 8.00 req/s"), "∞~at 8.00~req/s");
    }

    #[test]
    fn sentences_keep_their_words() {
        assert_eq!(
            markdown_prose("only 2 sessions (of 5): run `infergate calibrate`, then retry."),
            "only 2 sessions (of 5): run `infergate calibrate`, then retry."
        );
        assert_eq!(
            markdown_prose("ask @octocat about #1 or GH-2 at deadbeef."),
            "ask <code>&#64;octocat</code> about <code>&#35;1</code> or `GH-2` at `deadbeef`."
        );
        assert_eq!(markdown_prose("--- `x"), "`---` <code>&#96;</code>x");
        assert_eq!(
            markdown_prose("a high-end, 1.4 % and/or so"),
            "a high-end, 1.4 % and/or so"
        );
        assert_eq!(
            markdown_prose("see https://evil.example now"),
            "see `https://evil.example` now"
        );
    }
}
