//! Appending records to a file, on a thread of its own.
//!
//! Whoever hands records over waits for neither JSON nor compression nor disk. What is not written yet
//! is counted: beyond a first limit blocks are stored uncompressed, which is several times as fast, and
//! beyond a second the file has failed, for records must neither be lost nor fill the memory.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::records::{Header, RECORDS_FORMAT, RecordSpan};
use super::store::{ArchiveError, at};
use crate::priority::make_way;
use crate::sample::{Examiner, RequestRecord};

/// Bytes of JSON in a block at the most: large enough to compress well.
const BLOCK: usize = 256 * 1024;

/// Bytes of records that are handed over at a time, so that the thread is not woken for each.
const BATCH: usize = 32 * 1024;

/// Bytes of waiting records beyond which blocks are no longer compressed.
const HURRY: usize = 16 << 20;

/// Bytes of waiting records beyond which the file has failed.
const MOST_WAITING: usize = 256 << 20;

/// Appends records to a file.
#[derive(Debug)]
pub struct RecordWriter {
    path: PathBuf,
    batch: Vec<RequestRecord>,
    batch_bytes: usize,
    most_waiting: usize,
    /// Bytes of records that were handed over and are not written yet.
    waiting: Arc<AtomicUsize>,
    orders: Sender<Order>,
    /// `None` once it has failed and that was told.
    thread: Option<JoinHandle<Result<(), ArchiveError>>>,
    span: RecordSpan,
}

/// What is done once records are on the disk.
type After = Box<dyn FnOnce() -> Result<(), ArchiveError> + Send>;

/// What the thread is to do.
enum Order {
    Append(Vec<RequestRecord>, usize),
    /// End the block, and say where the next one starts.
    Flush(SyncSender<u64>),
    /// End the block, see that it is on the disk, and do this.
    Then(After),
}

impl RecordWriter {
    /// Creates the file and writes its first line; the run's id says whose records these are.
    ///
    /// Answers that were heard are examined before they are written, on the same thread; without an
    /// examiner what was heard is lost.
    pub fn create(
        path: &Path,
        run: &str,
        examiner: Option<Examiner>,
    ) -> Result<Self, ArchiveError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(at("create", folder))?;
        }
        let file = File::create(path).map_err(at("create", path))?;
        let disk = file.try_clone().map_err(at("create", path))?;
        Self::start(path, (file, Some(disk)), (run, examiner), MOST_WAITING)
    }

    fn start(
        path: &Path,
        (sink, disk): (impl Write + Send + 'static, Option<File>),
        (run, examiner): (&str, Option<Examiner>),
        most_waiting: usize,
    ) -> Result<Self, ArchiveError> {
        let waiting = Arc::new(AtomicUsize::new(0));
        let mut blocks = Blocks {
            path: path.to_owned(),
            sink: Counted { sink, bytes: 0 },
            disk,
            block: Vec::new(),
            waiting: Arc::clone(&waiting),
            examiner,
        };
        blocks.line(&Header {
            format: RECORDS_FORMAT.to_owned(),
            run: run.to_owned(),
        })?;
        blocks.end()?;
        let first = blocks.sink.bytes;
        let (orders, to_do) = channel();
        let thread = std::thread::Builder::new()
            .name("records".to_owned())
            .spawn(move || {
                make_way();
                blocks.write(&to_do)
            })
            .map_err(at("write", path))?;
        Ok(Self {
            path: path.to_owned(),
            batch: Vec::new(),
            batch_bytes: 0,
            most_waiting,
            waiting,
            orders,
            thread: Some(thread),
            span: RecordSpan::new(path, first),
        })
    }

    /// Appends one record; it is on disk after the next [`RecordWriter::flush`].
    ///
    /// # Errors
    ///
    /// Where an earlier one could not be written, or records come faster than they can be.
    pub fn append(&mut self, record: RequestRecord) -> Result<(), ArchiveError> {
        self.batch_bytes += size(&record);
        self.batch.push(record);
        self.span.records += 1;
        if self.batch_bytes >= BATCH {
            self.hand_over()
        } else {
            Ok(())
        }
    }

    fn hand_over(&mut self) -> Result<(), ArchiveError> {
        let bytes = std::mem::take(&mut self.batch_bytes);
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if waiting > self.most_waiting {
            return Err(ArchiveError::Behind {
                path: self.path.clone(),
                waiting,
            });
        }
        let batch = std::mem::take(&mut self.batch);
        self.order(Order::Append(batch, bytes))
    }

    fn order(&mut self, order: Order) -> Result<(), ArchiveError> {
        self.orders.send(order).map_err(|_| self.failure())
    }

    /// Why the thread has ended.
    fn failure(&mut self) -> ArchiveError {
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok(Err(error))) => error,
            _ => at("write", &self.path)(std::io::Error::other("an earlier write has failed")),
        }
    }

    /// Does this once everything appended so far is on the disk, and waits for neither: what it says
    /// survives a loss of power only with the records before it.
    pub fn then(
        &mut self,
        what: impl FnOnce() -> Result<(), ArchiveError> + Send + 'static,
    ) -> Result<(), ArchiveError> {
        if !self.batch.is_empty() {
            self.hand_over()?;
        }
        self.order(Order::Then(Box::new(what)))
    }

    /// Waits until everything appended so far is on the disk.
    pub fn settle(&mut self) -> Result<(), ArchiveError> {
        let (reply, answer) = sync_channel(1);
        self.then(move || {
            // Nobody waits for the answer where the run was given up.
            let _ = reply.send(());
            Ok(())
        })?;
        answer.recv().map_err(|_| self.failure())
    }

    /// Ends the block: everything appended so far survives a crash of this process. Returns where the
    /// records since the last flush are, to be read again.
    pub fn flush(&mut self) -> Result<RecordSpan, ArchiveError> {
        if !self.batch.is_empty() {
            self.hand_over()?;
        }
        let (reply, answer) = sync_channel(1);
        self.order(Order::Flush(reply))?;
        let end = answer.recv().map_err(|_| self.failure())?;
        let next = RecordSpan::new(&self.path, end);
        let mut span = std::mem::replace(&mut self.span, next);
        span.end = end;
        Ok(span)
    }
}

/// Bytes that a record takes in memory.
fn size(record: &RequestRecord) -> usize {
    size_of::<RequestRecord>()
        + size_of_val(&record.events[..])
        + size_of_val(&record.event_tokens[..])
        + record.error.as_ref().map_or(0, String::len)
        + record.heard.as_ref().map_or(0, |heard| {
            heard.answer.len() + heard.body.as_ref().map_or(0, String::len)
        })
}

/// The thread's side: JSON lines to gzip members.
struct Blocks<W> {
    path: PathBuf,
    sink: Counted<W>,
    /// The file, to see it to the disk.
    disk: Option<File>,
    block: Vec<u8>,
    waiting: Arc<AtomicUsize>,
    examiner: Option<Examiner>,
}

impl<W: Write> Blocks<W> {
    fn write(mut self, orders: &Receiver<Order>) -> Result<(), ArchiveError> {
        for order in orders {
            match order {
                Order::Append(records, bytes) => {
                    for mut record in records {
                        if let Some(examiner) = &self.examiner {
                            examiner.examine(&mut record);
                        }
                        self.line(&record)?;
                        if self.block.len() >= BLOCK {
                            self.end()?;
                        }
                    }
                    self.waiting.fetch_sub(bytes, Ordering::Relaxed);
                }
                Order::Flush(reply) => {
                    self.end()?;
                    // Nobody waits for the answer where the run was given up.
                    let _ = reply.send(self.sink.bytes);
                }
                Order::Then(what) => {
                    self.end()?;
                    if let Some(disk) = &self.disk {
                        disk.sync_data().map_err(at("write", &self.path))?;
                    }
                    what()?;
                }
            }
        }
        self.end()
    }

    fn line<T: Serialize>(&mut self, value: &T) -> Result<(), ArchiveError> {
        serde_json::to_writer(&mut self.block, value)
            .map_err(|error| at("write", &self.path)(std::io::Error::other(error)))?;
        self.block.push(b'\n');
        Ok(())
    }

    fn end(&mut self) -> Result<(), ArchiveError> {
        if self.block.is_empty() {
            return Ok(());
        }
        let compression = compression(self.waiting.load(Ordering::Relaxed));
        let mut write = || {
            let mut encoder = GzEncoder::new(&mut self.sink, compression);
            encoder.write_all(&self.block)?;
            encoder.finish()?.flush()
        };
        write().map_err(at("write", &self.path))?;
        self.block.clear();
        Ok(())
    }
}

fn compression(waiting: usize) -> Compression {
    if waiting > HURRY {
        Compression::none()
    } else {
        Compression::fast()
    }
}

/// Counts what is written.
struct Counted<W> {
    sink: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.sink.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::sample::Outcome;
    use crate::sample::record::tests::record;

    /// A disk that, once it is closed, takes nothing until it is told to, or fails then.
    struct Gate {
        opens: Receiver<std::io::Result<()>>,
        closed: Arc<AtomicBool>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.closed.load(Ordering::Relaxed) {
                self.opens.recv().unwrap_or(Ok(()))?;
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A writer whose disk stands still once the header is written.
    fn gated(most_waiting: usize) -> (RecordWriter, Sender<std::io::Result<()>>) {
        let (open, opens) = channel();
        let closed = Arc::new(AtomicBool::new(false));
        let gate = Gate {
            opens,
            closed: Arc::clone(&closed),
        };
        let sink = (gate, None);
        let writer = RecordWriter::start(Path::new("x.gz"), sink, ("run-1", None), most_waiting);
        closed.store(true, Ordering::Relaxed);
        (writer.unwrap(), open)
    }

    #[test]
    fn a_disk_that_stands_still_fails_the_file_and_not_the_memory() {
        let (mut writer, _open) = gated(BATCH * 4);
        let mut appended = (0..1_000_000).map(|_| writer.append(record(Outcome::Completed)));
        let error = appended.find_map(Result::err).unwrap();
        assert!(
            matches!(&error, ArchiveError::Behind { waiting, .. } if *waiting > BATCH * 4),
            "{error}"
        );
        assert!(error.to_string().contains("x.gz"), "{error}");
    }

    #[test]
    fn a_disk_that_fails_is_told_with_its_reason() {
        let (mut writer, open) = gated(MOST_WAITING);
        open.send(Err(std::io::Error::other("no space left")))
            .unwrap();
        // The encoder tries again when it is dropped.
        drop(open);
        writer.append(record(Outcome::Completed)).unwrap();
        let error = writer.flush().unwrap_err().to_string();
        assert!(error.contains("no space left"), "{error}");
        assert!(writer.flush().is_err(), "it stays failed");
    }

    #[test]
    fn what_follows_on_records_finds_them_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.gz");
        let mut writer = RecordWriter::create(&path, "run-1", None).unwrap();
        writer.append(record(Outcome::Completed)).unwrap();
        let (seen_in, seen) = channel();
        let look = move || {
            let reader = crate::archive::RecordReader::open(&path)?;
            seen_in.send(reader.flatten().count()).unwrap();
            Ok(())
        };
        writer.then(look).unwrap();
        assert_eq!(seen.recv().unwrap(), 1);
        writer.append(record(Outcome::Completed)).unwrap();
        writer.settle().unwrap();
        assert_eq!(writer.flush().unwrap().len(), 2);
        let fails = || Err(at("write", Path::new("y"))(std::io::Error::other("full")));
        writer.then(fails).unwrap();
        assert!(writer.settle().unwrap_err().to_string().contains("full"));
    }

    #[test]
    fn a_writer_that_falls_behind_stops_compressing() {
        assert_eq!(compression(HURRY), Compression::fast());
        assert_eq!(compression(HURRY + 1), Compression::none());
    }
}
