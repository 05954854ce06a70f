//! Files of any size: what is held of them at a time.

use std::cell::Cell;
use std::io::{self, Read};

use serde_json::Value;

use super::Input;
use crate::importer::document::{Document, FIRST};
use crate::importer::packed::{Row, Tokens};
use crate::importer::place::Step;

/// Bytes that readers hold between the file and what is made of it.
const HELD: usize = 192 << 10;

/// A file that is made as it is read, and knows how much of it was.
struct Made<'a> {
    start: &'a str,
    each: &'a str,
    times: usize,
    end: &'a str,
    given: Cell<usize>,
}

impl<'a> Made<'a> {
    fn new(start: &'a str, each: &'a str, times: usize, end: &'a str) -> Self {
        let given = Cell::new(0);
        Self {
            start,
            each,
            times,
            end,
            given,
        }
    }

    fn len(&self) -> usize {
        self.start.len() + self.each.len() * self.times + self.end.len()
    }
}

impl Input for Made<'_> {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        self.given.set(0);
        let part = std::iter::repeat_n(self.each, self.times);
        let parts = std::iter::once(self.start).chain(part);
        Ok(Box::new(Parts {
            of: self,
            rest: b"",
            next: Box::new(parts.chain(std::iter::once(self.end))),
        }))
    }
}

struct Parts<'a> {
    of: &'a Made<'a>,
    rest: &'a [u8],
    next: Box<dyn Iterator<Item = &'a str> + 'a>,
}

impl Read for Parts<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.next.next() {
                Some(part) => self.rest = part.as_bytes(),
                None => return Ok(0),
            }
        }
        let n = self.rest.len().min(into.len());
        into[..n].copy_from_slice(&self.rest[..n]);
        self.rest = &self.rest[n..];
        self.of.given.set(self.of.given.get() + n);
        Ok(n)
    }
}

/// Bytes of what the first pass keeps.
fn kept(document: &Document<'_>) -> usize {
    let rows = document.first_rows().iter();
    rows.map(|row| row.to_string().len()).sum()
}

/// A line of `aiperf`'s, 1,000 bytes of it gaps.
fn line() -> String {
    let gaps = vec!["4.1398859999"; 75].join(", ");
    format!(
        "{{\"metadata\": {{\"worker_id\": \"w\"}}, \"metrics\": {{\"inter_chunk_latency\": {{\"value\": [{gaps}], \
         \"unit\": \"ms\"}}}}}}\n"
    )
}

#[test]
fn requests_of_a_line_each_are_read_one_at_a_time() {
    let line = line();
    let file = Made::new("", &line, 800, "");
    let document = Document::read(&file).unwrap();
    assert_eq!(document.first_rows().len(), FIRST);
    assert!(kept(&document) < FIRST * line.len());
    let mut seen = 0;
    let see = &mut |_: &[usize], row: &Value| {
        seen += 1;
        let gaps = row["metrics"]["inter_chunk_latency"]["value"].as_array();
        assert_eq!(gaps.map(Vec::len), Some(75));
        let ahead = file.given.get() - seen * line.len();
        assert!(ahead < HELD, "{ahead} bytes read ahead of request {seen}");
    };
    document.each(&[], see).unwrap();
    assert_eq!((seen, file.given.get()), (800, file.len()));
}

#[test]
fn requests_of_a_list_in_a_document_are_read_one_at_a_time() {
    let object = format!("{{\"output\": \"{}\", \"n\": 1}}, ", "word ".repeat(200));
    let start = "{\"benchmarks\": [{\"metrics\": {\"request_latency\": {}}, \"requests\": {\"successful\": [";
    let file = Made::new(start, &object, 800, "{}]}}]}");
    let document = Document::read(&file).unwrap();
    assert!(kept(&document) < 10 * object.len());
    assert!(!document.is_cut, "a list of requests may have any length");
    let place = [
        Step::Of(&["benchmarks"]),
        Step::Each,
        Step::Of(&["requests"]),
        Step::Of(&["successful"]),
        Step::Each,
    ];
    let mut seen = 0;
    let see = &mut |_: &[usize], _: &Value| {
        seen += 1;
        let ahead = file
            .given
            .get()
            .saturating_sub(start.len() + seen * object.len());
        assert!(ahead < HELD, "{ahead} bytes read ahead of request {seen}");
    };
    document.each(&place, see).unwrap();
    assert_eq!(seen, 801);
}

#[test]
fn runs_of_a_line_each_are_handed_on_one_at_a_time_with_their_lists_packed() {
    let gaps = format!("[{}]", vec!["0.0041398859999"; 200].join(", "));
    let itls = vec![gaps.as_str(); 20].join(", ");
    let ttfts = vec!["0.05"; 20].join(", ");
    let texts = vec!["\"word word word word word word\""; 2000].join(", ");
    let line = format!(
        "{{\"a\": 1, \"itls\": [{itls}], \"ttfts\": [{ttfts}], \"generated_texts\": [{texts}]}}\n"
    );
    let file = Made::new("", &line, 8, "");
    let document = Document::read(&file).unwrap();
    // Of each list the first few stand for it, and of answers none.
    assert!(kept(&document) < file.len() / 3);
    let mut seen = 0;
    let see = &mut |row: Row| {
        seen += 1;
        let ahead = file.given.get() - seen * line.len();
        assert!(ahead < HELD, "{ahead} bytes read ahead of run {seen}");
        assert_eq!(row.value.to_string(), "{\"a\":1}");
        let requests = row.lists.requests(Tokens::Told);
        let held = |gaps: &[f32]| size_of_val(gaps);
        let bytes: usize = requests
            .iter()
            .map(|request| held(request.gaps_s.as_deref().unwrap()))
            .sum();
        assert_eq!(bytes, 20 * 200 * 4);
        assert!(bytes * 6 < line.len(), "{bytes} of {}", line.len());
        Ok(())
    };
    document.each_row(see).unwrap();
    assert_eq!(seen, 8);
}

#[test]
fn a_document_that_is_no_file_of_results_is_refused_rather_than_held() {
    let file = Made::new("{\"results\": [", "{\"executor_type\": 1}, ", 5000, "{}]}");
    assert!(Document::read(&file).unwrap().is_cut);
}
