//! The report of one run.

use std::collections::BTreeMap;

use crate::ident::Digest;
use crate::metric::Metric;
use crate::quality::{AnswerQuality, CheckKind, PassCount, Score};
use crate::report::{markdown, run, text};
use crate::sample::{CacheTokens, EngineCache, OutcomeKind};
use crate::spec::Cost;
use crate::summary::{
    InvalidReason, PrefixCache, Run, RunEnd, TenantCounts, TenantLatency, TenantSummary, Tenants,
};

use super::fixture::{self, distribution};

fn check(name: &str, subject: &Run) {
    let model = run::build(subject);
    insta::assert_snapshot!(format!("{name}.md"), markdown::run(&model));
    insta::assert_snapshot!(format!("{name}.txt"), text::plain(&text::run(&model)));
}

#[test]
fn one_run() {
    check(
        "one_run",
        &fixture::run("20261129T190000Z-4f1c2a9be012-a1b2", "0.12.0", 1.0),
    );
}

#[test]
fn one_run_with_failures_few_samples_and_a_late_client() {
    let mut run = fixture::run("20261129T190000Z-4f1c2a9be012-a1b2", "0.12.0", 1.0);
    run.end = RunEnd::Complete;
    let mut stage = fixture::stage("sweep@4", 1.0);
    (stage.from_schedule, stage.rate_rps, stage.users) = (false, None, Some(4));
    stage.window_s = 45.0;
    stage.pooled = fixture::class(90, 1.0);
    stage.pooled.outcomes = BTreeMap::from([
        (OutcomeKind::Completed, 80),
        (OutcomeKind::Timeout, 7),
        (OutcomeKind::HttpError, 3),
    ]);
    stage.pooled.errors = BTreeMap::from([
        (
            "CUDA out of memory | see <https://x.example> @octocat".to_owned(),
            3,
        ),
        ("first token after 60s".to_owned(), 7),
    ]);
    stage.pooled.distributions = BTreeMap::from([
        (Metric::Ttft, distribution(80, 10, 0.12)),
        (Metric::E2e, distribution(80, 10, 3.4)),
    ]);
    let mut chat = stage.pooled.clone();
    chat.distributions = BTreeMap::from([(Metric::Ttft, distribution(40, 0, 0.1))]);
    stage.classes = BTreeMap::from([("chat".to_owned(), chat)]);
    stage.health.as_mut().unwrap().cap_hits = 2;
    stage.health.as_mut().unwrap().backlog = 1;
    stage.prefix_cache = Some(PrefixCache {
        engine: EngineCache::Tokens(CacheTokens {
            hits: 58_050,
            queries: 135_000,
        }),
        usage: Some(CacheTokens {
            hits: 40_500,
            queries: 135_000,
        }),
        shared: None,
        history: false,
    });
    stage.invalid = vec![InvalidReason::SentShort { ratio: 0.93 }];
    run.stages.push(stage);
    check("one_run_invalid", &run);
}

#[test]
fn one_run_with_quality_and_a_price() {
    let mut run = fixture::run("20261129T190000Z-4f1c2a9be012-a1b2", "0.12.0", 1.0);
    let quality = |passed, of, kind| {
        let checks = BTreeMap::from([(kind, PassCount { passed, of })]);
        Some(AnswerQuality {
            checks,
            ..AnswerQuality::default()
        })
    };
    let stage = &mut run.stages[0];
    let mut json = stage.pooled.clone();
    json.quality = quality(712, 720, CheckKind::ValidJson);
    let mut exact = stage.pooled.clone();
    exact.quality = quality(512, 720, CheckKind::Exact);
    let mut pooled = json.quality.clone().unwrap();
    pooled.merge(exact.quality.clone().unwrap());
    stage.pooled.quality = Some(pooled);
    let classes = [("extract", json), ("recite", exact)];
    stage.classes = classes.map(|(name, class)| (name.to_owned(), class)).into();
    let score = Score {
        value: 0.612,
        standard_error: 0.0134,
        samples: Some(1319),
        file: Digest::of(b"file"),
    };
    run.imported.insert("gsm8k".parse().unwrap(), score);
    run.spec.cost = Some(Cost {
        gpu_hour: 3.5,
        currency: "USD".to_owned(),
    });
    check("one_run_quality", &run);
}

#[test]
fn one_run_with_more_tenants_than_a_terminal_shows() {
    let mut run = fixture::run("20261129T190000Z-4f1c2a9be012-a1b2", "0.12.0", 1.0);
    let counts = |requests, errors| TenantCounts {
        requests,
        errors,
        completed: requests - errors,
        cancelled: 0,
        good: Some((requests - errors) / 2),
        input_tokens: 40 * requests,
        output_tokens: 20 * (requests - errors),
    };
    let latency = |p50_s| TenantLatency {
        p50_s,
        p95_s: p50_s * 2.5,
    };
    let tenant = |tenant: u32| TenantSummary {
        tenant,
        counts: counts(2000 / (u64::from(tenant) + 1), tenant.into()),
        ttft: (tenant != 4).then(|| latency(0.12)),
        e2e: (tenant != 4).then(|| latency(3.4)),
    };
    run.stages[0].tenants = Some(Tenants {
        top: (0..20).map(tenant).collect(),
        others: 1200,
        of_others: counts(5400, 12),
        of_none: counts(1, 0),
    });
    check("one_run_tenants", &run);
}
