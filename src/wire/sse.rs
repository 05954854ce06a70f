//! Server-sent events, incrementally: bytes as they come from the socket to whole events.
//!
//! Follows the event stream format of the HTML standard, section 9.2.6. `id` and `retry` serve
//! reconnection, which a load client never does, so they are skipped. Works on bytes: a cut inside
//! a character, a line end or the byte order mark changes nothing.

use memchr::{memchr, memchr2};

/// One dispatched event, borrowed from the bytes at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field; empty where there was none.
    pub name: &'a [u8],
    /// The `data` fields, joined by line feeds.
    pub data: &'a [u8],
}

/// A line or an event's data is larger than the parser keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {limit} bytes")]
pub struct TooLarge {
    /// The limit in bytes.
    pub limit: usize,
}

/// Most bytes of one line, and of one event's data: far above any engine's events, far below what
/// hurts with a thousand streams open.
pub const MAX_BYTES: usize = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// An incremental parser of one event stream.
///
/// A read that holds whole events is parsed in place; only what a read cuts apart is copied.
#[derive(Debug, Clone)]
pub struct Parser {
    /// The start of a line whose end has not come yet.
    line: Vec<u8>,
    /// Data of the current event, where it could not stay borrowed.
    data: Vec<u8>,
    /// Whether the current event has a `data` field, empty or not.
    has_data: bool,
    /// Name of the current event.
    name: Vec<u8>,
    place: Place,
    limit: usize,
}

/// Where in the stream the parser is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the first line, which a byte order mark may precede.
    Start,
    /// In a later line.
    Later,
    /// Right after a CR that ended a line: an LF would belong to it.
    AfterCr,
    /// Beyond a limit: nothing more comes out.
    Failed,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// A parser at the start of a stream, bounded by [`MAX_BYTES`].
    pub const fn new() -> Self {
        Self::with_limit(MAX_BYTES)
    }

    /// A parser that refuses lines and events above `limit` bytes.
    pub const fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            name: Vec::new(),
            place: Place::Start,
            limit,
        }
    }

    /// Takes the next bytes of the stream and hands out each event that they complete, in order.
    ///
    /// Once a limit is broken, this and every further call return the error.
    pub fn push(
        &mut self,
        bytes: &[u8],
        mut on_event: impl FnMut(Event<'_>),
    ) -> Result<(), TooLarge> {
        let result = self.try_push(bytes, &mut on_event);
        if result.is_err() {
            self.place = Place::Failed;
        }
        result
    }

    fn try_push<'a>(
        &mut self,
        mut rest: &'a [u8],
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), TooLarge> {
        if self.place == Place::Failed {
            return Err(TooLarge { limit: self.limit });
        }
        // The current event's data while it is one line of this very read.
        let mut borrowed: Option<&'a [u8]> = None;
        while !rest.is_empty() {
            if self.place == Place::AfterCr {
                self.place = Place::Later;
                if rest[0] == b'\n' {
                    rest = &rest[1..];
                    continue;
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', rest) else {
                self.line.extend_from_slice(rest);
                self.check(self.line.len())?;
                break;
            };
            let (line, ended_by) = (&rest[..end], rest[end]);
            rest = &rest[end + 1..];
            if self.line.is_empty() {
                self.take_line(line, Some(line), &mut borrowed, on_event)?;
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.take_line(&whole, None, &mut borrowed, on_event)?;
                // Its memory serves the next cut line.
                whole.clear();
                self.line = whole;
            }
            self.place = if ended_by == b'\r' {
                Place::AfterCr
            } else {
                Place::Later
            };
        }
        if let Some(data) = borrowed {
            self.data.extend_from_slice(data);
        }
        Ok(())
    }

    /// Takes one line without its end; `in_read` is the same line where it lies in this read.
    fn take_line<'a>(
        &mut self,
        line: &[u8],
        in_read: Option<&'a [u8]>,
        borrowed: &mut Option<&'a [u8]>,
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), TooLarge> {
        self.check(line.len())?;
        let skip = if self.place == Place::Start && line.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        let line = &line[skip..];
        if line.is_empty() {
            self.dispatch(borrowed.take(), on_event);
            return Ok(());
        }
        let (field, start) = match memchr(b':', line) {
            // A comment.
            Some(0) => return Ok(()),
            Some(colon) => {
                let space = usize::from(line.get(colon + 1) == Some(&b' '));
                (&line[..colon], colon + 1 + space)
            }
            None => (line, line.len()),
        };
        match field {
            b"data" => {
                if self.has_data {
                    if let Some(first) = borrowed.take() {
                        self.data.extend_from_slice(first);
                    }
                    self.data.push(b'\n');
                    self.data.extend_from_slice(&line[start..]);
                    self.check(self.data.len())?;
                } else if let Some(read) = in_read {
                    *borrowed = Some(&read[skip + start..]);
                } else {
                    self.data.extend_from_slice(&line[start..]);
                }
                self.has_data = true;
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(&line[start..]);
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, borrowed: Option<&[u8]>, on_event: &mut impl FnMut(Event<'_>)) {
        if std::mem::take(&mut self.has_data) {
            on_event(Event {
                name: &self.name,
                data: borrowed.unwrap_or(&self.data),
            });
            self.data.clear();
        }
        self.name.clear();
    }

    fn check(&self, len: usize) -> Result<(), TooLarge> {
        if len > self.limit {
            return Err(TooLarge { limit: self.limit });
        }
        Ok(())
    }

    /// Ends the stream. True where an event was under way: the standard discards it, and it tells
    /// that the stream was cut.
    pub fn finish(self) -> bool {
        !self.line.is_empty() || self.has_data || !self.name.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Owned = (Vec<u8>, Vec<u8>);

    /// Events of these pieces, whether a limit was broken, whether something was left.
    fn parse(pieces: &[&[u8]], limit: usize) -> (Vec<Owned>, bool, bool) {
        let mut parser = Parser::with_limit(limit);
        let mut events = Vec::new();
        let mut failed = false;
        for piece in pieces {
            failed |= parser
                .push(piece, |event| {
                    events.push((event.name.to_vec(), event.data.to_vec()));
                })
                .is_err();
        }
        (events, failed, !failed && parser.finish())
    }

    fn data(text: &str) -> Vec<String> {
        let (events, failed, _) = parse(&[text.as_bytes()], MAX_BYTES);
        assert!(!failed);
        events
            .into_iter()
            .map(|(_, data)| String::from_utf8(data).unwrap())
            .collect()
    }

    #[test]
    fn every_line_end_and_spacing_is_read() {
        for text in [
            "data:{}\n\n",
            "data: {}\n\n",
            "data: {}\r\n\r\n",
            "data: {}\r\r",
            "\u{feff}data: {}\n\n",
            ": ping\n\ndata: {}\n\n",
            "id: 1\nretry: 10\ndata: {}\n\n",
            "unknown: 1\ndata: {}\n\n",
            "\n\n\ndata: {}\n\n",
        ] {
            assert_eq!(data(text), ["{}"], "{text:?}");
        }
        assert_eq!(data("data:  {}\n\n"), [" {}"], "one space goes, no more");
    }

    #[test]
    fn examples_of_the_standard() {
        assert_eq!(data("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
        assert_eq!(
            data("data\n\ndata\ndata\n\ndata:"),
            ["", "\n"],
            "the last block has no blank line"
        );
        assert_eq!(data("data:test\n\ndata: test\n\n"), ["test", "test"]);
        assert_eq!(
            data(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"),
            ["first event", "second event"]
        );
    }

    #[test]
    fn names_belong_to_their_event_only() {
        let (events, _, left) = parse(&[b"event: error\ndata: a\n\ndata: b\n\nevent: x\n\n"], 100);
        assert_eq!(
            events,
            [
                (b"error".to_vec(), b"a".to_vec()),
                (Vec::new(), b"b".to_vec())
            ]
        );
        assert!(!left);
    }

    #[test]
    fn what_is_left_at_the_end_is_told() {
        for (text, left) in [
            ("data: a\n\n", false),
            ("data: a\n", true),
            ("data: a", true),
            ("data: a\n\nda", true),
            ("data: a\n\n: comment\n", false),
            ("", false),
        ] {
            assert_eq!(parse(&[text.as_bytes()], 100).2, left, "{text:?}");
        }
    }

    #[test]
    fn a_line_without_end_is_an_error_and_no_memory_death() {
        let mut parser = Parser::with_limit(1000);
        let results: Vec<bool> = (0..20)
            .map(|_| parser.push(&[b'x'; 100], |_| {}).is_ok())
            .collect();
        assert_eq!(results.iter().filter(|ok| **ok).count(), 10);
        assert!(parser.line.len() <= 1100);
        let (events, failed, _) = parse(&[b"data: 123456\ndata: 123456\n\n"], 12);
        assert!(failed && events.is_empty(), "joined data counts too");
    }

    #[test]
    fn a_whole_event_in_one_read_is_not_copied() {
        let bytes = b"data: hello\n\n";
        let mut parser = Parser::new();
        parser
            .push(bytes, |event| {
                assert!(bytes.as_ptr_range().contains(&event.data.as_ptr()));
            })
            .unwrap();
        assert_eq!(parser.data.capacity(), 0);
    }

    /// Bytes that are mostly event stream.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => Just(b"data: ".to_vec()),
            4 => Just(b"\n".to_vec()),
            2 => Just(b"\r\n".to_vec()),
            2 => Just(b"\r".to_vec()),
            1 => Just(b"\n\n".to_vec()),
            1 => Just(b"event: error".to_vec()),
            1 => Just(BYTE_ORDER_MARK.to_vec()),
            1 => Just(b":".to_vec()),
            2 => Just("{\"ü\":\"日本\"}".as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..6),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_cutting_of_the_same_bytes_gives_the_same_events(
            bytes in stream(),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
            limit in prop_oneof![Just(8_usize), Just(40), Just(MAX_BYTES)],
        ) {
            let whole = parse(&[&bytes], limit);
            let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(&parse(&bytewise, limit), &whole);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(&parse(&pieces, limit), &whole);
        }
    }
}
