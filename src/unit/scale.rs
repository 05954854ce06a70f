//! Numbers as text for people: one prefix and enough digits for a row of values.

/// What a value counts, which decides how it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds: printed as µs, ms or s.
    Seconds,
    /// Requests per second.
    RequestsPerSecond,
    /// Tokens per second.
    TokensPerSecond,
    /// Tokens per joule.
    TokensPerJoule,
    /// Joules.
    Joules,
    /// A proportion from 0 to 1: printed as a percentage.
    Proportion,
}

impl Unit {
    /// The unit as a word of data, whose values are kept in it: `seconds`, `requests_per_second`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::RequestsPerSecond => "requests_per_second",
            Self::TokensPerSecond => "tokens_per_second",
            Self::TokensPerJoule => "tokens_per_joule",
            Self::Joules => "joules",
            Self::Proportion => "ratio",
        }
    }
}

/// A row of values in one unit, all at one scale, with the unit written out.
///
/// The scale is chosen for the largest value: `[0.012, 0.3]` seconds become `12.0 ms` and
/// `300.0 ms`. An infinite value prints as `∞`.
pub fn row<const N: usize>(unit: Unit, values: [f64; N]) -> [String; N] {
    let largest = values
        .iter()
        .copied()
        .filter(|v| v.is_finite())
        .fold(0.0_f64, |a, v| a.max(v.abs()));
    let (factor, suffix) = prefix(unit, largest);
    let digits = match largest * factor {
        v if v >= 1000.0 || v == 0.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    values.map(|value| {
        if value.is_infinite() {
            return "∞".to_owned();
        }
        format!("{:.digits$}{suffix}", value * factor)
    })
}

/// The factor and the text of the prefix that suits the largest value.
fn prefix(unit: Unit, largest: f64) -> (f64, &'static str) {
    match unit {
        Unit::Seconds if largest >= 10.0 => (1.0, " s"),
        Unit::Seconds if largest >= 1e-3 => (1e3, " ms"),
        Unit::Seconds => (1e6, " µs"),
        Unit::RequestsPerSecond => (1.0, " req/s"),
        Unit::TokensPerSecond => (1.0, " tok/s"),
        Unit::TokensPerJoule => (1.0, " tok/J"),
        Unit::Joules => (1.0, " J"),
        Unit::Proportion => (100.0, " %"),
    }
}

/// Ticks of an axis at one scale, and their unit; each with as many digits as tell it apart.
///
/// `[0, 0.05, 0.1]` seconds are `0`, `50`, `100` and ` ms`. Positive ticks that span over 20 times
/// their least have each their own digits: `0.5`, `50`.
pub fn axis(unit: Unit, ticks: &[f64]) -> (Vec<String>, String) {
    let largest = ticks
        .iter()
        .fold(0.0_f64, |most, tick| most.max(tick.abs()));
    let least = ticks
        .iter()
        .fold(f64::INFINITY, |least, tick| least.min(*tick));
    let (factor, suffix) = prefix(unit, largest);
    let wide = least > 0.0 && largest > 20.0 * least;
    let needed = |tick: f64| -> usize {
        let size = if wide { tick } else { largest } * factor;
        let value = tick * factor;
        (0..6)
            .find(|digits| {
                let shift = 10_f64.powi(*digits);
                ((value * shift).round() / shift - value).abs() <= 1e-6 * size.abs()
            })
            .unwrap_or(6) as usize
    };
    let shared = ticks.iter().map(|tick| needed(*tick)).max().unwrap_or(0);
    let texts = ticks.iter().map(|tick| {
        let digits = if wide { needed(*tick) } else { shared };
        format!("{:.digits$}", tick * factor + 0.0)
    });
    (texts.collect(), suffix.to_owned())
}

/// One value with its unit.
pub fn value(unit: Unit, value: f64) -> String {
    let [text] = row(unit, [value]);
    text
}

/// A signed relative change: 0.312 is `+31.2 %`.
pub fn change(ratio: f64) -> String {
    if ratio.is_infinite() {
        return if ratio > 0.0 {
            "+∞".to_owned()
        } else {
            "−∞".to_owned()
        };
    }
    signed(ratio * 100.0, " %")
}

/// A signed relative change as a tick of an axis: 0.05 is `+5 %`, 0.005 `+0.5 %`.
pub fn change_tick(ratio: f64) -> String {
    let percent = (ratio * 1e5).round() / 1e3;
    let sign = match percent {
        p if p > 0.0 => "+",
        p if p < 0.0 => "−",
        _ => "",
    };
    format!("{sign}{} %", percent.abs())
}

/// A signed difference of proportions: −0.0123 is `−1.23 pp`.
pub fn points(difference: f64) -> String {
    signed(difference * 100.0, " pp")
}

fn signed(value: f64, suffix: &str) -> String {
    let digits = if value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else {
        2
    };
    let text = format!("{:.digits$}", value.abs());
    // What rounds to zero has no sign.
    let sign = match value {
        _ if text.bytes().all(|b| matches!(b, b'0' | b'.')) => "",
        v if v < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{text}{suffix}")
}

/// A mean of counts: 41.27 is `41.3`.
pub fn mean(value: f64) -> String {
    format!("{value:.1}")
}

/// A count with thousands separated: 12,345.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An amount of money or of GPU hours: two decimals, and below a tenth two digits, as in `3.50` and
/// `0.017`.
pub fn amount(value: f64) -> String {
    /// More of them tell nothing.
    const MOST: usize = 6;
    let zeros = if value > 0.0 && value < 0.1 {
        (-value.log10()).floor() as usize
    } else {
        0
    };
    format!("{value:.*}", (zeros + 2).min(MOST))
}

/// A stretch of time for people: `4.2 s`, `12 min`, `2 h 05 min`.
pub fn elapsed(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.1} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => {
            let minutes = (s / 60.0).round() as u64;
            format!("{} h {:02} min", minutes / 60, minutes % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_amounts_keep_two_digits() {
        assert_eq!(
            [0.0, 3.5, 0.1, 0.017, 0.0052, 1e-9].map(amount),
            ["0.00", "3.50", "0.10", "0.017", "0.0052", "0.000000"]
        );
    }

    #[test]
    fn a_row_shares_one_scale() {
        assert_eq!(row(Unit::Seconds, [0.012, 0.3]), ["12.0 ms", "300.0 ms"]);
        assert_eq!(row(Unit::Seconds, [12.0, 0.5]), ["12.00 s", "0.50 s"]);
        assert_eq!(row(Unit::Seconds, [0.000_25]), ["250.0 µs"]);
        assert_eq!(row(Unit::Proportion, [0.981]), ["98.10 %"]);
        assert_eq!(row(Unit::Proportion, [0.0]), ["0 %"]);
        assert_eq!(row(Unit::Seconds, [f64::INFINITY, 0.02]), ["∞", "20.00 ms"]);
    }

    #[test]
    fn ticks_share_a_scale_and_have_the_digits_that_they_need() {
        let (texts, unit) = axis(Unit::Seconds, &[0.0, 0.05, 0.1]);
        assert_eq!(
            (texts.join(" "), unit.as_str()),
            ("0 50 100".to_owned(), " ms")
        );
        let (texts, _) = axis(Unit::Seconds, &[0.0, 0.0005, 0.001, 0.0015]);
        assert_eq!(texts, ["0.0", "0.5", "1.0", "1.5"]);
        let (texts, unit) = axis(Unit::Seconds, &[0.5, 5.0, 50.0]);
        assert_eq!(
            (texts.join(" "), unit.as_str()),
            ("0.5 5 50".to_owned(), " s")
        );
        let (texts, unit) = axis(Unit::Proportion, &[0.0, 0.002, 0.004]);
        assert_eq!(
            (texts.join(" "), unit.as_str()),
            ("0.0 0.2 0.4".to_owned(), " %")
        );
    }

    #[test]
    fn changes_carry_their_sign() {
        assert_eq!(change(0.312), "+31.2 %");
        assert_eq!(change(-0.05), "−5.00 %");
        assert_eq!(points(-0.0123), "−1.23 pp");
        assert_eq!(points(-0.000_001), "0.00 pp");
    }

    #[test]
    fn counts_and_times_read_easily() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(elapsed(7500.0), "2 h 05 min");
    }
}
