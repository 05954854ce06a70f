//! Prometheus' text format, as engines expose their metrics.
//!
//! Samples only: `# HELP` and `# TYPE` say nothing that a reader who knows the names needs, and a
//! histogram is its samples (`…_bucket`, `…_sum`, `…_count`). A line that is none is left out, for one
//! broken line must not hide the others.

use std::borrow::Cow;

/// One sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample<'t> {
    /// Its name, colons included: `vllm:num_requests_running`.
    pub name: &'t str,
    /// Its labels in order, unescaped.
    pub labels: Vec<(&'t str, Cow<'t, str>)>,
    /// Its value; may be NaN or infinite.
    pub value: f64,
}

impl Sample<'_> {
    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        let (_, value) = self.labels.iter().find(|(label, _)| *label == name)?;
        Some(value)
    }
}

/// The samples of an exposition, in order.
pub fn samples(text: &str) -> impl Iterator<Item = Sample<'_>> {
    text.lines().filter_map(sample)
}

/// The sum over all label sets of a name; `None` where there is no sample of it, or one of them is
/// no finite number.
///
/// Two models with 3 and 4 requests running have 7.
pub fn total(text: &str, name: &str) -> Option<f64> {
    let mut values = samples(text)
        .filter(|sample| sample.name == name)
        .map(|sample| sample.value)
        .peekable();
    values.peek()?;
    Some(values.sum::<f64>()).filter(|sum| sum.is_finite())
}

fn sample(line: &str) -> Option<Sample<'_>> {
    let line = line.trim();
    let (name, rest) = line.split_at(name_length(line, true)?);
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (Vec::new(), rest),
    };
    let mut fields = rest.split_ascii_whitespace();
    let value = number(fields.next()?)?;
    // A timestamp in milliseconds may follow, and after `#` an exemplar.
    match fields.next() {
        None => {}
        Some(next) if next.starts_with('#') || next.parse::<f64>().is_ok() => {}
        Some(_) => return None,
    }
    Some(Sample {
        name,
        labels,
        value,
    })
}

/// Length of the name at the front: a letter or `_`, then digits too, in metrics also `:`.
fn name_length(text: &str, is_metric: bool) -> Option<usize> {
    let other =
        text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || (is_metric && c == ':')));
    let length = other.unwrap_or(text.len());
    let first = text[..length].chars().next()?;
    (!first.is_ascii_digit()).then_some(length)
}

type Labels<'t> = Vec<(&'t str, Cow<'t, str>)>;

/// Labels after the opening brace, and what follows the closing one.
fn labels(mut text: &str) -> Option<(Labels<'_>, &str)> {
    let mut labels = Vec::new();
    loop {
        text = text.trim_start();
        if let Some(rest) = text.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, rest) = text.split_at(name_length(text, false)?);
        let inside = rest.trim_start().strip_prefix('=')?;
        let inside = inside.trim_start().strip_prefix('"')?;
        let end = closing_quote(inside)?;
        labels.push((name, unescaped(&inside[..end])));
        text = inside[end + 1..].trim_start();
        text = match text.strip_prefix(',') {
            Some(rest) => rest,
            None if text.starts_with('}') => text,
            None => return None,
        };
    }
}

/// Place of the first quote that no backslash stands before.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

/// Only `\\`, `\"` and `\n` are escapes; another backslash stands for itself.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match (c, next) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some(quoted @ ('\\' | '"'))) => out.push(quoted),
            (other, _) => {
                out.push(other);
                continue;
            }
        }
        chars.next();
    }
    Cow::Owned(out)
}

/// As Go writes numbers: `NaN`, `+Inf` and `-Inf` beside the usual.
fn number(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let special = ["nan", "inf", "+inf", "-inf"];
    let known = text.chars().all(plain) || special.contains(&text.to_ascii_lowercase().as_str());
    known.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VLLM: &str = "\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine=\"0\",model_name=\"a\"} 3.0
vllm:num_requests_running{engine=\"1\",model_name=\"a\"} 4.0
vllm:time_to_first_token_seconds_bucket{le=\"+Inf\",model_name=\"a\"} 12.0 1700000000000
vllm:kv_cache_usage_perc NaN
llamacpp:requests_deferred 0
go_gc_duration_seconds{quantile=\"0.5\"} 4.9e-05 # {trace_id=\"x\"} 1
";

    #[test]
    fn engines_metrics_are_read() {
        let all: Vec<Sample<'_>> = samples(VLLM).collect();
        assert_eq!(all.len(), 6);
        assert_eq!(all[2].label("le"), Some("+Inf"));
        assert_eq!(all[2].name, "vllm:time_to_first_token_seconds_bucket");
        assert!((all[5].value - 4.9e-5).abs() < 1e-12);
        assert_eq!(total(VLLM, "vllm:num_requests_running"), Some(7.0));
        assert_eq!(total(VLLM, "llamacpp:requests_deferred"), Some(0.0));
        assert_eq!(total(VLLM, "vllm:kv_cache_usage_perc"), None, "no number");
        assert_eq!(total(VLLM, "vllm:num_requests"), None, "no such name");
    }

    #[test]
    fn escapes_and_spaces() {
        let read = |line| samples(line).next();
        let one = read(r#"  a { b = "x\\y\"z\nw\q" , c="}" , } +Inf"#).unwrap();
        assert_eq!(one.label("b"), Some("x\\y\"z\nw\\q"));
        assert_eq!(one.label("c"), Some("}"));
        assert!(one.value.is_infinite());
        for broken in [
            "",
            "# c",
            "a",
            "a{",
            "a{b=\"c} 1",
            "a{b=c} 1",
            "a{b=\"c\"d=\"e\"} 1",
            "1a 1",
            "a x",
            "a 1 y",
            "a 0x1",
            "{a=\"b\"} 1",
            "a infinity",
        ] {
            assert_eq!(read(broken), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC{0,80}|[a-z:_{}=\"\\\\,0-9 \n]{0,80}") {
            let _ = samples(&text).count();
        }

        #[test]
        fn what_is_written_is_read(
            name in "[a-zA-Z_:][a-zA-Z0-9_:]{0,9}",
            value in any::<f64>(),
            label in "[^\r]{0,9}",
        ) {
            let escaped = label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            // A line break inside a line is one of `str::lines`, not of the format.
            prop_assume!(!escaped.contains('\n'));
            let line = format!("{name}{{l=\"{escaped}\"}} {value:?}");
            let read = samples(&line).next().unwrap();
            prop_assert_eq!(read.name, name);
            prop_assert_eq!(read.label("l"), Some(label.as_str()));
            prop_assert!(read.value.to_bits() == value.to_bits() || (read.value.is_nan() && value.is_nan()));
        }
    }
}
