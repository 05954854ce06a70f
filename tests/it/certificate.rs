//! How long an encrypted target's certificate is good for, by `doctor`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::{Project, SMALL};

/// A server that offers one model and nothing else, with a certificate that ends so many days from now;
/// its URL, and the authority that signed it (PEM).
fn encrypted(days: u64) -> (String, String) {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "a certificate ends by the calendar"
    )]
    let now = SystemTime::now();
    // An hour more, so that the days are whole when it is looked at.
    params.not_after = (now + Duration::from_secs(days * 86_400 + 3600)).into();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        )
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = BufReader::new(StreamOwned::new(connection, socket.unwrap()));
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap_or(0) > 0 {}
            let body = r#"{"data": [{"id": "tiny"}]}"#;
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            );
            let stream = stream.get_mut();
            let _ = stream.write_all(answer.as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    (url, issuer.pem())
}

fn checked(days: u64) -> String {
    let (url, ca) = encrypted(days);
    let target = format!("url: '{url}', model: tiny, tls: {{ca: ca.pem}}");
    let project = Project::with_spec(&SMALL.replace("sim: SIM", &target));
    std::fs::write(project.path("ca.pem"), ca).unwrap();
    std::fs::write(project.path("here.json"), super::doctor::HERE).unwrap();
    let ran = project.run(&["doctor", "spec.yaml", "--headroom", "here.json", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let mut findings = found["findings"].as_array().unwrap().iter();
    let found = findings.find(|finding| finding["topic"] == "certificate");
    let found = found.unwrap_or_else(|| panic!("{}\n{}", ran.out, ran.err));
    format!(
        "{}: {}",
        found["level"].as_str().unwrap(),
        found["seen"].as_str().unwrap().replace(&url, "HERE")
    )
}

#[test]
fn a_certificate_that_ends_soon_is_noted() {
    assert_eq!(checked(13), "note: that of `HERE` ends in 13 days");
    assert_eq!(checked(1), "note: that of `HERE` ends in 1 day");
    assert_eq!(checked(14), "ok: that of `HERE` ends in 14 days");
}
