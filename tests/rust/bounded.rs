//! Placeholder.

