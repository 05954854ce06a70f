//! Variables: `${VAR}` and `${VAR:-default}` in the values of `target`, `targets` and `baseline`, and nowhere
//! else.
//!
//! Diagnostics show the text as written and name variables; they never show a value, for it may be
//! a secret. The spec's stored text is not expanded either.

use super::diagnostics::Diagnostics;
use super::node::{Kind, Node, Scalar};

const MISPLACED: &str = "spec::misplaced-variable";
const UNSET: &str = "spec::unset-variable";
const MALFORMED: &str = "spec::bad-variable";

/// The codes of this module.
pub(super) const CODES: [&str; 3] = [MISPLACED, UNSET, MALFORMED];

/// Where the value of a variable comes from.
pub(super) type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// Expands the variables of every value below `target` and `baseline` and refuses them everywhere
/// else.
pub(super) fn expand(root: &mut Node, environment: Environment<'_>, out: &mut Diagnostics) {
    let Kind::Mapping(fields) = &mut root.kind else {
        return;
    };
    for field in fields {
        let in_target = matches!(field.key.as_str(), "target" | "targets" | "baseline");
        each_scalar(&mut field.value, &mut |scalar, span| {
            if !scalar.text.contains("${") {
                return;
            }
            if !in_target {
                out.error(
                    MISPLACED,
                    span,
                    "a variable stands outside `target` and `baseline`",
                    "what is measured is pinned in the spec itself; only values of `target` and \
                     `baseline` take `${VAR}`",
                );
                return;
            }
            match expanded(&scalar.text, environment) {
                Ok(text) => scalar.text = text,
                Err(mistake) => {
                    let (code, message, help) = mistake.words();
                    out.error(code, span, message, help);
                }
            }
            scalar.expanded = true;
        });
    }
}

fn each_scalar(node: &mut Node, visit: &mut impl FnMut(&mut Scalar, &std::ops::Range<usize>)) {
    match &mut node.kind {
        Kind::Null => {}
        Kind::Scalar(scalar) => visit(scalar, &node.span),
        Kind::Sequence(items) => items.iter_mut().for_each(|item| each_scalar(item, visit)),
        Kind::Mapping(entries) => entries
            .iter_mut()
            .for_each(|entry| each_scalar(&mut entry.value, visit)),
    }
}

/// Why a text cannot be expanded.
#[derive(Debug, PartialEq, Eq)]
enum Mistake {
    Unset { name: String },
    Malformed,
}

impl Mistake {
    fn words(self) -> (&'static str, String, String) {
        match self {
            Self::Unset { name } => (
                UNSET,
                format!("the environment variable `{name}` is not set or empty"),
                format!("set `{name}`, or give a default: `${{{name}:-http://localhost:8000}}`"),
            ),
            Self::Malformed => (
                MALFORMED,
                "a variable is not well formed".to_owned(),
                "write it like `${TARGET_URL}` or `${TARGET_URL:-http://localhost:8000}`"
                    .to_owned(),
            ),
        }
    }
}

/// The text with every variable replaced. Values are not expanded again.
///
/// As in a shell, the default of `:-` stands in for an empty variable too.
fn expanded(text: &str, environment: Environment<'_>) -> Result<String, Mistake> {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (inside, after) = after.split_once('}').ok_or(Mistake::Malformed)?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if !is_variable_name(name) {
            return Err(Mistake::Malformed);
        }
        let set = environment(name).filter(|value| !value.is_empty());
        let value = set
            .or_else(|| default.map(str::to_owned))
            .ok_or_else(|| Mistake::Unset {
                name: name.to_owned(),
            })?;
        result.push_str(before);
        result.push_str(&value);
        rest = after;
    }
    result.push_str(rest);
    Ok(result)
}

/// Whether a text can name an environment variable: letters, digits and `_`, no digit first.
pub(super) fn is_variable_name(text: &str) -> bool {
    text.chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        match name {
            "HOST" => Some("gpu-7".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${HOST}".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn variables_and_defaults_are_filled_in() {
        let expand = |text| expanded(text, &environment);
        assert_eq!(
            expand("http://${HOST}:80").as_deref(),
            Ok("http://gpu-7:80")
        );
        assert_eq!(expand("${PORT:-8000}").as_deref(), Ok("8000"));
        assert_eq!(expand("${EMPTY:-x}${HOST}").as_deref(), Ok("xgpu-7"));
        assert_eq!(expand("${NESTED}").as_deref(), Ok("${HOST}"));
        assert_eq!(expand("${PORT:-}").as_deref(), Ok(""));
    }

    #[test]
    fn what_cannot_be_filled_in_is_named() {
        let expand = |text| expanded(text, &environment);
        let unset = |name: &str| {
            Err(Mistake::Unset {
                name: name.to_owned(),
            })
        };
        assert_eq!(expand("${PORT}"), unset("PORT"));
        assert_eq!(expand("${EMPTY}"), unset("EMPTY"));
        for text in ["${", "${HOST", "${}", "${a b}", "${1X}", "${${HOST}}"] {
            assert_eq!(expand(text), Err(Mistake::Malformed), "{text}");
        }
    }
}
