//! Per-request records as gzip'd JSON Lines, one gzip member a block.
//!
//! Every block is a whole gzip member and ends at a line's end, so a file that a crash cut short
//! reads up to its last whole block, with any gzip tool too.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::store::{ArchiveError, at};
use crate::sample::RequestRecord;

/// Format tag of a record file, on its first line.
pub const RECORDS_FORMAT: &str = "infergate.records/1";

/// Bytes of JSON in a block at the most: large enough to compress well.
const BLOCK: usize = 256 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    run: String,
}

/// Appends records to a file.
#[derive(Debug)]
pub struct RecordWriter {
    path: PathBuf,
    file: BufWriter<File>,
    block: Vec<u8>,
}

impl RecordWriter {
    /// Creates the file and writes its first line; the run's id says whose records these are.
    pub fn create(path: &Path, run: &str) -> Result<Self, ArchiveError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(at("create", folder))?;
        }
        let file = File::create(path).map_err(at("create", path))?;
        let mut writer = Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
            block: Vec::new(),
        };
        writer.line(&Header {
            format: RECORDS_FORMAT.to_owned(),
            run: run.to_owned(),
        })?;
        writer.flush()?;
        Ok(writer)
    }

    /// Appends one record; it is on disk after the next [`RecordWriter::flush`].
    pub fn append(&mut self, record: &RequestRecord) -> Result<(), ArchiveError> {
        self.line(record)?;
        if self.block.len() >= BLOCK {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Ends the block: everything appended so far survives a crash of this process.
    pub fn flush(&mut self) -> Result<(), ArchiveError> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut write = || {
            let mut encoder = GzEncoder::new(&mut self.file, Compression::fast());
            encoder.write_all(&self.block)?;
            encoder.finish()?;
            self.file.flush()
        };
        write().map_err(at("write", &self.path))?;
        self.block.clear();
        Ok(())
    }

    fn line<T: Serialize>(&mut self, value: &T) -> Result<(), ArchiveError> {
        serde_json::to_writer(&mut self.block, value)
            .map_err(|error| at("write", &self.path)(std::io::Error::other(error)))?;
        self.block.push(b'\n');
        Ok(())
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
    use super::*;
    use crate::sample::Outcome;
    use crate::sample::record::tests::record;

    fn written(blocks: &[u32]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records/x.jsonl.gz");
        let mut writer = RecordWriter::create(&path, "run-1").unwrap();
        let mut index = 0;
        for &count in blocks {
            for _ in 0..count {
                let mut record = record(Outcome::Completed);
                record.index = index;
                index += 1;
                writer.append(&record).unwrap();
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
}
