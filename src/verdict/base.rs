//! What a stored baseline was read from, and how far its sessions are from it.

use serde::{Deserialize, Serialize};

use crate::ident::Commit;

/// Where baseline, accepts and gate were read from, and why there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BaseStamp {
    /// The commit whose files count; `None` is the working tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
    /// Why that, in words.
    pub why: String,
    /// The newest commit before it with sessions that stand; `None` where none of them names its commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    /// Sessions that name no commit, as those of earlier versions; they count by the tree that they lie in.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unstamped: u32,
    /// Sessions whose commit is not in the past of the base, and which count by the tree that they lie in:
    /// it was squashed or rebased on its way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rewritten: u32,
    /// Sessions that are left out, for their commit is not in the past of the base.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub elsewhere: u32,
    /// Whether the gate is that of this commit and not that of the candidate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gate_differs: bool,
}

/// The newest measured commit in the past of a base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Nearest {
    /// Which.
    pub commit: Commit,
    /// Commits from it to the base.
    pub distance: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl BaseStamp {
    /// Of this commit, or the working tree, with nothing known of any session.
    pub fn new(commit: Option<Commit>, why: impl Into<String>) -> Self {
        Self {
            commit,
            why: why.into(),
            nearest: None,
            unstamped: 0,
            rewritten: 0,
            elsewhere: 0,
            gate_differs: false,
        }
    }

    /// One sentence on where the baseline is from, then one on each thing to know of its sessions.
    pub fn says(&self) -> Vec<String> {
        let from = match &self.commit {
            Some(commit) => format!("commit {}", commit.short()),
            None => "the working tree".to_owned(),
        };
        let mut said = vec![format!("the baseline is that of {from}: {}", self.why)];
        if self.gate_differs {
            said.push(
                "the candidate's spec has another `gate:` or `under_test:`, which takes effect when it has landed; judged by the base's"
                    .to_owned(),
            );
        }
        if let Some(Nearest { commit, distance }) = &self.nearest {
            let base = if self.commit.is_some() {
                "the base"
            } else {
                "what is checked out"
            };
            said.push(match distance {
                0 => format!(
                    "its newest sessions were measured at {} itself, {base}",
                    commit.short()
                ),
                1 => format!(
                    "its newest sessions were measured 1 commit before {base}, at {}",
                    commit.short()
                ),
                n => format!(
                    "its newest sessions were measured {n} commits before {base}, at {}",
                    commit.short()
                ),
            });
        }
        let of = |n: u32, one: &str, many: &str| match n {
            0 => None,
            1 => Some(format!("1 session {one}")),
            n => Some(format!("{n} sessions {many}")),
        };
        said.extend(of(
            self.unstamped,
            "names no commit and counts by the tree that it lies in",
            "name no commit and count by the tree that they lie in",
        ));
        said.extend(of(
            self.rewritten,
            "is of a commit that is not in the base's past (squashed or rebased) and counts by the tree that it lies in",
            "are of commits that are not in the base's past (squashed or rebased) and count by the tree that they lie in",
        ));
        said.extend(of(
            self.elsewhere,
            "of a commit that is not in the base's past is left out",
            "of commits that are not in the base's past are left out",
        ));
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_known_is_said_and_nothing_else() {
        let commit = |digit: &str| -> Commit { digit.repeat(40).parse().unwrap() };
        let plain = BaseStamp::new(None, "no job of CI says otherwise");
        assert_eq!(
            plain.says(),
            ["the baseline is that of the working tree: no job of CI says otherwise"]
        );
        let text = serde_json::to_string(&plain).unwrap();
        assert_eq!(text, r#"{"why":"no job of CI says otherwise"}"#);
        let full = BaseStamp {
            nearest: Some(Nearest {
                commit: commit("b"),
                distance: 12,
            }),
            unstamped: 1,
            rewritten: 2,
            elsewhere: 3,
            gate_differs: true,
            ..BaseStamp::new(Some(commit("a")), "`main` and the checkout share it")
        };
        insta::assert_snapshot!(full.says().join("\n"));
        let again: BaseStamp =
            serde_json::from_str(&serde_json::to_string(&full).unwrap()).unwrap();
        assert_eq!(again, full);
    }
}
