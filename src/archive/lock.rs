//! One writer of a folder at a time.
//!
//! The lock is the system's, on a file of the folder, so it ends with its process, however that ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::store::{ArchiveError, at};

/// The file that is locked.
const NAME: &str = ".lock";
/// Between two tries.
const TRY_EVERY: Duration = Duration::from_millis(10);
/// Tries: a minute. Who writes holds it for milliseconds.
const TRIES: u32 = 6_000;

/// A folder in which nobody else writes as long as this is there.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    file: Option<File>,
}

impl FolderLock {
    /// Waits for a folder's other writers, and makes the folder where there is none.
    pub fn take(folder: &Path) -> Result<Self, ArchiveError> {
        let path = folder.join(NAME);
        for _ in 0..TRIES {
            fs::create_dir_all(folder).map_err(at("create", folder))?;
            let opened = File::options()
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path);
            match opened.and_then(|file| attempt(file, &path)) {
                Ok(Some(file)) => {
                    return Ok(Self {
                        path,
                        file: Some(file),
                    });
                }
                Ok(None) => std::thread::sleep(TRY_EVERY),
                // Whoever had it took its empty folder away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(at("lock", &path)(error)),
            }
        }
        Err(ArchiveError::Busy { path })
    }
}

/// Locks a file; `None` where another process has it, or has taken it away meanwhile.
fn attempt(file: File, path: &Path) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => Ok(still_there(&file, path)?.then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether the file that was opened is the one that others will find.
#[cfg(unix)]
fn still_there(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let (ours, found) = (file.metadata()?, fs::metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (found.dev(), found.ino()))
}

/// An open file can't be taken away there.
#[cfg(not(unix))]
fn still_there(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // While it is locked: whoever opened it before finds another one, or none, and tries again.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
        drop(self.file.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_writer_at_a_time_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("archive");
        let counter = folder.join("counter");
        let add = || {
            for _ in 0..25 {
                let lock = FolderLock::take(&folder).unwrap();
                let read = fs::read_to_string(&counter).unwrap_or_else(|_| "0".to_owned());
                let count: u32 = read.parse().unwrap();
                fs::write(&counter, (count + 1).to_string()).unwrap();
                drop(lock);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(add);
            }
        });
        assert_eq!(fs::read_to_string(&counter).unwrap(), "100");
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            1,
            "only the counter"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_a_killed_writer_left_locks_nobody_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), "").unwrap();
        drop(FolderLock::take(folder.path()).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_none_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = FolderLock::take(&file.join("archive"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("cannot create") && error.contains("file"),
            "{error}"
        );
    }
}
