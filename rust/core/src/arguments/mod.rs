//! Text and its type in, JSON out: typing of values, the arguments of a call as they grow, and their writers.

pub mod coercion;
pub mod element;
