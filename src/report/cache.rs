//! What a prefix cache found of a stage's prompts, in words.

use crate::sample::EngineCache;
use crate::spec::CacheRegime;
use crate::summary::{CacheDoubt, PrefixCache};
use crate::unit::scale::{self, Unit};

use super::span::Text;

/// `43.00 % of prompt tokens by the engine's own count, 42.00 % by usage`; `None` where nobody says.
pub(super) fn found(cache: &PrefixCache) -> Option<Text> {
    let share = |value| scale::value(Unit::Proportion, value);
    match (cache.by_engine(), cache.by_usage(), &cache.engine) {
        (None, None, _) => None,
        (Some(engine), usage, _) => {
            let text =
                Text::just(share(engine)).words(" of prompt tokens by the engine's own count");
            Some(match usage {
                Some(usage) => text.words(", ").figure(share(usage)).words(" by usage"),
                None => text.words("; usage does not say"),
            })
        }
        (None, Some(usage), engine) => {
            let text = Text::just(share(usage)).words(" of prompt tokens by usage");
            Some(match engine {
                EngineCache::Unknown { why } => text
                    .words("; the engine's own count is unknown: ")
                    .quoted(why),
                EngineCache::Tokens(_) => text.words("; the engine itself counted none"),
            })
        }
    }
}

/// Why the stage may not be of its regime.
pub(super) fn doubts(cache: &PrefixCache, regime: CacheRegime) -> Vec<Text> {
    let share = |value| scale::value(Unit::Proportion, value);
    let told = |doubt| match doubt {
        CacheDoubt::Disagree { engine, usage } => Text::of("the prefix cache found ")
            .figure(share(engine))
            .words(" of prompt tokens by the engine's own count and ")
            .figure(share(usage))
            .words(" by usage: somebody else uses the engine, or one of them counts otherwise"),
        CacheDoubt::NotCold { found } => Text::of("the prefix cache found ")
            .figure(share(found))
            .words(" of prompt tokens under `cache: cold`, which lets it find next to nothing"),
        CacheDoubt::NotWarm { found, shared } => Text::of("the prefix cache found ")
            .figure(share(found))
            .words(" of prompt tokens under `cache: warm`, where ")
            .figure(share(shared))
            .words(" are shared: it is off, or too small to hold them"),
    };
    cache.doubts(regime).into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::CacheTokens;

    fn cache(engine: Option<u64>, usage: Option<u64>) -> PrefixCache {
        let of = |hits| CacheTokens { hits, queries: 100 };
        let unknown = EngineCache::Unknown {
            why: "/metrics answers 404".to_owned(),
        };
        PrefixCache {
            engine: engine.map_or(unknown, |hits| EngineCache::Tokens(of(hits))),
            usage: usage.map(of),
            shared: Some(0.6),
            history: false,
        }
    }

    #[test]
    fn each_count_is_named_by_its_source() {
        let said = |engine, usage| found(&cache(engine, usage)).map(|text| text.plain());
        assert_eq!(
            said(Some(43), Some(42)).unwrap(),
            "43.00 % of prompt tokens by the engine's own count, 42.00 % by usage"
        );
        assert_eq!(
            said(Some(43), None).unwrap(),
            "43.00 % of prompt tokens by the engine's own count; usage does not say"
        );
        assert_eq!(
            said(None, Some(42)).unwrap(),
            "42.00 % of prompt tokens by usage; the engine's own count is unknown: /metrics answers 404"
        );
        assert_eq!(said(None, None), None);
    }

    #[test]
    fn a_regime_that_is_none_is_told() {
        let said = |engine, usage, regime| -> Vec<String> {
            let doubts = doubts(&cache(Some(engine), Some(usage)), regime);
            doubts.iter().map(Text::plain).collect()
        };
        assert_eq!(
            said(43, 20, CacheRegime::Cold),
            [
                "the prefix cache found 43.00 % of prompt tokens by the engine's own count and 20.00 % by \
                 usage: somebody else uses the engine, or one of them counts otherwise",
                "the prefix cache found 43.00 % of prompt tokens under `cache: cold`, which lets it find \
                 next to nothing",
            ]
        );
        assert_eq!(
            said(20, 20, CacheRegime::Warm),
            [
                "the prefix cache found 20.00 % of prompt tokens under `cache: warm`, where 60.00 % are \
                 shared: it is off, or too small to hold them"
            ]
        );
        assert!(said(43, 43, CacheRegime::Realistic).is_empty());
    }
}
