//! How the rate of an open-loop stage runs over its window.
//!
//! Requests are placed by their cumulative count Λ(t), the integral of the rate: whatever process has
//! mean gap 1 becomes one of this rate when each of its instants `u` moves to Λ⁻¹(u). Both functions
//! are closed forms of exact operations, so an instant is the same on every machine.

use std::fmt;

use serde::Serialize;

use super::stage::{Arrival, ArrivalProcess};
use super::think::Think;
use crate::unit::{Nanos, Rps, scale};

/// How the rate of an open-loop stage runs over its window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateProfile {
    /// The same all the time.
    Steady(Rps),
    /// From one rate to another, over the whole window.
    Ramp {
        /// The rate at the window's start.
        from: Rps,
        /// The rate at its end.
        to: Rps,
        /// In so many equal steps, the first at `from` and the last at `to`; `None` is a line.
        steps: Option<u32>,
    },
    /// A base rate with bursts on it.
    Burst {
        /// The rate between bursts.
        base: Rps,
        /// What a burst adds to it.
        added: Rps,
        /// From the start of one burst to the start of the next; the first starts after one such
        /// time.
        every: Nanos,
        /// How long a burst lasts: less than `every`.
        lasting: Nanos,
    },
}

impl RateProfile {
    /// The rate that the window starts with, which is that of the warm-up.
    pub const fn first(self) -> Rps {
        match self {
            Self::Steady(rate) | Self::Ramp { from: rate, .. } | Self::Burst { base: rate, .. } => {
                rate
            }
        }
    }

    /// The highest rate, per second.
    pub fn peak(self) -> f64 {
        match self {
            Self::Steady(rate) => rate.get(),
            Self::Ramp { from, to, .. } => from.get().max(to.get()),
            Self::Burst { base, added, .. } => base.get() + added.get(),
        }
    }

    /// Whether the rate is the same all the time.
    pub const fn is_steady(self) -> bool {
        matches!(self, Self::Steady(_))
    }

    /// Requests in a window of so many seconds, in expectation.
    ///
    /// 1/s to 20/s over 60 s are 630; 2/s with bursts of 20/s for 2 s every 30 s are 320 over 100 s.
    pub fn count(self, window: f64) -> f64 {
        match self {
            Self::Steady(rate) => rate.get() * window,
            // Steps and line have the same mean.
            Self::Ramp { from, to, .. } => f64::midpoint(from.get(), to.get()) * window,
            Self::Burst {
                base,
                added,
                every,
                lasting,
            } => {
                let (every, lasting) = (every.as_secs_f64(), lasting.as_secs_f64());
                let since_first = (window - every).max(0.0);
                let whole = libm::floor(since_first / every);
                let bursting = whole * lasting + (since_first - whole * every).min(lasting);
                base.get() * window + added.get() * bursting
            }
        }
    }

    /// Seconds of a window with so many requests in expectation: the inverse of [`Self::count`].
    pub fn window(self, count: f64) -> f64 {
        match self {
            Self::Steady(rate) => count / rate.get(),
            Self::Ramp { from, to, .. } => count / f64::midpoint(from.get(), to.get()),
            // It does not depend on where the window ends.
            Self::Burst { .. } => self.instant(count, f64::INFINITY),
        }
    }

    /// The instant at which a window of so many seconds has had `count` requests: Λ⁻¹, in seconds.
    ///
    /// From next to nothing to 20/s over 10 s are 100 requests; half of them come in the last 2.9 s.
    pub fn instant(self, count: f64, window: f64) -> f64 {
        match self {
            Self::Steady(rate) => count / rate.get(),
            Self::Ramp {
                from,
                to,
                steps: None,
            } => {
                let (from, slope) = (from.get(), (to.get() - from.get()) / window);
                // From Λ(t) = from·t + slope·t²/2, in the form that loses no digits; beyond the
                // window a falling line may have no such instant.
                let root = libm::sqrt((from * from + 2.0 * slope * count).max(0.0));
                2.0 * count / (from + root)
            }
            Self::Ramp {
                from,
                to,
                steps: Some(steps),
            } => {
                let last = steps.saturating_sub(1).max(1);
                let length = window / f64::from(steps);
                let mut rest = count;
                let mut step = 0;
                loop {
                    let share = f64::from(step) / f64::from(last);
                    let rate = from.get() + (to.get() - from.get()) * share;
                    if step + 1 >= steps || rest < rate * length {
                        return f64::from(step) * length + rest / rate;
                    }
                    rest -= rate * length;
                    step += 1;
                }
            }
            Self::Burst {
                base,
                added,
                every,
                lasting,
            } => {
                let (base, added) = (base.get(), added.get());
                let (every, lasting) = (every.as_secs_f64(), lasting.as_secs_f64());
                let before = base * every;
                if count < before {
                    return count / base;
                }
                let in_burst = (base + added) * lasting;
                let in_period = before + added * lasting;
                let periods = libm::floor((count - before) / in_period);
                let rest = (count - before - periods * in_period).max(0.0);
                let within = if rest < in_burst {
                    rest / (base + added)
                } else {
                    lasting + (rest - in_burst) / base
                };
                every * (1.0 + periods) + within
            }
        }
    }
}

impl fmt::Display for RateProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steady(rate) => write!(f, "{rate}"),
            Self::Ramp {
                from,
                to,
                steps: None,
            } => write!(f, "{from} to {to}"),
            Self::Ramp {
                from,
                to,
                steps: Some(steps),
            } => write!(f, "{from} to {to} in {steps} steps"),
            Self::Burst {
                base,
                added,
                every,
                lasting,
            } => write!(f, "{base}, {added} more for {lasting} every {every},"),
        }
    }
}

impl fmt::Display for ArrivalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Poisson => f.write_str("poisson"),
            Self::Gamma { burstiness } => write!(f, "gamma {burstiness}"),
        }
    }
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { users, think, .. } => {
                let plural = if *users == 1 { "" } else { "s" };
                write!(f, "closed, {} user{plural}", scale::count((*users).into()))?;
                match *think {
                    Think::NONE => Ok(()),
                    think => write!(f, " thinking {think}"),
                }
            }
            Self::Open { profile, process } => write!(f, "open, {profile} {process}"),
            Self::Trace(replay) => {
                let speed = replay.selection.speed;
                f.write_str("trace")?;
                if (speed - 1.0).abs() < f64::EPSILON {
                    return Ok(());
                }
                write!(f, ", {speed}× as fast")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate(per_second: f64) -> Rps {
        Rps::try_new(per_second).unwrap()
    }

    fn ramp(from: f64, to: f64, steps: Option<u32>) -> RateProfile {
        RateProfile::Ramp {
            from: rate(from),
            to: rate(to),
            steps,
        }
    }

    fn burst() -> RateProfile {
        RateProfile::Burst {
            base: rate(2.0),
            added: rate(20.0),
            every: Nanos::from_secs(30),
            lasting: Nanos::from_secs(2),
        }
    }

    #[test]
    fn counts_are_the_areas_under_the_rate() {
        assert!((ramp(1.0, 20.0, None).count(60.0) - 630.0).abs() < 1e-9);
        assert!((ramp(1.0, 20.0, Some(4)).count(60.0) - 630.0).abs() < 1e-9);
        // Bursts at 30, 60 and 90 s, 2 s each.
        for (window, count) in [
            (30.0, 60.0),
            (31.0, 82.0),
            (45.0, 130.0),
            (60.0, 160.0),
            (100.0, 320.0),
        ] {
            assert!((burst().count(window) - count).abs() < 1e-9, "{window}");
            assert!((burst().window(count) - window).abs() < 1e-9, "{window}");
        }
        assert!((burst().peak() - 22.0).abs() < 1e-12);
    }

    #[test]
    fn a_line_from_nearly_nothing_fills_late() {
        let half = ramp(1e-9, 20.0, None).instant(50.0, 10.0);
        assert!((half - 10.0 / 2.0_f64.sqrt()).abs() < 1e-6, "{half}");
    }

    #[test]
    fn steps_are_even_inside() {
        // 10 s each at 1/s, 2/s, 3/s.
        let steps = ramp(1.0, 3.0, Some(3));
        for (count, at) in [
            (0.0, 0.0),
            (10.0, 10.0),
            (20.0, 15.0),
            (30.0, 20.0),
            (45.0, 25.0),
        ] {
            assert!((steps.instant(count, 30.0) - at).abs() < 1e-9, "{count}");
        }
    }

    fn any_profile() -> impl Strategy<Value = RateProfile> {
        let rate = || (0.01..1000.0).prop_map(|per_second| Rps::try_new(per_second).unwrap());
        prop_oneof![
            rate().prop_map(RateProfile::Steady),
            (rate(), rate(), prop::option::of(2..20_u32))
                .prop_map(|(from, to, steps)| RateProfile::Ramp { from, to, steps }),
            (rate(), rate(), 1..60_000_u64, 0.01..0.99).prop_map(|(base, added, every, share)| {
                RateProfile::Burst {
                    base,
                    added,
                    every: Nanos::from_millis(every),
                    lasting: Nanos::new((every as f64 * share * 1e6) as u64),
                }
            }),
        ]
    }

    proptest! {
        #[test]
        fn instants_rise_to_the_windows_end(profile in any_profile(), window in 0.1..10_000.0) {
            let count = profile.count(window);
            let end = profile.instant(count, window);
            prop_assert!((end - window).abs() < 1e-6 * window, "{end} {window}");
            let back = profile.window(count);
            prop_assert!((back - window).abs() < 1e-6 * window, "{back} {window}");
            let mut before = 0.0;
            for part in 0..=40 {
                let at = profile.instant(count * f64::from(part) / 40.0, window);
                prop_assert!(at >= before, "{at} {before}");
                before = at;
            }
        }
    }
}
