//! Whether answers came as streams at all.

use super::model::StageSummary;
use crate::metric::Metric;

/// A stream whose answers come to this share of their time after the first token was held back.
const AT_ONCE: f64 = 0.01;
/// And faster than this a token, in seconds: no model writes a thousand tokens a second to one
/// stream, while after a long wait in a queue any answer looks quick.
const TOO_FAST: f64 = 0.001;

impl StageSummary {
    /// The share of E2E that is left after the first token, where a server, or a proxy before it, held
    /// streams back until they were whole: TTFT is then E2E. `None` where they came as streams.
    ///
    /// With a mean TTFT of 1.99 s and a mean E2E of 2 s over answers of 20 tokens, 0.5 % of the time is
    /// left for 19 tokens.
    pub fn held_back(&self) -> Option<f64> {
        let pooled = &self.pooled;
        let mean = |metric| pooled.distributions.get(&metric)?.mean_s;
        let (ttft, e2e) = (mean(Metric::Ttft)?, mean(Metric::E2e)?);
        let answers = pooled.distributions.get(&Metric::E2e)?.n;
        let several = pooled.tokens.output_observed >= 2 * answers;
        let left = (e2e - ttft) / e2e;
        // Where every answer is one event, there is no time per token.
        let fast = mean(Metric::Tpot).is_none_or(|tpot| tpot < TOO_FAST);
        (several && left < AT_ONCE && fast).then_some(left.max(0.0))
    }
}
