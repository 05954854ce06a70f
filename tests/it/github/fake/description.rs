//! GitHub's own description of its API: which calls there are, and what goes in and out of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use serde_json::{Map, Value, json};

const TEXT: &str = include_str!("../../../fixtures/github/api.schema.json");

/// The calls, with validators that are built when they are first asked for.
pub(super) struct Description {
    whole: Value,
    validators: Mutex<BTreeMap<String, Arc<Validator>>>,
}

/// One call: a path with its parameters, and a method.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// As the description has it: `/repos/{owner}/{repo}/pulls/{pull_number}`.
    pub(super) template: String,
    pub(super) method: String,
    /// The values of the path's parameters.
    pub(super) path: BTreeMap<String, String>,
}

impl Call {
    pub(super) fn is(&self, method: &str, ending: &str) -> bool {
        self.method == method && self.template.ends_with(ending)
    }

    pub(super) fn number(&self, name: &str) -> u64 {
        self.path[name].parse().unwrap()
    }
}

impl Description {
    pub(super) fn github() -> &'static Self {
        static GITHUB: OnceLock<Description> = OnceLock::new();
        GITHUB.get_or_init(|| {
            let mut whole: Value = serde_json::from_str(TEXT).unwrap();
            as_json_schema(&mut whole);
            Self {
                whole,
                validators: Mutex::default(),
            }
        })
    }

    /// The call of a path and method; `Err` says what is wrong with it.
    pub(super) fn call(&self, method: &str, path: &str) -> Result<Call, String> {
        let method = method.to_lowercase();
        let segments: Vec<&str> = path.split('/').collect();
        let mut methods = Vec::new();
        for (template, item) in self.whole["paths"].as_object().unwrap() {
            let Some(values) = matched(template, &segments) else {
                continue;
            };
            if item.get(&method).is_some() {
                return Ok(Call {
                    template: template.clone(),
                    method,
                    path: values,
                });
            }
            methods.extend(item.as_object().unwrap().keys().cloned());
        }
        if methods.is_empty() {
            Err(format!("GitHub has no path `{path}`"))
        } else {
            Err(format!(
                "`{path}` takes {}, not {method}",
                methods.join(", ")
            ))
        }
    }

    /// What is wrong with the parameters of a call.
    pub(super) fn wrong_parameters(&self, call: &Call, query: &[(String, String)]) -> Vec<String> {
        let parameters = self.operation(call)["parameters"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let parameters: Vec<&Value> = parameters
            .iter()
            .map(|parameter| self.resolved(parameter))
            .collect();
        let of = |place: &str, name: &str| {
            parameters
                .iter()
                .find(|parameter| parameter["in"] == place && parameter["name"] == name)
                .copied()
        };
        let mut wrong = Vec::new();
        let given = call.path.iter().map(|(name, value)| ("path", name, value));
        for (place, name, value) in
            given.chain(query.iter().map(|(name, value)| ("query", name, value)))
        {
            let Some(parameter) = of(place, name) else {
                wrong.push(format!("there is no {place} parameter `{name}`"));
                continue;
            };
            let value = if parameter["schema"]["type"] == "integer" {
                value
                    .parse::<i64>()
                    .map_or_else(|_| json!(value), |number| json!(number))
            } else {
                json!(value)
            };
            let validator =
                self.validator(&format!("{} {name}", call.template), &parameter["schema"]);
            let errors = validator
                .iter_errors(&value)
                .map(|error| format!("{place} parameter `{name}`: {error}"));
            wrong.extend(errors);
        }
        wrong
    }

    /// What is wrong with the body of a request, unknown fields too.
    pub(super) fn wrong_body(&self, call: &Call, body: Option<&Value>) -> Vec<String> {
        let schema = &self.operation(call)["requestBody"]["content"]["application/json"]["schema"];
        let Some(body) = body else {
            return if schema.is_null() {
                Vec::new()
            } else {
                vec!["there is no body".to_owned()]
            };
        };
        if schema.is_null() {
            return vec!["it takes no body".to_owned()];
        }
        let validator = self.validator(
            &format!("{} {} request", call.method, call.template),
            schema,
        );
        let mut wrong: Vec<String> = validator
            .iter_errors(body)
            .map(|error| format!("body{}: {error}", error.instance_path()))
            .collect();
        self.unknown_fields(schema, body, "body", &mut wrong);
        wrong
    }

    /// What is wrong with an answer of ours.
    pub(super) fn wrong_answer(&self, call: &Call, status: u16, body: &Value) -> Vec<String> {
        let response = &self.operation(call)["responses"][status.to_string()];
        if response.is_null() {
            return vec![format!(
                "{} {} does not answer {status}",
                call.method, call.template
            )];
        }
        let schema = &self.resolved(response)["content"]["application/json"]["schema"];
        let validator = self.validator(
            &format!("{} {} {status}", call.method, call.template),
            schema,
        );
        let errors = validator.iter_errors(body);
        errors
            .map(|error| format!("answer{}: {error}", error.instance_path()))
            .collect()
    }

    /// The smallest value of a schema, with these fields instead of its own.
    pub(super) fn example(&self, schema: &str, fields: Value) -> Value {
        let mut value = self.smallest(&json!({"$ref": format!("#/components/schemas/{schema}")}));
        merge(&mut value, fields);
        value
    }

    fn smallest(&self, schema: &Value) -> Value {
        let schema = self.resolved(schema);
        if let Some(value) = schema.get("enum").and_then(|values| values.get(0)) {
            return value.clone();
        }
        for several in ["oneOf", "anyOf"] {
            if let Some(first) = schema.get(several).and_then(|schemas| schemas.get(0)) {
                return self.smallest(first);
            }
        }
        if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
            let mut value = json!({});
            for part in all {
                merge(&mut value, self.smallest(part));
            }
            return value;
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect(),
        };
        if types.contains(&"null") {
            return Value::Null;
        }
        match types.first().copied() {
            Some("string") => json!(match schema["format"].as_str() {
                Some("date-time") => "2026-11-30T12:00:00Z",
                Some("uri") => "https://github.example/x",
                _ => "x",
            }),
            Some("integer" | "number") => json!(0),
            Some("boolean") => json!(false),
            Some("array") => json!([]),
            _ => {
                let required = schema["required"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str);
                let fields = required
                    .map(|name| (name.to_owned(), self.smallest(&schema["properties"][name])));
                Value::Object(fields.collect())
            }
        }
    }

    fn operation(&self, call: &Call) -> &Value {
        &self.whole["paths"][&call.template][&call.method]
    }

    fn resolved<'a>(&'a self, node: &'a Value) -> &'a Value {
        match node.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.whole.pointer(&reference[1..]).unwrap(),
            None => node,
        }
    }

    fn validator(&self, name: &str, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap();
        let build = || {
            let whole = json!({"allOf": [schema], "components": self.whole["components"]});
            Arc::new(
                jsonschema::options()
                    .should_validate_formats(true)
                    .build(&whole)
                    .unwrap(),
            )
        };
        Arc::clone(validators.entry(name.to_owned()).or_insert_with(build))
    }

    /// Fields that no part of the schema names. The description lets them pass, and GitHub does nothing
    /// with them: a field that is spelled wrong would never be missed.
    fn unknown_fields(&self, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                let mut known = Map::new();
                self.properties(schema, &mut known);
                for (name, value) in fields {
                    match known.get(name) {
                        Some(schema) => {
                            self.unknown_fields(schema, value, &format!("{at}/{name}"), wrong);
                        }
                        None if known.is_empty() => {}
                        None => wrong.push(format!("{at} has no field `{name}`")),
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let schema = &self.resolved(schema)["items"];
                    self.unknown_fields(schema, item, &format!("{at}/{index}"), wrong);
                }
            }
            _ => {}
        }
    }

    fn properties(&self, schema: &Value, known: &mut Map<String, Value>) {
        let schema = self.resolved(schema);
        known.extend(
            schema["properties"]
                .as_object()
                .cloned()
                .unwrap_or_default(),
        );
        for several in ["allOf", "anyOf", "oneOf"] {
            for part in schema[several].as_array().into_iter().flatten() {
                self.properties(part, known);
            }
        }
    }
}

/// The values of a template's parameters in a path.
fn matched(template: &str, segments: &[&str]) -> Option<BTreeMap<String, String>> {
    let parts: Vec<&str> = template.split('/').collect();
    if parts.len() != segments.len() {
        return None;
    }
    let mut values = BTreeMap::new();
    for (part, segment) in parts.iter().zip(segments) {
        match part
            .strip_prefix('{')
            .and_then(|part| part.strip_suffix('}'))
        {
            Some(name) if !segment.is_empty() => {
                // A number and a word may stand at the same place: `comments/7`, `7/comments`.
                if name.ends_with("_number") || name.ends_with("_id") {
                    segment.parse::<u64>().ok()?;
                }
                values.insert(name.to_owned(), (*segment).to_owned());
            }
            None if part == segment => {}
            _ => return None,
        }
    }
    Some(values)
}

/// `OpenAPI` 3.0 has a word of its own for what may be null.
fn as_json_schema(node: &mut Value) {
    match node {
        Value::Array(items) => items.iter_mut().for_each(as_json_schema),
        Value::Object(fields) => {
            fields.values_mut().for_each(as_json_schema);
            if fields.get("nullable") == Some(&json!(true)) {
                fields.remove("nullable");
                if let Some(values) = fields.get_mut("enum").and_then(Value::as_array_mut) {
                    values.push(Value::Null);
                }
                if let Some(kind) = fields.get_mut("type") {
                    *kind = json!([kind.clone(), "null"]);
                } else {
                    let whole = Value::Object(std::mem::take(fields));
                    fields.insert("anyOf".to_owned(), json!([whole, {"type": "null"}]));
                }
            }
        }
        _ => {}
    }
}

fn merge(value: &mut Value, other: Value) {
    match (value, other) {
        (Value::Object(fields), Value::Object(other)) => {
            for (name, other) in other {
                merge(fields.entry(name).or_insert(Value::Null), other);
            }
        }
        (value, other) => *value = other,
    }
}
