//! Where requests are made of the plan: texts, bodies, names.

use std::sync::Arc;

use super::conversation::{Conversation, Saying};
use super::http::{Client, Ready};
use crate::plan::{Phase, Plan, PlannedRequest, Prompter, Salt, Session, Shared};
use crate::sample::Examiner;
use crate::spec::KeepText;
use crate::unit::Nanos;
use crate::wire::Transcript;
use crate::wire::request::RequestTemplate;

/// A request that only has to be sent.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) planned: PlannedRequest,
    pub(super) request: Ready,
    /// What its answer is heard for; `None` where nobody asks what it says.
    pub(super) listen: Option<Box<Listen>>,
    /// What follows on its answer.
    pub(super) conversation: Option<Box<Conversation>>,
}

/// What goes with an answer to whoever examines it.
#[derive(Debug)]
pub(super) struct Listen {
    pub(super) expected: Option<Arc<str>>,
    pub(super) body: Option<String>,
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
        let api = self.client.template().api();
        let transcript = if let Some(said) = self.plan.said(&first) {
            let before = self.prompter.before(self.stage_name(), &first);
            Transcript::of(api, &before, said)
        } else {
            let blocks = self.plan.blocks(self.stage, &first);
            Transcript::new(
                api,
                &self.prompter.prompt(self.stage_name(), &first, blocks),
            )
        };
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
            listen: self.listen(&body, &first),
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

    /// A text that requests share, as a request of its own.
    pub(super) fn prepare_shared(&self, shared: &Shared) -> Prepared {
        let Shared { request, blocks } = shared;
        let prompt = self.prompter.prompt(self.stage_name(), request, blocks);
        let transcript = Transcript::new(self.client.template().api(), &prompt);
        Prepared {
            planned: *request,
            request: self.ready(self.body(&transcript, request), request),
            listen: None,
            conversation: None,
        }
    }

    /// The body of a request.
    pub(super) fn body(&self, transcript: &Transcript, planned: &PlannedRequest) -> Vec<u8> {
        self.templates[planned.class as usize].body(transcript, planned)
    }

    /// Whether and how the answer to this body is heard.
    pub(super) fn listen(&self, body: &[u8], planned: &PlannedRequest) -> Option<Box<Listen>> {
        let class = &self.plan.classes()[planned.class as usize];
        let keep = self.plan.keep_text();
        Examiner::hears(class, keep).then(|| {
            Box::new(Listen {
                expected: self.plan.expected(planned),
                body: (keep == KeepText::All).then(|| String::from_utf8_lossy(body).into_owned()),
            })
        })
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
