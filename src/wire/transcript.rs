//! What was said so far, as the part of a request's body that says it.

use crate::plan::Prompt;
use crate::spec::Api;

/// A prompt, or a conversation up to its next answer.
///
/// A chat is a list of messages: a shared prefix is its system message. A completion has one text: the
/// prefix and a space before the prompt, an answer right behind the prompt that it continues, and
/// the user's next words on a line of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    api: Api,
    /// Messages with commas between them, or the inside of a JSON string.
    json: Vec<u8>,
}

impl Transcript {
    /// The first turn.
    pub fn new(api: Api, prompt: &Prompt) -> Self {
        let system = prompt.system.as_deref();
        // Plain words need no escapes; the rest is field names.
        let room = system.map_or(0, str::len) + prompt.user.len() + 96;
        let mut transcript = Self {
            api,
            json: Vec::with_capacity(room),
        };
        match (api, system) {
            (Api::Chat, Some(system)) => transcript.message("system", system),
            (Api::Completions, Some(system)) => {
                transcript.text(system);
                transcript.json.push(b' ');
            }
            (_, None) => {}
        }
        match api {
            Api::Chat => transcript.message("user", &prompt.user),
            Api::Completions => transcript.text(&prompt.user),
        }
        transcript
    }

    /// Adds an answer and what its user says to it.
    pub fn follow(&mut self, answer: &str, user: &str) {
        match self.api {
            Api::Chat => {
                self.message("assistant", answer);
                self.message("user", user);
            }
            Api::Completions => {
                self.text(answer);
                self.json.extend_from_slice(b"\\n");
                self.text(user);
            }
        }
    }

    /// Writes it as a body's field, with a comma before it.
    pub(super) fn write(&self, body: &mut Vec<u8>) {
        let (open, close): (&[u8], &[u8]) = match self.api {
            Api::Chat => (b",\"messages\":[", b"]"),
            Api::Completions => (b",\"prompt\":\"", b"\""),
        };
        body.extend_from_slice(open);
        body.extend_from_slice(&self.json);
        body.extend_from_slice(close);
    }

    /// Bytes that it takes in a body, but for its name.
    pub(super) const fn len(&self) -> usize {
        self.json.len()
    }

    fn message(&mut self, role: &str, content: &str) {
        if !self.json.is_empty() {
            self.json.push(b',');
        }
        self.json.extend_from_slice(b"{\"role\":\"");
        self.json.extend_from_slice(role.as_bytes());
        self.json.extend_from_slice(b"\",\"content\":\"");
        self.text(content);
        self.json.extend_from_slice(b"\"}");
    }

    /// A text inside quotes, escaped.
    fn text(&mut self, text: &str) {
        let start = self.json.len();
        serde_json::to_writer(&mut self.json, text)
            .expect("a string has a JSON form and a vector takes it");
        // Without the quotes that it was written with.
        self.json.pop();
        self.json.remove(start);
    }
}
