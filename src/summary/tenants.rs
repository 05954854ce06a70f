//! Records to a breakdown by tenant: those with most requests one by one, the others in sum.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::class::Frame;
use crate::plan::Phase;
use crate::sample::{Outcome, RequestRecord, Timeline};
use crate::spec::Class;
use crate::stats::select::Selection;

/// Tenants that are kept apart.
const TOP: usize = 20;
/// Bits that tell first buckets of their values apart: 40 selections, 16 KiB for each power of two.
const FINENESS: u32 = 11;

/// The window's requests by tenant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Tenants {
    /// The 20 with most requests, most first; of equal ones the lower number first.
    pub top: Vec<TenantSummary>,
    /// How many others had requests.
    pub others: u64,
    /// What those had together.
    pub of_others: TenantCounts,
    /// Requests of classes without tenants.
    pub of_none: TenantCounts,
}

/// One tenant of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TenantSummary {
    /// Its number, from 0.
    pub tenant: u32,
    /// How its requests ended.
    #[serde(flatten)]
    pub counts: TenantCounts,
    /// Of those with a first token, the time to it; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft: Option<TenantLatency>,
    /// Of those that completed, the time to the end; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e2e: Option<TenantLatency>,
}

/// How the requests of a tenant, or of several, ended.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct TenantCounts {
    /// Requests scheduled in the window.
    pub requests: u64,
    /// Of those, errors (what counts in `error_ratio`).
    pub errors: u64,
    /// Of those, completed.
    pub completed: u64,
    /// Of those, cancelled as planned: they are neither good nor bad.
    pub cancelled: u64,
    /// Completed within every clause of their SLO; `None` where no class has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good: Option<u64>,
    /// Input tokens, as the server counts them; 0 in runs of earlier versions.
    #[serde(default)]
    pub input_tokens: u64,
    /// Output tokens of those that ended well; 0 in runs of earlier versions.
    #[serde(default)]
    pub output_tokens: u64,
}

/// Exact quantiles (type 7) of requests that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TenantLatency {
    /// Median.
    pub p50_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
}

/// The breakdown, as records come: the first pass counts, the second and later ones look at the values
/// of those that have most.
#[derive(Debug)]
pub(super) struct TenantTally<'a> {
    classes: &'a [Class],
    frame: Frame,
    counts: BTreeMap<u32, TenantCounts>,
    of_none: TenantCounts,
    top: Vec<(u32, Values)>,
}

#[derive(Debug)]
struct Values {
    ttft: Selection,
    e2e: Selection,
}

impl<'a> TenantTally<'a> {
    pub(super) const fn new(classes: &'a [Class], frame: Frame) -> Self {
        Self {
            classes,
            frame,
            counts: BTreeMap::new(),
            of_none: TenantCounts {
                requests: 0,
                errors: 0,
                completed: 0,
                cancelled: 0,
                good: None,
                input_tokens: 0,
                output_tokens: 0,
            },
            top: Vec::new(),
        }
    }

    /// A record in the first pass.
    pub(super) fn see(&mut self, record: &RequestRecord) {
        if record.phase != Phase::Measured {
            return;
        }
        let good = self.is_good(record);
        let counts = match record.tenant {
            Some(tenant) => self.counts.entry(tenant).or_default(),
            None => &mut self.of_none,
        };
        let add = |count: &mut u64, is: bool| *count += u64::from(is);
        add(&mut counts.requests, true);
        add(&mut counts.errors, record.outcome.kind().is_error());
        add(&mut counts.completed, record.outcome == Outcome::Completed);
        add(&mut counts.cancelled, record.outcome == Outcome::Cancelled);
        counts.input_tokens += u64::from(record.input_tokens.unwrap_or(0));
        if record.outcome.ended_well() {
            counts.output_tokens += u64::from(record.output_tokens.unwrap_or(0));
        }
        if let Some(good) = good {
            add(counts.good.get_or_insert(0), good);
        }
    }

    /// Whether it completed within every clause; `None` where no class has one.
    fn is_good(&self, record: &RequestRecord) -> Option<bool> {
        if self.classes.iter().all(|class| class.slo.is_empty()) {
            return None;
        }
        let timeline = Timeline::new(record, self.frame.from_schedule);
        let mut clauses = self.classes[record.class as usize].slo.iter();
        let met = clauses.all(|(&clause, &limit)| timeline.meets(clause, limit));
        Some(record.outcome == Outcome::Completed && met)
    }

    /// Ends the first pass: keeps those apart that have most.
    pub(super) fn choose(&mut self) {
        let mut most: Vec<u32> = self.counts.keys().copied().collect();
        most.sort_by_key(|tenant| (Reverse(self.counts[tenant].requests), *tenant));
        most.truncate(TOP);
        let values = || Values {
            ttft: Selection::new(FINENESS),
            e2e: Selection::new(FINENESS),
        };
        self.top = most.into_iter().map(|tenant| (tenant, values())).collect();
    }

    /// The same record in a later pass.
    pub(super) fn look(&mut self, record: &RequestRecord) {
        if record.phase == Phase::Measured
            && let Some((_, values)) = self
                .top
                .iter_mut()
                .find(|(of, _)| Some(*of) == record.tenant)
        {
            let timeline = Timeline::new(record, self.frame.from_schedule);
            if let Ok(ttft) = timeline.ttft() {
                values.ttft.add(ttft, 1);
            }
            if let Ok(e2e) = timeline.e2e() {
                values.e2e.add(e2e, 1);
            }
        }
    }

    /// Ends the second pass.
    pub(super) fn want(&mut self) {
        self.selections()
            .for_each(|selection| selection.want([(0.5, 0), (0.95, 0)]));
    }

    /// What the passes after that are for.
    pub(super) fn selections(&mut self) -> impl Iterator<Item = &mut Selection> {
        let values = self.top.iter_mut();
        values.flat_map(|(_, values)| [&mut values.ttft, &mut values.e2e])
    }

    /// After the last pass; `None` where no request has a tenant.
    pub(super) fn finish(mut self) -> Option<Tenants> {
        let latency = |values: &Selection| {
            Some(TenantLatency {
                p50_s: values.quantile(0.5, 0)?,
                p95_s: values.quantile(0.95, 0)?,
            })
        };
        let top: Vec<TenantSummary> = std::mem::take(&mut self.top)
            .into_iter()
            .map(|(tenant, values)| TenantSummary {
                tenant,
                counts: self.counts.remove(&tenant).unwrap_or_default(),
                ttft: latency(&values.ttft),
                e2e: latency(&values.e2e),
            })
            .collect();
        (!top.is_empty()).then(|| Tenants {
            top,
            others: self.counts.len() as u64,
            of_others: self
                .counts
                .into_values()
                .fold(TenantCounts::default(), TenantCounts::plus),
            of_none: self.of_none,
        })
    }
}

impl Tenants {
    /// All requests of the window: those of the first, of the others, and of no tenant.
    pub fn total(&self) -> TenantCounts {
        let top = self.top.iter().map(|tenant| tenant.counts);
        top.chain([self.of_others, self.of_none])
            .fold(TenantCounts::default(), TenantCounts::plus)
    }
}

impl TenantCounts {
    /// Requests that could have been good: all but the cancelled.
    pub const fn counted(&self) -> u64 {
        self.requests.saturating_sub(self.cancelled)
    }

    /// Input and output tokens.
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            errors: self.errors + other.errors,
            completed: self.completed + other.completed,
            cancelled: self.cancelled + other.cancelled,
            good: match (self.good, other.good) {
                (Some(one), Some(other)) => Some(one + other),
                (one, other) => one.or(other),
            },
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::properties::{classes, context};
    use super::super::tests::{observation, request, stage};
    use super::super::{StageSummary, summarise_stage};
    use super::*;
    use crate::sample::OutcomeKind;
    use crate::stats::quantile::quantile;

    fn summarised(records: &[RequestRecord]) -> StageSummary {
        let classes = classes();
        let Ok(summary) = summarise_stage(context(&stage(), &classes), records, &observation());
        summary
    }

    /// Tenant k of 30 has 31 − k requests, but 8 and 9 the same number; some fail, some are cancelled,
    /// and every class has some.
    fn records() -> Vec<RequestRecord> {
        let mut records = Vec::new();
        for tenant in 0..30_u32 {
            let count = if tenant == 9 { 22 } else { 30 - tenant };
            for number in 0..count {
                let outcome = match number % 7 {
                    3 => Outcome::StreamError,
                    5 => Outcome::Cancelled,
                    _ => Outcome::Completed,
                };
                let index = records.len() as u32;
                let mut record = request(index, 10_000 + u64::from(index * 17), outcome);
                record.class = index % 3;
                record.tenant = Some(tenant).filter(|_| !index.is_multiple_of(11) || tenant < 10);
                records.push(record);
            }
        }
        records
    }

    #[test]
    fn tenants_add_up_to_all() {
        let summary = summarised(&records());
        let (pooled, total) = (&summary.pooled, summary.tenants.as_ref().unwrap().total());
        assert_eq!(total.requests, pooled.scheduled);
        assert_eq!(total.errors, pooled.errors());
        assert_eq!(total.completed, pooled.count(OutcomeKind::Completed));
        assert_eq!(total.cancelled, pooled.count(OutcomeKind::Cancelled));
        assert_eq!(total.counted(), pooled.counted());
        assert_eq!(total.good, Some(pooled.good));
        assert_eq!(total.input_tokens, pooled.tokens.input_observed);
        assert_eq!(total.output_tokens, pooled.tokens.output_observed);
        assert!(total.errors > 0 && total.cancelled > 0 && pooled.good > 0);
    }

    #[test]
    fn the_largest_are_kept_apart_whatever_the_order() {
        let records = records();
        let tenants = summarised(&records).tenants.unwrap();
        let numbers: Vec<u32> = tenants.top.iter().map(|tenant| tenant.tenant).collect();
        assert_eq!(numbers.len(), TOP);
        assert_eq!(
            numbers[7..11],
            [7, 8, 9, 10],
            "8 and 9 have the same number"
        );
        assert_eq!(tenants.others, 10);
        assert!(tenants.of_none.requests > 0);
        let mut reversed = records.clone();
        reversed.reverse();
        assert_eq!(summarised(&reversed).tenants, Some(tenants.clone()));
        for (of, tenant) in [(0, &tenants.top[0]), (9, &tenants.top[9])] {
            let mut values: Vec<f64> = records
                .iter()
                .filter(|record| record.tenant == Some(of))
                .filter_map(|record| Timeline::new(record, true).e2e().ok())
                .collect();
            values.sort_by(f64::total_cmp);
            let e2e = tenant.e2e.unwrap();
            assert_eq!(Some(e2e.p50_s), quantile(&values, 0.5));
            assert_eq!(Some(e2e.p95_s), quantile(&values, 0.95));
        }
    }

    #[test]
    fn a_stage_without_tenants_has_no_breakdown() {
        let summary = summarised(&[request(0, 10_000, Outcome::Completed)]);
        assert_eq!(summary.tenants, None);
        let json = serde_json::to_string(&summary).unwrap();
        assert!(!json.contains("tenants"));
        // So does the file of an earlier build, which it is like.
        assert_eq!(
            serde_json::from_str::<StageSummary>(&json).unwrap(),
            summary
        );
    }
}
