//! Runs and records on disk.
//!
//! A run is one self-contained JSON file; its per-request records are gzip'd JSON Lines beside it.
//! Files are written whole to a temporary name and renamed, records block by block, so that a
//! crash loses at most the last block of records and never damages what was written before.

mod journal;
mod lines;
mod lock;
mod records;
mod store;
mod upload;
mod writer;

pub use journal::{Begun, Journal, Journalled, journal_path, journals, read_journal};
pub use lock::FolderLock;
pub use records::{BadLine, Header, RECORDS_FORMAT, RecordLine, RecordReader, RecordSpan};
pub use store::{
    ArchiveError, json_text, load_run, load_runs, parse_run, run_text, save_json, save_run,
    save_text,
};
pub use upload::{Upload, UploadError, load_upload};
pub use writer::RecordWriter;
