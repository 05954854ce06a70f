//! How much of a stage's prompts a prefix cache found, and whether that is what its regime says.

use serde::{Deserialize, Serialize};

use crate::sample::{CacheTokens, EngineCache, RequestRecord};
use crate::spec::{Arrival, CacheRegime, Class, Stage};

/// Shares of prompt tokens that are further apart than this are not the same.
pub const CACHE_TOLERANCE: f64 = 0.1;

/// How much of a stage's prompts a prefix cache found, warm-up included: what a warm regime sends
/// ahead is not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PrefixCache {
    /// By the engine's own counters, over all that it was sent meanwhile.
    pub engine: EngineCache,
    /// By the usage of answers; `None` where none spoke of cached tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<CacheTokens>,
    /// The share of prompt tokens that stands in shared prefixes by the plan; `None` where none does,
    /// or the plan does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<f64>,
    /// Whether prompts carried the history of their conversation, which any regime may find.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub history: bool,
}

/// Why the figures of a stage may not be those of its cache regime.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CacheDoubt {
    /// Engine and usage speak of different shares.
    Disagree {
        /// By the engine.
        engine: f64,
        /// By usage.
        usage: f64,
    },
    /// A cold regime in which much was found.
    NotCold {
        /// So much.
        found: f64,
    },
    /// A warm regime in which less than half of what is shared was found.
    NotWarm {
        /// So much.
        found: f64,
        /// Of what is shared by the plan.
        shared: f64,
    },
}

impl PrefixCache {
    /// The engine's own count, where it has one.
    pub const fn engine_tokens(&self) -> Option<CacheTokens> {
        match self.engine {
            EngineCache::Tokens(tokens) => Some(tokens),
            EngineCache::Unknown { .. } => None,
        }
    }

    /// The share by it.
    pub fn by_engine(&self) -> Option<f64> {
        self.engine_tokens().and_then(CacheTokens::ratio)
    }

    /// The share by usage.
    pub fn by_usage(&self) -> Option<f64> {
        self.usage.and_then(CacheTokens::ratio)
    }

    /// What speaks against the regime; empty where nothing does, or nobody counted.
    ///
    /// 43 % by the engine and 30 % by usage disagree. 12 % is not cold, but where conversations bring
    /// their own history; 30 % is not warm where two thirds are shared.
    pub fn doubts(&self, regime: CacheRegime) -> Vec<CacheDoubt> {
        let mut doubts = Vec::new();
        if let (Some(engine), Some(usage)) = (self.by_engine(), self.by_usage())
            && (engine - usage).abs() > CACHE_TOLERANCE
        {
            doubts.push(CacheDoubt::Disagree { engine, usage });
        }
        let Some(found) = self.by_engine().or_else(|| self.by_usage()) else {
            return doubts;
        };
        match (regime, self.shared) {
            (CacheRegime::Cold, _) if found > CACHE_TOLERANCE && !self.history => {
                doubts.push(CacheDoubt::NotCold { found });
            }
            (CacheRegime::Warm, Some(shared)) if found < shared / 2.0 => {
                doubts.push(CacheDoubt::NotWarm { found, shared });
            }
            (CacheRegime::Cold | CacheRegime::Realistic | CacheRegime::Warm, _) => {}
        }
        doubts
    }
}

/// The share of prompt tokens that stands in shared prefixes by the plan of a stage.
///
/// Inputs of 192 tokens on average, half of them with a prefix of 128, share a third. `None` where
/// nothing is shared, and where lengths come from a file or grow with a conversation.
pub fn shared_share(stage: &Stage, classes: &[Class]) -> Option<f64> {
    let grows = |class: &Class| class.rows.is_some() || class.turns.is_some();
    if matches!(stage.arrival, Arrival::Trace(_)) || classes.iter().any(grows) {
        return None;
    }
    let sum = |tokens: fn(&Class) -> f64| -> f64 {
        let weighted = classes.iter().map(|class| class.weight * tokens(class));
        weighted.sum()
    };
    let shared = sum(|class| {
        let prefix = class.prefix.as_ref();
        prefix.map_or(0.0, |prefix| prefix.share * f64::from(prefix.tokens))
    });
    let share = shared / sum(Class::mean_input);
    (share > 0.0 && share.is_finite()).then_some(share.min(1.0))
}

/// What usage says of cached tokens, request by request.
#[derive(Debug, Clone, Copy, Default)]
pub struct CacheUsage {
    tokens: CacheTokens,
    said: bool,
    history: bool,
}

impl CacheUsage {
    /// Counts a request. Some engines leave cached tokens out where there are none, so silence is
    /// none as soon as any answer has spoken.
    pub fn see(&mut self, record: &RequestRecord) {
        self.history |= record.turn.is_some_and(|turn| turn > 1);
        self.said |= record.cached_tokens.is_some();
        if let Some(input) = record.input_tokens {
            self.tokens = self.tokens.plus(CacheTokens {
                hits: record.cached_tokens.unwrap_or(0).into(),
                queries: input.into(),
            });
        }
    }

    /// Beside what the engine counted meanwhile.
    pub fn beside(self, engine: EngineCache, shared: Option<f64>) -> PrefixCache {
        PrefixCache {
            engine,
            usage: self.said.then_some(self.tokens),
            shared,
            history: self.history,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(engine: u64, usage: u64) -> PrefixCache {
        let of = |hits| CacheTokens { hits, queries: 100 };
        PrefixCache {
            engine: EngineCache::Tokens(of(engine)),
            usage: Some(of(usage)),
            shared: Some(0.6),
            history: false,
        }
    }

    #[test]
    fn engine_and_usage_agree_within_ten_points() {
        let realistic = CacheRegime::Realistic;
        assert_eq!(cache(43, 42).doubts(realistic), []);
        assert_eq!(cache(0, 10).doubts(realistic), []);
        let (engine, usage) = (0.43, 0.3);
        assert_eq!(
            cache(43, 30).doubts(realistic),
            [CacheDoubt::Disagree { engine, usage }]
        );
        let mut silent = cache(43, 30);
        silent.usage = None;
        assert_eq!(silent.doubts(realistic), []);
    }

    #[test]
    fn regimes_say_how_much_may_be_found() {
        let (cold, warm) = (CacheRegime::Cold, CacheRegime::Warm);
        assert_eq!(cache(10, 10).doubts(cold), []);
        assert_eq!(
            cache(12, 12).doubts(cold),
            [CacheDoubt::NotCold { found: 0.12 }]
        );
        let mut talk = cache(80, 80);
        talk.history = true;
        assert_eq!(talk.doubts(cold), [], "its own history");
        assert_eq!(cache(30, 30).doubts(warm), []);
        let (found, shared) = (0.29, 0.6);
        assert_eq!(
            cache(29, 29).doubts(warm),
            [CacheDoubt::NotWarm { found, shared }]
        );
        let mut unshared = cache(0, 0);
        unshared.shared = None;
        assert_eq!(unshared.doubts(warm), []);
    }

    #[test]
    fn usage_speaks_where_the_engine_does_not() {
        let mut hidden = cache(0, 12);
        hidden.engine = EngineCache::Unknown {
            why: "/metrics answers 404".to_owned(),
        };
        let found = 0.12;
        assert_eq!(
            hidden.doubts(CacheRegime::Cold),
            [CacheDoubt::NotCold { found }]
        );
        hidden.usage = None;
        assert_eq!(hidden.doubts(CacheRegime::Cold), []);
    }
}
