//! Quotes of one word.

/// The text between two quotes that are alike.
pub(crate) fn in_quotes(text: &str) -> Option<&str> {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\''))
}

/// The last quote of a word, if it leaves a string open: the number of quotes like the first one is odd. Apostrophes do not count.
pub(crate) fn stray_quote(word: &str) -> Option<usize> {
    let inner =
        |at: usize| word[..at].ends_with(char::is_alphanumeric) && word[at + 1..].starts_with(char::is_alphanumeric);
    let all = || word.match_indices(['"', '\'']).filter(|(at, quote)| *quote == "\"" || !inner(*at));
    let (first, quote) = all().next()?;
    let (count, last) =
        all().filter(|(_, other)| *other == quote).fold((0, first), |(count, _), (at, _)| (count + 1, at));
    (count % 2 == 1).then_some(last)
}
