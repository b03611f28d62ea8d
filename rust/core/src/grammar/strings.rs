//! Strings: in quotes as pairs write them, in JSON, and bare words.

use std::collections::BTreeSet;

use super::rules::{Chars, Expr, GrammarRules};
use crate::error::ToolError;

/// Up to which length a kind of grammar counts strings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LengthLimits {
    /// Strings that are not in JSON.
    pub raw: usize,
    pub json: usize,
    /// Whether text of any length can get a bound.
    pub is_text_bounded: bool,
}

/// The length of a string in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Length {
    pub least: usize,
    pub most: Option<usize>,
}

impl Length {
    /// Without the bounds beyond this limit; with a limit of 0, without any.
    pub(crate) fn within(self, limit: usize) -> Length {
        let least = if self.least > limit { 0 } else { self.least };
        Length { least, most: self.most.filter(|most| limit > 0 && *most <= limit) }
    }

    fn is_any(self) -> bool {
        self == Length::default()
    }

    /// The key of a rule for this length.
    pub(crate) fn key(self, name: &str) -> String {
        match (self.is_any(), self.most) {
            (true, _) => name.to_owned(),
            (_, Some(most)) => format!("{name} {} {most}", self.least),
            (_, None) => format!("{name} {} up", self.least),
        }
    }

    /// What is left after this many characters. `None`: there are too many.
    fn after(self, chars: usize) -> Option<Length> {
        let most = match self.most {
            Some(most) => Some(most.checked_sub(chars)?),
            None => None,
        };
        Some(Length { least: self.least.saturating_sub(chars), most })
    }
}

const HEX: &[(char, char)] = &[('0', '9'), ('a', 'f'), ('A', 'F')];
/// Control characters that are escaped in quotes.
const CONTROL: &[(char, char)] = &[('\0', '\u{8}'), ('\u{b}', '\u{c}'), ('\u{e}', '\u{1f}'), ('\u{7f}', '\u{9f}')];

fn hex(times: usize) -> Expr {
    Expr::Chars(Chars { negated: false, ranges: HEX.to_vec() }).times(times, Some(times))
}

/// `\uXXXX`.
fn unicode_escape() -> Expr {
    Expr::seq([Expr::text("\\u"), hex(4)])
}

/// `\uXXXX` of a character that is not half of a pair.
fn whole_unicode_escape() -> Expr {
    let first = Chars { negated: false, ranges: vec![('0', '9'), ('a', 'c'), ('e', 'f'), ('A', 'C'), ('E', 'F')] };
    let plain = Expr::seq([Expr::Chars(first), hex(3)]);
    let d = Expr::seq([Expr::Chars(Chars::of("dD")), Expr::Chars(Chars::range('0', '7')), hex(2)]);
    Expr::seq([Expr::text("\\u"), Expr::choice([plain, d])])
}

/// A string in JSON, in which this character is only written as an escape.
pub(crate) fn json_string(rules: &mut GrammarRules, length: Length, escaped: Option<char>) -> Result<Expr, ToolError> {
    let length = length.within(rules.counts.json);
    let name = if escaped.is_some() { "escaped json string" } else { "json string" };
    rules.word(&length.key(name), || {
        let plain = Chars::except("\"\\", &[('\0', '\u{1f}')]).without(&String::from_iter(escaped));
        let escape = Expr::seq([Expr::text("\\"), Expr::Chars(Chars::of("\"\\/bfnrt"))]);
        // Two halves of a pair are one character, so they must not count as two.
        let unicode = if length.least > 1 { whole_unicode_escape() } else { unicode_escape() };
        // Not a rule of its own: xgrammar would look at all tokens for each mask.
        let unit = Expr::choice([Expr::Chars(plain), escape, unicode]);
        Expr::seq([Expr::text("\""), unit.times(length.least, length.most), Expr::text("\"")])
    })
}

/// A string in quotes of either kind, as the encoder writes it: a backslash that begins no escape is a character.
pub(crate) fn quoted(rules: &mut GrammarRules, length: Length) -> Result<Expr, ToolError> {
    let length = length.within(rules.counts.raw);
    rules.rule(&length.key("quoted"), true, |rules| {
        let mut kinds = Vec::new();
        for (quote, name) in [("\"", "double"), ("'", "single")] {
            let text = match (length.least, length.most) {
                (0 | 1, None) => any_quoted(quote, length.least),
                _ => QuotedText::new(rules, quote, name)?.counted(rules, length, false)?,
            };
            kinds.push(Expr::seq([Expr::text(quote), text, Expr::text(quote)]));
        }
        Ok(Expr::choice(kinds))
    })
}

/// The characters between quotes of this kind that are written as they are.
fn plain(quote: &str) -> Chars {
    Chars::except("\\", CONTROL).and(&Chars::of(quote).ranges)
}

/// Any text between quotes of this kind, of so many characters or more: none or one.
fn any_quoted(quote: &str, least: usize) -> Expr {
    let pair = Expr::seq([Expr::text("\\"), Expr::Chars(Chars::except("", CONTROL))]);
    Expr::choice([Expr::Chars(plain(quote)), pair]).times(least, None)
}

/// The text between quotes of one kind, of which the characters are counted.
struct QuotedText {
    quote: &'static str,
    name: &'static str,
    /// One character, however it is written.
    unit: Expr,
    /// The same without hexadecimal digits.
    not_hex: Expr,
    /// A backslash and a character with which it is no escape.
    pair: Expr,
}

impl QuotedText {
    fn new(rules: &mut GrammarRules, quote: &'static str, name: &'static str) -> Result<Self, ToolError> {
        let plain = plain(quote);
        let escape = || {
            let short = Expr::seq([Expr::text("\\"), Expr::Chars(Chars::of("\"'\\nrt"))]);
            Expr::choice([short, whole_unicode_escape()])
        };
        let unit = rules.word(&format!("{name} char"), || Expr::choice([Expr::Chars(plain.clone()), escape()]))?;
        let not_hex =
            rules.word(&format!("{name} other"), || Expr::choice([Expr::Chars(plain.clone().and(HEX)), escape()]))?;
        let literal = plain.and(&Chars::of("\"'nrtu").ranges);
        let pair = rules.word(&format!("{name} pair"), || Expr::seq([Expr::text("\\"), Expr::Chars(literal)]))?;
        Ok(QuotedText { quote, name, unit, not_hex, pair })
    }

    /// `\u` and so many hexadecimal digits, which is no escape if no further digit follows.
    fn open_escape(digits: usize) -> Expr {
        Expr::seq([Expr::text("\\u"), if digits == 0 { Expr::EMPTY } else { hex(digits) }])
    }

    /// Any text.
    fn any(&self) -> Expr {
        any_quoted(self.quote, 0)
    }

    /// Any text that does not begin with a hexadecimal digit.
    fn any_opened(&self) -> Expr {
        let begun = Expr::choice([self.not_hex.clone(), self.pair.clone(), Expr::text("\\u")]);
        Expr::seq([begun, self.any()]).optional()
    }

    /// So many characters; the first is no hexadecimal digit if `opened`.
    fn counted(&self, rules: &mut GrammarRules, length: Length, opened: bool) -> Result<Expr, ToolError> {
        let key = format!("{} {}", length.key(self.name), if opened { "opened" } else { "text" });
        rules.rule(&key, true, |rules| {
            let mut options = Vec::new();
            if length.least == 0 {
                options.push(Expr::EMPTY);
            }
            let first = if opened { &self.not_hex } else { &self.unit };
            let steps = [(first.clone(), 1, false), (self.pair.clone(), 2, false)].into_iter();
            for (step, chars, opens) in
                steps.chain((0..4).map(|digits| (QuotedText::open_escape(digits), digits + 2, true)))
            {
                // Without an upper bound, what follows the least number is any text.
                let rest = match length.after(chars) {
                    None => continue,
                    Some(rest) if rest.is_any() && opens => self.any_opened(),
                    Some(rest) if rest.is_any() => self.any(),
                    Some(rest) => self.counted(rules, rest, opens)?,
                };
                options.push(Expr::seq([step, rest]));
            }
            Ok(Expr::choice(options))
        })
    }
}

/// Which bare words there are.
pub(crate) struct BareWord<'a> {
    /// The name of the rule.
    pub key: &'a str,
    /// The characters of words.
    pub chars: Chars,
    /// Those of them that do not begin and that do not end a word.
    pub not_first: &'a str,
    pub not_last: &'a str,
    /// Texts that are no word.
    pub not_whole: &'a [&'a str],
    pub length: Length,
}

/// A bare word, which has at least one character.
pub(crate) fn bare_word(rules: &mut GrammarRules, bare: &BareWord<'_>) -> Result<Expr, ToolError> {
    let letters = String::from_iter(bare.not_whole.concat().chars().collect::<BTreeSet<_>>());
    let more = rules.word("bare more", || Expr::seq([bare.any().many(), bare.last("")]))?;
    let other = match bare.not_whole {
        [] => Expr::NEVER,
        _ => rules.word("bare other", || bare.from(bare.last(&letters), Length::default(), &more))?,
    };
    let shared = BareRules { more, other, letters };
    rules.word(&bare.length.key(bare.key), || bare.begun("", &shared).unwrap_or(Expr::NEVER))
}

/// What the states of a bare word share: one character class in hundreds of places is compiled hundreds of times.
struct BareRules {
    /// Any characters, and then one that may be the last.
    more: Expr,
    /// The same after a character that is in no excluded text.
    other: Expr,
    /// The characters of all excluded texts.
    letters: String,
}

impl BareWord<'_> {
    /// One that may be the last, except these.
    fn last(&self, except: &str) -> Expr {
        Expr::Chars(self.chars.without(self.not_last).without(except))
    }

    /// One character. A group of alternatives is counted without being written out.
    fn any(&self) -> Expr {
        Expr::choice([self.last(""), Expr::Chars(Chars::of(self.not_last))])
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
        let inner = more.map(|more| Expr::seq([Expr::Chars(Chars::of(self.not_last)), more]));
        Expr::choice(rest.map(|rest| Expr::seq([last, rest])).into_iter().chain(inner))
    }

    /// What may follow this beginning of an excluded text. `None`: nothing.
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
            let not_first = if begun.is_empty() { self.not_first } else { "" };
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
