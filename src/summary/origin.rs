//! Where a run came from that another tool measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Another tool's file, and what is to be known of it. Only to be printed: what follows for a value stands
/// with the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Origin {
    /// The tool, as in `vllm bench serve`.
    pub tool: String,
    /// Its version, where the file tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The shape of the file, as in `json, per request`.
    pub shape: String,
    /// The file's name, without its folder.
    pub file: String,
    /// SHA-256 of the file, 64 hex digits.
    pub sha256: String,
    /// What the file does not tell, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lossy: BTreeMap<String, String>,
    /// Reasons to trust its figures less.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<OriginCaveat>,
}

/// A reason to trust an imported figure less.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OriginCaveat {
    /// Its code, as in `import::errors-counted-as-good`: stable.
    pub code: String,
    /// What it is, in words.
    pub message: String,
}
