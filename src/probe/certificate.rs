//! How long an encrypted target's certificate is good for.

use std::time::SystemTime;

use x509_parser::parse_x509_certificate;

use super::client::ProbeClient;

const DAY_S: f64 = 86_400.0;

/// Days until the target's certificate ends; `None` where it has none, or does not answer.
pub async fn certificate_days(client: &ProbeClient) -> Option<f64> {
    let certificate = client.certificate("/v1/models").await?;
    let ends_s = ends(&certificate)? as f64;
    let now = wall().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some((ends_s - now.as_secs_f64()) / DAY_S)
}

/// When a certificate (DER) ends, in seconds since 1970; `None` where it is none.
fn ends(der: &[u8]) -> Option<i64> {
    let (_, certificate) = parse_x509_certificate(der).ok()?;
    Some(certificate.validity().not_after.timestamp())
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long is left depends on the date"
)]
fn wall() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_says_when_it_ends() {
        let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(2030, 1, 2);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        // 21,916 days after 1970-01-01.
        assert_eq!(ends(certificate.der()), Some(21_916 * 86_400));
        assert_eq!(ends(b"none"), None);
    }
}
