//! The bytes of one streamed answer: server-sent events in `OpenAI`'s shape.

use super::api::{Kind, Usage};

/// What one chunk of a stream carries.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chunk<'a> {
    /// Whether the role comes with it; chats only.
    pub(super) role: bool,
    /// The text, if any: a chunk that only ends the stream has none.
    pub(super) text: &'a str,
    /// Whether the text is reasoning; chats only.
    pub(super) reasoning: bool,
    /// The finish reason of the last chunk.
    pub(super) finish: Option<&'static str>,
    /// The usage so far.
    pub(super) usage: Option<Usage>,
}

/// Writes the events of one answer. What is the same in all of them is built once.
#[derive(Debug)]
pub(super) struct EventWriter {
    kind: Kind,
    /// From `data: ` to just before `"choices"`.
    head: Vec<u8>,
}

impl EventWriter {
    /// For one answer.
    pub(super) fn new(kind: Kind, id: &str, model: &str, created: u64) -> Self {
        let mut head = b"data: {\"id\":".to_vec();
        write_json(&mut head, id);
        head.extend_from_slice(b",\"object\":");
        write_json(&mut head, kind.chunk_object());
        head.extend_from_slice(format!(",\"created\":{created},\"model\":").as_bytes());
        write_json(&mut head, model);
        head.push(b',');
        Self { kind, head }
    }

    /// A chunk with a choice.
    pub(super) fn chunk(&self, out: &mut Vec<u8>, chunk: &Chunk<'_>) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b"\"choices\":[{\"index\":0,");
        match self.kind {
            Kind::Chat => {
                out.extend_from_slice(b"\"delta\":{");
                if chunk.role {
                    out.extend_from_slice(b"\"role\":\"assistant\",");
                }
                out.extend_from_slice(if chunk.reasoning {
                    b"\"reasoning_content\":"
                } else {
                    b"\"content\":"
                });
                write_json(out, chunk.text);
                out.push(b'}');
            }
            Kind::Completion => {
                out.extend_from_slice(b"\"text\":");
                write_json(out, chunk.text);
            }
        }
        out.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":");
        match chunk.finish {
            Some(reason) => write_json(out, reason),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b"}]");
        if let Some(usage) = &chunk.usage {
            write_usage(out, usage);
        }
        out.extend_from_slice(b"}\n\n");
    }

    /// The chunk without choices that ends a stream with usage.
    pub(super) fn usage(&self, out: &mut Vec<u8>, usage: &Usage) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b"\"choices\":[]");
        write_usage(out, usage);
        out.extend_from_slice(b"}\n\n");
    }
}

/// An error in the middle of a stream.
pub(super) fn error(out: &mut Vec<u8>, body: &serde_json::Value) {
    out.extend_from_slice(format!("data: {body}\n\n").as_bytes());
}

/// The end of a stream.
pub(super) fn done(out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: [DONE]\n\n");
}

fn write_usage(out: &mut Vec<u8>, usage: &Usage) {
    out.extend_from_slice(b",\"usage\":");
    write_json(out, usage);
}

fn write_json<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("strings and numbers serialise, a Vec takes all");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn chat_chunks_are_exactly_these_bytes() {
        let events = EventWriter::new(Kind::Chat, "chatcmpl-1", "m", 7);
        let chunk = Chunk {
            role: true,
            text: "a \"b\"",
            ..Chunk::default()
        };
        assert_eq!(
            written(|out| events.chunk(out, &chunk)),
            "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":7,\
             \"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\
             \"content\":\"a \\\"b\\\"\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n"
        );
        let chunk = Chunk {
            text: "hm",
            reasoning: true,
            ..Chunk::default()
        };
        assert!(
            written(|out| events.chunk(out, &chunk))
                .contains("\"delta\":{\"reasoning_content\":\"hm\"}")
        );
    }

    #[test]
    fn completion_chunks_are_exactly_these_bytes() {
        let events = EventWriter::new(Kind::Completion, "cmpl-1", "m", 7);
        let chunk = Chunk {
            text: " x",
            finish: Some("length"),
            usage: Some(Usage::new(3, 2, 0)),
            ..Chunk::default()
        };
        assert_eq!(
            written(|out| events.chunk(out, &chunk)),
            "data: {\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"created\":7,\"model\":\"m\",\
             \"choices\":[{\"index\":0,\"text\":\" x\",\"logprobs\":null,\
             \"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":3,\"total_tokens\":5,\
             \"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":0}}}\n\n"
        );
    }

    #[test]
    fn a_stream_ends_with_usage_and_done() {
        let events = EventWriter::new(Kind::Completion, "cmpl-1", "m", 7);
        let text = written(|out| {
            events.usage(out, &Usage::new(3, 2, 1));
            done(out);
        });
        assert_eq!(
            text,
            "data: {\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"created\":7,\"model\":\"m\",\
             \"choices\":[],\"usage\":{\"prompt_tokens\":3,\"total_tokens\":5,\
             \"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":1}}}\n\n\
             data: [DONE]\n\n"
        );
    }
}
