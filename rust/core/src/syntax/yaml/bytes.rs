//! What single bytes mean, and line breaks.

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// What a line break is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineBreak {
    No,
    /// A carriage return, and the window ends.
    Need,
    Yes(usize),
}

pub(super) fn line_break(bytes: &[u8], at: usize, last: bool) -> LineBreak {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\n'), _) => LineBreak::Yes(1),
        (Some(b'\r'), Some(b'\n')) => LineBreak::Yes(2),
        (Some(b'\r'), None) if !last => LineBreak::Need,
        (Some(b'\r'), _) => LineBreak::Yes(1),
        _ => LineBreak::No,
    }
}

/// Is the byte at `at` behind an indicator a blank, a line break or the end? `None`: it is not there yet.
pub(super) fn separates(bytes: &[u8], at: usize, last: bool) -> Option<bool> {
    match bytes.get(at) {
        None => last.then_some(true),
        Some(byte) => Some(is_blank(*byte) || matches!(byte, b'\n' | b'\r')),
    }
}

pub(super) fn is_flow_mark(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}
