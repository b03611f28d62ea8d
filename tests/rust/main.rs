//! The tests of the core, in one program: what they share is compiled once. Those that count what is allocated are in `bounded`.

#[macro_use]
mod support;

mod code;
mod custom;
mod definitions;
mod embed;
mod errors;
mod families;
mod formats_at_run_time;
mod grammar;
mod history;
mod laws;
mod layers;
mod loads;
mod near_misses;
mod prefixes;
mod protocols;
mod quoted;
mod reasoning;
mod recycling;
mod servers;
mod vectors;
mod yaml;
