//! The load client over real sockets, against a server that does as each test says.

mod conversations;
mod outcomes;
mod schedule;
mod server;
mod transport;

use std::collections::BTreeMap;
use std::sync::Arc;

use server::{Reply, Server};

use super::*;
use crate::access::Access;
use crate::diag::{Source, Sources};
use crate::ident::Digest;
use crate::plan::{Plan, PromptCalibration, Prompter, Salt};
use crate::provenance::UnderTest;
use crate::sample::{RequestRecord, StageObservation};
use crate::spec::{
    Api, Arrival, ArrivalProcess, CacheRegime, Cancel, Class, Extent, Gate, Layer, Length,
    MetricsPlace, OutputLength, Policy, RateProfile, Spec, Stage, Target, TargetConnection,
    TargetPlace, Think, Timeouts, Warmup, Workload,
};
use crate::unit::{Nanos, Rps};

/// Output tokens that every planned request asks for.
const PINNED: u32 = 2;

const NO_WARMUP: Warmup = Warmup {
    requests: 0,
    duration: Nanos::ZERO,
};

/// A stage of so many requests by so many users, without a warm-up.
fn closed(users: u32, requests: u32) -> Stage {
    Stage {
        name: "steady".to_owned(),
        arrival: Arrival::Closed {
            users,
            ramp: Some(Nanos::ZERO),
            think: Think::NONE,
        },
        extent: Extent::Requests(requests),
        warmup: NO_WARMUP,
        in_flight: 1000,
        drain_timeout: Nanos::from_secs(60),
        stop_when: None,
        refine: None,
        soak: None,
        events: Vec::new(),
        labels: Vec::new(),
    }
}

/// A stage of so many requests at so many a second.
fn open(rate: f64, requests: u32) -> Stage {
    Stage {
        arrival: Arrival::Open {
            profile: RateProfile::Steady(Rps::try_new(rate).unwrap()),
            process: ArrivalProcess::Constant,
        },
        ..closed(1, requests)
    }
}

/// What a stage left behind.
struct Left {
    records: Vec<RequestRecord>,
    observation: StageObservation,
    events: Vec<LoadEvent>,
}

/// How a stage is run.
struct Run {
    stage: Stage,
    class: Class,
    timeouts: Timeouts,
    extra: BTreeMap<String, serde_json::Value>,
    access: Access,
    api: Api,
    stop: Stop,
    prompter: Arc<Prompter>,
}

fn run(stage: Stage) -> Run {
    Run {
        stage,
        class: Class::new(
            "chat".parse().unwrap(),
            Length::Fixed(20),
            Length::Fixed(PINNED),
        ),
        timeouts: Timeouts {
            connect: Nanos::from_secs(10),
            first_token: vec![Nanos::from_secs(60)],
            stall: Nanos::from_secs(60),
            total: vec![Nanos::from_secs(600)],
        },
        extra: BTreeMap::new(),
        access: Access::default(),
        api: Api::Chat,
        stop: Stop::never(),
        prompter: Arc::new(Prompter::new(
            7,
            Salt::new("test"),
            PromptCalibration::ASSUMED,
        )),
    }
}

impl Run {
    async fn against(self, url: &str) -> Left {
        self.against_all(&[url]).await
    }

    async fn against_all(self, urls: &[&str]) -> Left {
        let mut records = Vec::new();
        let (observation, events) = self.with(urls, |record| records.push(record)).await;
        Left {
            records,
            observation,
            events,
        }
    }

    async fn with(
        self,
        urls: &[&str],
        records: impl FnMut(RequestRecord),
    ) -> (StageObservation, Vec<LoadEvent>) {
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let endpoint = Endpoint {
            base_urls: urls.iter().map(|&url| url.to_owned()).collect(),
            api: self.api,
            model: "tiny".to_owned(),
            access: self.access,
            extra: self.extra,
        };
        let client = Client::new(&endpoint, self.timeouts.connect).unwrap();
        let spec = spec(self.stage, self.class, self.timeouts.clone());
        let plan = Arc::new(Plan::expand(&spec));
        let job = StageJob {
            plan: &plan,
            stage: 0,
            prompter: &self.prompter,
            client: &client,
            timeouts: &self.timeouts,
            share: crate::plan::Share::WHOLE,
            begin: None,
        };
        let mut events = Vec::new();
        let observation = run_stage(job, records, |event| events.push(event), self.stop)
            .await
            .unwrap();
        (observation, events)
    }
}

fn spec(stage: Stage, class: Class, timeouts: Timeouts) -> Spec {
    Spec {
        name: "test".parse().unwrap(),
        target: Target {
            place: TargetPlace::Urls(Vec::new()),
            api: Api::Chat,
            model: None,
            layer: Layer::Engine,
            connection: TargetConnection::default(),
            metrics: MetricsPlace::default(),
        },
        beside: None,
        baseline: None,
        pins: BTreeMap::new(),
        under_test: UnderTest::NOTHING,
        request: BTreeMap::new(),
        workload: Workload {
            seed: 7,
            cache: CacheRegime::default(),
            classes: vec![class],
        },
        stages: vec![stage],
        gate: Gate {
            repeats: None,
            cells: Vec::new(),
            undecided: Policy::Undecided,
            no_baseline: Policy::Undecided,
            incomparable: Policy::Undecided,
            token_mismatch: 0.05,
            evidence: crate::stats::moderated::Evidence::BeyondZero,
            anchor: None,
        },
        timeouts,
        imports: Vec::new(),
        archive: None,
        keep_text: crate::spec::KeepText::None,
        text: String::new(),
        content: Digest::of(b""),
        sources: Sources::new(Source {
            path: String::new(),
            text: String::new(),
        }),
        limits: None,
        cost: None,
        capacity: None,
        select: Vec::new(),
    }
}

/// The one record of a stage of one request that gets this reply.
async fn one(reply: Reply) -> RequestRecord {
    one_of(run(closed(1, 1)), reply).await
}

async fn one_of(run: Run, reply: Reply) -> RequestRecord {
    let server = Server::start(move |_| reply.clone()).await;
    let mut left = run.against(server.url()).await;
    assert_eq!(left.records.len(), 1, "{:?}", left.records);
    left.records.remove(0)
}
