//! Limits on what one message may cost. Model output is untrusted, so every buffer is bounded.

/// Characters after OPEN that are scanned before the text counts as prose.
pub(crate) const ATTEMPT_CHARS: usize = 256;
/// Characters of a tool's name. It leaves room for a key within [`ATTEMPT_CHARS`]; the APIs allow 64 or 128.
pub(crate) const NAME_CHARS: usize = 128;
/// Characters of a key as written. A closing quote looks ahead this far for a key.
pub(crate) const KEY_CHARS: usize = 128;
/// Characters of one bare segment of a key.
pub(crate) const BARE_SEGMENT_CHARS: usize = 64;
/// Characters of a name or key in a native format. One that has not ended by then has no end.
pub(crate) const HEAD_CHARS: usize = 1024;
/// Digits of an index. A larger index would leave a gap in any array that fits into memory.
pub(crate) const INDEX_DIGITS: usize = 9;
/// Nodes of one compiled schema, because unions of unions multiply.
pub(crate) const SCHEMA_NODES: usize = 20_000;
/// Steps of following references and unions in one schema. Ordinary schemas need thousands.
pub(crate) const SCHEMA_STEPS: usize = 10_000_000;
/// Alternatives of one field before its type counts as unknown.
pub(crate) const ALTERNATIVES: usize = 256;
/// Limits of the full validation.
#[cfg(feature = "validate")]
pub(crate) mod validation {
    /// Steps of validating arguments, estimated before validation starts. They take a few seconds at most.
    pub(crate) const STEPS: u64 = 50_000_000;
    /// Steps of a schema at one place in the arguments. Ordinary schemas need hundreds.
    pub(crate) const STEPS_AT_ONE_PLACE: u64 = 100_000;
    /// Errors that a validator may have to keep in memory to report what is wrong with arguments.
    pub(crate) const ERRORS: u64 = 500_000;
    /// Schemas that are evaluated inside each other. Each needs stack space.
    pub(crate) const LEVELS: usize = 2048;
    /// Bytes of one compiled pattern. The time of matching is proportional to it.
    pub(crate) const PATTERN_BYTES: usize = 10 << 20;
}

/// Choices of a field that are tried one by one. If there are more, strings are looked up in an index.
pub(crate) const FEW_CHOICES: usize = 16;

/// Levels of a [`crate::Value`], whatever limit a host sets. Making, writing and dropping a value need stack for each
/// level.
pub const RECURSION: usize = 512;

/// Warnings that are listed for one JSON text. Every byte could cause one.
pub(crate) const WARNINGS: usize = 1000;

/// Parts of one grammar. A decoder compiles each, so larger ones would take seconds.
pub(crate) const GRAMMAR_NODES: usize = 200_000;
/// Levels of types inside each other in a grammar, which is made recursively. A parser accepts no deeper values by default.
pub(crate) const GRAMMAR_DEPTH: usize = 128;
/// Characters of strings in quotes, and in JSON, that a grammar counts. Quotes cost two rules for each, because of their escapes.
pub(crate) const COUNTED_CHARS: usize = 64;
pub(crate) const COUNTED_JSON_CHARS: usize = 1000;
/// Digits before the point of a number that is surely within the range of a float.
pub(crate) const FLOAT_DIGITS: usize = 300;
/// Items of an array that a grammar counts.
pub(crate) const COUNTED_ITEMS: usize = 200;
/// Demands that a grammar lists one by one for one tool.
pub(crate) const LISTED_DEMANDS: usize = 200;

/// Limits that a host may set, each from 1 on. The defaults are far above what ordinary messages need.
///
/// ```
/// let mut limits = wirecall_core::Limits::default();
/// limits.call_bytes = 64 << 10;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one call, from OPEN to CLOSE. The buffer of a parser holds at most this plus one chunk.
    pub call_bytes: usize,
    /// Nesting of JSON values. 128 is the limit of `serde_json` and of most decoders. Writing and validating are
    /// recursive, at most [`RECURSION`] levels deep.
    pub depth: usize,
    /// Calls in one message.
    pub calls: usize,
    /// Segments in one key.
    pub key_segments: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { call_bytes: 16 << 20, depth: 128, calls: 4096, key_segments: 16 }
    }
}
