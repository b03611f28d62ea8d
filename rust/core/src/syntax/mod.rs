//! Text without a schema: scanners, lexers, values and writers. This layer knows no tools and no types.

pub(crate) mod delimited;
pub(crate) mod json;
pub(crate) mod literals;
pub(crate) mod marks;
pub(crate) mod misspelled;
pub(crate) mod near;
pub(crate) mod pairs;
pub(crate) mod position;
pub(crate) mod python;
pub(crate) mod quoting;
pub(crate) mod recovery;
pub(crate) mod scan;
pub(crate) mod shown;
pub(crate) mod tags;
pub(crate) mod tree;
pub(crate) mod word_quotes;
pub(crate) mod xml;
pub(crate) mod yaml;
