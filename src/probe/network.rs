//! Where the target is, seen from here, and what stands between.

use std::net::{IpAddr, UdpSocket};

use super::client::ProbeClient;
use super::{Seen, Source};
use crate::access::is_loopback;

/// Where the target is, seen from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    /// Over this machine's loopback, or what is forwarded there.
    Loopback,
    /// At an address of this machine.
    SameHost,
    /// Over a network.
    Remote,
}

impl Location {
    const fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::SameHost => "same host",
            Self::Remote => "remote",
        }
    }
}

/// Where a client's questions go; `None` where the target's name is not resolved here.
pub(super) async fn location(client: &ProbeClient) -> Option<Location> {
    let (host, port) = client.authority()?;
    if is_loopback(&host) {
        return Some(Location::Loopback);
    }
    let addresses = tokio::net::lookup_host((host, port)).await.ok()?;
    let addresses: Vec<_> = addresses.map(|address| address.ip()).collect();
    // Only an address of this machine can be bound.
    let is_ours = |address: &IpAddr| UdpSocket::bind((*address, 0)).is_ok();
    Some(match &addresses[..] {
        [] => return None,
        some if some.iter().all(IpAddr::is_loopback) => Location::Loopback,
        some if some.iter().any(is_ours) => Location::SameHost,
        _ => Location::Remote,
    })
}

/// Whether the target is on this machine, or at least seems to be: what is forwarded to its loopback
/// can't be told from it.
pub async fn is_here(client: &ProbeClient) -> bool {
    let location = location(client).await;
    matches!(location, Some(Location::Loopback | Location::SameHost))
}

/// Headers by which a gateway names itself: those that only gateways write, then the server's.
const HEADERS: [&str; 5] = [
    "via",
    "x-litellm-version",
    "x-envoy-upstream-service-time",
    "x-kong-proxy-latency",
    "server",
];

/// Servers that stand in front of others.
const GATEWAYS: [&str; 12] = [
    "nginx",
    "openresty",
    "envoy",
    "istio",
    "haproxy",
    "traefik",
    "caddy",
    "kong",
    "cloudflare",
    "apache",
    "litellm",
    "awselb",
];

/// A gateway that an answer names; `None` where none does, though one may be there.
pub(super) async fn gateway(client: &ProbeClient) -> Option<String> {
    let headers = client.headers(Source::Models.path(), &HEADERS).await;
    headers.iter().find_map(|(name, value)| named(name, value))
}

fn named(header: &str, value: &str) -> Option<String> {
    match header {
        "via" => Some(value.to_owned()),
        "x-litellm-version" => Some(format!("litellm {value}")),
        "x-envoy-upstream-service-time" => Some("envoy".to_owned()),
        "x-kong-proxy-latency" => Some("kong".to_owned()),
        _ => {
            let lower = value.to_lowercase();
            let known = GATEWAYS.iter().any(|gateway| lower.contains(gateway));
            known.then(|| value.to_owned())
        }
    }
}

/// The `network` pins.
pub(super) fn pins(location: Option<Location>, gateway: Option<String>) -> Vec<Seen> {
    let location = location.and_then(|it| Seen::new("network.location", it.name(), "its address"));
    let gateway = gateway.and_then(|it| Seen::new("network.gateway", it, "its headers"));
    location.into_iter().chain(gateway).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Access;

    async fn of(base: &str) -> Option<Location> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        location(&ProbeClient::new(base, &Access::default()).unwrap()).await
    }

    #[tokio::test]
    async fn addresses_of_this_machine_are_told_from_others() {
        assert_eq!(of("http://localhost:80").await, Some(Location::Loopback));
        assert_eq!(of("http://[::1]:80").await, Some(Location::Loopback));
        // Of the documentation's network, which no machine has.
        assert_eq!(of("http://192.0.2.1:80").await, Some(Location::Remote));
    }

    #[test]
    fn only_gateways_are_gateways() {
        assert_eq!(named("server", "uvicorn"), None);
        assert_eq!(named("server", "llama.cpp"), None);
        assert_eq!(named("server", "nginx/1.27").as_deref(), Some("nginx/1.27"));
        assert_eq!(named("via", "1.1 proxy").as_deref(), Some("1.1 proxy"));
        let envoy = named("x-envoy-upstream-service-time", "4");
        assert_eq!(envoy.as_deref(), Some("envoy"));
    }
}
