//! What the target and its machine say about themselves, before any load.
//!
//! Parsers are pure functions on captured answers (`answer`); a source that does not answer
//! leaves its pins unknown with a reason and never stops a run. Only a target that cannot be
//! reached at all, or that answers no model, does.

mod calibrate;
mod certificate;
mod client;
mod early;
pub mod engine;
mod error;
pub mod gpu;
mod host;
mod machine;
mod metrics;
mod models;
mod network;
mod power;
mod queue;
mod round_trip;
mod scrape;
mod seen;
mod skew;

use std::collections::BTreeMap;

pub use calibrate::calibrate;
pub use certificate::certificate_days;
pub use client::ProbeClient;
pub use early::{Asking, early_answer};
pub use error::ProbeError;
pub use machine::{CpuTicks, cpu_ticks, limits};
pub use metrics::{MetricsSource, NoMetrics};
pub use models::models;
pub use network::is_here;
pub use power::{free_disk, power};
pub use queue::drained;
pub use round_trip::network;
pub use scrape::metrics_seen;
pub use seen::Seen;
pub use skew::skew;

use engine::{Answers, Reply, Source};
use gpu::Visible;
use network::Location;

use crate::provenance::{Declared, Observation, Pin, PinPath, Pins, Why};
use crate::spec::{Answers as Delivery, Spec};

/// What was seen of a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// The name to put into requests.
    pub model: String,
    /// Every pin, with what the spec declares of it.
    pub pins: Pins,
}

/// How a target came to run, which decides what of this machine is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Somebody started it.
    Elsewhere,
    /// It is the embedded engine, which needs no GPU.
    Embedded,
    /// It was launched for the measurement, with these GPUs, and shares our container.
    Launched(Visible),
}

/// Asks the target what it is and merges that with what the spec declares.
///
/// # Errors
///
/// [`ProbeError`] where the target does not answer, or names no model and the spec neither.
pub async fn observe(
    client: &ProbeClient,
    metrics: &MetricsSource,
    spec: &Spec,
    origin: &Origin,
) -> Result<Observed, ProbeError> {
    let (models, mut answers, gateway, location) = tokio::join!(
        client.text(Source::Models.path()),
        ask(client, metrics),
        network::gateway(client),
        network::location(client),
    );
    match models {
        Ok(body) => answers.add(Source::Models, Reply::Body(body)),
        // Where nothing answers, or the key is wrong, load would only fail again and again.
        Err(
            error @ (ProbeError::Unreachable { .. }
            | ProbeError::Status {
                status: 401 | 403, ..
            }),
        ) => return Err(error),
        // Without a name in the spec this answer was needed.
        Err(error) if spec.target.model.is_none() => return Err(error),
        Err(_) => {}
    }
    let model = match (&spec.target.model, answers.first_model()) {
        (Some(model), _) => model.clone(),
        (None, Some(model)) => model,
        (None, None) => return Err(no_model(client, &answers)),
    };
    if answers.is_ollama() {
        let asked = serde_json::json!({"model": &model});
        let reply = client.ask_briefly(Source::OllamaModel.path(), Some(&asked));
        answers.add(Source::OllamaModel, reply.await);
    }
    let mut pins = engine::read(&answers, &model);
    let mut see = |seen: Vec<Seen>| pins.extend(seen.into_iter().map(observation));
    see(spec_pins(spec));
    see(network::pins(location, gateway));
    see(host::client_pins());
    if matches!(location, None | Some(Location::Remote)) {
        leave(&mut pins, &["hardware", "host"], &Why::Remote);
    } else {
        see(host::pins(origin));
        match graphics(origin).await {
            Ok(seen) => see(seen),
            Err(why) => leave(&mut pins, &["hardware"], &Why::Because(why)),
        }
    }
    for pin in PinPath::all() {
        pins.entry(pin)
            .or_insert(Observation::Unknown(Why::NotReported));
    }
    let pins = declare(spec, &model, pins);
    Ok(Observed { model, pins })
}

/// Nothing names a model.
fn no_model(client: &ProbeClient, answers: &Answers) -> ProbeError {
    if answers.has_models() {
        ProbeError::NoModel {
            base: client.base().to_owned(),
        }
    } else {
        ProbeError::NotJson {
            path: Source::Models.path().to_owned(),
        }
    }
}

/// Asks for all that engines tell about themselves, at once.
async fn ask(client: &ProbeClient, metrics: &MetricsSource) -> Answers {
    let mut asked = tokio::task::JoinSet::new();
    for source in Source::ASKED {
        let client = client.clone();
        asked.spawn(async move {
            let path = format!("{}{}", source.path(), source.query());
            (source, client.ask_briefly(&path, None).await)
        });
    }
    let mut answers = Answers::default();
    match metrics.page().await {
        Some(page) => answers.add(Source::Metrics, page),
        None => answers.forbid(Source::Metrics),
    }
    while let Some(reply) = asked.join_next().await {
        if let Ok((source, reply)) = reply {
            answers.add(source, reply);
        }
    }
    answers
}

/// The pins of this machine's GPUs, or why there are none.
async fn graphics(origin: &Origin) -> Result<Vec<Seen>, String> {
    let visible = match origin {
        Origin::Embedded => return Err("the embedded engine runs on no GPU".to_owned()),
        Origin::Elsewhere => &Visible::from_environment(),
        Origin::Launched(visible) => visible,
    };
    let looked = gpu::look(visible).await;
    looked
        .map(|look| look.pins())
        .map_err(|error| error.to_string())
}

fn observation(seen: Seen) -> (PinPath, Observation) {
    let Seen { pin, value, source } = seen;
    (pin, Observation::Seen { value, source })
}

/// Says why pins of these groups are not known, of those that are not.
fn leave(pins: &mut BTreeMap<PinPath, Observation>, groups: &[&str], why: &Why) {
    for pin in PinPath::all().filter(|pin| groups.contains(&pin.group())) {
        pins.entry(pin)
            .or_insert_with(|| Observation::Unknown(why.clone()));
    }
}

/// Pins that follow from the spec itself.
fn spec_pins(spec: &Spec) -> Vec<Seen> {
    let mut sampling = spec.request.clone();
    let stop = sampling.remove("stop");
    [
        ("request.api", spec.target.api.name().to_owned()),
        (
            "request.streaming",
            (spec.target.connection.answers == Delivery::Streamed).to_string(),
        ),
        (
            "request.sampling",
            serde_json::to_string(&sampling).unwrap_or_default(),
        ),
        (
            "request.stop",
            stop.map_or_else(|| "none".to_owned(), |stop| stop.to_string()),
        ),
        ("layer", spec.target.layer.name().to_owned()),
    ]
    .into_iter()
    .filter_map(|(path, value)| Seen::new(path, value, "spec"))
    .collect()
}

/// Puts what the spec declares beside what was seen.
fn declare(spec: &Spec, model: &str, observed: BTreeMap<PinPath, Observation>) -> Pins {
    let pins = observed.into_iter().map(|(path, observed)| {
        let declared = spec.pins.get(&path).map(|declared| match declared {
            Declared::Same => Declared::Literal(model.to_owned()),
            other => other.clone(),
        });
        (path, Pin { declared, observed })
    });
    pins.collect()
}
