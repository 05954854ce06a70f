//! Certificates to what encrypted connections are made with.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls_platform_verifier::Verifier;

use super::endpoint::ClientError;
use crate::access::Access;
use crate::spec::HttpVersion;

/// The machine's certificates and those that the spec names.
pub(super) fn config(access: &Access) -> Result<ClientConfig, ClientError> {
    let setup = |reason: String| ClientError::Setup { reason };
    let provider = CryptoProvider::get_default()
        .ok_or_else(|| setup("the process has no TLS provider".to_owned()))?;
    let extra = match &access.ca {
        None => Vec::new(),
        Some(pem) => certificates("ca", pem)?,
    };
    let verifier = Verifier::new_with_extra_roots(extra, Arc::clone(provider))
        .map_err(|error| setup(error.to_string()))?;
    let builder = ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| setup(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match &access.identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let wrong = |field, reason: String| ClientError::Tls { field, reason };
            let chain = certificates("cert", &identity.cert)?;
            let key = PrivateKeyDer::from_pem_slice(&identity.key)
                .map_err(|error| wrong("key", error.to_string()))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| wrong("cert", error.to_string()))?
        }
    };
    config.alpn_protocols = match access.http {
        HttpVersion::Http1 => vec![b"http/1.1".to_vec()],
        HttpVersion::Http2 => vec![b"h2".to_vec()],
    };
    Ok(config)
}

fn certificates(
    field: &'static str,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, ClientError> {
    let wrong = |reason: String| ClientError::Tls { field, reason };
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(error.to_string()))?;
    if found.is_empty() {
        return Err(wrong("it holds no certificate".to_owned()));
    }
    Ok(found)
}
