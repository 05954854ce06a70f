//! What prefix caches found of prompts, in tokens.

use serde::{Deserialize, Serialize};

/// Prompt tokens that were looked up in a prefix cache, and how many of them it held.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct CacheTokens {
    /// Tokens that it held.
    pub hits: u64,
    /// Tokens that were looked up.
    pub queries: u64,
}

impl CacheTokens {
    /// The share that it held: 43 of 100 are 0.43. `None` where nothing was looked up.
    pub fn ratio(self) -> Option<f64> {
        (self.queries > 0).then(|| self.hits as f64 / self.queries as f64)
    }

    /// Both added up.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            hits: self.hits.saturating_add(other.hits),
            queries: self.queries.saturating_add(other.queries),
        }
    }

    /// What counters that only grow have counted since they stood there; `None` where one went back.
    pub fn since(self, before: Self) -> Option<Self> {
        Some(Self {
            hits: self.hits.checked_sub(before.hits)?,
            queries: self.queries.checked_sub(before.queries)?,
        })
    }
}

/// What the engine's own counters say of its prefix cache over a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EngineCache {
    /// So many tokens, all replicas together.
    Tokens(CacheTokens),
    /// Nothing.
    Unknown {
        /// Why not.
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_as_differences() {
        let at = |hits, queries| CacheTokens { hits, queries };
        assert_eq!(at(50, 150).since(at(7, 50)), Some(at(43, 100)));
        assert_eq!(at(43, 100).ratio(), Some(0.43));
        assert_eq!(at(0, 0).ratio(), None);
        assert_eq!(at(50, 20).since(at(7, 50)), None, "the engine began anew");
        assert_eq!(at(1, 2).plus(at(3, 5)), at(4, 7));
    }
}
