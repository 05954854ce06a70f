//! Percentages as arguments.

use crate::unit::Share;

/// Reads `5%` as 0.05.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(Share::Percent(share)) => Ok(share),
        Ok(Share::Points(_)) => {
            Err("is a difference of proportions; write it like `5%`".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}
