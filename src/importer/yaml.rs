//! YAML of tools that write it, as JSON values.

use serde_json::Value;
use serde_yaml::Options;
use serde_yaml::options::NonFiniteFloatPolicy;

/// Keys that begin a line of a file that some tool writes as YAML.
const KEYS: [&str; 3] = ["benchmarks:", "results:", "metrics:"];

/// The value of a YAML text that could be one of a known tool's; `None` of any other text.
pub(super) fn value(text: &str) -> Option<Result<Value, String>> {
    let could_be = text
        .lines()
        .any(|line| KEYS.iter().any(|key| line.starts_with(key)));
    let mut options = Options::default();
    // Python writes `.inf` for a load without a limit.
    options.non_finite_float_policy = NonFiniteFloatPolicy::AsString;
    could_be.then(|| {
        serde_yaml::from_str_with_options(text, options).map_err(|error| error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_could_be_a_report_is_read() {
        assert!(value("hello: there\n").is_none());
        let read = value("version: '0.2'\nresults:\n  x: 1.5\n  users: .inf\n")
            .unwrap()
            .unwrap();
        assert_eq!(read["results"]["users"], ".inf");
        assert_eq!(read["results"]["x"], 1.5);
        assert_eq!(read["version"], "0.2");
    }
}
