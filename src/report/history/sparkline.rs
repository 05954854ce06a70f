//! A series in one line of characters.

/// What stands at one place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bar {
    /// A value.
    Value(f64),
    /// Worse than any value.
    Failed,
}

/// Levels from low to high, and what stands for a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Glyphs {
    levels: [char; 8],
    failed: char,
}

impl Glyphs {
    /// Blocks.
    pub(super) const BLOCKS: Self = Self {
        levels: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        failed: '×',
    };
    /// For terminals that know no others, in the order of their ink.
    pub(super) const ASCII: Self = Self {
        levels: ['.', ':', '-', '=', '+', '*', '#', '@'],
        failed: 'x',
    };
}

/// Values that scatter by less than this share of the largest are drawn lower than full height, so
/// that noise does not look like change.
const LEAST_SPAN: f64 = 0.1;

/// A character a place, oldest first; of more than `width` each character is the mean of neighbours,
/// and a failure among them shows.
///
/// `[1, 2, 3]` in blocks is `▁▄█`, or `▁▅█` where the middle rounds up.
pub(super) fn sparkline(bars: &[Bar], width: usize, glyphs: Glyphs) -> String {
    let width = width.max(1);
    let columns = bars.len().min(width);
    let places: Vec<Bar> = (0..columns)
        .map(|column| {
            let from = column * bars.len() / columns;
            let to = (column + 1) * bars.len() / columns;
            together(&bars[from..to])
        })
        .collect();
    let values = || {
        places.iter().filter_map(|bar| match bar {
            Bar::Value(value) => Some(*value),
            Bar::Failed => None,
        })
    };
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let span = (high - low).max(LEAST_SPAN * high.abs().max(low.abs()));
    places
        .iter()
        .map(|bar| match bar {
            Bar::Failed => glyphs.failed,
            Bar::Value(_) if span <= 0.0 => glyphs.levels[0],
            Bar::Value(value) => {
                let level = ((value - low) / span * 7.0).round() as usize;
                glyphs.levels[level.min(7)]
            }
        })
        .collect()
}

fn together(bars: &[Bar]) -> Bar {
    let mut sum = 0.0;
    for bar in bars {
        match bar {
            Bar::Value(value) => sum += value,
            Bar::Failed => return Bar::Failed,
        }
    }
    Bar::Value(sum / bars.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(values: &[f64], width: usize, glyphs: Glyphs) -> String {
        let bars: Vec<Bar> = values.iter().map(|value| Bar::Value(*value)).collect();
        sparkline(&bars, width, glyphs)
    }

    #[test]
    fn heights_follow_values_and_noise_stays_low() {
        let ramp: Vec<f64> = (1..=8).map(f64::from).collect();
        assert_eq!(drawn(&ramp, 20, Glyphs::BLOCKS), "▁▂▃▄▅▆▇█");
        assert_eq!(drawn(&ramp, 20, Glyphs::ASCII), ".:-=+*#@");
        assert_eq!(drawn(&[100.0, 101.0, 100.5], 20, Glyphs::BLOCKS), "▁▂▁");
        assert_eq!(drawn(&[0.0, 0.0], 20, Glyphs::BLOCKS), "▁▁");
        assert_eq!(drawn(&[], 20, Glyphs::BLOCKS), "");
    }

    #[test]
    fn many_places_are_drawn_together_and_a_failure_stays_visible() {
        let ramp: Vec<f64> = (0..80).map(f64::from).collect();
        assert_eq!(drawn(&ramp, 8, Glyphs::BLOCKS), "▁▂▃▄▅▆▇█");
        let mut bars = vec![Bar::Value(1.0); 40];
        bars[17] = Bar::Failed;
        let drawn = sparkline(&bars, 10, Glyphs::BLOCKS);
        assert_eq!(drawn.chars().count(), 10);
        assert_eq!(drawn.chars().filter(|c| *c == '×').count(), 1);
    }
}
