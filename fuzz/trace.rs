//! What must hold of any trace; the formats' targets differ in how their files start.

use infergate::trace::{Selection, parse};
use infergate::unit::Nanos;

/// Reads the input as a file that starts so, and as a file of its own.
///
/// The input's first two bytes choose a part of the trace.
pub fn survive(start: &str, input: &[u8]) {
    let (choice, text) = input.split_at(input.len().min(2));
    let text = String::from_utf8_lossy(text);
    let speed = f64::from(choice.first().copied().unwrap_or(9)) / 10.0 + 0.1;
    let keep = f64::from(choice.get(1).copied().unwrap_or(255)) / 256.0 + 0.004;
    for text in [format!("{start}{text}"), text.into_owned()] {
        let Ok(trace) = parse(&text) else { continue };
        let rows = trace.rows.len() as u32;
        assert_eq!(rows + trace.bad + trace.empty, trace.read);
        assert!(trace.rows.is_sorted_by_key(|row| row.at));
        let selection = Selection {
            speed,
            from: Nanos::from_secs(1),
            window: Some(Nanos::from_secs(60)),
            keep,
            limit: Some(100),
        };
        let Some(part) = trace.select(&selection) else {
            continue;
        };
        let left = part.outside + part.thinned + part.beyond_limit;
        assert_eq!(part.rows.len() as u32 + left, rows);
        assert!(part.rows.is_sorted_by_key(|row| row.at));
        assert!(part.rows.iter().all(|row| row.at <= part.span));
    }
}
