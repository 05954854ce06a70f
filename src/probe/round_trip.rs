//! How long the way to the target takes.

use std::time::{Duration, Instant};

use tokio::net::{TcpStream, lookup_host};

use super::client::ProbeClient;
use crate::summary::Network;

/// How often each is tried.
const TRIES: usize = 5;
/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(20);
/// Small where it is answered, and as small where it is not found.
const PATH: &str = "/health";

/// Connects to the target and asks for next to nothing, five times each; `None` where that fails,
/// as it does behind a proxy that alone reaches the target.
pub async fn network(client: &ProbeClient) -> Option<Network> {
    tokio::time::timeout(LIMIT, measured(client)).await.ok()?
}

async fn measured(client: &ProbeClient) -> Option<Network> {
    let (host, port) = client.authority()?;
    // Names are looked up once, by a client that is under load.
    let address = lookup_host((host.as_str(), port)).await.ok()?.next()?;
    let (mut connects, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..TRIES {
        let began = now();
        let connection = TcpStream::connect(address).await.ok()?;
        connects.push(began.elapsed());
        drop(connection);
    }
    for _ in 0..TRIES {
        let began = now();
        answers.push(client.time_to_headers(PATH, || began.elapsed()).await?);
    }
    connects.sort_unstable();
    Some(Network {
        connect_s: connects[TRIES / 2].as_secs_f64(),
        rtt_s: answers.into_iter().min()?.as_secs_f64(),
    })
}

#[expect(clippy::disallowed_methods, reason = "the clock of a round trip")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Access;

    #[tokio::test]
    async fn a_server_that_takes_its_time_has_a_longer_round_trip() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

        const SLOW: Duration = Duration::from_millis(20);
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    while let Ok(1..) = socket.read(&mut [0; 4096]).await {
                        tokio::time::sleep(SLOW).await;
                        let answer = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
                        let _ = socket.write_all(answer).await;
                    }
                });
            }
        });
        let client = ProbeClient::new(&base, &Access::default()).unwrap();
        let network = network(&client).await.unwrap();
        assert!(network.rtt_s >= SLOW.as_secs_f64(), "{network:?}");
        assert!(network.connect_s > 0.0, "{network:?}");
    }

    #[tokio::test]
    async fn nobody_there_is_no_network() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let base = format!("http://127.0.0.1:{port}");
        let client = ProbeClient::new(&base, &Access::default()).unwrap();
        assert_eq!(network(&client).await, None);
    }
}
