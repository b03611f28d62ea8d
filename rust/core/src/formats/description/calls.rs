//! Calls in a description: a template, from which their reader is derived, and what the template does not say.

use std::any::Any;

use super::fields::{FieldList, keep};
use crate::formats::bodies::json::marked::MarkedJson;
use crate::formats::bodies::json::named::{IdForm, NamedJson};
use crate::formats::bodies::json::part::JsonPart;
use crate::formats::bodies::json::{Ends, JsonRules, NameKey};
use crate::formats::bodies::nested::NestedFormat;
use crate::formats::bodies::notation::NotationFormat;
use crate::formats::bodies::pycalls::{PyCalls, PyValues};
use crate::formats::bodies::tagged::{Head, TagAttributes, Tagged, Tags, ValueStyle};
use crate::formats::call::{CallFormat, Separators};
use crate::formats::template::{cut, divided, holes, spaced};

/// How calls are read and written: one of the readers. Only made for a description, so its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy)]
pub(super) enum Calls {
    Json(MarkedJson),
    Named(NamedJson),
    Part(JsonPart),
    Tagged(Tags),
    Python(PyCalls),
    Notation(NotationFormat),
    Nested(NestedFormat),
}

/// What calls are derived from, besides their own template.
#[derive(Clone, Copy)]
pub(super) struct CallSurroundings {
    pub argument: &'static str,
    pub separators: Separators,
    pub stops: &'static [&'static str],
    /// What ends the parts of a message, and what begins their headers.
    pub part_ends: &'static [&'static str],
    pub part_begin: &'static str,
}

impl CallSurroundings {
    /// What ends the list of calls.
    fn end(&self) -> &'static str {
        spaced(self.separators.end).text
    }
}

/// Where the object of a template begins: at the first bracket that begins no hole.
fn object(template: &str) -> Option<usize> {
    let hole = |at: usize| holes(&template[at..]).next().is_some_and(|name| template[at + 1..].starts_with(name));
    template.match_indices('{').map(|(at, _)| at).find(|at| !hole(*at))
}

/// The key of the member whose value follows the text.
fn key(before: &'static str) -> Option<&'static str> {
    let text = before.trim_end().strip_suffix(':')?.trim_end().strip_suffix('"')?;
    text.rfind('"').map(|at| &text[at + 1..])
}

/// What reads a call; the holes of its template say so.
#[derive(Clone, Copy)]
enum Reader {
    Json,
    Named,
    Part,
    Tagged,
    Python,
    Notation,
    Nested,
}

impl Reader {
    fn of(call: &'static str) -> Reader {
        let has = |hole: &str| divided(call, hole).is_some();
        match call {
            "{arguments}" => Reader::Part,
            _ if has("args") => Reader::Tagged,
            _ if has("kwargs") => Reader::Python,
            _ if has("members") => Reader::Notation,
            _ if has("elements") => Reader::Nested,
            _ if object(call).is_some() => Reader::Json,
            _ => Reader::Named,
        }
    }

    /// The holes that it fills. The second one is that of the arguments.
    fn holes(self) -> &'static [&'static str] {
        match self {
            Reader::Json => &["name", "arguments", "id"],
            Reader::Named => &["name", "arguments", "id", "count"],
            Reader::Part => &["arguments"],
            Reader::Tagged => &["name", "args", "index"],
            Reader::Python => &["name", "kwargs"],
            Reader::Notation => &["name", "members"],
            Reader::Nested => &["name", "elements"],
        }
    }
}

/// The holes that the reader of a call fills.
pub(super) fn holes_of(call: &'static str) -> &'static [&'static str] {
    Reader::of(call).holes()
}

/// A marker without the bracket of a list. The bracket stays if only a word is left, which could be prose.
fn without_list(marker: &'static str) -> &'static str {
    let marker = spaced(marker).text;
    match marker.strip_suffix('[').map(str::trim_end) {
        Some(rest) if !rest.ends_with(char::is_alphanumeric) => rest,
        _ => marker,
    }
}

/// The opener and the closer of calls: those of the call, or of the list around it, without its brackets.
fn markers(before: &'static str, after: &'static str, around: &CallSurroundings) -> (&'static str, &'static str) {
    let (open, close) = (spaced(before).text, spaced(after).text);
    let close_of_list = || spaced(around.end().trim_start_matches(']')).text;
    (
        if open.is_empty() { without_list(around.separators.begin) } else { open },
        if close.is_empty() { close_of_list() } else { close },
    )
}

fn json(call: &'static str, around: &CallSurroundings) -> Result<MarkedJson, String> {
    let begin = object(call).unwrap_or_default();
    let end = call.rfind('}').map_or(call.len(), |at| at + 1).max(begin);
    let (open, close) = markers(&call[..begin], &call[end..], around);
    // Nothing else may divide a list.
    let between = around.separators.between.trim();
    if spaced(&call[..begin]).text.is_empty() && !matches!(between, "" | ",") {
        return Err(format!("message has {between:?} between two calls; a list of objects has commas or line breaks"));
    }
    let before = cut(call, "name").0;
    let name = match key(before) {
        Some(key) => NameKey::Under(key),
        None if before.trim_end().ends_with('{') => NameKey::NameIsKey,
        None => {
            return Err(
                "call has {name} in an object, but not as the value of a key; write {\"name\": {name}, …}".into()
            );
        }
    };
    let arguments = match (key(cut(call, "arguments").0), name) {
        (Some(key), _) => key,
        (None, NameKey::NameIsKey) => "arguments",
        (None, _) => return Err("call has no key before {arguments}; write \"arguments\": {arguments}".into()),
    };
    let id = divided(call, "id").and_then(|found| key(found.before)).unwrap_or("id");
    let marked = !open.is_empty();
    Ok(MarkedJson {
        open: if marked { keep([open]) } else { &[] },
        openers_at_start: if marked { &[] } else { &[""] },
        end_of_message: if close.is_empty() { around.stops.first().copied().unwrap_or_default() } else { "" },
        written: call,
        keys: JsonRules {
            name,
            arguments: keep([arguments]),
            id,
            may_be_text: !marked,
            close: if close.is_empty() { &[] } else { keep([close]) },
        },
        ..MarkedJson::LIST
    })
}

fn named(call: &'static str, around: &CallSurroundings) -> NamedJson {
    let (mut before, after) = cut(call, "name");
    let (mut between, end) = cut(after, "arguments");
    let mut id = IdForm::None;
    if let Some(found) = divided(before, "id") {
        (before, id) = (found.before, IdForm::BeforeName { mark: found.after });
    }
    if let Some(rest) = between.strip_prefix(":{count}") {
        (between, id) = (rest, IdForm::Indexed);
    } else if let Some(found) = divided(between, "id") {
        (between, id) = (found.after, IdForm::Marked { mark: found.before, written: true });
    }
    let before = before.trim_start();
    // A second marker, or a word after the marker, may be missing.
    let opens = before.find(['<', '[']).unwrap_or(before.len());
    let open = before[opens..].find(['>', ']']).map_or(before.len(), |at| opens + at + 1);
    let (open, prefix) = before.split_at(open);
    let mark = spaced(between);
    let fenced = mark.text.starts_with("```") || end.trim_start().starts_with("```");
    let first = match id {
        IdForm::Marked { mark, .. } => Some(mark),
        _ => None,
    };
    let last = match mark.text {
        _ if fenced => "\n",
        "" if mark.after.starts_with('\n') => "\n",
        "" => "{",
        text => text,
    };
    let close = if fenced { end.trim_start().trim_start_matches('`') } else { end };
    let close = spaced(close).text;
    let end = end.strip_suffix(close).unwrap_or(end);
    let implicit = [open, around.end()].into_iter().filter(|mark| !mark.is_empty());
    NamedJson {
        open: keep([open]),
        prefix: prefix.trim_start(),
        name_terminators: first.into_iter().chain([last]).collect::<Vec<_>>().leak(),
        around_arguments: (between, end),
        id,
        ends: keep(Ends {
            fence: if fenced { "```" } else { "" },
            close,
            implicit_closers: implicit.collect::<Vec<_>>().leak(),
        }),
        end_of_message: if close.is_empty() { around.stops.first().copied().unwrap_or_default() } else { "" },
        json_list: None,
    }
}

fn tagged(call: &'static str, around: &CallSurroundings) -> Result<Tags, String> {
    let argument = around.argument;
    for hole in ["key", "value"] {
        if divided(argument, hole).is_none() {
            return Err(format!(
                "argument has no {{{hole}}}; write both, such as <arg name=\"{{key}}\">{{value}}</arg>"
            ));
        }
    }
    let attributes = match divided(argument, "kind") {
        Some(found) if found.after.starts_with('"') => true,
        Some(_) => return Err("{kind} in argument must be in quotes: string=\"{kind}\"".into()),
        None => false,
    };
    let section = around.end();
    let tags = match attributes {
        true => Tags::with_attributes(call, argument, TagAttributes::PLAIN),
        false => Tags::of(call, argument),
    };
    Ok(Tags {
        section_ends: if section.is_empty() { &[] } else { keep([section]) },
        part_ends: around.part_ends,
        ..tags
    })
}

const VALUES: [(&str, ValueStyle); 3] =
    [("json", ValueStyle::Json), ("python", ValueStyle::Python), ("cdata", ValueStyle::PythonOrCdata)];
const PY_VALUES: [(&str, PyValues); 3] =
    [("python", PyValues::Python), ("unescaped", PyValues::Unescaped), ("json", PyValues::Json)];

impl Calls {
    pub(super) fn of(format: &'static dyn CallFormat) -> Option<Calls> {
        let any: &dyn Any = format;
        let json = any.downcast_ref().copied().map(Calls::Json);
        json.or_else(|| any.downcast_ref().copied().map(Calls::Named))
            .or_else(|| any.downcast_ref().copied().map(Calls::Part))
            .or_else(|| any.downcast_ref().map(|Tagged(tags)| Calls::Tagged(**tags)))
            .or_else(|| any.downcast_ref().copied().map(Calls::Python))
            .or_else(|| any.downcast_ref().copied().map(Calls::Notation))
            .or_else(|| any.downcast_ref().copied().map(Calls::Nested))
    }

    pub(super) fn kept(self) -> &'static dyn CallFormat {
        match self {
            Calls::Json(format) => keep(format),
            Calls::Named(format) => keep(format),
            Calls::Part(format) => keep(format),
            Calls::Tagged(tags) => keep(Tagged(keep(tags))),
            Calls::Python(format) => keep(format),
            Calls::Notation(format) => keep(format),
            Calls::Nested(format) => keep(format),
        }
    }

    /// From the template of a call; its holes choose the reader.
    pub(super) fn derived(call: &'static str, around: &CallSurroundings) -> Result<Calls, String> {
        let reader = Reader::of(call);
        if let (Reader::Part, [first, ..]) = (reader, around.part_ends) {
            // A part that is a call has an end of its own, if there are several.
            let close = around.part_ends.get(1).unwrap_or(first);
            return Ok(Calls::Part(JsonPart { open: keep([around.part_begin]), close, ends: around.part_ends }));
        }
        let Some(name) = divided(call, "name") else {
            return Err("call has no {name}; write it where the tool's name is".into());
        };
        if let Some(hole) = ["name", "arguments"].into_iter().find(|hole| call.contains(&format!("{{{{{hole}}}}}"))) {
            return Err(format!("call has {{{{{hole}}}}} with two braces; write {{{hole}}}"));
        }
        let hole = reader.holes().get(1).copied().unwrap_or_default();
        let (before, after) = (name.before, name.after);
        let Some(arguments) = divided(after, hole) else {
            return Err(match divided(before, hole) {
                Some(_) => format!("call has {{{hole}}} before {{name}}; the name must come first"),
                None => "call has no hole for arguments; write {arguments} for a JSON object, {args} for tags that argument describes, or \
                         {kwargs} for keyword arguments"
                    .into(),
            });
        };
        let between = |text: &str| match arguments.before == text {
            true => Ok(()),
            false => Err(format!("call must have {{name}}{text}{{{hole}}}, without anything else between")),
        };
        Ok(match reader {
            Reader::Json => Calls::Json(json(call, around)?),
            Reader::Named | Reader::Part => Calls::Named(named(call, around)),
            Reader::Tagged => Calls::Tagged(tagged(call, around)?),
            Reader::Python => {
                between("(")?;
                let Some(after) = arguments.after.strip_prefix(')') else {
                    return Err("call must have a parenthesis after {kwargs}".into());
                };
                let (open, close) = markers(before, after, around);
                let list = around.separators.begin.trim_end().ends_with('[');
                let open: &[_] = if open.is_empty() { &[] } else { keep([open]) };
                let (bare, values) = (open.is_empty(), PyValues::Python);
                Calls::Python(PyCalls { open, close, list, bare, json: None, values })
            }
            Reader::Notation => {
                between("")?;
                let Some(before) = before.strip_suffix("call:") else {
                    return Err("call must have call: before {name}".into());
                };
                let (open, close) = markers(before, arguments.after, around);
                Calls::Notation(NotationFormat { open: keep([open]), close: keep([close]), quote: "<|\"|>" })
            }
            Reader::Nested => {
                let (open, close) = (spaced(before).text, spaced(arguments.after).text);
                let prefix = close.find("</").map_or("", |at| &close[..at]);
                let ends = [open, around.end()].into_iter().filter(|mark| !mark.is_empty()).collect::<Vec<_>>().leak();
                let open_end = arguments.before;
                Calls::Nested(NestedFormat { open: keep([open]), open_end, prefix, close, item: "item", ends })
            }
        })
    }

    /// What closes a call, if anything but the end of the message does.
    pub(super) fn closer(&self) -> &'static str {
        match self {
            Calls::Json(format) => format.keys.close.first().copied().unwrap_or_default(),
            Calls::Named(format) => format.ends.close,
            Calls::Tagged(tags) => tags.close,
            Calls::Python(format) => format.close,
            Calls::Notation(format) => format.close[0],
            Calls::Nested(format) => format.close,
            Calls::Part(_) => "",
        }
    }

    /// The templates of a call and of an argument.
    pub(super) fn templates(&self) -> (String, &'static str) {
        let call = match self {
            Calls::Json(format) => format.written.to_owned(),
            Calls::Named(format) => {
                let NamedJson { open: [open], prefix, around_arguments: (between, end), ends, .. } = format;
                let id = match format.id {
                    IdForm::None | IdForm::Marked { written: false, .. } => format!("{prefix}{{name}}"),
                    IdForm::Indexed => format!("{prefix}{{name}}:{{count}}"),
                    IdForm::Marked { mark, written: true } => format!("{prefix}{{name}}{mark}{{id}}"),
                    IdForm::BeforeName { mark } => format!("{prefix}{{id}}{mark}{{name}}"),
                };
                format!("{open}{id}{between}{{arguments}}{end}{}", ends.close)
            }
            Calls::Part(_) => "{arguments}".to_owned(),
            Calls::Tagged(tags) => return (tags.written.0.to_owned(), tags.written.1),
            Calls::Python(_) => "{name}({kwargs})".to_owned(),
            Calls::Notation(NotationFormat { open, close: [close], .. }) => {
                format!("{}call:{{name}}{{members}}{close}", open.first().copied().unwrap_or_default())
            }
            Calls::Nested(NestedFormat { open: [open], open_end, close, .. }) => {
                format!("{open}{{name}}{open_end}{{elements}}{close}")
            }
        };
        (call, "")
    }

    /// What the template does not say.
    pub(super) fn list(&mut self, fields: &mut FieldList<'_>) {
        match self {
            Calls::Json(format) => {
                fields.field("open", &mut format.open);
                fields.field("openers_at_start", &mut format.openers_at_start);
                fields.field("lists", &mut format.lists);
                fields.field("end_of_message", &mut format.end_of_message);
                rules(&mut format.keys, fields);
            }
            Calls::Named(format) => {
                let mut ends = *format.ends;
                fields.field("open", &mut format.open);
                fields.field("prefix", &mut format.prefix);
                fields.field("name_ends", &mut format.name_terminators);
                fields.field("around_arguments", &mut format.around_arguments);
                fields.field("fence", &mut ends.fence);
                fields.field("close", &mut ends.close);
                fields.field("ends", &mut ends.implicit_closers);
                fields.field("end_of_message", &mut format.end_of_message);
                let mut id = match format.id {
                    IdForm::Marked { mark, written: false } => Some(mark),
                    _ => None,
                };
                fields.field("id_mark", &mut id);
                if let (Some(mark), IdForm::None) = (id, format.id) {
                    format.id = IdForm::Marked { mark, written: false };
                }
                json_too(&mut format.json_list, fields);
                if ends != *format.ends {
                    format.ends = keep(ends);
                }
            }
            Calls::Part(format) => {
                fields.field("open", &mut format.open);
                fields.field("close", &mut format.close);
                fields.field("ends", &mut format.ends);
            }
            Calls::Tagged(tags) => {
                fields.choice("values", &mut tags.values, &VALUES);
                fields.field("spaced", &mut tags.spaced);
                fields.field("line_breaks", &mut tags.line_breaks);
                fields.field("if_empty", &mut tags.lines.empty);
                fields.field("section_ends", &mut tags.section_ends);
                fields.field("part_ends", &mut tags.part_ends);
                match &mut tags.head {
                    Head::Text(text) => fields.field("kind", &mut text.kind),
                    Head::Attributes(attributes) => {
                        fields.field("empty", &mut attributes.empty);
                        fields.field("index", &mut attributes.index);
                        fields.field("kinds", &mut attributes.kinds);
                        fields.field("escaped", &mut attributes.escaped);
                    }
                }
            }
            Calls::Python(format) => {
                fields.field("open", &mut format.open);
                fields.field("close", &mut format.close);
                fields.field("list", &mut format.list);
                fields.field("bare", &mut format.bare);
                fields.choice("values", &mut format.values, &PY_VALUES);
                json_too(&mut format.json, fields);
            }
            Calls::Notation(format) => fields.field("quote", &mut format.quote),
            Calls::Nested(format) => {
                fields.field("prefix", &mut format.prefix);
                fields.field("item", &mut format.item);
                fields.field("ends", &mut format.ends);
            }
        }
    }
}

fn rules(rules: &mut JsonRules, fields: &mut FieldList<'_>) {
    fields.field("argument_keys", &mut rules.arguments);
    fields.field("id_key", &mut rules.id);
    fields.field("may_be_text", &mut rules.may_be_text);
    fields.field("close", &mut rules.close);
}

/// Whether calls may also be JSON objects.
fn json_too(json: &mut Option<JsonRules>, fields: &mut FieldList<'_>) {
    let mut too = json.is_some();
    fields.field("json", &mut too);
    *json = too.then_some(json.unwrap_or(JsonRules::USUAL));
}
