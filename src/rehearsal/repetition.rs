//! One comparison from its archive to its last look.

use super::{Archive, Draws, Model, Setting};
use crate::stats::moderated::look;
use crate::stats::noise::{GUARDED, LOG_FLOOR, Noise, Prior, is_noisy};
use crate::stats::sequential::{Outlook, PlannedLook, Sequential};
use crate::stats::stored::StoredBaseline;
use crate::stats::variance;

/// Room for one comparison, used again for the next.
pub(super) struct Repetition<'m> {
    model: &'m Model,
    tolerance: f64,
    start: Sequential,
    /// One run's values, by gate: of the baseline and of the candidate.
    runs: [Vec<f64>; 2],
    /// Archived values by gate and session.
    archive: Vec<Vec<Vec<f64>>>,
    /// What is judged, by gate: differences of pairs, or the candidate's runs.
    values: Vec<Vec<f64>>,
    outlooks: Vec<Option<Outlook>>,
}

impl<'m> Repetition<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let gates = model.gates.get();
        let sessions = model.archive.map_or(0, |archive| archive.sessions) as usize;
        Self {
            model,
            tolerance: model.log_tolerance(),
            start: Sequential::new(model.design(), gates),
            runs: [vec![0.0; gates], vec![0.0; gates]],
            archive: vec![vec![Vec::new(); sessions]; gates],
            values: vec![Vec::new(); gates],
            outlooks: vec![None; gates],
        }
    }

    /// Takes looks until all is decided; gives the decisions and the number of repeats.
    pub(super) fn compare(&mut self, draws: &mut Draws) -> (Sequential, u32) {
        self.values.iter_mut().for_each(Vec::clear);
        match self.model.setting {
            Setting::Alternating | Setting::Blocked => self.paired(draws),
            Setting::Stored { session_sd } => self.stored(draws, session_sd),
        }
    }

    fn paired(&mut self, draws: &mut Draws) -> (Sequential, u32) {
        // The archive's sessions need no mean of their own: only differences within them count.
        self.fill_archive(draws, 0.0);
        let priors: Vec<Prior> = (self.archive.iter())
            .map(|sessions| Noise::from_sessions(sessions, LOG_FLOOR).unwrap_or(Noise::ASSUMED))
            .map(Noise::of_pair)
            .collect();
        self.looks(draws, Self::pair, |this, planned| {
            let ratios = (this.values.iter().zip(&priors))
                .map(|(values, prior)| variance(values) / prior.variance)
                .collect();
            let noisy = planned.repeats >= GUARDED && is_noisy(ratios);
            let evidence = this.model.evidence;
            for ((outlook, values), prior) in
                (this.outlooks.iter_mut().zip(&this.values)).zip(&priors)
            {
                *outlook = look(values, *prior, this.tolerance, evidence, noisy)
                    .map(|look| Outlook::of(&look, this.tolerance));
            }
        })
    }

    fn stored(&mut self, draws: &mut Draws, session_sd: f64) -> (Sequential, u32) {
        self.fill_archive(draws, session_sd);
        let baselines: Vec<Option<StoredBaseline>> = (self.archive.iter())
            .map(|sessions| StoredBaseline::from_sessions(sessions, 0, LOG_FLOOR))
            .collect();
        let session = session_sd * draws.normal();
        self.looks(
            draws,
            |this, draws| this.candidate(draws, session),
            |this, planned| {
                let ratios = (this.values.iter().zip(&baselines))
                    .filter_map(|(values, baseline)| {
                        let sigma = baseline.as_ref()?.noise()?.sigma;
                        Some(variance(values) / sigma.powi(2))
                    })
                    .collect();
                let noisy = planned.repeats >= GUARDED && is_noisy(ratios);
                let evidence = this.model.evidence;
                for ((outlook, values), baseline) in
                    (this.outlooks.iter_mut().zip(&this.values)).zip(&baselines)
                {
                    *outlook = baseline
                        .and_then(|it| it.look(values, this.tolerance, evidence, noisy))
                        .map(|look| Outlook::of(&look, this.tolerance));
                }
            },
        )
    }

    /// Look after look: `repeat` adds a value to each gate, `judge` fills the outlooks.
    fn looks(
        &mut self,
        draws: &mut Draws,
        repeat: impl Fn(&mut Self, &mut Draws),
        judge: impl Fn(&mut Self, PlannedLook),
    ) -> (Sequential, u32) {
        let mut sequential = self.start.clone();
        let mut taken = 0;
        while let Some(planned) = sequential.next().filter(|_| !sequential.is_settled()) {
            while taken < planned.repeats {
                repeat(self, draws);
                taken += 1;
            }
            judge(self, planned);
            sequential.take(&self.outlooks);
        }
        (sequential, taken)
    }

    fn fill_archive(&mut self, draws: &mut Draws, session_sd: f64) {
        let Some(Archive { sessions, runs }) = self.model.archive else {
            return;
        };
        for session in 0..sessions as usize {
            let shift = session_sd * draws.normal();
            for sessions in &mut self.archive {
                sessions[session].clear();
            }
            for _ in 0..runs {
                let [run, _] = &mut self.runs;
                draws.run(&self.model.machine, run);
                for (sessions, value) in self.archive.iter_mut().zip(run) {
                    sessions[session].push(*value + shift);
                }
            }
        }
    }

    /// The effect on a gate.
    fn effect(&self, gate: usize) -> f64 {
        if gate == 0 {
            self.model.effect * self.tolerance
        } else {
            0.0
        }
    }

    fn pair(&mut self, draws: &mut Draws) {
        let Model {
            machine, setting, ..
        } = self.model;
        let index = self.values[0].len();
        // The places of baseline and candidate in order of time.
        let (base, head) = match setting {
            Setting::Blocked => (index, index + self.start.design().last().repeats as usize),
            _ if index.is_multiple_of(2) => (2 * index, 2 * index + 1),
            _ => (2 * index + 1, 2 * index),
        };
        let drift = machine.drift * (head as f64 - base as f64);
        let [baseline, candidate] = &mut self.runs;
        draws.run(machine, baseline);
        draws.run(machine, candidate);
        for gate in 0..self.values.len() {
            let difference = self.runs[1][gate] - self.runs[0][gate];
            let worse = self.effect(gate);
            self.values[gate].push(difference + drift + worse);
        }
    }

    fn candidate(&mut self, draws: &mut Draws, session: f64) {
        let machine = self.model.machine;
        let drift = machine.drift * self.values[0].len() as f64;
        let [_, run] = &mut self.runs;
        draws.run(&machine, run);
        for gate in 0..self.values.len() {
            let value = self.runs[1][gate] + session + drift + self.effect(gate);
            self.values[gate].push(value);
        }
    }
}
