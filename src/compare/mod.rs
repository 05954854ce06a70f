//! Two sides of runs to cells with their values; never decides.
