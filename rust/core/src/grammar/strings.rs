//! Strings: in quotes as pairs write them, in JSON, and bare words.

use super::rules::{Chars, Expr, GrammarRules};
use crate::error::ToolError;
use crate::schema::Length;

/// The key of a rule for this length.
pub(crate) fn keyed(name: &str, length: Length) -> String {
    match length {
        Length { least: 0, most: None } => name.to_owned(),
        Length { least, most: Some(most) } => format!("{name} {least} {most}"),
        Length { least, most: None } => format!("{name} {least} up"),
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
    rules.terminal(&keyed(name, length), || {
        let plain = Chars::except("\"\\", &[('\0', '\u{1f}')]).without(&String::from_iter(escaped));
        let escape = Expr::seq([Expr::text("\\"), Expr::Chars(Chars::of("\"\\/bfnrt"))]);
        // Two halves of a pair are one character, so they must not count as two.
        let unicode = if length.least > 1 { whole_unicode_escape() } else { unicode_escape() };
        // Not a rule of its own: xgrammar would look at all tokens for each mask.
        let unit = Expr::choice([Expr::Chars(plain), escape, unicode]);
        Expr::seq([Expr::text("\""), unit.times(length.least, length.most), Expr::text("\"")])
    })
}

/// A string in quotes of either kind, as the encoder writes it: a backslash that does not begin an escape is a character.
pub(crate) fn quoted(rules: &mut GrammarRules, length: Length) -> Result<Expr, ToolError> {
    let length = length.within(rules.counts.raw);
    rules.rule(&keyed("quoted", length), true, |rules| {
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
    /// A backslash and a character with which it is not an escape.
    pair: Expr,
}

impl QuotedText {
    fn new(rules: &mut GrammarRules, quote: &'static str, name: &'static str) -> Result<Self, ToolError> {
        let plain = plain(quote);
        let escape = || {
            let short = Expr::seq([Expr::text("\\"), Expr::Chars(Chars::of("\"'\\nrt"))]);
            Expr::choice([short, whole_unicode_escape()])
        };
        let unit = rules.terminal(&format!("{name} char"), || Expr::choice([Expr::Chars(plain.clone()), escape()]))?;
        let not_hex = rules
            .terminal(&format!("{name} other"), || Expr::choice([Expr::Chars(plain.clone().and(HEX)), escape()]))?;
        let literal = plain.and(&Chars::of("\"'nrtu").ranges);
        let pair = rules.terminal(&format!("{name} pair"), || Expr::seq([Expr::text("\\"), Expr::Chars(literal)]))?;
        Ok(QuotedText { quote, name, unit, not_hex, pair })
    }

    /// `\u` and so many hexadecimal digits, which is not an escape if no further digit follows.
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

    /// So many characters; the first is not a hexadecimal digit if `opened`.
    fn counted(&self, rules: &mut GrammarRules, length: Length, opened: bool) -> Result<Expr, ToolError> {
        let key = format!("{} {}", keyed(self.name, length), if opened { "opened" } else { "text" });
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
