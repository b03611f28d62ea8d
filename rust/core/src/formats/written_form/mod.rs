//! The form in which a protocol writes calls, found by writing some: one JSON object with all arguments, or raw values in tags.
//!
//! So a format has a grammar without code of its own.

mod messages;

use std::borrow::Cow;
use std::ops::Range;

use super::call::PastCall;
use super::protocol::Protocol;
use super::settings::Settings;
use crate::error::ToolError;
use crate::grammar::{
    CallFrame, CallGrammar, CallGrammarWriter, Chars, Expr, FEW, GrammarRules, JsonStyle, JsonValues, LengthLimits,
    declared, distinct, in_order,
};
use crate::schema::{Choice, NodeId, Variant};
use crate::syntax::json::Value;
use crate::syntax::scan::Delimiters;
use crate::tools::{Syntax, Tool, Tools};

/// A protocol whose calls have a form that a grammar can describe.
pub(crate) struct WrittenForm<'a> {
    protocol: &'a dyn Protocol,
    tools: &'a Tools,
    settings: &'a Settings,
    style: JsonStyle,
    /// The arguments are raw values in tags, not one JSON object.
    tagged: bool,
}

/// A name and keys that no format escapes, and that are in no marker.
const NAME: &str = "qzx";
const KEYS: [&str; 2] = ["alpha", "omega"];
const NUMBER: &str = "73519";
/// The characters of a tool's name that text does not contain after `<`, where misspelled tags are errors.
const NAME_CHARS: usize = 32;
/// If this string is written unchanged, all are.
const STRING: &str = "s<b>&amp; 'q' \"d\" \\ \n e";

/// One of each kind of value, with its text if it is written as JSON.
fn samples() -> [(Choice, Value<'static>); 6] {
    let list = vec![number().1, Value::String(Cow::Borrowed("x"))];
    let members = vec![(Cow::Borrowed("a"), Value::Array(list.clone())), (Cow::Borrowed("b"), Value::Bool(true))];
    [
        (Choice::String, Value::String(Cow::Borrowed(STRING))),
        (Choice::Number, number().1),
        (Choice::Boolean, Value::Bool(true)),
        (Choice::Null, Value::Null),
        (Choice::Array, Value::Array(list)),
        (Choice::Object, Value::Object(members)),
    ]
}

/// An argument.
fn number() -> (&'static str, Value<'static>) {
    (KEYS[0], Value::Number(Cow::Borrowed(NUMBER)))
}

/// The object of this argument alone.
fn numbers_json(style: JsonStyle) -> String {
    format!("{{\"{}\"{}{NUMBER}}}", KEYS[0], style.colon)
}

/// What is before and after the value in a call.
struct Around {
    before: String,
    after: String,
}

/// What is written around the values of a call in tags.
struct TagTexts {
    /// Before the first parameter, after each value, then between two parameters, and after the last.
    head: String,
    close: String,
    between: String,
    end: String,
    /// What begins a parameter.
    next: String,
    /// The call without parameters.
    empty: String,
}

impl<'a> WrittenForm<'a> {
    /// `None`: the calls of this protocol have another form.
    pub(crate) fn of(protocol: &'a dyn Protocol, tools: &'a Tools, settings: &'a Settings) -> Option<Self> {
        if settings.info.hosted {
            return None;
        }
        let form = WrittenForm { protocol, tools, settings, style: JsonStyle::SPACED, tagged: false };
        let call = form.write(NAME, &[number()], 0)?;
        for style in [JsonStyle::SPACED, JsonStyle::COMPACT] {
            if call.matches(&numbers_json(style)).count() == 1 {
                return Some(WrittenForm { style, ..form });
            }
        }
        let style = JsonStyle { escaped: Some('<'), ..JsonStyle::SPACED };
        let tags = WrittenForm { tagged: true, style, ..form };
        // Tags that count the calls have no grammar.
        let same = tags.write(NAME, &[number()], 1).is_some_and(|next| next == call);
        // What ends such a part may be a stop token, which is left out.
        let layout = protocol.layout();
        let part = layout.parts.is_some() && layout.section.is_none();
        (same && !part && samples().iter().all(|(_, value)| tags.around(NAME, KEYS[0], value).is_some()))
            .then_some(tags)
    }

    /// One call. So many calls are before it.
    fn write(&self, tool: &str, arguments: &[(&str, Value<'static>)], before: usize) -> Option<String> {
        let arguments: Vec<_> =
            arguments.iter().map(|(key, value)| (Cow::Owned((*key).to_owned()), value.clone())).collect();
        let call = PastCall { arguments: &arguments, index: before, before, ..PastCall::NONE };
        let cx = self.settings.context(self.protocol, self.tools, None, tool);
        let mut out = String::new();
        self.protocol.write_past_call(&cx, &call, &mut out).ok()?;
        Some(out)
    }

    /// What all calls begin with: what is before the name, or before a number that counts the calls.
    fn open(&self) -> String {
        let [first, next] = [0, 1].map(|before| self.write(NAME, &[], before).unwrap_or_default());
        let open = first.split(NAME).next().unwrap_or_default();
        let next = next.split(NAME).next().filter(|next| !next.is_empty()).unwrap_or(open);
        open[..counter(open, next, open.len()).map_or(0, |number| number.start)].to_owned()
    }

    /// What is around this value in a call without others. `None`: the value is not written as it is.
    fn around(&self, tool: &str, key: &str, value: &Value<'static>) -> Option<Around> {
        let call = self.write(tool, &[(key, value.clone())], 0)?;
        let text = raw(value);
        // A name or key may contain a short text, so the last one counts.
        let at = call.rfind(&text)?;
        Some(Around { before: call[..at].to_owned(), after: call[at + text.len()..].to_owned() })
    }

    fn tag_texts(&self, tool: &str) -> Option<TagTexts> {
        let [first, second] = KEYS.map(|key| (key, Value::String(Cow::Borrowed(STRING))));
        let one = self.around(tool, second.0, &second.1)?;
        let two = self.write(tool, &[first, second], 0)?;
        let (at, last) = (two.find(STRING)?, two.rfind(STRING)?);
        let between = two.get(at + STRING.len()..last)?;
        // A parameter begins with its tag: the end of what precedes it may be the same by chance.
        let prefix = common_end(&one.before, between);
        let shared = &one.before[one.before.len() - prefix..];
        let prefix = shared.find('<').map_or(prefix, |at| prefix - at);
        let between = &between[..between.len() - prefix];
        let close = common_start(between, &one.after);
        Some(TagTexts {
            head: one.before[..one.before.len() - prefix].to_owned(),
            close: between[..close].to_owned(),
            between: between[close..].to_owned(),
            end: one.after[close..].to_owned(),
            next: one.before[one.before.len() - prefix..].to_owned(),
            empty: self.write(tool, &[], 0)?,
        })
    }

    /// A call whose arguments are one JSON object.
    fn object_call(
        &self,
        tool: &Tool,
        values: &JsonValues<'_>,
        rules: &mut GrammarRules,
    ) -> Result<CallGrammar, ToolError> {
        let text = numbers_json(self.style);
        let parts = |before: usize| {
            let call = self.write(&tool.name, &[number()], before)?;
            let at = call.rfind(&text)?;
            Some((call[..at].to_owned(), call[at + text.len()..].to_owned()))
        };
        let (begin, end) = parts(0).ok_or_else(|| no_form(ODD_NAME))?;
        // Ids may count the calls.
        let (next_begin, next_end) = parts(1).unwrap_or_else(|| (begin.clone(), end.clone()));
        let numbers = counter(&begin, &next_begin, begin.len()).zip(counter(&end, &next_end, 0));
        let (before, after) = numbers.ok_or_else(|| no_form(ODD_NAME))?;
        let object = values.arguments(rules)?;
        let content = Expr::seq([
            digits(before.len()),
            Expr::text(&begin[before.end..]),
            object,
            Expr::text(&end[..after.start]),
            digits(after.len()),
        ]);
        Ok(CallGrammar { begin: begin[..before.start].to_owned(), content, end: end[after.end..].to_owned() })
    }

    /// A call whose arguments are raw values in tags.
    fn tagged_call(
        &self,
        tool: &Tool,
        values: &JsonValues<'_>,
        rules: &mut GrammarRules,
    ) -> Result<CallGrammar, ToolError> {
        let texts = self.tag_texts(&tool.name).ok_or_else(|| no_form(ODD_NAME))?;
        let schema = &values.variants.schema;
        let mut members = Vec::new();
        if let Some(object) = &schema.node(schema.root).object {
            let Some(declared) = declared(object) else {
                return Ok(CallGrammar { begin: texts.head, content: Expr::NEVER, end: texts.end });
            };
            for (name, id, required) in declared {
                members.push((self.parameter(&tool.name, name, id, &texts, values, rules)?, required));
            }
        }
        let needed = members.iter().any(|(_, required)| *required);
        let TagTexts { head, between, end, empty, .. } = &texts;
        let begin = common_start(head, empty);
        let close = common_end(&empty[begin..], end);
        let rest = Expr::text(&empty[begin..empty.len() - close]);
        let written = in_order(rules, &format!("tags {}", values.tool), between, members, true)?;
        let none = written == Expr::EMPTY;
        let filled = Expr::seq([Expr::text(&head[begin..]), written, Expr::text(&end[..end.len() - close])]);
        let content = match (none, needed) {
            (true, _) => rest,
            (false, true) => filled,
            (false, false) => Expr::choice([filled, rest]),
        };
        let end = end[end.len() - close..].to_owned();
        Ok(CallGrammar { begin: head[..begin].to_owned(), content, end })
    }

    /// A parameter with its value.
    fn parameter(
        &self,
        tool: &str,
        name: &str,
        id: NodeId,
        texts: &TagTexts,
        values: &JsonValues<'_>,
        rules: &mut GrammarRules,
    ) -> Result<Expr, ToolError> {
        // Values after the same text are alternatives there: a lexer that read it with the beginning of one could not go back.
        let mut options: Vec<(String, Vec<Expr>)> = Vec::new();
        for (kind, sample) in samples() {
            let value = self.shared_value(&kind, id, (&texts.close, &texts.next), values, rules)?;
            if value.is_never() {
                continue;
            }
            let around = self.around(tool, name, &sample);
            let before = around.and_then(|around| Some(around.before.strip_prefix(&texts.head)?.to_owned()));
            let before =
                before.ok_or_else(|| no_form(&format!("{name:?} cannot be the name of a parameter in a tag")))?;
            match options.iter_mut().find(|(text, _)| *text == before) {
                Some((_, several)) => several.push(value),
                None => options.push((before, vec![value])),
            }
        }
        let begun = |(before, values)| Expr::seq([Expr::Text(before), Expr::choice(values)]);
        Ok(Expr::choice(options.into_iter().map(begun)))
    }

    /// The values of one kind that a parameter may have, with what closes them; a rule of its own if they are large.
    fn shared_value(
        &self,
        kind: &Choice,
        id: NodeId,
        around: (&str, &str),
        values: &JsonValues<'_>,
        rules: &mut GrammarRules,
    ) -> Result<Expr, ToolError> {
        if values.variants.size(id) <= FEW {
            return self.value(kind, id, around, values, rules);
        }
        let key = format!("{kind:?} in tags {id} of {}", values.tool);
        rules.rule(&key, false, |rules| self.value(kind, id, around, values, rules))
    }

    fn value(
        &self,
        kind: &Choice,
        id: NodeId,
        (close, next): (&str, &str),
        values: &JsonValues<'_>,
        rules: &mut GrammarRules,
    ) -> Result<Expr, ToolError> {
        // In one terminal: a lexer would take the beginning of the closer for text.
        let text = |rules: &mut GrammarRules| {
            let text =
                rules.terminal(&format!("raw text {close} {next}"), || Expr::Without(self.value_marks(close, next)))?;
            rules.terminal(&format!("raw value {close} {next}"), || Expr::seq([text, Expr::text(close)]))
        };
        let closed = |value: Expr| Expr::seq([value, Expr::text(close)]);
        let Some(variants) = values.variants.of(id) else {
            return match kind {
                Choice::String => text(rules),
                Choice::Object => Ok(closed(values.any_container(rules)?)),
                Choice::Array => Ok(Expr::NEVER),
                // An attribute may say that a value is not a string.
                scalar => Ok(closed(values.scalar(rules, scalar, &Variant::default())?)),
            };
        };
        let mut options = Vec::new();
        let marks = self.value_marks(close, next);
        let has_mark = |text: &str| {
            let text = text.to_ascii_lowercase();
            marks.iter().any(|mark| text.contains(&mark.to_ascii_lowercase()))
        };
        for variant in variants {
            for choice in &variant.choices {
                match (choice, kind) {
                    // Other lengths of raw text are not counted.
                    (Choice::String, Choice::String) if variant.demands.length.is_never() => {}
                    (Choice::String, Choice::String) => options.push(text(rules)?),
                    (Choice::Literal(literal), _) if literal.kind() == *kind => match &literal.text {
                        // `encode` writes such a call as JSON.
                        Some(text) if has_mark(text) => {}
                        Some(text) => options.push(closed(Expr::text(text))),
                        None => options.push(closed(values.literal(&literal.json))),
                    },
                    (Choice::Integer | Choice::Number, Choice::Number)
                    | (Choice::Boolean, Choice::Boolean)
                    | (Choice::Null, Choice::Null) => options.push(closed(values.scalar(rules, choice, variant)?)),
                    _ => {}
                }
            }
        }
        if let Choice::Array | Choice::Object = kind {
            options.push(closed(values.those(rules, id, |choice| choice == kind)?));
        }
        Ok(Expr::choice(options))
    }

    /// Markers that raw values do not contain, given what closes a value and what begins the next parameter.
    fn value_marks(&self, close: &str, next: &str) -> Vec<String> {
        let mut marks = self.excluded();
        marks.extend([tag_start(close), tag_start(next)].into_iter().flatten());
        distinct(marks)
    }

    /// What neither text nor raw values contain.
    fn excluded(&self) -> Vec<String> {
        let layout = self.protocol.layout();
        let known = &self.settings.marks;
        let mut marks: Vec<String> = known.call.iter().map(|mark| (*mark).to_owned()).collect();
        match self.protocol.whole_messages() {
            true => marks.extend(known.layout.iter().map(|mark| (*mark).to_owned())),
            false => {
                let sections = layout.section.iter();
                let sections = sections.flat_map(|section| [section.begin].into_iter().chain(section.ends()));
                marks.extend(sections.map(str::to_owned));
            }
        }
        marks.push(self.settings.delimiters.open.clone());
        marks.extend(self.settings.info.result_marks.iter().map(|mark| mark.to_string()));
        // Cut before the end of a tag, so that misspelled ones are excluded, too.
        let begun = |mark: &str| mark.trim_end_matches(['>', '=', '"', ' ', '\n']).len();
        marks.retain(|mark| !mark.trim().is_empty());
        marks.iter_mut().filter(|mark| begun(mark) > 0).for_each(|mark| mark.truncate(begun(mark)));
        marks
    }
}

impl CallGrammarWriter for WrittenForm<'_> {
    fn frame(&self, _: &Delimiters) -> CallFrame {
        let mut marks = self.excluded();
        // After a bracket, they are an error.
        marks.extend(self.settings.marks.ends.iter().map(|mark| (*mark).to_owned()));
        if self.tagged && self.settings.info.near_misses {
            // Tags that are nearly those of a call are errors, also with the names of tools, whatever is before or between their words.
            let words = ["call", "function", "invoke", "parameter", "tool", "name", " ", "\t", "\n", "\r", "-", "_"];
            let named = self.tools.iter().filter_map(|tool| tool.name.split(['_', '-']).find(|word| !word.is_empty()));
            // The beginning of a long name is enough.
            let named = named.map(|word| word.chars().take(NAME_CHARS).collect::<String>());
            marks.extend(words.map(str::to_owned).into_iter().chain(named).map(|word| format!("<{word}")));
        }
        let [begin, between, end] = self.around_calls();
        let (end, last) = self.ending(&end, &between);
        CallFrame {
            open: self.open(),
            begin,
            between,
            end,
            last,
            marks: distinct(marks),
            one_call: self.write(NAME, &[], 1).is_none(),
            text: self.protocol.whole_messages().then(|| self.text_frame()),
        }
    }

    fn call(
        &self,
        tool: &Tool,
        _: &Delimiters,
        values: &JsonValues<'_>,
        rules: &mut GrammarRules,
    ) -> Result<CallGrammar, ToolError> {
        if self.tagged && tool.syntax != Syntax::Wire {
            let why = values.variants.schema.complexity().unwrap_or("its syntax is \"json\"");
            return Err(no_form(&format!("{why}, so its calls are JSON in this protocol")));
        }
        let call =
            if self.tagged { self.tagged_call(tool, values, rules) } else { self.object_call(tool, values, rules) }?;
        let begin = call.begin.strip_prefix(&self.open()).ok_or_else(|| no_form(ODD_NAME))?;
        Ok(CallGrammar { begin: begin.to_owned(), ..call })
    }

    fn raw(&self, _: &Tool, _: LengthLimits) -> Option<usize> {
        self.tagged.then_some(0)
    }

    fn style(&self) -> JsonStyle {
        self.style
    }
}

/// A name that is written in another way than others.
const ODD_NAME: &str = "its name is not written as other names are";

fn no_form(why: &str) -> ToolError {
    ToolError::new(format!("{why}; there is no grammar of such calls"))
}

/// The text of a value: a string as it is, any other as JSON.
fn raw(value: &Value<'_>) -> String {
    let mut out = String::new();
    match value {
        Value::String(text) => out.push_str(text),
        _ => value.write_spaced(&mut out),
    }
    out
}

/// The beginning of the first tag in a text: what precedes its end or its attributes. All of it if it is not a tag.
fn tag_start(text: &str) -> Option<String> {
    let tag = text.find('<').map_or(text.trim(), |at| &text[at..]);
    let end = tag.find(['>', '=', '"']).unwrap_or(tag.len());
    Some(tag[..end].trim_end().to_owned()).filter(|tag| !tag.is_empty())
}

/// Bytes with which both texts begin.
fn common_start(a: &str, b: &str) -> usize {
    a.char_indices().zip(b.chars()).find(|((_, a), b)| a != b).map_or(a.len().min(b.len()), |((at, _), _)| at)
}

/// Bytes with which both texts end.
fn common_end(a: &str, b: &str) -> usize {
    let same = a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b);
    same.map(|(c, _)| c.len_utf8()).sum()
}

/// Where a text has a number that counts the calls, found by comparing it with that of the next call; at `none` if both are the
/// same. `None`: they differ in another way.
fn counter(first: &str, next: &str, none: usize) -> Option<Range<usize>> {
    if first == next {
        return Some(none..none);
    }
    let same = common_start(first, next);
    let start = first[..same].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let end = |text: &str| start + text[start..].bytes().take_while(u8::is_ascii_digit).count();
    let (a, b) = (end(first), end(next));
    (a > start && b > start && first[a..] == next[b..]).then_some(start..a)
}

/// So many digits, or up to nine.
fn digits(least: usize) -> Expr {
    let most = if least == 0 { 0 } else { least.max(9) };
    Expr::Chars(Chars::range('0', '9')).times(least, Some(most))
}
