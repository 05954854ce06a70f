//! The models that a target offers.

use serde_json::Value;

/// The models that an answer to `/v1/models` names, in its order; what is no model is passed over.
pub fn models(answer: &Value) -> Vec<String> {
    let data = answer.get("data").and_then(Value::as_array);
    data.into_iter()
        .flatten()
        .filter_map(|model| model.get("id")?.as_str())
        .filter(|id| !id.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strange_entries_are_no_models() {
        let answer =
            json!({"data": [{"id": 7}, {"id": "a"}, {"name": "x"}, {"id": ""}, {"id": "b"}]});
        assert_eq!(models(&answer), ["a", "b"]);
        assert!(models(&json!({"data": "none"})).is_empty());
        assert!(models(&json!(7)).is_empty());
    }
}
