//! Whether the prefix cache served both sides alike.

use crate::lang::{Said, of_judged};
use crate::sample::CacheTokens;
use crate::summary::{CACHE_TOLERANCE, PrefixCache, Run, StageSummary};
use crate::unit::scale::{self, Unit};

/// A caveat about each stage of which the cache found more on one side, by over 10 points.
///
/// 43 % of the baseline's prompt tokens against 12 % of the candidate's: the candidate computed more of
/// the same prompts, whatever was under test.
pub(super) fn caveats(baseline: &[&Run], candidate: &[&Run]) -> Vec<Said> {
    let stages = baseline.first().into_iter().flat_map(|run| &run.stages);
    let caveat = |stage: &StageSummary| {
        let both = |by: fn(&PrefixCache) -> Option<CacheTokens>| {
            let (base, head) = (
                ratio(baseline, &stage.name, by)?,
                ratio(candidate, &stage.name, by)?,
            );
            Some((base, head))
        };
        let (base, head) =
            both(PrefixCache::engine_tokens).or_else(|| both(|cache| cache.usage))?;
        ((base - head).abs() > CACHE_TOLERANCE).then(|| {
            let [base, head] = scale::row(Unit::Proportion, [base, head]);
            Said::new(of_judged::CACHE_APART, [stage.name.clone(), base, head])
        })
    };
    stages.filter_map(caveat).collect()
}

/// The share over all runs of a side that say.
fn ratio(
    runs: &[&Run],
    stage: &str,
    by: impl Fn(&PrefixCache) -> Option<CacheTokens>,
) -> Option<f64> {
    let stages = runs.iter().flat_map(|run| &run.stages);
    stages
        .filter(|other| other.name == stage)
        .filter_map(|stage| by(stage.prefix_cache.as_ref()?))
        .reduce(CacheTokens::plus)?
        .ratio()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic;
    use crate::sample::EngineCache;

    fn run(engine: Option<u64>, usage: u64) -> Run {
        let of = |hits| CacheTokens { hits, queries: 100 };
        let unknown = EngineCache::Unknown {
            why: "/metrics answers 404".to_owned(),
        };
        let mut run = synthetic::run("today", 600);
        run.stages[0].prefix_cache = Some(PrefixCache {
            engine: engine.map_or(unknown, |hits| EngineCache::Tokens(of(hits))),
            usage: Some(of(usage)),
            shared: None,
            history: false,
        });
        run
    }

    #[test]
    fn sides_that_found_unlike_shares_get_a_caveat() {
        let base = [run(Some(53), 90), run(Some(33), 90)];
        let base: Vec<&Run> = base.iter().collect();
        let told = caveats(&base, &[&run(Some(12), 90)]);
        assert_eq!(
            told,
            [
                "in stage `steady` the prefix cache found 43.00 % of the prompt tokens on the baseline's side \
                 and 12.00 % on the candidate's, so they did not compute the same"
            ]
        );
        assert!(caveats(&base, &[&run(Some(34), 12)]).is_empty(), "9 points");
        assert_eq!(caveats(&base, &[&run(None, 12)]).len(), 1, "by usage");
        assert!(caveats(&base, &[&synthetic::run("today", 601)]).is_empty());
        assert!(caveats(&[], &base).is_empty());
    }
}
