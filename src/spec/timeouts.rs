//! When requests are given up.

use serde::Serialize;

use crate::unit::Nanos;

/// When a request is given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Nanos,
    /// Until the first token; per class, as its default follows from the class's SLO.
    pub first_token: Vec<Nanos>,
    /// Between two token-bearing events.
    pub stall: Nanos,
    /// For the whole request, per class.
    pub total: Vec<Nanos>,
}
