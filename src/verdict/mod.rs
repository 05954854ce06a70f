//! Cells to findings and one verdict.
