//! The shapes of requests and responses.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tokens;

/// Tokens of a chat's answer where the request names no limit.
const NATURAL_TOKENS: usize = 256;
/// Tokens of a completion where the request names no limit, as `OpenAI` has it.
const COMPLETION_TOKENS: usize = 16;

/// Which of the two generating routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Chat,
    Completion,
}

impl Kind {
    /// The `object` of a chunk.
    pub(super) const fn chunk_object(self) -> &'static str {
        match self {
            Self::Chat => "chat.completion.chunk",
            Self::Completion => "text_completion",
        }
    }

    /// The `object` of a whole response.
    pub(super) const fn object(self) -> &'static str {
        match self {
            Self::Chat => "chat.completion",
            Self::Completion => "text_completion",
        }
    }

    /// What a response's id starts with.
    pub(super) const fn id_prefix(self) -> &'static str {
        match self {
            Self::Chat => "chatcmpl",
            Self::Completion => "cmpl",
        }
    }
}

/// Token counts of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Usage {
    prompt_tokens: usize,
    total_tokens: usize,
    completion_tokens: usize,
    prompt_tokens_details: PromptDetails,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct PromptDetails {
    cached_tokens: usize,
}

impl Usage {
    pub(super) const fn new(prompt: usize, completion: usize, cached: usize) -> Self {
        Self {
            prompt_tokens: prompt,
            total_tokens: prompt + completion,
            completion_tokens: completion,
            prompt_tokens_details: PromptDetails {
                cached_tokens: cached,
            },
        }
    }
}

/// An error response in the shape of `OpenAI` and vLLM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiError {
    status: StatusCode,
    message: String,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// The body.
    pub(super) fn body(&self) -> Value {
        let kind = match self.status {
            StatusCode::BAD_REQUEST => "BadRequestError",
            StatusCode::NOT_FOUND => "NotFoundError",
            StatusCode::METHOD_NOT_ALLOWED => "MethodNotAllowedError",
            StatusCode::TOO_MANY_REQUESTS => "RateLimitError",
            _ => "InternalServerError",
        };
        json!({"error": {
            "message": self.message,
            "type": kind,
            "param": null,
            "code": self.status.as_u16(),
        }})
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// The fields that both routes and `/tokenize` read; others are ignored.
#[derive(Debug, Deserialize)]
struct Body {
    model: Option<String>,
    messages: Option<Vec<Message>>,
    prompt: Option<Prompt>,
    max_tokens: Option<usize>,
    max_completion_tokens: Option<usize>,
    min_tokens: Option<usize>,
    n: Option<u32>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    ignore_eos: Option<bool>,
    stop: Option<Stop>,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    content: Option<Content>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Prompt {
    Text(String),
    Ids(Vec<u32>),
    Texts(Vec<String>),
    Batches(Vec<Vec<u32>>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Stop {
    One(String),
    Any(Vec<String>),
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
    continuous_usage_stats: Option<bool>,
}

/// A generating request that can be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) kind: Kind,
    pub(super) prompt: Vec<u32>,
    /// The most tokens of the answer, at least one.
    pub(super) max_tokens: usize,
    pub(super) min_tokens: usize,
    /// Whether the model ends by itself after `max_tokens` rather than being cut.
    pub(super) ends_naturally: bool,
    pub(super) ignore_eos: bool,
    pub(super) stop: Vec<String>,
    pub(super) stream: bool,
    pub(super) usage: UsageWanted,
}

/// When a stream reports usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UsageWanted {
    Never,
    /// In a chunk of its own at the end.
    AtEnd,
    /// In every chunk, and at the end.
    Throughout,
}

impl Body {
    fn parse(bytes: &[u8]) -> Result<Self, ApiError> {
        serde_json::from_slice(bytes).map_err(|error| {
            ApiError::bad_request(format!("the body is no valid request: {error}"))
        })
    }

    fn check_model(&self, model: &str) -> Result<(), ApiError> {
        match &self.model {
            Some(other) if other != model => Err(ApiError::new(
                StatusCode::NOT_FOUND,
                format!("the model `{other}` does not exist; this server has `{model}`"),
            )),
            _ => Ok(()),
        }
    }

    fn chat(&self) -> Option<Vec<u32>> {
        let messages = self.messages.as_ref()?;
        let texts: Vec<String> = messages.iter().map(Message::text).collect();
        let turns = messages.iter().zip(&texts);
        Some(tokens::tokenize_chat(turns.map(|(message, text)| {
            (message.role.as_str(), text.as_str())
        })))
    }

    fn tokens(&self, kind: Kind) -> Result<Vec<u32>, ApiError> {
        let ids = match kind {
            Kind::Chat => self
                .chat()
                .filter(|_| self.messages.as_ref().is_some_and(|m| !m.is_empty()))
                .ok_or_else(|| ApiError::bad_request("`messages` is missing or empty"))?,
            Kind::Completion => self
                .prompt
                .as_ref()
                .ok_or_else(|| ApiError::bad_request("`prompt` is missing"))?
                .tokens()?,
        };
        if ids.is_empty() {
            return Err(ApiError::bad_request("`prompt` is empty"));
        }
        Ok(ids)
    }
}

impl Message {
    fn text(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Parts(parts)) => parts.iter().map(|p| p.text.as_str()).collect(),
        }
    }
}

impl Prompt {
    fn tokens(&self) -> Result<Vec<u32>, ApiError> {
        match self {
            Self::Text(text) => Ok(tokens::tokenize(text)),
            Self::Ids(ids) => Ok(ids.clone()),
            Self::Texts(texts) => match texts.as_slice() {
                [text] => Ok(tokens::tokenize(text)),
                _ => Err(ApiError::bad_request(
                    "`prompt` must hold exactly one prompt",
                )),
            },
            Self::Batches(batches) => match batches.as_slice() {
                [ids] => Ok(ids.clone()),
                _ => Err(ApiError::bad_request(
                    "`prompt` must hold exactly one prompt",
                )),
            },
        }
    }
}

impl Wanted {
    /// Reads a body; everything that cannot be served is refused with what is wrong.
    pub(super) fn parse(
        kind: Kind,
        body: &[u8],
        model: &str,
        max_model_len: usize,
    ) -> Result<Self, ApiError> {
        let body = Body::parse(body)?;
        body.check_model(model)?;
        if body.n.is_some_and(|n| n != 1) {
            return Err(ApiError::bad_request("only `n` = 1 is served"));
        }
        let prompt = body.tokens(kind)?;
        let room = max_model_len.saturating_sub(prompt.len());
        let ignore_eos = body.ignore_eos.unwrap_or(false);
        let limit = body.max_completion_tokens.or(body.max_tokens);
        let max_tokens = match (limit, kind) {
            (Some(limit), _) => limit,
            (None, Kind::Completion) => COMPLETION_TOKENS,
            (None, Kind::Chat) if ignore_eos => room,
            (None, Kind::Chat) => NATURAL_TOKENS.min(room),
        };
        if limit == Some(0) {
            return Err(ApiError::bad_request("`max_tokens` must be at least 1"));
        }
        if max_tokens > room || room == 0 {
            return Err(ApiError::bad_request(format!(
                "the prompt has {} tokens and the answer may have {max_tokens}, but together at \
                 most {max_model_len} fit; shorten the prompt or lower `max_tokens`",
                prompt.len(),
            )));
        }
        let options = body.stream_options.unwrap_or_default();
        let usage = match (options.include_usage, options.continuous_usage_stats) {
            (Some(true), Some(true)) => UsageWanted::Throughout,
            (Some(true), _) => UsageWanted::AtEnd,
            _ => UsageWanted::Never,
        };
        Ok(Self {
            kind,
            prompt,
            max_tokens,
            min_tokens: body.min_tokens.unwrap_or(0).min(max_tokens),
            ends_naturally: limit.is_none() && kind == Kind::Chat && !ignore_eos,
            ignore_eos,
            stop: match body.stop {
                None => Vec::new(),
                Some(Stop::One(stop)) => vec![stop],
                Some(Stop::Any(stops)) => stops,
            },
            stream: body.stream.unwrap_or(false),
            usage,
        })
    }
}

/// The response of `/tokenize`.
pub(super) fn tokenize(body: &[u8], model: &str, max_model_len: usize) -> Result<Value, ApiError> {
    let body = Body::parse(body)?;
    body.check_model(model)?;
    let tokens = match (body.chat(), &body.prompt) {
        (Some(ids), _) => ids,
        (None, Some(prompt)) => prompt.tokens()?,
        (None, None) => return Err(ApiError::bad_request("`prompt` or `messages` is missing")),
    };
    Ok(json!({"count": tokens.len(), "max_model_len": max_model_len, "tokens": tokens}))
}
