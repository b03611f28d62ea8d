//! Text and its type in, JSON out: typing of values, the arguments of a call as they grow, and their writers.

mod beyond_float;
pub mod builder;
pub mod coercion;
mod context;
pub mod elements;
mod example;
mod fields;
pub mod keys;
pub mod messages;
pub mod object;
pub mod tree;

pub use beyond_float::{beyond_float, may_be_beyond_float};
pub use builder::ArgumentsBuilder;
pub use context::{
    CallWriter, Context, Failure, Flow, Input, MAX_PROBLEM_BYTES, MAX_PROBLEMS, Progress, ReadError, Report, missing,
    steps,
};
pub use example::{Given, example, example_members};
pub use fields::{Fields, Slot};
pub use keys::{is_declared, is_field, is_misnamed};
pub use object::Object;
pub use tree::{Lists, TreeWriter, push_text};
