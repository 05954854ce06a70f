//! Requests that the spec itself asks for.

use super::{LONGEST, LONGEST_WAIT, ProbeClient};
use crate::probe::error::ProbeError;

impl ProbeClient {
    /// The status of the answer to a request, and what it says. `to` is a path below the base URL, or a
    /// URL: of another origin than the target's, it gets nothing that proves who we are.
    ///
    /// # Errors
    ///
    /// Where there is no answer.
    pub async fn call(
        &self,
        method: &'static str,
        to: &str,
        body: Option<String>,
    ) -> Result<(u16, String), ProbeError> {
        if !to.starts_with('/') {
            let there = self.elsewhere(to)?;
            return there.exchange(method, to, body).await;
        }
        self.exchange(method, &format!("{}{to}", self.base), body)
            .await
    }

    async fn exchange(
        &self,
        method: &'static str,
        url: &str,
        body: Option<String>,
    ) -> Result<(u16, String), ProbeError> {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap_or_default();
        let mut request = self.http.request(method, url).timeout(LONGEST_WAIT);
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body);
        }
        let unreachable = |error| self.unreachable(error);
        let mut answer = self.authorized(request).send().await.map_err(unreachable)?;
        let mut said = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(unreachable)? {
            said.extend_from_slice(&part);
            if said.len() > LONGEST {
                break;
            }
        }
        let text = String::from_utf8_lossy(&said).into_owned();
        Ok((answer.status().as_u16(), self.access.mask(&text)))
    }
}
