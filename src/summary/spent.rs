//! What runs took of the machine, and what that costs.

use serde::{Deserialize, Serialize};

use super::model::Run;
use crate::spec::Cost;

/// What runs took of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Seconds of load, drains and starts of engines.
    pub measured_s: f64,
    /// Of GPUs.
    pub gpus: GpuTime,
    /// Of money.
    pub money: Paid,
}

/// Time of GPUs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuTime {
    /// A part for each number of GPUs and price.
    Parts(Vec<GpuPart>),
    /// Nobody knows how many GPUs there are.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// Time of so many GPUs at one price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuPart {
    /// How many.
    pub gpus: u32,
    /// How long each, in hours.
    pub hours: f64,
    /// What an hour of one costs, where the spec says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Cost>,
}

/// What it costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paid {
    /// No spec has a price.
    NoPrice,
    /// GPUs × hours × price, added up.
    Amount {
        /// How much.
        amount: f64,
        /// As in `USD`; empty where the spec names none.
        currency: String,
    },
    /// There is a price, and no amount.
    Unknown {
        /// Why not.
        why: String,
    },
}

impl Spent {
    /// What these runs took together; `None` without a run. A run's GPUs are those of its pin
    /// `hardware.count`, declared or observed.
    ///
    /// Two runs of 15 minutes on 2 GPUs at 3.50 USD an hour: 2 × 0.5 h × 3.50 USD = 3.50 USD.
    pub fn of<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Option<Self> {
        let mut seconds = 0.0;
        let mut parts: Vec<GpuPart> = Vec::new();
        let (mut runs_seen, mut priced, mut unknown) = (0, 0, None);
        for run in runs {
            runs_seen += 1;
            let start = run.cold_start.as_ref().map_or(0.0, |cold| cold.ready_s);
            let (took, price) = (run.elapsed_s + start, &run.spec.cost);
            seconds += took;
            priced += u32::from(price.is_some());
            let gpus = match gpus(run) {
                Ok(gpus) => gpus,
                Err(why) => {
                    unknown.get_or_insert(why);
                    continue;
                }
            };
            let hours = took / 3600.0;
            let same = |part: &&mut GpuPart| part.gpus == gpus && part.price == *price;
            match parts.iter_mut().find(same) {
                Some(part) => part.hours += hours,
                None => parts.push(GpuPart {
                    gpus,
                    hours,
                    price: price.clone(),
                }),
            }
        }
        // A run file may hold anything.
        (runs_seen > 0 && seconds.is_finite()).then(|| {
            let gpus = match unknown {
                None => GpuTime::Parts(parts),
                Some(why) => GpuTime::Unknown { why },
            };
            let money = if priced == 0 {
                Paid::NoPrice
            } else if priced < runs_seen {
                let why = "not every run's spec has a price".to_owned();
                Paid::Unknown { why }
            } else {
                paid(&gpus)
            };
            Self {
                measured_s: seconds,
                gpus,
                money,
            }
        })
    }

    /// GPU hours, where it is known how many GPUs there are.
    pub fn gpu_hours(&self) -> Option<f64> {
        match &self.gpus {
            GpuTime::Parts(parts) => Some(parts.iter().map(GpuPart::gpu_hours).sum()),
            GpuTime::Unknown { .. } => None,
        }
    }
}

impl GpuPart {
    /// GPUs × hours.
    pub fn gpu_hours(&self) -> f64 {
        f64::from(self.gpus) * self.hours
    }
}

fn paid(gpus: &GpuTime) -> Paid {
    let parts = match gpus {
        GpuTime::Unknown { why } => return Paid::Unknown { why: why.clone() },
        GpuTime::Parts(parts) => parts,
    };
    let mut prices = parts
        .iter()
        .filter_map(|part| Some((part, part.price.as_ref()?)));
    let currency = prices.clone().next().map(|(_, price)| &price.currency);
    let currency = currency.cloned().unwrap_or_default();
    if let Some((_, other)) = prices.find(|(_, price)| price.currency != currency) {
        let why = format!("prices are in `{currency}` and in `{}`", other.currency);
        return Paid::Unknown { why };
    }
    let sum = parts
        .iter()
        .filter_map(|part| Some(part.gpu_hours() * part.price.as_ref()?.gpu_hour));
    let amount: f64 = sum.sum();
    if !amount.is_finite() {
        let why = "it is beyond all numbers".to_owned();
        return Paid::Unknown { why };
    }
    Paid::Amount { amount, currency }
}

/// How many GPUs a run had.
fn gpus(run: &Run) -> Result<u32, String> {
    use crate::provenance::Observation;
    let path = "hardware.count".parse().ok();
    let pin = path.and_then(|path| run.pins.get(&path));
    let count = pin.and_then(|pin| pin.value());
    match (count.map(str::parse), pin.map(|pin| &pin.observed)) {
        (Some(Ok(count)), _) => Ok(count),
        (Some(Err(_)), _) => Err("the pin `hardware.count` is no number".to_owned()),
        (None, Some(Observation::Unknown(why))) => {
            Err(format!("the pin `hardware.count` is unknown ({why})"))
        }
        (None, _) => Err("the pin `hardware.count` is unknown".to_owned()),
    }
}
