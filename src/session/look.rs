//! A look at a spec's target: what it says of itself, and what becomes of a few requests.

use super::headroom::{Scratch, Site};
use super::measure::{RunName, Sitting};
use super::replicas::Replicas;
use super::station::Station;
use super::target::RunningTarget;
use crate::access::Access;
use crate::archive::RecordReader;
use crate::checkup::{Exam, Replica, SeenTarget, Trial, Unanswered};
use crate::diag::Source;
use crate::load::Stop;
use crate::probe::{
    MetricsSource, ProbeClient, ProbeError, certificate_days, metrics_seen, models, network, skew,
};
use crate::spec::{self, Answers, MetricsPlace, OutputLength, Spec};
use crate::summary::RunEnd;

/// Tokens of a trial's answers: enough to see them come one after another, soon over.
const OUTPUT: u32 = 32;

/// Asks the target what it is, as a run does before it loads it, and sends it a few requests of its own
/// kind, one after another. What the spec starts is started for that and ended.
///
/// # Errors
///
/// Why the target could not be brought up.
pub async fn look(
    spec: &Spec,
    mut station: Station,
    access: &Access,
    site: &Site,
    stop: Stop,
) -> Result<Exam, String> {
    let target = station.up(stop.clone()).await;
    let exam = match target {
        Ok(target) => examine(spec, target, access, site, stop).await,
        Err(error) => Err(error.to_string()),
    };
    station.down().await;
    exam
}

/// The same without a request: what the target says of itself.
///
/// # Errors
///
/// Why the target could not be brought up.
pub async fn identify(
    spec: &Spec,
    mut station: Station,
    access: &Access,
    stop: Stop,
) -> Result<Exam, String> {
    let exam = match station.up(stop).await {
        Ok(target) => asked(spec, target, access).await,
        Err(error) => Err(error.to_string()),
    };
    station.down().await;
    exam
}

async fn examine(
    spec: &Spec,
    target: &RunningTarget,
    access: &Access,
    site: &Site,
    stop: Stop,
) -> Result<Exam, String> {
    let mut exam = asked(spec, target, access).await?;
    let gone = |replica: &Replica| matches!(replica.models, Err(Unanswered::Unreachable { .. }));
    if !exam.replicas.iter().any(gone) {
        exam.trial = tried(spec, target, access, site, stop).await;
    }
    Ok(exam)
}

async fn asked(spec: &Spec, target: &RunningTarget, access: &Access) -> Result<Exam, String> {
    let mut replicas = Vec::new();
    for base in target.bases() {
        let client = ProbeClient::new(base, access).map_err(|error| error.to_string())?;
        replicas.push(replica(&client, &spec.target.metrics).await);
    }
    Ok(Exam {
        replicas,
        seen: seen(spec, target, access).await,
        trial: Err("no request was sent".to_owned()),
    })
}

async fn replica(client: &ProbeClient, place: &MetricsPlace) -> Replica {
    let answer = client.get("/v1/models").await;
    Replica {
        base: client.base().to_owned(),
        clock: match &answer {
            Err(ProbeError::Unreachable { .. }) => None,
            _ => skew(client).await,
        },
        models: answer
            .map(|answer| models(&answer))
            .map_err(|error| match error {
                ProbeError::Unreachable { reason, .. } => Unanswered::Unreachable { reason },
                ProbeError::Status { status, text, .. } => Unanswered::Status { status, text },
                other => Unanswered::Other {
                    why: other.to_string(),
                },
            }),
        metrics: match MetricsSource::of(client, place) {
            Ok(metrics) => metrics_seen(&metrics).await,
            Err(error) => Err(error.to_string()),
        },
        certificate_days: certificate_days(client).await,
        network: network(client).await,
    }
}

async fn seen(spec: &Spec, target: &RunningTarget, access: &Access) -> Result<SeenTarget, String> {
    let replicas = Replicas::new(target.bases(), &spec.target.metrics, access)
        .map_err(|error| error.to_string())?;
    let mut observed = replicas
        .observe(spec, &target.origin())
        .await
        .map_err(|error| error.to_string())?;
    target.complete(&mut observed.pins);
    Ok(SeenTarget {
        model: observed.model,
        pins: observed.pins,
    })
}

/// Sends a warm-up request and a few more to each server, and reads what became of them.
async fn tried(
    spec: &Spec,
    target: &RunningTarget,
    access: &Access,
    site: &Site,
    stop: Stop,
) -> Result<Trial, String> {
    let classes = &spec.workload.classes;
    let pinned = classes
        .iter()
        .any(|class| class.output_length == OutputLength::Pinned);
    let servers = target.bases().len();
    let trial = trial_of(spec, pinned, servers);
    let streamed = spec.target.connection.answers == Answers::Streamed;
    let _scratch = Scratch(&site.scratch);
    let mut sitting = Sitting::new(
        trial,
        "doctor".to_owned(),
        site.scratch.clone(),
        access.clone(),
    );
    let name = RunName {
        started: site.now.clone(),
        stamp: "trial".to_owned(),
        unique: site.unique.clone(),
        place: None,
    };
    let measured = sitting
        .measure(target, name, true, |_| {}, stop)
        .await
        .map_err(|error| error.to_string())?;
    let records = RecordReader::open(&measured.records)
        .map_err(|error| error.to_string())?
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| error.to_string())?;
    let lost = match &measured.run.end {
        RunEnd::TargetLost { error } => Some(error.clone()),
        RunEnd::Complete | RunEnd::Interrupted => None,
    };
    let Some(stage) = measured.run.stages.into_iter().next() else {
        return Err(lost.unwrap_or_else(|| "interrupted before any request ended".to_owned()));
    };
    Ok(Trial {
        records,
        servers,
        stage,
        calibration: measured.run.prompt_calibration,
        pinned,
        streamed,
        lost,
    })
}

/// The spec of a trial: short requests to a spec's target, spoken to as the spec says.
fn trial_of(spec: &Spec, pinned: bool, servers: usize) -> Spec {
    let output = if pinned {
        format!("output: {OUTPUT}")
    } else {
        format!("max_output: {OUTPUT}")
    };
    let length = if pinned { "pinned" } else { "natural" };
    let requests = 3 * servers;
    let text = format!(
        "\
infergate: 1
name: doctor
target: {{url: 'http://127.0.0.1:1', api: chat}}
timeouts: {{connect: 10s, first_token: 2m, stall: 30s, total: 5m}}
workload:
  seed: 1
  output_length: {length}
  classes:
    - {{name: short, weight: 1, input: 128, {output}}}
stages:
  - {{name: trial, closed: {{users: 1}}, requests: {requests}, warmup: {servers}, drain_timeout: 1s}}
gate:
  cells:
    - {{metric: error_ratio, at_most: 99%}}
"
    );
    let source = Source {
        path: "a trial".to_owned(),
        text,
    };
    match spec::parse(&source, &|_| None, &|_| Err("none".to_owned())) {
        Ok(parsed) => Spec {
            target: spec.target.clone(),
            request: spec.request.clone(),
            ..parsed.spec
        },
        Err(diagnostics) => unreachable!("the trial's spec is right: {diagnostics:?}"),
    }
}
