//! Which stages a cell speaks about.

use super::{Cell, Kind};

impl Cell {
    /// Whether it speaks about a stage of this name: `sweep/max_goodput` does about `sweep@8`.
    pub fn is_of(&self, stage: &str) -> bool {
        match (self.metric.metric().kind(), &self.stage) {
            (_, None) => true,
            (Kind::OfSweep, Some(sweep)) => stage
                .rsplit_once('@')
                .is_some_and(|(of, _)| of == sweep.as_str()),
            (
                Kind::Distribution
                | Kind::Rate
                | Kind::Energy
                | Kind::OfEvents
                | Kind::Proportion
                | Kind::OfRun,
                Some(name),
            ) => name == stage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_a_sweep_is_of_its_steps_and_any_other_of_its_stage() {
        let is_of = |cell: &str, stage: &str| cell.parse::<Cell>().unwrap().is_of(stage);
        assert!(is_of("sweep/max_goodput", "sweep@8"));
        assert!(!is_of("sweep/max_goodput", "sweep"));
        assert!(!is_of("sweep/max_goodput", "wide-sweep@8"));
        assert!(is_of("sweep@8/goodput", "sweep@8"));
        assert!(!is_of("sweep/goodput", "sweep@8"));
        assert!(is_of("*/error_ratio", "sweep@8"));
    }
}
