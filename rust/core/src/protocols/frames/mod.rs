//! How a message is cut into text and calls, where several protocols do it alike.

pub mod flat;
