//! What the engine itself still holds, by its own metrics.

use std::time::Duration;

use super::metrics::MetricsSource;
use crate::sample::EngineQueue;
use crate::wire::engine_metrics::{EngineReading, Level};

/// How often the engine is asked.
const EVERY: Duration = Duration::from_millis(100);

/// Requests that the engine's metrics say it holds; `None` where they say nothing of it.
fn held(reading: &EngineReading) -> Option<(u64, u64)> {
    // `as` saturates, and no engine holds half a request.
    let count = |level| Some(reading.levels.get(&level)?.value as u64);
    let (running, waiting) = (count(Level::Running), count(Level::Waiting));
    (running.is_some() || waiting.is_some()).then(|| (running.unwrap_or(0), waiting.unwrap_or(0)))
}

/// Waits until the engine holds no request, at most so long; at once where it does not say.
pub async fn drained(metrics: &MetricsSource, at_most: Duration) -> EngineQueue {
    let mut seen = EngineQueue::Unknown {
        why: "no answer in time".to_owned(),
    };
    let wait = async {
        loop {
            let reading = match metrics.read().await {
                Ok(reading) => reading,
                Err(none) => break EngineQueue::Unknown { why: none.why },
            };
            seen = match held(&reading) {
                None => EngineQueue::Unknown {
                    why: "the metrics name no queue that is known".to_owned(),
                },
                Some((0, 0)) => EngineQueue::Empty,
                Some((running, waiting)) => EngineQueue::Backlog { running, waiting },
            };
            if !matches!(seen, EngineQueue::Backlog { .. }) {
                break seen.clone();
            }
            tokio::time::sleep(EVERY).await;
        }
    };
    // An engine is asked once even where nothing may be waited for.
    match tokio::time::timeout(at_most.max(Duration::from_secs(1)), wait).await {
        Ok(queue) => queue,
        Err(_) => seen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::ProbeClient;
    use crate::wire::engine_metrics::read;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    #[test]
    fn each_engine_has_its_names() {
        let held = |text| held(&read(text).unwrap());
        assert_eq!(
            held("vllm:num_requests_running{e=\"0\"} 2\nvllm:num_requests_waiting{e=\"0\"} 5\n"),
            Some((2, 5))
        );
        assert_eq!(
            held("llamacpp:requests_processing 1\nllamacpp:requests_deferred 0\n"),
            Some((1, 0))
        );
        assert_eq!(held("sglang:num_queue_reqs 3\n"), Some((0, 3)));
        assert_eq!(held("sglang:prompt_tokens_total 3\n"), None);
    }

    /// Answers one request after the other with these; the last one stays.
    async fn server(answers: Vec<(u16, String)>) -> MetricsSource {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let mut answers = answers.into_iter().peekable();
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let (status, body) = match answers.len() {
                    1 => answers.peek().cloned().unwrap(),
                    _ => answers.next().unwrap(),
                };
                let mut request = [0; 4096];
                let _ = socket.read(&mut request).await;
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                let _ = socket.write_all(answer.as_bytes()).await;
            }
        });
        let client = ProbeClient::new(&base, &crate::access::Access::default()).unwrap();
        MetricsSource::of(&client, &crate::spec::MetricsPlace::Usual).unwrap()
    }

    fn waiting(n: u32) -> (u16, String) {
        (200, format!("vllm:num_requests_waiting {n}\n"))
    }

    #[tokio::test]
    async fn it_waits_until_the_queue_is_empty() {
        let client = server(vec![waiting(3), waiting(1), waiting(0)]).await;
        let queue = drained(&client, Duration::from_mins(1)).await;
        assert_eq!(queue, EngineQueue::Empty);
    }

    #[tokio::test]
    async fn a_queue_that_stays_is_reported() {
        let client = server(vec![waiting(3)]).await;
        let queue = drained(&client, Duration::ZERO).await;
        let expected = EngineQueue::Backlog {
            running: 0,
            waiting: 3,
        };
        assert_eq!(queue, expected);
    }

    #[tokio::test]
    async fn without_metrics_it_is_unknown_at_once() {
        let client = server(vec![(404, String::new())]).await;
        let queue = drained(&client, Duration::from_mins(1)).await;
        let why = "/metrics answers 404".to_owned();
        assert_eq!(queue, EngineQueue::Unknown { why });
    }
}
