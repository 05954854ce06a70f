//! Ways to a target: HTTP/2, encryption, replicas, proxies, packed answers, further headers.

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::server::{Do, Server, events, good, head};
use super::*;
use crate::access::Identity;
use crate::ident::Secret;
use crate::plan::Phase;
use crate::sample::Outcome;
use crate::spec::{Compression, HttpVersion};

const ANSWER: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"length\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":2}}\n\n\
    data: [DONE]\n\n";

/// A server of good answers, for one way to speak.
struct Speaker {
    http2: bool,
    /// Streams that it allows on a connection.
    streams: u32,
    tls: Option<TlsAcceptor>,
}

/// Starts it; returns its port and the count of its connections.
async fn speak(speaker: Speaker) -> (u16, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let Speaker { http2, streams, .. } = speaker;
            let tls = speaker.tls.clone();
            tokio::spawn(async move {
                match tls {
                    None => serve(socket, http2, streams).await,
                    Some(tls) => {
                        if let Ok(socket) = tls.accept(socket).await {
                            serve(socket, http2, streams).await;
                        }
                    }
                }
            });
        }
    });
    (port, connections)
}

async fn serve(
    socket: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
    http2: bool,
    streams: u32,
) {
    let service = service_fn(|request: Request<hyper::body::Incoming>| async move {
        assert!(request.uri().path().ends_with("/v1/chat/completions"));
        let answer = Response::builder().header("content-type", "text/event-stream");
        Ok::<_, Infallible>(answer.body(Full::new(Bytes::from(ANSWER))).unwrap())
    });
    let socket = TokioIo::new(socket);
    if http2 {
        let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = builder
            .max_concurrent_streams(streams)
            .serve_connection(socket, service)
            .await;
    } else {
        let _ = hyper::server::conn::http1::Builder::new()
            .serve_connection(socket, service)
            .await;
    }
}

fn all_completed(left: &Left, requests: usize) {
    let measured = left.records.iter();
    let measured = measured.filter(|record| record.phase == Phase::Measured);
    assert_eq!(measured.count(), requests);
    for record in &left.records {
        assert_eq!(record.outcome, Outcome::Completed, "{record:?}");
        assert_eq!(record.events.len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_share_connections_over_http2() {
    let speaker = Speaker {
        http2: true,
        streams: 200,
        tls: None,
    };
    let (port, connections) = speak(speaker).await;
    let mut run = run(closed(16, 200));
    run.access.http = HttpVersion::Http2;
    let left = run.against(&format!("http://127.0.0.1:{port}")).await;
    all_completed(&left, 200);
    let opened = connections.load(Ordering::SeqCst);
    // One a lane.
    let cores = std::thread::available_parallelism().unwrap().get() as u32;
    assert!((1..=cores).contains(&opened), "{opened}");
    assert_eq!(left.observation.connections, Some(u64::from(opened)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_waits_for_a_stream_inside_the_client() {
    let speaker = Speaker {
        http2: true,
        streams: 1,
        tls: None,
    };
    let (port, connections) = speak(speaker).await;
    let mut run = run(closed(8, 64));
    run.access.http = HttpVersion::Http2;
    let left = run.against(&format!("http://127.0.0.1:{port}")).await;
    all_completed(&left, 64);
    // Before a server has said how many it allows, a connection may have taken more.
    assert!(connections.load(Ordering::SeqCst) > 2);
}

/// An authority with what it has signed for a server on this machine and for a client.
struct Authority {
    ca: String,
    server: (CertificateDer<'static>, PrivateKeyDer<'static>),
    client: Identity,
}

fn authority() -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let signed = |names: &[&str]| {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let cert = CertificateParams::new(names)
            .unwrap()
            .signed_by(&key, &issuer)
            .unwrap();
        (cert, key)
    };
    let (server, server_key) = signed(&["127.0.0.1", "localhost"]);
    let (client, client_key) = signed(&["client"]);
    Authority {
        ca: issuer.pem(),
        server: (
            server.der().clone(),
            PrivateKeyDer::Pkcs8(server_key.serialize_der().into()),
        ),
        client: Identity {
            cert: client.pem().into_bytes(),
            key: client_key.serialize_pem().into_bytes(),
        },
    }
}

/// A server that asks for the client's certificate.
fn mutual(authority: &Authority, alpn: &[u8]) -> TlsAcceptor {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(authority.ca.as_bytes()).unwrap())
        .unwrap();
    let verifier = WebPkiClientVerifier::builder(Arc::new(roots))
        .build()
        .unwrap();
    let (cert, key) = &authority.server;
    let mut config = rustls::ServerConfig::builder()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![cert.clone()], key.clone_key())
        .unwrap();
    config.alpn_protocols = vec![alpn.to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_of_the_spec_open_an_encrypted_target() {
    let authority = authority();
    for (http, alpn) in [
        (HttpVersion::Http1, &b"http/1.1"[..]),
        (HttpVersion::Http2, b"h2"),
    ] {
        let speaker = Speaker {
            http2: http == HttpVersion::Http2,
            streams: 10,
            tls: Some(mutual(&authority, alpn)),
        };
        let (port, _) = speak(speaker).await;
        let url = format!("https://127.0.0.1:{port}");
        let with = |ca: Option<&str>, identity: Option<&Identity>| {
            let mut run = run(closed(2, 4));
            run.access = Access {
                ca: ca.map(|ca| ca.as_bytes().to_vec()),
                identity: identity.cloned(),
                http,
                ..Access::default()
            };
            run
        };
        let ca = Some(authority.ca.as_str());
        all_completed(&with(ca, Some(&authority.client)).against(&url).await, 4);
        // Neither an unknown authority nor a client without a certificate gets through.
        for (ca, identity) in [(None, Some(&authority.client)), (ca, None)] {
            let left = with(ca, identity).against(&url).await;
            for record in left.records {
                assert!(record.outcome.kind().is_error(), "{record:?}");
                assert!(record.error.is_some());
            }
        }
    }
}

#[test]
fn what_is_no_certificate_is_refused_by_its_field() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let authority = authority();
    let refused = |access: Access| {
        let endpoint = Endpoint {
            base_urls: vec!["https://127.0.0.1:1".to_owned()],
            api: Api::Chat,
            model: "tiny".to_owned(),
            access,
            extra: BTreeMap::new(),
        };
        Client::new(&endpoint, Nanos::from_secs(1))
            .unwrap_err()
            .to_string()
    };
    let error = refused(Access {
        ca: Some(b"hello".to_vec()),
        ..Access::default()
    });
    assert!(
        error.contains("`tls.ca`: it holds no certificate"),
        "{error}"
    );
    let error = refused(Access {
        identity: Some(Identity {
            key: b"hello".to_vec(),
            ..authority.client
        }),
        ..Access::default()
    });
    assert!(error.contains("`tls.key`"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_get_requests_in_turn() {
    let replicas = [
        Server::start(|_| vec![Do::Write(good())]).await,
        Server::start(|_| vec![Do::Write(good())]).await,
        Server::start(|_| vec![Do::Write(good())]).await,
    ];
    let urls: Vec<&str> = replicas.iter().map(Server::url).collect();
    let left = run(closed(1, 12)).against_all(&urls).await;
    all_completed(&left, 12);
    for replica in &replicas {
        assert_eq!(replica.bodies().len(), 4);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_of_the_spec_go_out_and_never_into_a_record() {
    let server = Server::start(|_| {
        vec![Do::Write(server::response(
            "401 Unauthorized",
            "",
            "route blue-green is closed",
        ))]
    })
    .await;
    let mut run = run(closed(1, 1));
    run.access.headers = vec![("x-route".to_owned(), Secret::new("blue-green".to_owned()))];
    let left = run.against(server.url()).await;
    assert_eq!(server.values("x-route"), ["blue-green"]);
    assert_eq!(
        left.records[0].error.as_deref(),
        Some("route [masked] is closed")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packed_answers_are_read_event_by_event() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut chunks = vec![Do::Write(
        String::from_utf8(head())
            .unwrap()
            .replacen("\r\n\r\n", "\r\ncontent-encoding: gzip\r\n\r\n", 1)
            .into_bytes(),
    )];
    // Each event is flushed by itself, as a proxy that packs a stream does.
    for event in ANSWER.split_inclusive("\n\n") {
        packer.write_all(event.as_bytes()).unwrap();
        packer.flush().unwrap();
        chunks.push(chunk(&std::mem::take(packer.get_mut())));
    }
    chunks.push(chunk(&packer.finish().unwrap()));
    chunks.push(Do::Write(server::end()));
    let server = Server::start(move |_| chunks.clone()).await;
    let mut run = run(closed(1, 2));
    run.access.compression = Compression::Gzip;
    let left = run.against(server.url()).await;
    all_completed(&left, 2);
    assert_eq!(server.values("accept-encoding"), ["gzip", "gzip"]);
    assert_eq!(server.connections(), 1, "read to its end, it serves again");
}

fn chunk(bytes: &[u8]) -> Do {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    Do::Write(chunk)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_packed_in_another_way_fails_with_its_name() {
    let head = String::from_utf8(head()).unwrap().replacen(
        "\r\n\r\n",
        "\r\ncontent-encoding: br\r\n\r\n",
        1,
    );
    let reply = vec![
        Do::Write(head.into_bytes()),
        Do::Write(events(&["x"])),
        Do::Write(server::end()),
    ];
    let record = one(reply).await;
    assert_eq!(record.outcome, Outcome::StreamError);
    assert!(record.error.unwrap().contains("`br`"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_counts_as_one_however_its_page_is_packed() {
    let mut reply = server::response("429 Too Many Requests", "content-encoding: br\r\n", "....");
    let length = reply.len();
    reply[length - 4..].copy_from_slice(&[0x8b, 0x01, 0x80, 0xff]);
    let record = one(vec![Do::Write(reply)]).await;
    assert_eq!(record.outcome, Outcome::Rejected { status: 429 });
    assert_eq!(record.error.as_deref(), Some("429 Too Many Requests"));
}
