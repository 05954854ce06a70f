//! How a launched engine came up, in a line.

use crate::summary::{ColdStart, EarlyAnswer};
use crate::unit::scale::{self, Unit};

use super::span::Text;

/// `Cold start: ready after 41.20 s, first request 1900 ms (TTFT 1850 ms), …`.
pub(super) fn line(cold: &ColdStart) -> Text {
    let text =
        Text::of("Cold start: ready after ").figure(scale::value(Unit::Seconds, cold.ready_s));
    let text = answer(text.words(", first request "), &cold.first);
    let text = answer(text.words(", first warm request "), &cold.warm);
    let busy = cold.busy.iter();
    busy.fold(text, |text, what| text.words("; before it, ").prose(what))
}

fn answer(text: Text, answer: &EarlyAnswer) -> Text {
    let time = |seconds: f64| scale::value(Unit::Seconds, seconds);
    match answer {
        EarlyAnswer::Answered { ttft_s, e2e_s } => {
            let text = text.figure(time(*e2e_s));
            match ttft_s {
                Some(ttft_s) => text.words(" (TTFT ").figure(time(*ttft_s)).words(")"),
                None => text,
            }
        }
        EarlyAnswer::Failed { error } => text.words("failed: ").quoted(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cold_start_is_a_line() {
        let cold = ColdStart {
            ready_s: 41.2,
            first: EarlyAnswer::Answered {
                ttft_s: Some(1.85),
                e2e_s: 1.9,
            },
            warm: EarlyAnswer::Failed {
                error: "no answer within 1m".to_owned(),
            },
            busy: vec!["GPU 0 was 40 % busy".to_owned()],
        };
        assert_eq!(
            line(&cold).plain(),
            "Cold start: ready after 41.20 s, first request 1900 ms (TTFT 1850 ms), first warm request \
             failed: no answer within 1m; before it, GPU 0 was 40 % busy"
        );
    }
}
