//! JSON Schemas of what people write, for their editors: a spec and a suite.
//!
//! Of a spec it has the fields of the top level, each with what it is for. What stands in them `infergate check`
//! says in full, with places and suggestions, and rules across fields are beyond any schema.

use serde_json::{Map, Value, json};

use super::lower;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a spec's top level; of a file that specs extend too, in which nothing is required.
pub fn spec_schema() -> Value {
    let fields = lower::SHAPE.known.iter();
    let properties: Map<String, Value> = fields
        .map(|&field| (field.to_owned(), described(field)))
        .collect();
    json!({
        "$schema": DRAFT,
        "title": "infergate spec, format 1",
        "description": "The top level of a spec; `infergate check` says what is wrong below it",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        // What is required may stand in the file that is extended.
        "if": {"not": {"required": ["extends"]}},
        "then": {"required": ["infergate", "name", "workload", "stages"]},
    })
}

/// What a field of the top level is for.
fn described(field: &str) -> Value {
    let (kind, text) = match field {
        "infergate" => (json!({"const": 1}), "The format of the spec"),
        "requires" => (
            json!({"type": "string", "pattern": "^>="}),
            "The oldest version that may read it: `>=0.3`",
        ),
        "name" => (
            json!({"type": "string", "pattern": "^([A-Za-z0-9]|\\$\\{matrix\\.)"}),
            "Its name, under which its baselines are kept",
        ),
        "extends" => (
            json!({"type": "string", "pattern": "^[^/~:\\\\$][^:\\\\$]*[^/:\\\\$]$"}),
            "A file of the repository by its path from this one, whose fields are this spec's where it does not \
             say otherwise: mappings are merged key by key, lists and single values are replaced, `key: ~` takes \
             a shared key away",
        ),
        "target" => (json!({"type": "object"}), "What is measured"),
        "targets" => (
            json!({"type": "object"}),
            "The engine and its front, instead of `target`",
        ),
        "baseline" => (
            json!({"type": "object"}),
            "What `ab` compares the target with",
        ),
        "pins" => (json!({"type": "object"}), "What must hold of the target"),
        "under_test" => (
            json!({"type": ["array", "object", "string"]}),
            "Pins that may differ between both sides",
        ),
        "request" => (json!({"type": "object"}), "Fields of every request's body"),
        "workload" => (json!({"type": "object"}), "What the traffic is"),
        "stages" => (
            json!({"type": "array", "minItems": 1}),
            "The stretches of load, in order",
        ),
        "gate" => (
            json!({"type": "object"}),
            "What is judged, how, and what follows",
        ),
        "timeouts" => (json!({"type": "object"}), "When a request is given up"),
        "limits" => (json!({"type": "object"}), "What a comparison may take"),
        "cost" => (json!({"type": "object"}), "What GPUs cost"),
        "capacity" => (
            json!({"type": "object"}),
            "The traffic that replicas are planned for",
        ),
        "quality" => (
            json!({"type": "object"}),
            "Scores that other tools measured",
        ),
        "records" => (
            json!({"type": "object"}),
            "What is kept of prompts and answers",
        ),
        "archive" => (
            json!({"type": "object"}),
            "Where promoted sessions are kept",
        ),
        _ => (json!({}), ""),
    };
    let mut described = kind;
    if let Some(fields) = described.as_object_mut() {
        fields.insert("description".to_owned(), text.into());
    }
    described
}

/// The schema of a suite: `suite.yaml`.
pub fn suite_schema() -> Value {
    let name = json!({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"});
    let path = json!({"type": "string", "pattern": "^[^/~]"});
    // What a value changes: fields of a spec, but for `extends`.
    let changes = json!({
        "type": ["object", "null"],
        "properties": {"extends": false},
    });
    let axis = json!({
        "description": "Names, or names with what each changes of a spec",
        "oneOf": [
            {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"$ref": "#/$defs/value"}},
            {
                "type": "object",
                "minProperties": 1,
                "propertyNames": {"$ref": "#/$defs/name"},
                "additionalProperties": {"$ref": "#/$defs/changes"},
            },
        ],
    });
    let choice = |more: Value| {
        let mut properties = json!({"spec": {"$ref": "#/$defs/path"}});
        if let (Some(all), Value::Object(more)) = (properties.as_object_mut(), more) {
            all.extend(more);
        }
        json!({
            "type": "object",
            "minProperties": 1,
            "properties": properties,
            "additionalProperties": {"$ref": "#/$defs/value"},
        })
    };
    json!({
        "$schema": DRAFT,
        "title": "infergate suite, format 1",
        "type": "object",
        "required": ["infergate-suite"],
        "additionalProperties": false,
        "properties": {
            "infergate-suite": {"const": 1, "description": "The format of the suite"},
            "specs": {
                "description": "Specs by their paths from here, or folders with `spec.yaml`; left out, all that lie \
                                in this folder and do not begin with `_`",
                "type": "array",
                "minItems": 1,
                "items": {"$ref": "#/$defs/path"},
            },
            "matrix": {
                "description": "Axes; each spec is a member once in each of their combinations",
                "type": "object",
                "minProperties": 1,
                "propertyNames": {"allOf": [{"$ref": "#/$defs/name"}, {"not": {"enum": ["spec", "with"]}}]},
                "additionalProperties": axis,
            },
            "exclude": {
                "description": "Combinations that are left out: a value on some axes, and perhaps a spec",
                "type": "array",
                "items": choice(json!({})),
            },
            "include": {
                "description": "More members: a value on each axis, perhaps one spec alone, and what it changes",
                "type": "array",
                "items": choice(json!({"with": {"$ref": "#/$defs/changes"}})),
            },
            "limits": {
                "description": "What all members may take together; who is not reached is not measured",
                "type": "object",
                "required": ["time"],
                "additionalProperties": false,
                "properties": {"time": {"type": "string", "examples": ["3h", "90m"]}},
            },
        },
        "$defs": {
            "name": name,
            "path": path,
            "changes": changes,
            "value": {"type": ["string", "number", "boolean"]},
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::suite;
    use super::*;

    fn keys(schema: &Value) -> Vec<String> {
        let properties = schema["properties"].as_object().unwrap();
        properties.keys().cloned().collect()
    }

    fn sorted(known: &[&str]) -> Vec<String> {
        let mut known: Vec<String> = known.iter().map(|&key| key.to_owned()).collect();
        known.sort();
        known
    }

    #[test]
    fn every_field_is_described() {
        let spec = spec_schema();
        assert_eq!(keys(&spec), sorted(lower::SHAPE.known));
        for (field, schema) in spec["properties"].as_object().unwrap() {
            assert_ne!(schema["description"], "", "{field}");
        }
        assert_eq!(keys(&suite_schema()), sorted(suite::FIELDS));
    }
}
