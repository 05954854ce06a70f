//! `request`: fields that every request's body carries, as they are.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::spec::diagnostics::Diagnostics;
use crate::spec::fields::{self, Fields, Shape};
use crate::spec::node::{Kind, Node, Scalar};
use crate::spec::values;

/// What infergate itself sets in a request.
const OURS: &[&str] = &[
    "model",
    "messages",
    "prompt",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "min_tokens",
    "ignore_eos",
    "n",
    "best_of",
    "echo",
];

/// The extra fields of a spec's or class's requests.
pub(super) fn lower(fields: &Fields<'_>, out: &mut Diagnostics) -> BTreeMap<String, Value> {
    let mut request = BTreeMap::new();
    let Some(node) = fields.get("request", out) else {
        return request;
    };
    let Kind::Mapping(entries) = &node.kind else {
        let shape = Shape {
            known: &[],
            later: &[],
            example: "request: {temperature: 0}",
        };
        // Says that a mapping is wanted.
        Fields::open(node, "`request`", &shape, out);
        return request;
    };
    for entry in entries {
        if OURS.contains(&entry.key.as_str()) {
            out.error(
                "spec::reserved-field",
                &entry.key_span,
                format!(
                    "`{}` is set by infergate and cannot be in `request`",
                    entry.key
                ),
                "lengths and the model come from `workload` and `target`",
            );
            continue;
        }
        if let Some(value) = json(&entry.value, &entry.key, out) {
            request.insert(entry.key.clone(), value);
        }
    }
    request
}

/// Notes that a class with tenants sends their names as `user`.
pub(super) fn refuse_user(
    fields: &Fields<'_>,
    whole: &str,
    request: &BTreeMap<String, Value>,
    out: &mut Diagnostics,
) {
    if request.contains_key("user") {
        out.error(
            "spec::conflicting-fields",
            fields.key_span("request").unwrap_or(fields.span()),
            format!("{whole} has tenants, and `user` in `request`"),
            "tenants are sent as `user`; keep one of the two",
        );
    }
}

/// A value as JSON, typed as YAML 1.2 has it.
pub(super) fn json(node: &Node, key: &str, out: &mut Diagnostics) -> Option<Value> {
    match &node.kind {
        Kind::Null => Some(Value::Null),
        Kind::Scalar(scalar) => scalar_json(scalar).or_else(|| {
            fields::out_of_range(
                node,
                &format!("`{key}`"),
                "JSON has finite numbers only; quote it to send a text",
                out,
            );
            None
        }),
        Kind::Sequence(items) => {
            let values: Vec<_> = items.iter().map(|item| json(item, key, out)).collect();
            values.into_iter().collect::<Option<_>>().map(Value::Array)
        }
        Kind::Mapping(entries) => {
            let values: Vec<_> = entries
                .iter()
                .map(|entry| Some((entry.key.clone(), json(&entry.value, &entry.key, out)?)))
                .collect();
            values.into_iter().collect::<Option<_>>().map(Value::Object)
        }
    }
}

fn scalar_json(scalar: &Scalar) -> Option<Value> {
    let text = scalar.text.as_str();
    if scalar.quoted {
        return Some(text.into());
    }
    match text {
        "true" => return Some(true.into()),
        "false" => return Some(false.into()),
        _ => {}
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    let lower = unsigned.to_ascii_lowercase();
    if matches!(lower.as_str(), ".nan" | ".inf") {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    let numeric = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    match values::finite(text) {
        Some(number) if numeric => Some(number.into()),
        _ => Some(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_have_their_yaml_type() {
        let json = |text: &str| {
            scalar_json(&Scalar {
                text: text.to_owned(),
                quoted: false,
                expanded: false,
            })
        };
        assert_eq!(json("0"), Some(0.into()));
        assert_eq!(json("0.7"), Some(0.7.into()));
        assert_eq!(json("-1e3"), Some((-1000.0).into()));
        assert_eq!(json("true"), Some(true.into()));
        assert_eq!(json("yes"), Some("yes".into()));
        assert_eq!(json("e5"), Some("e5".into()));
        assert_eq!(json(".nan"), None);
        assert_eq!(json("-.inf"), None);
    }
}
