//! Bounds on what one message may cost. Model output is hostile; every buffer has an end.

/// Characters of text behind OPEN that are looked at before an attempt is given up as prose.
pub const ATTEMPT_CHARS: usize = 256;
/// Characters of a tool's name. Leaves room for a key within [`ATTEMPT_CHARS`]; the APIs allow 64 or 128.
pub const NAME_CHARS: usize = 128;
/// Characters of a key as written: what a closing quote looks ahead for, so also what a key may be.
pub const KEY_CHARS: usize = 128;
/// Characters of one bare segment of a key.
pub const BARE_SEGMENT_CHARS: usize = 64;
/// Digits of an index: more would be a gap in any array that fits into memory.
pub const INDEX_DIGITS: usize = 9;
/// Nodes of one compiled schema: unions of unions can multiply.
pub const SCHEMA_NODES: usize = 20_000;
/// Steps of following references and unions in one schema; honest schemas need thousands.
pub const SCHEMA_STEPS: usize = 10_000_000;
/// Alternatives of one field before its type counts as unknown.
pub const ALTERNATIVES: usize = 256;
/// Steps of finding out whether arguments fit a schema, counted ahead: a few seconds at the very most.
pub const VALIDATION_STEPS: u64 = 50_000_000;
/// Steps of a schema at one place of the arguments; honest schemas need hundreds.
pub const VALIDATION_STEPS_AT_ONE_PLACE: u64 = 100_000;
/// Errors that a validator may have to keep in memory to say what is wrong with arguments.
pub const VALIDATION_ERRORS: u64 = 500_000;
/// Schemas that are evaluated inside each other, each of which takes stack.
pub const VALIDATION_LEVELS: usize = 2048;
/// Bytes of one compiled pattern: matching takes time in proportion to it.
pub const PATTERN_BYTES: usize = 10 << 20;

/// Choices of a field that are tried one by one; of more, those that a text could be are looked up.
pub const FEW_CHOICES: usize = 16;

/// Levels of a [`crate::Value`], whatever a host allows: making, writing and dropping one takes stack for each.
pub const RECURSION: usize = 512;

/// Warnings that are listed for one JSON text: every byte of it could be worth one, and nobody reads them.
pub const WARNINGS: usize = 1000;

/// Limits that a host may set; the defaults are generous for honest models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in one call, from OPEN to CLOSE. The buffer of a parser is at most this plus one chunk.
    pub call_bytes: usize,
    /// Nesting of JSON values; 128 is what `serde_json` and most decoders stop at. What writes and validates goes down
    /// by recursion, and no further than [`RECURSION`].
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
