//! One measurement at a time: advisory locks that all jobs of a machine share.
//!
//! A lock is a file that the system locks for as long as this process lives, however that ends. What
//! it says is for people: who holds it.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::idle::gpus_of;
use crate::access::is_loopback;
use crate::load::Stop;
use crate::spec::TargetPlace;

/// Between two tries.
const TRY_EVERY: Duration = Duration::from_millis(100);

/// The lock of a machine without GPUs.
const MACHINE: &str = "cpu";

/// How a lock is asked for.
#[derive(Debug, Clone)]
pub struct LockRequest {
    /// The folder of all locks of this machine.
    pub folder: PathBuf,
    /// Who asks, for those who wait: its pid, its spec and since when.
    pub who: String,
    /// Whether others that ask like this may hold it too, as shards of one run do.
    pub shared: bool,
    /// How long to wait for others.
    pub at_most: Duration,
}

/// Locks that are held as long as this is there.
#[derive(Debug)]
pub struct Locks(#[expect(dead_code, reason = "held, not read")] Vec<File>);

/// Why a lock is not held.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error(
        "another measurement holds `{key}` of this machine: {holder}; two at a time would measure each \
         other. Wait for it (`--lock-wait 1h`), or say `--no-lock` where both are to run"
    )]
    Taken {
        /// Which lock.
        key: String,
        /// Who has it, as it says itself.
        holder: String,
    },
    /// The user asked to stop while it was waited for.
    #[error("interrupted while waiting for another measurement")]
    Interrupted,
    /// The file could not be locked.
    #[error(
        "cannot lock `{}`: {source}; name another folder that all jobs of this machine share in \
         `INFERGATE_LOCKS`, or say `--no-lock`",
        path.display()
    )]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What has to be locked for measurements at these places, in the order in which everybody takes it:
/// each GPU that they may use, or the machine where it has none, and each target by its port. Nothing
/// for the embedded engine and for other machines.
pub async fn lock_keys(places: &[&TargetPlace]) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for &place in places {
        let found = keys_of(place);
        let launch = match place {
            TargetPlace::Launched { launch, .. } => Some(&**launch),
            TargetPlace::Urls(_) | TargetPlace::Sim { .. } => None,
        };
        let gpus = if found.contains(MACHINE) {
            gpus_of(launch).await
        } else {
            None
        };
        match gpus {
            Some(look) => {
                keys.extend(look.gpus.into_iter().map(|gpu| gpu.uuid));
                keys.extend(found.into_iter().filter(|key| key != MACHINE));
            }
            None => keys.extend(found),
        }
    }
    keys
}

/// The same without GPUs.
fn keys_of(place: &TargetPlace) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let (urls, launched) = match place {
        TargetPlace::Urls(urls) => (&urls[..], false),
        TargetPlace::Launched { url, .. } => (std::slice::from_ref(url), true),
        TargetPlace::Sim { .. } => return keys,
    };
    let ports: Vec<String> = urls.iter().filter_map(|url| local_port(url)).collect();
    if launched || !ports.is_empty() {
        keys.insert(MACHINE.to_owned());
    }
    keys.extend(ports);
    keys
}

/// `port-8000` of a URL on this machine.
fn local_port(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split('/').next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ if scheme == "https" => (authority, "443"),
        _ => (authority, "80"),
    };
    is_loopback(host).then(|| format!("port-{port}"))
}

/// Takes these locks one after another, and says whom it waits for.
pub async fn lock(
    keys: BTreeSet<String>,
    request: &LockRequest,
    mut say: impl FnMut(&str),
    mut stop: Stop,
) -> Result<Locks, LockError> {
    let mut held = Vec::with_capacity(keys.len());
    let deadline = tokio::time::Instant::now() + request.at_most;
    for key in keys {
        let path = request.folder.join(format!("{key}.lock"));
        let failed = |source| LockError::File {
            path: path.clone(),
            source,
        };
        let mut file = open(&request.folder, &path).map_err(failed)?;
        let mut told = String::new();
        while !attempt(&file, request.shared).map_err(failed)? {
            let holder = holder(&path);
            if tokio::time::Instant::now() >= deadline {
                return Err(LockError::Taken { key, holder });
            }
            if holder != told {
                say(&format!("waiting for {holder}, which measures on `{key}`"));
                told = holder;
            }
            tokio::select! {
                () = tokio::time::sleep(TRY_EVERY) => {}
                () = stop.pressed() => return Err(LockError::Interrupted),
            }
        }
        let _ = sign(&mut file, &request.who);
        held.push(file);
    }
    Ok(Locks(held))
}

fn attempt(file: &File, shared: bool) -> io::Result<bool> {
    let tried = if shared {
        file.try_lock_shared()
    } else {
        file.try_lock()
    };
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Opens the file for everybody on the machine; whoever comes first makes it.
fn open(folder: &Path, path: &Path) -> io::Result<File> {
    // Some systems refuse to create what another user has made in a folder like this.
    match File::options().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    if !folder.is_dir() {
        std::fs::create_dir_all(folder)?;
        for_everybody(folder, 0o1777)?;
    }
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    for_everybody(path, 0o666)?;
    Ok(file)
}

#[cfg(unix)]
fn for_everybody(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn for_everybody(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

fn sign(file: &mut File, who: &str) -> io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(who.as_bytes())
}

/// Who holds a lock, as it says itself.
fn holder(path: &Path) -> String {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(200).read_to_string(&mut text));
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let plain: String = plain.collect();
    if read.is_err() || plain.trim().is_empty() {
        "a process that has not said which".to_owned()
    } else {
        plain.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(folder: &Path, who: &str, shared: bool) -> LockRequest {
        LockRequest {
            folder: folder.join("locks"),
            who: who.to_owned(),
            shared,
            at_most: Duration::ZERO,
        }
    }

    async fn take(request: &LockRequest) -> Result<Locks, LockError> {
        let keys = ["cpu", "port-1"].map(str::to_owned).into();
        lock(keys, request, |_| {}, Stop::never()).await
    }

    #[test]
    fn only_what_runs_here_is_locked() {
        let urls =
            |urls: &[&str]| TargetPlace::Urls(urls.iter().map(|u| (*u).to_owned()).collect());
        let keys = |place: TargetPlace| -> Vec<String> { keys_of(&place).into_iter().collect() };
        assert_eq!(
            keys(TargetPlace::Sim {
                words: vec!["demo".to_owned()],
                replicas: 1
            }),
            [""; 0]
        );
        assert_eq!(keys(urls(&["http://gpu-1:8000"])), [""; 0]);
        assert_eq!(keys(urls(&["http://127.0.0.1:8000"])), ["cpu", "port-8000"]);
        assert_eq!(keys(urls(&["https://localhost/x"])), ["cpu", "port-443"]);
        assert_eq!(
            keys(urls(&["http://[::1]:80", "http://gpu-1"])),
            ["cpu", "port-80"]
        );
    }

    #[tokio::test]
    async fn one_at_a_time_and_shards_together() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let first = take(&request(folder, "pid 7", false)).await.unwrap();
        let error = take(&request(folder, "pid 8", false)).await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("holds `cpu` of this machine: pid 7;"),
            "{error}"
        );
        drop(first);
        let shards = [
            take(&request(folder, "pid 9", true)).await.unwrap(),
            take(&request(folder, "pid 10", true)).await.unwrap(),
        ];
        assert!(take(&request(folder, "pid 11", false)).await.is_err());
        drop(shards);
        assert!(take(&request(folder, "pid 11", false)).await.is_ok());
    }
}
