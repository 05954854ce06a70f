//! Files held against the published JSON Schemas.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

use crate::support::entries;

/// The kinds of files that have a schema.
pub(crate) const KINDS: [&str; 11] = [
    "run",
    "report",
    "reference",
    "environment",
    "accept",
    "records",
    "capacity",
    "suite",
    "view",
    "spec",
    "suite-spec",
];

/// The schema of a kind, as it is committed.
pub(crate) fn published(kind: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    fs::read_to_string(folder.join(format!("{kind}.json"))).unwrap_or_default()
}

static VALIDATORS: LazyLock<BTreeMap<&'static str, Validator>> = LazyLock::new(|| {
    let validator = |kind| {
        let schema = serde_json::from_str(&published(kind)).unwrap();
        (kind, jsonschema::validator_for(&schema).unwrap())
    };
    KINDS.map(validator).into()
});

/// The kind of a file by the format that it names.
fn kind_of(value: &Value) -> Option<&'static str> {
    let format = value.get("format")?.as_str()?;
    let kind = |kind: &&str| format == format!("infergate.{kind}/1");
    KINDS.into_iter().find(kind)
}

/// What is wrong with a value by the schema of its kind.
pub(crate) fn mistakes(kind: &str, value: &Value) -> Vec<String> {
    let errors = VALIDATORS[kind].iter_errors(value);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// What is wrong with the files below a folder by the schemas, and how many files were held against them.
pub(crate) fn check_files(folder: &Path) -> (Vec<String>, usize) {
    let (mut wrong, mut checked) = (Vec::new(), 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.to_string_lossy().into_owned();
            let ends_in = |end| path.extension().is_some_and(|own| own == end);
            let values: Vec<Value> = if name.ends_with(".jsonl.gz") {
                let mut text = String::new();
                let file = fs::File::open(&path).unwrap();
                // A file that a signal cut off reads up to its last whole block, which may end
                // within a line; a file that ended by itself ends with a whole one.
                let ended = flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text);
                let whole = match ended {
                    Ok(_) => text.as_str(),
                    Err(_) => text.rfind('\n').map_or("", |end| &text[..=end]),
                };
                let lines = whole.lines().map(serde_json::from_str);
                let values: Result<_, _> = lines.collect();
                values.unwrap()
            } else if ends_in("json") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                serde_json::from_str(&text).into_iter().collect()
            } else if name.contains("/accepts/") && ends_in("yaml") {
                let text = fs::read_to_string(&path).unwrap();
                serde_yaml::from_str(&text).into_iter().collect()
            } else {
                continue;
            };
            for value in values {
                let kind = if name.ends_with(".jsonl.gz") {
                    Some("records")
                } else {
                    kind_of(&value)
                };
                if let Some(kind) = kind {
                    checked += 1;
                    wrong.extend(
                        mistakes(kind, &value)
                            .into_iter()
                            .map(|text| format!("{name}: {text}")),
                    );
                }
            }
        }
    }
    (wrong, checked)
}
