//! One run → its view model: what was sent, what came back, how long it took, how the client fared.

use crate::lang::say;
use crate::metric::{Metric, Quantile};
use crate::sample::TokenSource;
use crate::summary::{
    Adjusted, ClassSummary, Distribution, Paid, Run, RunEnd, SourceStamp, Spent, StageSummary,
};
use crate::unit::scale::{self, Unit};

use super::marks::Marks;
use super::model::{ErrorRow, LatencyRow, RunModel, SharedPin, StageView, Tone};
use super::span::Text;
use super::{
    cache, client, cold_start, conditions, engines, gpus, happened, imports, kv, network, outcomes,
    quality, remarks, setup, soak, source, spent, tenants, words,
};

/// Latency metrics that a report of one run shows, where they were measured.
const LATENCIES: [Metric; 7] = [
    Metric::Ttft,
    Metric::Ttfa,
    Metric::Tpot,
    Metric::Itl,
    Metric::ChunkGap,
    Metric::MaxStall,
    Metric::E2e,
];

/// The view model of one run. The same run gives the same model.
pub fn build(run: &Run) -> RunModel {
    let mut notes = Marks::default();
    let stages = run
        .stages
        .iter()
        .map(|stage| stage_view(stage, run, &mut notes))
        .collect();
    let (headline, tone) = headline(run);
    RunModel {
        headline,
        tone,
        setup: setup::line(&run.pins),
        facts: facts(run),
        provenance: [setup::known(&run.pins), setup::unknown(&run.pins)].concat(),
        stages,
        skipped: run.skipped.iter().map(conditions::skipped).collect(),
        scores: quality::scores(run),
        pins: run
            .pins
            .iter()
            .map(|(path, pin)| SharedPin {
                pin: Text::value(path.as_str()),
                value: setup::pin_value(pin),
            })
            .collect(),
        notes: notes.texts(),
    }
}

/// Which state of a repository a run was taken from, on one line.
pub fn source(stamp: &SourceStamp) -> Text {
    source::line(stamp)
}

fn headline(run: &Run) -> (Text, Tone) {
    let total = |count: fn(&ClassSummary) -> u64| -> u64 {
        run.stages.iter().map(|stage| count(&stage.pooled)).sum()
    };
    let (scheduled, failed) = (total(|c| c.scheduled), total(ClassSummary::errors));
    let invalid = run.stages.iter().filter(|s| !s.invalid.is_empty()).count();
    let name = |text: Text| text.words(" of ").quoted(&run.spec.name).words(": ");
    let counts = Text::just(scale::count(scheduled))
        .words(" requests in ")
        .then(plural(run.stages.len(), " stage", " stages"))
        .words(", ")
        .figure(scale::count(failed))
        .words(" failed");
    match &run.end {
        RunEnd::Interrupted => (
            name(Text::of("Interrupted run"))
                .then(counts)
                .words("; it can be read, never judged"),
            Tone::Unsure,
        ),
        RunEnd::TargetLost { error } => (
            name(Text::of("Target lost in a run"))
                .then(counts)
                .words("; last error: ")
                .quoted(error),
            Tone::Bad,
        ),
        RunEnd::Complete if invalid > 0 => (
            name(Text::of("Invalid run"))
                .then(plural(invalid, " stage of ", " stages of "))
                .figure(scale::count(run.stages.len() as u64))
                .words(" can be neither baseline nor pass, ")
                .then(counts),
            Tone::Unsure,
        ),
        RunEnd::Complete => (
            name(Text::of("Run")).then(counts),
            if failed > 0 { Tone::Unsure } else { Tone::Good },
        ),
    }
}

fn plural(n: usize, one: &'static str, many: &'static str) -> Text {
    Text::just(scale::count(n as u64)).words(if n == 1 { one } else { many })
}

fn facts(run: &Run) -> Vec<Text> {
    let mut facts = vec![
        Text::of("Started ")
            .quoted(&run.started)
            .words(", took ")
            .figure(scale::elapsed(run.elapsed_s))
            .words(", target ")
            .quoted(&run.client.target)
            .words(", infergate ")
            .quoted(&run.client.version),
        Text::of("Run ")
            .quoted(&run.id)
            .words(", spec digest ")
            .quoted(&run.spec.digest.short())
            .words(", definitions ")
            .quoted(&run.definition),
    ];
    facts.extend(imports::facts(run));
    facts.extend(run.source.as_ref().map(source::line));
    facts.extend(run.cold_start.as_ref().map(cold_start::line));
    facts.extend(run.network.map(network::line));
    // How long it took stands there already.
    let spent = Spent::of([run]).filter(|spent| spent.money != Paid::NoPrice);
    facts.extend(spent.as_ref().map(spent::line));
    if let RunEnd::TargetLost { error } = &run.end {
        facts.push(Text::of("Target lost: ").prose(error));
    }
    facts
}

fn stage_view(stage: &StageSummary, run: &Run, notes: &mut Marks) -> StageView {
    let pooled = &stage.pooled;
    let mut latencies = Vec::new();
    for metric in LATENCIES {
        if let Some(distribution) = pooled.distributions.get(&metric) {
            latency_rows(&mut latencies, metric, None, distribution, notes);
        }
        for (class, summary) in &stage.classes {
            if let Some(distribution) = summary.distributions.get(&metric) {
                latency_rows(&mut latencies, metric, Some(class), distribution, notes);
            }
        }
    }
    StageView {
        name: Text::value(&stage.name),
        load: load(stage),
        invalid: stage.invalid.iter().map(words::invalid).collect(),
        conditions: conditions::stage(stage),
        counts: Text::just(scale::count(pooled.scheduled))
            .words(" scheduled, ")
            .figure(scale::count(pooled.sent))
            .words(" sent, ")
            .figure(scale::count(
                pooled.count(crate::sample::OutcomeKind::Completed),
            ))
            .words(" completed, ")
            .then(outcomes::share(pooled.errors(), pooled.counted()))
            .words(" failed"),
        failed: outcomes::failures(&pooled.outcomes),
        finish: outcomes::finishes(&pooled.finish),
        goodput: pooled.attainment.as_ref().map(|attainment| {
            Text::just(scale::value(
                Unit::RequestsPerSecond,
                pooled.rates.goodput_rps,
            ))
            .words(" good, attainment ")
            .then(outcomes::share(attainment.good, attainment.of))
        }),
        clauses: clauses(stage),
        latencies,
        quality: quality::rows(stage),
        tenants: stage.tenants.as_ref().map(tenants::table),
        throughput: throughput(pooled),
        cache: stage.prefix_cache.as_ref().and_then(cache::found),
        engine: stage.engine.as_ref().map_or_else(Vec::new, engines::lines),
        gpus: stage.gpus.as_ref().map_or_else(Vec::new, gpus::lines),
        client: client::of(stage.health.as_ref()),
        soak: stage.soak.as_ref().map_or_else(Vec::new, soak::lines),
        events: happened::lines(stage),
        remarks: remarks::stage(stage, run.spec.cache)
            .into_iter()
            .chain(kv::remark(&run.pins, stage))
            .collect(),
        errors: pooled
            .errors
            .iter()
            .map(|(text, count)| ErrorRow {
                text: Text::value(text),
                count: Text::just(scale::count(*count)),
            })
            .collect(),
    }
}

fn load(stage: &StageSummary) -> Text {
    let load = match (stage.rate_rps, stage.users) {
        (Some(rate), _) => {
            Text::of("open loop at ").figure(scale::value(Unit::RequestsPerSecond, rate))
        }
        (None, Some(users)) => Text::of("closed loop of ")
            .figure(scale::count(users.into()))
            .words(if users == 1 { " user" } else { " users" }),
        (None, None) => Text::of("load"),
    };
    load.words(" over ")
        .figure(scale::elapsed(stage.window_s))
        .words(if stage.from_schedule {
            ", latencies from the scheduled instant"
        } else {
            ", latencies from the send"
        })
}

/// `TTFT 98.82 % (1,423 of 1,440)` for all, and for each class where there are several.
fn clauses(stage: &StageSummary) -> Vec<Text> {
    let of = |class: Option<&str>, summary: &ClassSummary| -> Vec<Text> {
        let Some(attainment) = &summary.attainment else {
            return Vec::new();
        };
        attainment
            .clauses
            .iter()
            .map(|(clause, count)| {
                let mut text = outcomes::label(*clause);
                if let Some(class) = class {
                    text = text.words(" of ").quoted(class);
                }
                text.words(" met by ")
                    .then(outcomes::share(count.met, count.of))
            })
            .collect()
    };
    if stage.classes.is_empty() {
        return of(None, &stage.pooled);
    }
    stage
        .classes
        .iter()
        .flat_map(|(class, summary)| of(Some(class), summary))
        .collect()
}

fn throughput(class: &ClassSummary) -> Text {
    let rates = class.rates;
    let [offered, sent, completed] = scale::row(
        Unit::RequestsPerSecond,
        [rates.offered_rps, rates.sent_rps, rates.completed_rps],
    );
    let mut text = Text::of("offered ")
        .figure(offered)
        .words(", sent ")
        .figure(sent)
        .words(", completed ")
        .figure(completed);
    let tokens = [
        ("; output ", rates.output_tps),
        (", input ", rates.input_tps),
    ];
    for (what, rate) in tokens {
        if let Some(rate) = rate {
            text = text
                .words(what)
                .figure(scale::value(Unit::TokensPerSecond, rate));
        }
    }
    match class.tokens.output_source {
        Some(TokenSource::Events) => text.words(
            " (output tokens counted as events, a lower bound: the target reports no usage)",
        ),
        Some(TokenSource::Usage) | None => text,
    }
}

fn latency_rows(
    rows: &mut Vec<LatencyRow>,
    metric: Metric,
    class: Option<&str>,
    distribution: &Distribution,
    notes: &mut Marks,
) {
    let name = || match class {
        Some(class) => Text::say(say::OF_CLASS, [words::metric(metric), Text::value(class)]),
        None => words::metric(metric),
    };
    let quantiles = Quantile::STANDARD.map(|q| distribution.quantiles.get(&q).copied());
    let succeeded = quantiles.map(|q| q.map(|q| q.value_s));
    let adjusted = Quantile::STANDARD.map(|q| match distribution.adjusted(q)? {
        Adjusted::Finite(seconds) => Some(seconds),
        Adjusted::Infinite => Some(f64::INFINITY),
        Adjusted::Untold => None,
    });
    // Both rows at one scale.
    let numbers: [f64; 8] =
        std::array::from_fn(|i| if i < 4 { succeeded[i] } else { adjusted[i - 4] }.unwrap_or(0.0));
    let texts = scale::row(Unit::Seconds, numbers);
    rows.push(row(name(), succeeded, &texts[..4], distribution.n, notes));
    if distribution.failed > 0 {
        notes.adjusted = true;
        let n = distribution.n + distribution.failed;
        rows.push(row(
            name().words(", adjusted"),
            adjusted,
            &texts[4..],
            n,
            notes,
        ));
    }
}

fn row(
    metric: Text,
    values: [Option<f64>; 4],
    texts: &[String],
    n: u64,
    notes: &mut Marks,
) -> LatencyRow {
    let mut cells = Quantile::STANDARD.into_iter().zip(values).zip(texts).map(
        |((q, value), text)| match value {
            None => Text::of("–"),
            Some(value) if value.is_infinite() => Text::just(text.as_str()),
            Some(_) => Text::just(text.as_str()).words(notes.mark(q, n)),
        },
    );
    let mut next = || cells.next().unwrap_or_default();
    LatencyRow {
        metric,
        n: Text::just(scale::count(n)),
        p50: next(),
        p90: next(),
        p95: next(),
        p99: next(),
    }
}
