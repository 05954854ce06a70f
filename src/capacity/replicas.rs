//! How many replicas a peak needs, by two formulas, and what is left when one of them is lost.

use serde::{Deserialize, Serialize};

use super::known::Why;
use crate::spec::CapacityPlan;

/// What one replica does at the load that it is planned for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerReplica {
    /// Users in flight.
    pub users: f64,
    /// Requests a second.
    pub rps: f64,
    /// Mean time of a request in service, in seconds.
    pub service_s: f64,
    /// Mean output tokens of a request.
    pub output_tokens: f64,
    /// Output tokens a second.
    pub output_tps: f64,
}

/// Replicas for a declared peak.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Replicas {
    /// Requests a second at the peak.
    pub peak_rps: f64,
    /// Input and output tokens a second at the peak.
    pub peak_tps: f64,
    /// By users: ⌈Q × T / C × redundancy⌉.
    pub by_users: u64,
    /// By output tokens: ⌈Q × tokens / (tokens/s) × elasticity × failure⌉.
    pub by_tokens: u64,
    /// The larger of both.
    pub needed: u64,
    /// How many they may be, by the intervals of what one replica carries; `None` where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<CountRange>,
    /// What is left when one of them is lost.
    pub after_loss: AfterLoss,
}

/// From so many to so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CountRange {
    /// At the least.
    pub least: u64,
    /// At the most.
    pub most: u64,
}

/// A fleet that has lost a replica, at the peak.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AfterLoss {
    /// Replicas that are left.
    pub replicas: u64,
    /// Requests a second that they carry within the SLO.
    pub capacity_rps: f64,
    /// The peak as a share of that; `None` where none is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Whether the peak is carried all the same.
    pub holds: bool,
}

/// Replicas by users: ⌈Q × T / C × redundancy⌉ with `Q` requests a second at the peak, `T` seconds in service
/// and `C` users within the SLO. 50/s of 4 s each by 32 users, × 1.3: 8.125, so 9.
pub fn by_users(peak: f64, service_s: f64, users: f64, redundancy: f64) -> u64 {
    whole(peak * service_s / users * redundancy)
}

/// Replicas by output tokens: ⌈Q × tokens / (tokens/s) × elasticity × failure⌉. 50/s of 300 tokens by 1,500
/// tokens/s are 10; × 1.2 × 1.2 they are 14.4, so 15.
pub fn by_tokens(peak: f64, tokens: f64, tps: f64, elasticity: f64, failure: f64) -> u64 {
    whole(peak * tokens / tps * elasticity * failure)
}

/// Tokens a second of requests: 50/s of 300 + 300 are 30,000, of 3,000 + 500 they are 175,000.
pub fn token_rate(rps: f64, input_tokens: f64, output_tokens: f64) -> f64 {
    rps * (input_tokens + output_tokens)
}

/// Rounded up, and never by what a product of factors is off by in its last bits; one at least.
fn whole(replicas: f64) -> u64 {
    // `as` saturates.
    (replicas * (1.0 - 1e-12)).ceil().max(1.0) as u64
}

impl Replicas {
    /// For the peak of a plan, from what one replica does, of requests of so many input tokens.
    ///
    /// # Errors
    ///
    /// [`Why`] where no peak is declared, or the replica does nothing.
    pub fn of(plan: &CapacityPlan, one: PerReplica, input_tokens: f64) -> Result<Self, Why> {
        let peak = plan.peak_rps.ok_or(Why::NoPeak)?.get();
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if ![one.users, one.rps, one.service_s]
            .into_iter()
            .all(positive)
        {
            return Err(Why::NoLoad);
        }
        if ![one.output_tokens, one.output_tps]
            .into_iter()
            .all(positive)
        {
            return Err(Why::NoTokens);
        }
        let users = by_users(peak, one.service_s, one.users, plan.redundancy);
        let tokens = by_tokens(
            peak,
            one.output_tokens,
            one.output_tps,
            plan.elasticity,
            plan.failure,
        );
        let needed = users.max(tokens);
        Ok(Self {
            peak_rps: peak,
            peak_tps: token_rate(peak, input_tokens, one.output_tokens),
            by_users: users,
            by_tokens: tokens,
            needed,
            range: None,
            after_loss: AfterLoss::of(needed, one.rps, peak),
        })
    }
}

impl AfterLoss {
    /// Of so many replicas of so many requests a second each. 15 of 4/s at 50/s: 14 are left and carry
    /// 56/s, so the peak is 89 % of it.
    pub fn of(replicas: u64, rps: f64, peak: f64) -> Self {
        let left = replicas.saturating_sub(1);
        let capacity = left as f64 * rps;
        Self {
            replicas: left,
            capacity_rps: capacity,
            load: (left > 0).then(|| peak / capacity),
            holds: peak <= capacity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Rps;

    #[test]
    fn the_worked_examples_hold() {
        assert_eq!(by_tokens(50.0, 300.0, 1500.0, 1.0, 1.0), 10);
        assert_eq!(by_tokens(50.0, 300.0, 1500.0, 1.2, 1.2), 15);
        assert_eq!(by_users(50.0, 4.0, 32.0, 1.3), 9);
        assert_eq!(by_users(50.0, 4.0, 32.0, 1.0), 7);
        assert!((token_rate(50.0, 300.0, 300.0) - 30_000.0).abs() < 1e-9);
        assert!((token_rate(50.0, 3000.0, 500.0) - 175_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_product_that_is_whole_stays_whole() {
        // 0.1 × 3 is a little over 0.3 in binary.
        assert_eq!(by_users(0.1 * 3.0 * 10.0, 1.0, 1.0, 1.0), 3);
        assert_eq!(by_users(1e-9, 1.0, 1.0, 1.0), 1);
    }

    #[test]
    fn the_larger_of_both_counts_and_a_loss_is_looked_at() {
        let plan = CapacityPlan {
            peak_rps: Rps::try_new(50.0),
            ..CapacityPlan::default()
        };
        let one = PerReplica {
            users: 32.0,
            rps: 5.0,
            service_s: 6.4,
            output_tokens: 300.0,
            output_tps: 1500.0,
        };
        let replicas = Replicas::of(&plan, one, 300.0).unwrap();
        // 50 × 6.4 / 32 × 1.3 = 13; 15 by tokens.
        assert_eq!((replicas.by_users, replicas.by_tokens), (13, 15));
        assert_eq!(replicas.needed, 15);
        assert!((replicas.peak_tps - 30_000.0).abs() < 1e-9);
        let loss = replicas.after_loss;
        assert_eq!((loss.replicas, loss.holds), (14, true));
        assert!((loss.load.unwrap() - 50.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn the_only_replica_is_all_there_is() {
        let loss = AfterLoss::of(1, 5.0, 2.0);
        assert_eq!((loss.replicas, loss.load, loss.holds), (0, None, false));
    }

    #[test]
    fn without_a_peak_there_is_no_number() {
        let one = PerReplica {
            users: 1.0,
            rps: 1.0,
            service_s: 1.0,
            output_tokens: 1.0,
            output_tps: 1.0,
        };
        assert_eq!(
            Replicas::of(&CapacityPlan::default(), one, 1.0),
            Err(Why::NoPeak)
        );
    }
}
