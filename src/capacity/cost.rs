//! What a token and a good request cost, and a day of the declared traffic.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::known::Why;
use super::step::StepFigures;
use crate::spec::{CapacityPlan, Cost};
use crate::summary::StageSummary;

/// Days of a month on the bill.
pub const MONTH: f64 = 30.0;
const SECONDS_AN_HOUR: f64 = 3600.0;
const HOURS_A_DAY: f64 = 24.0;
const SECONDS_A_DAY: f64 = SECONDS_AN_HOUR * HOURS_A_DAY;
const MILLION: f64 = 1e6;

/// What serving costs. GPUs alone: neither network nor storage, gateway or people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CostFigures {
    /// The price, with its currency.
    pub price: Cost,
    /// GPUs of one replica.
    pub gpus: f64,
    /// The stage whose rates it is worked out at.
    pub stage: String,
    /// An output token, where output bears all of the cost.
    pub output_token: Estimate,
    /// A million output tokens.
    pub million_output: Estimate,
    /// A million input tokens, where input bears all of the cost; `None` where none was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub million_input: Option<f64>,
    /// A million tokens of both kinds together.
    pub million_tokens: f64,
    /// A good request; `None` without an SLO, and where none was good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_request: Option<Estimate>,
    /// A day of all replicas; `None` where nobody knows how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Fleet>,
    /// What each class has of the tokens, and of the fleet's cost; empty where there is one class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Share>,
    /// The same by tenant: the 20 with most requests, the others together, and requests of none; empty where
    /// no request has a tenant, or nobody counted their tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<Share>,
}

/// What all replicas cost, for they run day and night.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Fleet {
    /// Replicas.
    pub replicas: u64,
    /// A day.
    pub day: f64,
    /// Thirty days.
    pub month: f64,
    /// A request of the declared traffic; `None` where none is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<f64>,
}

/// A share of tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Share {
    /// Whose they are: a class, or a tenant as it is sent; empty of several tenants, and of none.
    pub of: String,
    /// What that is.
    #[serde(default)]
    pub whose: Whose,
    /// Input and output tokens.
    pub tokens: u64,
    /// As a share of all.
    pub share: f64,
    /// Of the fleet's cost a day; `None` without a fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<f64>,
}

/// Whose a share is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Whose {
    /// A class's.
    #[default]
    Class,
    /// A tenant's.
    Tenant,
    /// That of so many other tenants.
    OtherTenants(u64),
    /// That of requests without a tenant.
    NoTenant,
}

/// What a second costs of so much a second: `GPUs × price / (rate × 3600)`.
///
/// 8 GPUs at 2.50 an hour and 14 good requests a second: 20 / 50,400 = 0.000397 a good request.
pub fn each(gpus: f64, price: f64, rate: &Estimate) -> Option<Estimate> {
    rate.under(gpus * price / SECONDS_AN_HOUR)
}

/// A part of a cost by its share of tokens: of 1,920 for 130 million tokens, 30 million bear 443.08.
pub fn part(cost: f64, tokens: f64, of: f64) -> f64 {
    cost * tokens / of
}

/// What one replica costs at these figures.
///
/// # Errors
///
/// [`Why`] where there is no price, nobody knows how many GPUs there are, or no output came.
pub(super) fn figures(
    price: Option<&Cost>,
    gpus: Option<f64>,
    stage: &str,
    figures: &StepFigures,
    replicas: f64,
) -> Result<CostFigures, Why> {
    let price = price.ok_or(Why::NoPrice)?;
    let gpus = gpus.ok_or(Why::NoGpus)?;
    // Rates are those of all replicas, and so are these GPUs.
    let all = gpus * replicas;
    let output = each(all, price.gpu_hour, &figures.output_tps).ok_or(Why::NoTokens)?;
    let second = all * price.gpu_hour / SECONDS_AN_HOUR;
    let input = figures.input_tps;
    Ok(CostFigures {
        price: price.clone(),
        gpus,
        stage: stage.to_owned(),
        million_output: output.times(MILLION),
        output_token: output,
        million_input: (input > 0.0).then(|| MILLION * second / input),
        million_tokens: MILLION * second / (input + figures.output_tps.value),
        good_request: figures
            .goodput_rps
            .as_ref()
            .and_then(|rate| each(all, price.gpu_hour, rate)),
        fleet: None,
        shares: Vec::new(),
        tenants: Vec::new(),
    })
}

impl CostFigures {
    /// With what so many replicas cost a day, and by whose tokens.
    #[must_use]
    pub(super) fn with_fleet(mut self, replicas: u64, plan: &CapacityPlan) -> Self {
        let day = replicas as f64 * self.gpus * self.price.gpu_hour * HOURS_A_DAY;
        self.fleet = Some(Fleet {
            replicas,
            day,
            month: day * MONTH,
            request: plan
                .traffic_rps
                .map(|traffic| day / (traffic.get() * SECONDS_A_DAY)),
        });
        for share in self.shares.iter_mut().chain(&mut self.tenants) {
            share.day = Some(day * share.share);
        }
        self
    }

    /// With the tokens of each class and tenant of these stages.
    #[must_use]
    pub(super) fn with_shares<'a>(
        mut self,
        stages: impl Iterator<Item = &'a StageSummary>,
    ) -> Self {
        let stages: Vec<&StageSummary> = stages.collect();
        self.tenants = tenants(&stages);
        let mut tokens: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, class) in stages.iter().flat_map(|stage| &stage.classes) {
            let own = class
                .tokens
                .input_observed
                .saturating_add(class.tokens.output_observed);
            let sum = tokens.entry(name).or_default();
            *sum = sum.saturating_add(own);
        }
        let own = |(of, tokens): (&str, u64)| (of.to_owned(), Whose::Class, tokens);
        self.shares = shares(tokens.into_iter().map(own).collect());
        self
    }
}

/// Shares of all tokens by tenant, most first; empty where no request has one, or no token was counted. Which
/// tenants are kept apart is a matter of each run, so one that is in some alone is among the others.
fn tenants(stages: &[&StageSummary]) -> Vec<Share> {
    let told = || stages.iter().filter_map(|stage| stage.tenants.as_ref());
    let runs = told().count();
    let mut apart: BTreeMap<u32, (usize, u64)> = BTreeMap::new();
    let (mut all, mut of_none, mut most) = (0_u64, 0_u64, 0_u64);
    for tenants in told() {
        for tenant in &tenants.top {
            let (seen, sum) = apart.entry(tenant.tenant).or_default();
            *seen += 1;
            *sum = sum.saturating_add(tenant.counts.tokens());
        }
        all = all.saturating_add(tenants.total().tokens());
        of_none = of_none.saturating_add(tenants.of_none.tokens());
        most = most.max(tenants.top.len() as u64 + tenants.others);
    }
    apart.retain(|_, (seen, _)| *seen == runs);
    let named: u64 = apart.values().map(|(_, tokens)| *tokens).sum();
    let others = most.saturating_sub(apart.len() as u64);
    let of_others = all.saturating_sub(named).saturating_sub(of_none);
    let mut parts: Vec<(String, Whose, u64)> = apart
        .into_iter()
        .map(|(tenant, (_, tokens))| (format!("tenant-{tenant}"), Whose::Tenant, tokens))
        .collect();
    parts.sort_by_key(|(_, _, tokens)| std::cmp::Reverse(*tokens));
    if of_others > 0 {
        parts.push((String::new(), Whose::OtherTenants(others), of_others));
    }
    if of_none > 0 && named > 0 {
        parts.push((String::new(), Whose::NoTenant, of_none));
    }
    shares(parts)
}

/// Tokens as shares of all of them.
fn shares(parts: Vec<(String, Whose, u64)>) -> Vec<Share> {
    let all: f64 = parts.iter().map(|(_, _, tokens)| *tokens as f64).sum();
    if all <= 0.0 {
        return Vec::new();
    }
    let share = |(of, whose, tokens): (String, Whose, u64)| Share {
        of,
        whose,
        tokens,
        share: part(1.0, tokens as f64, all),
        day: None,
    };
    parts.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_examples_hold() {
        assert!((part(1920.0, 3e7, 1.3e8) - 443.08).abs() < 0.005);
        let good = Estimate::of(vec![14.0]).unwrap();
        let each = each(8.0, 2.5, &good).unwrap();
        assert!((each.value - 20.0 / 50_400.0).abs() < 1e-12);
        let bounds = each.interval.unwrap();
        assert!(bounds.lower < each.value && each.value < bounds.upper);
    }
}
