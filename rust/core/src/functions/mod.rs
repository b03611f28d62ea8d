//! Calls as functions with parameters, each in a tag: `<function=name><parameter=key>value</parameter></function>`.
//!
//! Their tags, in the forms that models write, and what a value needs to stand between them.

mod tags;
mod text;

pub use tags::{
    Look, Opened, Parameter, Tag, WRAPPER, begins, closes, closes_function, closes_parameter, is_name, opener, opens,
    opens_parameter, parameter,
};
pub use text::{CDATA, VALUE, escape, is_mark, push_name};
