//! Quotes of one word.

/// The text between two quotes that are alike.
pub(crate) fn in_quotes(text: &str) -> Option<&str> {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\''))
}

/// The last quote of a word, if it leaves a string open: the number of such quotes is odd, and the last one is no apostrophe.
pub(crate) fn stray_quote(word: &str) -> Option<usize> {
    let is_apostrophe =
        |at: usize| word[..at].ends_with(char::is_alphanumeric) && word[at + 1..].starts_with(char::is_alphanumeric);
    let open = |quote: u8| {
        let (count, last) = memchr::memchr_iter(quote, word.as_bytes()).fold((0, 0), |(count, _), at| (count + 1, at));
        (count % 2 == 1 && (quote == b'"' || !is_apostrophe(last))).then_some(last)
    };
    let first = word.bytes().enumerate().find(|(at, byte)| *byte == b'"' || (*byte == b'\'' && !is_apostrophe(*at)));
    first.and_then(|(_, quote)| open(quote))
}
