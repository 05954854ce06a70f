//! With which power a tolerance has to be resolvable: the chance that equal sides pass at the last
//! look, were the tolerance as small as that.

/// For a spec to be accepted: a little more than the judgement asks for, so that a tolerance that was
/// accepted is not demoted by a session that is a little noisier.
pub const LINT_POWER: f64 = 0.95;

/// For a cell to gate at all, and of the smallest resolvable tolerance in reports.
pub const DEMOTION_POWER: f64 = 0.90;

/// Of tolerances that are recommended.
pub const FIRM_POWER: f64 = 0.99;
