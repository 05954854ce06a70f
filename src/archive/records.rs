//! Per-request records as gzip'd JSON Lines, one gzip member a block.
//!
//! Every block is a whole gzip member and ends at a line's end, so a file that a crash cut short
//! reads up to its last whole block, with any gzip tool too. Each stage ends its block, so its records
//! can be read again without those before it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use super::store::{ArchiveError, at};
use crate::sample::RequestRecord;
use crate::summary::Records;

/// Format tag of a record file, on its first line.
pub const RECORDS_FORMAT: &str = "infergate.records/1";

/// The first line of a record file.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Header {
    /// [`RECORDS_FORMAT`].
    pub format: String,
    /// The run's id.
    pub run: String,
}

/// What a line of a record file is, for its JSON Schema.
#[derive(Debug, schemars::JsonSchema)]
#[schemars(untagged)]
pub enum RecordLine {
    /// The first line.
    Header(Header),
    /// Every other one.
    Record(Box<RequestRecord>),
}

/// Records that lie together in a file, whole blocks of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordSpan {
    path: PathBuf,
    start: u64,
    pub(super) end: u64,
    pub(super) records: u64,
}

impl RecordSpan {
    /// Without records yet, from this byte on.
    pub(super) fn new(path: &Path, start: u64) -> Self {
        Self {
            path: path.to_owned(),
            start,
            end: start,
            records: 0,
        }
    }

    /// How many records these are.
    pub const fn len(&self) -> u64 {
        self.records
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.records == 0
    }
}

impl Records for RecordSpan {
    type Error = ArchiveError;

    fn each(&self, see: &mut dyn FnMut(&RequestRecord)) -> Result<(), ArchiveError> {
        let mut read = || -> std::io::Result<u64> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.start))?;
            let span = file.take(self.end - self.start);
            let mut lines = BufReader::new(MultiGzDecoder::new(BufReader::new(span)));
            let (mut line, mut found) = (String::new(), 0);
            // A decoder of nothing reports a cut header.
            while !self.is_empty() && lines.read_line(&mut line)? > 0 {
                see(&serde_json::from_str(&line)?);
                line.clear();
                found += 1;
            }
            Ok(found)
        };
        let found = read().map_err(at("read back", &self.path))?;
        if found == self.records {
            Ok(())
        } else {
            Err(ArchiveError::Changed {
                path: self.path.clone(),
                found,
                written: self.records,
            })
        }
    }
}

/// A line that is no record: a value, not a stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// The line is not a record.
    #[error("line {line}: {reason}")]
    Malformed {
        /// From 1, the header included.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The file ends inside a block, as after a crash.
    #[error("the file is cut off after line {line}: {reason}")]
    CutOff {
        /// The last whole line.
        line: u64,
        /// What the decoder says.
        reason: String,
    },
}

/// Reads records back, one at a time.
pub struct RecordReader {
    run: String,
    lines: BufReader<MultiGzDecoder<BufReader<File>>>,
    line: u64,
    over: bool,
}

impl RecordReader {
    /// Opens a file and checks its format.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let file = File::open(path).map_err(at("read", path))?;
        let mut lines = BufReader::new(MultiGzDecoder::new(BufReader::new(file)));
        let mut first = String::new();
        lines.read_line(&mut first).map_err(at("read", path))?;
        let header: Header =
            serde_json::from_str(&first).map_err(|source| ArchiveError::NotARun {
                path: path.to_owned(),
                source,
            })?;
        if header.format != RECORDS_FORMAT {
            return Err(ArchiveError::UnknownFormat {
                path: path.to_owned(),
                found: header.format,
                known: RECORDS_FORMAT,
            });
        }
        Ok(Self {
            run: header.run,
            lines,
            line: 1,
            over: false,
        })
    }

    /// The run whose records these are.
    pub fn run(&self) -> &str {
        &self.run
    }
}

impl Iterator for RecordReader {
    type Item = Result<RequestRecord, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let mut text = String::new();
        match self.lines.read_line(&mut text) {
            Ok(0) => {
                self.over = true;
                None
            }
            Ok(_) => {
                self.line += 1;
                Some(
                    serde_json::from_str(&text).map_err(|error| BadLine::Malformed {
                        line: self.line,
                        reason: error.to_string(),
                    }),
                )
            }
            Err(error) => {
                self.over = true;
                Some(Err(BadLine::CutOff {
                    line: self.line,
                    reason: error.to_string(),
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;
    use crate::archive::RecordWriter;
    use crate::sample::Outcome;
    use crate::sample::record::tests::record;
    use crate::summary::properties::{self, context, summarised};
    use crate::summary::summarise_stage;

    fn written(blocks: &[u32]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records/x.jsonl.gz");
        let mut writer = RecordWriter::create(&path, "run-1", None).unwrap();
        let mut index = 0;
        for &count in blocks {
            for _ in 0..count {
                let mut record = record(Outcome::Completed);
                record.index = index;
                index += 1;
                writer.append(record).unwrap();
            }
            writer.flush().unwrap();
        }
        (folder, path)
    }

    #[test]
    fn records_read_back_over_blocks() {
        let (_folder, path) = written(&[3, 1, 4]);
        let reader = RecordReader::open(&path).unwrap();
        assert_eq!(reader.run(), "run-1");
        let indices: Vec<u32> = reader.map(|record| record.unwrap().index).collect();
        assert_eq!(indices, (0..8).collect::<Vec<u32>>());
    }

    #[test]
    fn a_file_cut_short_reads_to_its_last_whole_block() {
        let (_folder, path) = written(&[3, 1]);
        let whole = std::fs::metadata(&path).unwrap().len();
        let (_folder, path) = written(&[3, 1, 4]);
        let bytes = std::fs::read(&path).unwrap();
        // Anywhere inside the last block.
        for cut in [whole + 1, whole + 10, whole + 30, bytes.len() as u64 - 1] {
            std::fs::write(&path, &bytes[..cut as usize]).unwrap();
            let records: Vec<_> = RecordReader::open(&path).unwrap().collect();
            assert!(
                records.iter().filter(|record| record.is_ok()).count() >= 4,
                "cut at {cut}"
            );
            assert!(
                matches!(records.last(), Some(Err(BadLine::CutOff { .. }))),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn a_bad_line_is_a_value_and_the_rest_is_read() {
        let (_folder, path) = written(&[1]);
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap();
        let mut encoder = GzEncoder::new(&mut file, Compression::fast());
        writeln!(encoder, "{{\"stage\": 0}}").unwrap();
        encoder.finish().unwrap();
        let records: Vec<_> = RecordReader::open(&path).unwrap().collect();
        assert!(records[0].is_ok());
        assert!(matches!(
            &records[1],
            Err(BadLine::Malformed { line: 3, .. })
        ));
    }

    #[test]
    fn a_span_that_changed_under_the_run_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl.gz");
        let mut writer = RecordWriter::create(&path, "run-1", None).unwrap();
        let empty = writer.flush().unwrap();
        writer.append(record(Outcome::Completed)).unwrap();
        let span = writer.flush().unwrap();
        let count = |span: &RecordSpan| {
            let mut seen = 0;
            span.each(&mut |_| seen += 1).map(|()| seen)
        };
        assert_eq!((count(&empty).unwrap(), count(&span).unwrap()), (0, 1));
        let more = RecordSpan {
            records: 2,
            ..span.clone()
        };
        let error = count(&more).unwrap_err().to_string();
        assert!(
            error.contains("1 records") && error.contains("2 were"),
            "{error}"
        );
        std::fs::write(&path, b"").unwrap();
        assert!(count(&span).unwrap_err().to_string().contains("x.jsonl.gz"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_stage_read_back_has_the_summary_that_it_has_in_memory(
            before in properties::records(), records in properties::records(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = RecordWriter::create(&folder.path().join("x"), "run-1", None).unwrap();
            for record in before {
                writer.append(record).unwrap();
            }
            writer.flush().unwrap();
            for record in &records {
                writer.append(record.clone()).unwrap();
            }
            let span = writer.flush().unwrap();
            let (stage, classes) = (properties::stage(), properties::classes());
            let observation = properties::observation();
            let read = summarise_stage(context(&stage, &classes), &span, &observation).unwrap();
            prop_assert_eq!(read, summarised(&records));
        }
    }
}
