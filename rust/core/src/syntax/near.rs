//! Names that differ little from a given one, for errors.

/// How many bytes of names are compared.
const NEAR_BYTES: usize = 32;

/// The known names that differ least from this one, in their order. Case and separators do not count. Empty if all differ by more than a third.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> Vec<&'n str> {
    let given = folded(name);
    let rated = known.map(|known| (differences(&given, &folded(known)), known));
    let rated: Vec<_> = rated.filter(|(count, known)| *count * 3 <= folded(known).len()).collect();
    let least = rated.iter().map(|(count, _)| *count).min();
    rated.into_iter().filter(|(count, _)| Some(*count) == least).map(|(_, known)| known).collect()
}

/// What is compared of a name.
pub(crate) fn folded(name: &str) -> Vec<u8> {
    let kept = name.bytes().filter(|byte| !matches!(byte, b'-' | b'_' | b'.' | b' '));
    kept.map(|byte| byte.to_ascii_lowercase()).take(NEAR_BYTES).collect()
}

/// How many bytes must be added, removed or replaced.
fn differences(from: &[u8], to: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, byte) in from.iter().enumerate() {
        let (mut before, mut left) = (at, at + 1);
        for (place, other) in row.iter_mut().skip(1).zip(to) {
            let above = *place;
            left = (before + usize::from(byte != other)).min(above + 1).min(left + 1);
            (before, *place) = (above, left);
        }
        if let Some(first) = row.first_mut() {
            *first = at + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
