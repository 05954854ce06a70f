//! Fields of another tool's values: what is no number is none, and never zero.

use serde_json::Value;

/// A value by its path of keys, which are parted by dots.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.')
        .try_fold(value, |value, key| value.get(key))
        .filter(|value| !value.is_null())
}

/// A finite number; one in quotes is one too, as tools write some.
pub(super) fn num(value: &Value, path: &str) -> Option<f64> {
    at(value, path).and_then(as_num)
}

/// The same of a value itself.
pub(super) fn as_num(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .filter(|number: &f64| number.is_finite())
}

/// Largest count that is believed.
const MOST: f64 = 1e12;

/// A count: a number that is whole but for rounding, and not negative.
pub(super) fn count(value: &Value, path: &str) -> Option<u64> {
    num(value, path).and_then(as_count)
}

/// The same of a number.
pub(super) fn as_count(number: f64) -> Option<u64> {
    (0.0..=MOST)
        .contains(&number)
        .then(|| number.round() as u64)
        .filter(|&count| (count as f64 - number).abs() < 1e-3)
}

/// A text that is not empty.
pub(super) fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    at(value, path)
        .and_then(Value::as_str)
        .filter(|text| !text.trim().is_empty())
}

/// A text, a number or a switch as text: what a setting is.
pub(super) fn setting(value: &Value, path: &str) -> Option<String> {
    match at(value, path)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(switch) => Some(switch.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strings_for_numbers_are_read_and_what_is_no_number_is_none() {
        let value = json!({"a": "95", "b": "NaN", "c": null, "d": {"e": 2.5}, "f": "inf", "g": -3});
        assert_eq!(num(&value, "a"), Some(95.0));
        assert_eq!(num(&value, "b"), None);
        assert_eq!(num(&value, "c"), None);
        assert_eq!(num(&value, "d.e"), Some(2.5));
        assert_eq!(num(&value, "f"), None);
        assert_eq!(count(&value, "g"), None);
        assert_eq!(count(&value, "a"), Some(95));
        assert_eq!(count(&value, "d.e"), None);
    }
}
