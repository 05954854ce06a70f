//! Colours by meaning. Whether there are any is the caller's decision, taken once.

use anstyle::AnsiColor;

use crate::report::Tone;
use crate::report::text::Line;

/// Paints by meaning, or leaves text as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// With colours or without: without for pipes, files and `NO_COLOR`.
    pub const fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// One text in the colour of its meaning.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let style = style(tone);
        if !self.colour || style.is_plain() || text.is_empty() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }

    /// Lines of a report, each with its end.
    pub fn lines(self, lines: &[Line]) -> String {
        let mut out = String::new();
        for line in lines {
            out.push_str(&self.paint(line.tone, &line.text));
            out.push('\n');
        }
        out
    }
}

const fn style(tone: Tone) -> anstyle::Style {
    match tone {
        Tone::Bad => AnsiColor::Red.on_default().bold(),
        Tone::Unsure => AnsiColor::Yellow.on_default(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Neutral => anstyle::Style::new(),
        Tone::Faint => anstyle::Style::new().dimmed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tone: Tone, text: &str) -> Line {
        Line {
            tone,
            text: text.to_owned(),
        }
    }

    #[test]
    fn colours_follow_meaning_and_can_be_off() {
        let lines = [line(Tone::Bad, "broken"), line(Tone::Neutral, "fine")];
        assert_eq!(Style::new(false).lines(&lines), "broken\nfine\n");
        assert_eq!(
            Style::new(true).lines(&lines),
            "\u{1b}[1m\u{1b}[31mbroken\u{1b}[0m\nfine\n"
        );
    }
}
