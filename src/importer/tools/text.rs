//! Figures in texts that are written for people.

/// What stands behind these words on their line.
pub(super) fn after<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| Some(line.split_once(words)?.1.trim()))
}

/// `94.02ms`, `2.00s`, `3.3734 secs`, `152us` and `1.5m` in seconds.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let unit = unit.trim_start();
    let unit = unit
        .split(|c: char| !c.is_ascii_alphabetic())
        .next()
        .unwrap_or("");
    let scale = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" | "secs" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(number * scale).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_texts_are_seconds() {
        for (text, value) in [
            ("94.5ms", 0.0945),
            ("2.00s, 743KB read", 2.0),
            ("3.3 secs", 3.3),
            ("152us", 152e-6),
        ] {
            assert!((seconds(text).unwrap() - value).abs() < 1e-9, "{text}");
        }
        assert_eq!(seconds("many"), None);
        assert_eq!(seconds("12"), None);
    }
}
