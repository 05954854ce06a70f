//! A stage's requests by tenant, as a table.

use crate::summary::{TenantLatency, TenantSummary, Tenants};
use crate::unit::scale::{self, Unit};

use super::model::{TenantRow, TenantTable};
use super::outcomes;
use super::span::Text;

/// The table of the tenants with most requests, and what the others had.
pub(super) fn table(tenants: &Tenants) -> TenantTable {
    TenantTable {
        rows: tenants.top.iter().map(row).collect(),
        rest: [
            (tenants.others > 0).then(|| {
                Text::of("the other ")
                    .figure(scale::count(tenants.others))
                    .words(if tenants.others == 1 {
                        " tenant: "
                    } else {
                        " tenants: "
                    })
                    .then(requests(tenants.of_others.requests))
            }),
            (tenants.of_none.requests > 0)
                .then(|| Text::of("of no tenant: ").then(requests(tenants.of_none.requests))),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}

fn requests(n: u64) -> Text {
    Text::just(scale::count(n)).words(if n == 1 { " request" } else { " requests" })
}

fn row(tenant: &TenantSummary) -> TenantRow {
    let counts = tenant.counts;
    let [ttft_p50, ttft_p95] = quantiles(tenant.ttft);
    let [e2e_p50, e2e_p95] = quantiles(tenant.e2e);
    TenantRow {
        tenant: Text::of("tenant-").figure(tenant.tenant.to_string()),
        requests: Text::just(scale::count(counts.requests)),
        completed: Text::just(scale::count(counts.completed)),
        failed: Text::just(scale::count(counts.errors)),
        ttft_p50,
        ttft_p95,
        e2e_p50,
        e2e_p95,
        good: counts.good.map_or_else(
            || Text::of("–"),
            |good| outcomes::share(good, counts.counted()),
        ),
    }
}

fn quantiles(latency: Option<TenantLatency>) -> [Text; 2] {
    latency.map_or_else(
        || [Text::of("–"), Text::of("–")],
        |latency| scale::row(Unit::Seconds, [latency.p50_s, latency.p95_s]).map(Text::just),
    )
}
