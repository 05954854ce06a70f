//! The server as a process of its own.

use std::future::Future;
use std::io::{Read, Write};

use tokio::sync::oneshot;

use super::{ServeOptions, Server, SimError};

/// Serves until `stop` resolves, `parent` ends or the server dies.
///
/// Prints `listening on http://127.0.0.1:PORT` once it accepts connections, so that a parent
/// process can read the port. `parent` is a stream that ends when the parent process is gone, as
/// standard input does. [`SimError::Died`] where `--die-after` came true: the process is to end at
/// once, without waiting for anything.
pub async fn serve(
    options: ServeOptions,
    out: &mut dyn Write,
    stop: impl Future<Output = ()>,
    parent: Option<Box<dyn Read + Send>>,
) -> Result<(), SimError> {
    let running = Server::start(options).await?;
    writeln!(out, "listening on {}", running.url())
        .and_then(|()| out.flush())
        .map_err(|source| SimError::Output { source })?;
    let died = tokio::select! {
        () = stop => false,
        () = end_of(parent) => false,
        () = running.died() => true,
    };
    if died {
        running.flush_truth()?;
        return Err(SimError::Died);
    }
    running.shutdown().await
}

/// Waits until a stream ends or fails; for ever where there is none.
async fn end_of(stream: Option<Box<dyn Read + Send>>) {
    let Some(mut stream) = stream else {
        return std::future::pending().await;
    };
    let (ended, end) = oneshot::channel();
    // A thread of its own, since a blocked read must not hold up the runtime's end.
    std::thread::spawn(move || {
        let mut buffer = [0; 256];
        while matches!(stream.read(&mut buffer), Ok(1..)) {}
        let _ = ended.send(());
    });
    let _ = end.await;
}

#[cfg(test)]
mod tests {
    use super::super::fault::DieAfter;
    use super::super::{SimOptions, TruthTarget};
    use super::*;
    use crate::unit::Nanos;

    fn options() -> ServeOptions {
        ServeOptions::in_memory(SimOptions::named("test").unwrap())
    }

    #[tokio::test]
    async fn it_prints_its_address_and_ends_when_told() {
        let mut out = Vec::new();
        serve(options(), &mut out, std::future::ready(()), None)
            .await
            .unwrap();
        let line = String::from_utf8(out).unwrap();
        let port = line
            .strip_prefix("listening on http://127.0.0.1:")
            .and_then(|rest| rest.strip_suffix('\n'))
            .and_then(|port| port.parse::<u16>().ok());
        assert!(port.is_some_and(|port| port > 0), "{line}");
    }

    #[tokio::test]
    async fn it_ends_with_its_parent() {
        let (parent, child) = std::io::pipe().unwrap();
        drop(child);
        let never = std::future::pending();
        serve(options(), &mut Vec::new(), never, Some(Box::new(parent)))
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn it_dies_after_its_time_and_keeps_the_truth() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.jsonl");
        let mut options = options();
        options.truth = TruthTarget::File(path.clone());
        options.sim.faults.die_after = Some(DieAfter::Time(Nanos::from_millis(1)));
        let never = std::future::pending();
        let died = serve(options, &mut Vec::new(), never, None).await;
        assert!(matches!(died, Err(SimError::Died)));
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains("--die-after 1ms"));
    }
}
