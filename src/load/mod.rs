//! The load client: sends the plan, times what comes back.
//!
//! One stage is arrivals × client × stop rule, composed in [`run_stage`]: arrivals come by the
//! clock (`open`) or from users (`closed`), both send through one `dispatch`, and every request
//! that was begun leaves exactly one record, whatever becomes of it. The client measures and
//! records; it derives no metric and knows no archive.

mod appointment;
mod arrivals;
mod clock;
mod closed;
mod connection;
mod conversation;
mod cpu;
mod dispatch;
mod driver;
mod endpoint;
mod errors;
mod event;
mod health;
mod http;
mod inbox;
mod job;
mod kitchen;
mod lane;
mod level;
mod limits;
mod memory;
mod open;
mod place;
mod pool;
mod priming;
mod progress;
mod pulse;
mod relay;
mod stop;
mod supply;
mod target;
mod tls;
mod trust;
mod window;

pub use appointment::Appointment;
pub use cpu::CpuAllowance;
pub use driver::run_stage;
pub use endpoint::{ClientError, Endpoint};
pub use event::{Live, LoadEvent};
pub use http::Client;
pub use job::{StageJob, StartError};
pub use priming::prime;
pub use stop::{Stop, StopSwitch};

#[cfg(test)]
mod tests;
