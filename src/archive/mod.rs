//! Runs and records on disk.
//!
//! A run is one self-contained JSON file; its per-request records are gzip'd JSON Lines beside it.
//! Files are written whole to a temporary name and renamed, records block by block, so that a
//! crash loses at most the last block of records and never damages what was written before.

mod lock;
mod records;
mod store;
mod writer;

pub use lock::FolderLock;
pub use records::{BadLine, RECORDS_FORMAT, RecordReader, RecordSpan};
pub use store::{
    ArchiveError, json_text, load_run, load_runs, parse_run, save_json, save_run, save_text,
};
pub use writer::RecordWriter;
