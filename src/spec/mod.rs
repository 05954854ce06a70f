//! The pinned spec: YAML to a value that cannot hold a contradiction.

mod model;

pub use model::{
    Api, Arrival, ArrivalProcess, Class, DeclaredPins, Extent, Gate, GateCell, InputLength, Layer,
    Length, Limit, Policy, PrefixSharing, Repeats, Slo, SloClause, Spec, Stage, Target,
    TargetPlace, Timeouts, Warmup, Workload,
};
