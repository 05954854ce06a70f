//! Where requests are made of the plan: texts, bodies, names.

use std::sync::Arc;

use super::conversation::{Conversation, Saying};
use super::http::{Client, Ready};
use crate::plan::{Phase, Plan, PlannedRequest, Prompter, Salt, Session};
use crate::unit::Nanos;
use crate::wire::Transcript;
use crate::wire::request::RequestTemplate;

/// A request that only has to be sent.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) planned: PlannedRequest,
    pub(super) request: Ready,
    /// What follows on its answer.
    pub(super) conversation: Option<Box<Conversation>>,
}

/// What requests are prepared from.
#[derive(Debug, Clone)]
pub(super) struct Kitchen {
    pub(super) plan: Arc<Plan>,
    pub(super) stage: usize,
    prompter: Arc<Prompter>,
    client: Client,
    /// One a class.
    templates: Arc<[RequestTemplate]>,
}

impl Kitchen {
    /// The kitchen of a stage.
    pub(super) fn new(
        plan: &Arc<Plan>,
        stage: usize,
        prompter: &Arc<Prompter>,
        client: &Client,
    ) -> Self {
        let classes = plan.classes().iter();
        Self {
            templates: classes
                .map(|class| client.template().with(&class.request))
                .collect(),
            plan: Arc::clone(plan),
            stage,
            prompter: Arc::clone(prompter),
            client: client.clone(),
        }
    }

    /// The first request of a session, with the texts of all that follow.
    pub(super) fn prepare(&self, session: Session) -> Prepared {
        let Session { first, later, room } = session;
        let blocks = self.plan.blocks(self.stage, &first);
        let prompt = self.prompter.prompt(self.stage_name(), &first, blocks);
        let transcript = Transcript::new(self.client.template().api(), &prompt);
        let body = self.body(&transcript, &first);
        let sayings: Vec<Saying> = later
            .into_iter()
            .map(|turn| Saying {
                text: self.prompter.later(self.stage_name(), &turn.request),
                turn,
            })
            .collect();
        Prepared {
            planned: first,
            request: self.ready(body, &first),
            conversation: (!sayings.is_empty()).then(|| {
                Box::new(Conversation {
                    transcript,
                    history: first.input_tokens,
                    room,
                    later: sayings.into_iter(),
                })
            }),
        }
    }

    /// The body of a request.
    pub(super) fn body(&self, transcript: &Transcript, planned: &PlannedRequest) -> Vec<u8> {
        self.templates[planned.class as usize].body(transcript, planned)
    }

    /// A request that is sent under its name.
    pub(super) fn ready(&self, body: Vec<u8>, planned: &PlannedRequest) -> Ready {
        let salt = self.prompter.salt();
        let name = request_name(salt, self.stage_name(), planned.phase, planned.number);
        // A conversation stays with its replica, which has its beginning in the cache.
        let number = planned
            .turn
            .map_or(planned.number, |turn| turn.conversation);
        self.client.ready(body, &name, number)
    }

    /// How long the user of a closed stage thinks after a request.
    pub(super) fn think(&self, planned: &PlannedRequest) -> Nanos {
        self.plan.think(self.stage, planned)
    }

    fn stage_name(&self) -> &str {
        &self.plan.stages()[self.stage].stage.name
    }
}

/// What a request is called in the server's logs: `infergate-<salt>-<stage>-<w|m>-<number>`, with
/// the salt's first four characters, which also end the run's id.
///
/// Measured request 7 of the stage `steady` in the run `…-1f3a` is `infergate-1f3a-steady-m-7`.
fn request_name(salt: &Salt, stage: &str, phase: Phase, number: u32) -> String {
    let salt: String = salt.as_str().chars().take(4).collect();
    let phase = match phase {
        Phase::Warmup => 'w',
        Phase::Measured => 'm',
    };
    format!("infergate-{salt}-{stage}-{phase}-{number}")
}
