//! How JSON texts are read.

/// What happens to a key that an object already has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Duplicates {
    /// It is an error.
    Error,
    /// The first value is kept.
    First,
    /// The last value is kept, at the position of the first.
    Last,
}

/// How [`loads`](super::loads) reads a text. The default is [`LoadOptions::RELAXED`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Relaxed JSON with comments; otherwise RFC 8259.
    pub relaxed: bool,
    /// What happens to a key that an object already has.
    pub duplicates: Duplicates,
    /// The text may be truncated.
    pub partial: bool,
    /// The maximum number of digits of an integer.
    pub digits: usize,
}

impl LoadOptions {
    /// JSON as in RFC 8259, whole, with unique keys and integers of any size.
    pub const STRICT: Self =
        LoadOptions { relaxed: false, duplicates: Duplicates::Error, partial: false, digits: usize::MAX };
    /// The same with the near misses of models: single quotes, bare keys and words, trailing commas, comments and more.
    pub const RELAXED: Self = LoadOptions { relaxed: true, ..Self::STRICT };
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self::RELAXED
    }
}
