//! A look at a spec's target, without any load.

use super::error::refuse_contradictions;
use super::replicas::Replicas;
use super::station::Station;
use crate::access::Access;
use crate::headroom::TargetLook;
use crate::load::Stop;
use crate::provenance::{Observation, Pins};
use crate::spec::{Spec, TargetPlace};

/// Asks the target what it is, as a run does before it loads it; an engine that the spec launches is
/// started and ended for that. `access` is what the target asks for.
pub async fn look(spec: &Spec, mut station: Station, access: &Access, stop: Stop) -> TargetLook {
    if let TargetPlace::Sim(_) = spec.target.place {
        return TargetLook::Embedded;
    }
    let look = look_at(spec, &mut station, access, stop).await;
    station.down().await;
    look
}

async fn look_at(spec: &Spec, station: &mut Station, access: &Access, stop: Stop) -> TargetLook {
    let trouble = |why: String| TargetLook::Trouble { why };
    let target = match station.up(stop).await {
        Ok(target) => target,
        Err(error) => return trouble(error.to_string()),
    };
    let replicas = match Replicas::new(target.bases(), access) {
        Ok(replicas) => replicas,
        Err(error) => return trouble(error.to_string()),
    };
    let mut observed = match replicas.observe(spec, &target.origin()).await {
        Ok(observed) => observed,
        Err(error) => return trouble(error.to_string()),
    };
    target.complete(&mut observed.pins);
    if let Err(error) = refuse_contradictions(&observed.pins) {
        return trouble(error.to_string());
    }
    TargetLook::Answers {
        model: observed.model,
        engine: engine(&observed.pins),
        metrics: replicas.first().text("/metrics").await.is_ok(),
    }
}

fn engine(pins: &Pins) -> Option<String> {
    let pin = pins.iter().find(|(path, _)| path.as_str() == "engine.name");
    match &pin?.1.observed {
        Observation::Seen { value, .. } => Some(value.clone()),
        Observation::Unknown(_) => None,
    }
}
