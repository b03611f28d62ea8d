//! Text without a schema: scanners, lexers, values and writers. This layer knows no tools and no types.

pub mod json;
pub mod marks;
pub mod misspelled;
pub mod pairs;
pub mod position;
pub mod quoting;
pub mod recovery;
pub mod scan;
pub mod shown;
pub mod tags;
pub mod tree;
pub mod xml;
pub mod yaml;
