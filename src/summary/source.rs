//! Which state of a repository a run was taken from.

use serde::{Deserialize, Serialize};

use crate::ident::Commit;

/// What lay in the spec's repository when the run was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SourceStamp {
    /// The commit that was checked out.
    pub commit: Commit,
    /// Whether tracked files differed from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dirty: bool,
    /// The commit that CI judges, where another was checked out: of a pull request that was merged for
    /// trial, its head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Commit>,
    /// The branch; `None` where none was checked out and CI names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The pull or merge request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<u64>,
    /// What started the job of CI, as that calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out_and_read_as_such() {
        let text = format!(r#"{{"commit":"{}"}}"#, "1f".repeat(20));
        let stamp: SourceStamp = serde_json::from_str(&text).unwrap();
        assert!(!stamp.dirty);
        assert_eq!(serde_json::to_string(&stamp).unwrap(), text);
    }
}
