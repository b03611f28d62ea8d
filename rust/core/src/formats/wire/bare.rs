//! Strings without quotes in the grammar of wire.

use std::collections::BTreeSet;

use crate::error::ToolError;
use crate::grammar::{Chars, Expr, GrammarRules, keyed};
use crate::schema::Length;
use crate::syntax::pairs::NOT_BARE_FIRST;
use crate::syntax::quoting::openers;
use crate::syntax::scan::Delimiters;

/// Which bare words there are.
struct BareWord {
    /// The characters of words.
    chars: Chars,
    /// Excluded words.
    not_whole: &'static [&'static str],
    length: Length,
}

/// Characters of words that do not end one.
const NOT_LAST: &str = ",;";

/// A bare word, which has at least one character. Where null is allowed, too, its other spellings are excluded.
pub(super) fn bare_word(
    rules: &mut GrammarRules,
    delimiters: &Delimiters,
    nullable: bool,
    length: Length,
) -> Result<Expr, ToolError> {
    let first = |mark: &str| mark.chars().next().unwrap_or('<');
    let marks = [first(&delimiters.open), first(&delimiters.close)];
    let special: String = " \"'`&=<>\\".chars().chain(openers()).chain(marks).collect();
    let bare = BareWord {
        chars: Chars::except(&special, &[('\0', '\u{1f}'), ('\u{7f}', '\u{9f}')]),
        not_whole: if nullable { &["None", "Null", "NULL"] } else { &[] },
        length,
    };
    let letters = String::from_iter(bare.not_whole.concat().chars().collect::<BTreeSet<_>>());
    let more = rules.terminal("bare more", || Expr::seq([bare.any().many(), bare.last("")]))?;
    let other = match nullable {
        false => Expr::NEVER,
        true => rules.terminal("bare other", || bare.from(bare.last(&letters), Length::default(), &more))?,
    };
    let shared = BareRules { more, other, letters };
    let key = keyed(if nullable { "bare or null" } else { "bare" }, length);
    rules.terminal(&key, || bare.begun("", &shared).unwrap_or(Expr::NEVER))
}

/// What the states of a bare word share: one character class in hundreds of places is compiled hundreds of times.
struct BareRules {
    /// Any characters, and then one that may be the last.
    more: Expr,
    /// The same after a character that is in no excluded word.
    other: Expr,
    /// The characters of all excluded words.
    letters: String,
}

impl BareWord {
    /// One that may be the last, except these.
    fn last(&self, except: &str) -> Expr {
        Expr::Chars(self.chars.without(NOT_LAST).without(except))
    }

    /// One character. A group of alternatives is counted without being written out.
    fn any(&self) -> Expr {
        Expr::choice([self.last(""), Expr::Chars(Chars::of(NOT_LAST))])
    }

    /// Any characters, and then one that may be the last; so many in all.
    fn more(&self, length: Length, unbounded: &Expr) -> Option<Expr> {
        let before = length.after(1)?;
        let counted = || Expr::seq([self.any().times(before.least, before.most), self.last("")]);
        Some(if before == Length::default() { unbounded.clone() } else { counted() })
    }

    /// A character that may be the last, or one that may not, and then any text that ends well; `left` in all after it.
    fn from(&self, last: Expr, left: Length, unbounded: &Expr) -> Expr {
        let more = self.more(left, unbounded);
        let well = more.clone().map(|more| if left.least == 0 { more.optional() } else { more });
        let rest = well.or((left.least == 0).then_some(Expr::EMPTY));
        let inner = more.map(|more| Expr::seq([Expr::Chars(Chars::of(NOT_LAST)), more]));
        Expr::choice(rest.map(|rest| Expr::seq([last, rest])).into_iter().chain(inner))
    }

    /// What may follow this beginning of an excluded word. `None`: nothing.
    fn begun(&self, begun: &str, shared: &BareRules) -> Option<Expr> {
        let left = self.length.after(begun.chars().count())?;
        let next: BTreeSet<char> =
            self.not_whole.iter().filter_map(|text| text.strip_prefix(begun)?.chars().next()).collect();
        let mut options = Vec::new();
        if left.least == 0 && !begun.is_empty() && !self.not_whole.contains(&begun) {
            options.push(Expr::EMPTY);
        }
        for c in &next {
            let rest = self.begun(&format!("{begun}{c}"), shared);
            options.extend(rest.map(|rest| Expr::seq([Expr::text(*c), rest])));
        }
        let Some(left) = left.after(1) else { return (!options.is_empty()).then(|| Expr::choice(options)) };
        // Any other character, and then any text that ends well.
        if begun.is_empty() || left != Length::default() {
            let not_first = if begun.is_empty() { NOT_BARE_FIRST } else { "" };
            let apart: String = next.into_iter().chain(not_first.chars()).collect();
            options.push(self.from(self.last(&apart), left, &shared.more));
        } else {
            let apart: String = shared.letters.chars().filter(|c| !next.contains(c)).collect();
            if !apart.is_empty() {
                options.push(Expr::seq([Expr::Chars(Chars::of(&apart)), shared.more.clone().optional()]));
            }
            options.push(shared.other.clone());
        }
        Some(Expr::choice(options))
    }
}
