//! A description of a format: the same data as in a row, as a table with templates, for formats at run time. See `docs/formats.md`.

mod call_checks;
mod calls;
mod checks;
mod fields;
mod message;
mod outer;
mod parts;

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use super::call::Separators;
use super::custom::CustomProtocol;
use super::frames::envelope::EnvelopeFormat;
use super::frames::flat::FlatFormat;
use super::frames::params::ParamsFormat;
use super::layout::{Layout, Section};
use super::protocol::Protocol;
use super::template::{cut, divided};
use crate::syntax::json::{Member, Value};
use calls::{CallSurroundings, Calls, holes_of};
use fields::{FieldList, FieldValue, difference, keep};
use outer::OuterMarkers;

/// The version of the descriptions that are read and written.
const VERSION: &str = "1";

/// The most bytes of a text in a description.
const TEXT_BYTES: usize = 4096;

/// The most items of a list in a description.
const ITEMS: usize = 64;

/// The most spellings of a format.
const SPELLINGS: usize = 8;

/// A format as data.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub name: &'static str,
    pub protocol: Arc<dyn Protocol>,
    pub spellings: Vec<Arc<dyn Protocol>>,
    /// The prompted protocol with the same code, perhaps between other markers.
    pub like: Option<&'static str>,
}

/// A built-in format.
pub(crate) struct BuiltIn {
    pub described: Described,
    /// The protocol for prompting, whose markers a description may choose.
    pub taught: fn() -> Arc<dyn Protocol>,
}

/// A built-in format by its name, or a sentence that says that there is none.
pub(crate) type Find<'f> = &'f dyn Fn(&str) -> Result<BuiltIn, String>;

/// Reads a description.
///
/// # Errors
///
/// A sentence that names a field, and says what it must be.
pub(crate) fn read(document: Vec<Member<'_>>, find: Find<'_>) -> Result<Described, String> {
    if let Some((key, what)) = document.iter().find_map(|(key, value)| Some((key, oversized(value)?))) {
        return Err(format!("{key:?} has {what}"));
    }
    let mut fields = FieldList::reading(document, "");
    if let Some(version) = fields.take("version")
        && version != Value::Number(Cow::Borrowed(VERSION))
    {
        return Err(format!("version is {}; this release reads version {VERSION}", version.to_json()));
    }
    let mut name = "custom";
    fields.field("name", &mut name);
    let mut like = None;
    fields.field("like", &mut like);
    let base = like.map(|name: &str| find(name)).transpose()?;
    if let Some(base) = base.as_ref().filter(|_| fields.has("call", "{call}")) {
        let protocol = marked(fields, base)?;
        return Ok(Described { name, protocol, spellings: Vec::new(), like: Some(base.described.name) });
    }
    let given = fields.take("spellings");
    let base = base.map(|base| base.described);
    let base_name = base.as_ref().map(|base| base.name);
    let (own, shared) = format(fields, base.as_ref())?;
    let spellings = match given {
        None => base.filter(|_| shared).map(|base| base.spellings).unwrap_or_default(),
        Some(Value::Array(items)) if items.len() <= SPELLINGS => {
            items.into_iter().map(|item| spelling(item, own.as_ref())).collect::<Result<_, _>>()?
        }
        Some(_) => return Err(format!("spellings must be a list of at most {SPELLINGS} tables")),
    };
    let like = base_name.filter(|_| !own.layout().native);
    Ok(Described { name, protocol: own, spellings, like })
}

/// The text around the results of a prompted protocol, if nothing else is given.
const RESULT: &str = "<tool_result>{result}</tool_result>";

/// Markers around the calls and results of a prompted protocol.
fn marked(mut fields: FieldList<'_>, base: &BuiltIn) -> Result<Arc<dyn Protocol>, String> {
    let call = fields.template("call", &["call"]).unwrap_or_default();
    let result = fields.template("result", &["result"]).unwrap_or(RESULT);
    fields.finish()?;
    if divided(result, "result").is_none() {
        return Err("result has no {result}; write the markers around it, such as <result>{result}</result>".into());
    }
    let made = CustomProtocol::around((base.taught)(), cut(call, "call"), cut(result, "result"))?;
    Ok(Arc::new(made))
}

/// Another spelling of a format: the fields that differ.
fn spelling(item: Value<'_>, own: &dyn Protocol) -> Result<Arc<dyn Protocol>, String> {
    let Value::Object(given) = item else { return Err("spellings must be a list of tables".into()) };
    let any: &dyn Any = own;
    let Some(flat) = any.downcast_ref::<FlatFormat>() else { return Err("this format has no spellings".into()) };
    let same = flat_written(flat).into_iter().filter(|(key, _)| !given.iter().any(|(other, _)| other == key));
    let mut fields = FieldList::reading(same.chain(given.clone()).collect(), "spellings.");
    let made = self::flat(&mut fields, None);
    fields.finish()?;
    Ok(Arc::new(made?))
}

/// The fields of a spelling that differ from those of its format.
fn spelling_written(spelling: &FlatFormat, own: &[Member<'static>]) -> Value<'static> {
    let all = flat_written(spelling);
    let missing = own.iter().filter(|(key, _)| !all.iter().any(|(other, _)| other == key));
    let plain = message::plain_members();
    let missing = missing.map(|(key, value)| {
        let plain = plain.iter().find(|(other, _)| other == key).map(|(_, plain)| plain.clone());
        let empty = || match value {
            Value::Object(_) => Value::Object(Vec::new()),
            // An argument that calls of the spelling do not have.
            Value::String(_) => "".write(),
            _ => Value::Bool(false),
        };
        (key.clone(), plain.unwrap_or_else(empty))
    });
    let missing: Vec<_> = missing.collect();
    Value::Object(all.into_iter().filter(|member| !own.contains(member)).chain(missing).collect())
}

/// The format, and whether its calls are those of the format that it is like.
fn format(mut fields: FieldList<'_>, base: Option<&Described>) -> Result<(Arc<dyn Protocol>, bool), String> {
    let any: Option<&dyn Any> = base.map(|base| -> &dyn Any { &*base.protocol });
    if let Some(params) = any.and_then(|any| any.downcast_ref::<ParamsFormat>()) {
        let mut made = *params;
        message::past_text(&mut made.past_text, &mut fields);
        message::layout(&mut made.layout, &mut fields);
        fields.finish()?;
        return checked(made.layout, made).map(|made| (made, true));
    }
    if let Some(envelope) =
        any.and_then(|any| any.downcast_ref::<EnvelopeFormat>()).filter(|format| format.layout.native)
    {
        let mut made = *envelope;
        message::layout(&mut made.layout, &mut fields);
        fields.finish()?;
        return checked(made.layout, made).map(|made| (made, true));
    }
    let flat = any.and_then(|any| any.downcast_ref::<FlatFormat>());
    if let (Some(base), None) = (base, flat) {
        fields.finish()?;
        return Ok((base.protocol.clone(), true));
    }
    let made = self::flat(&mut fields, flat);
    // A field that does not exist may be the reason why another one is missing.
    fields.finish()?;
    let made = made?;
    let same = flat.is_some_and(|base| std::ptr::addr_eq(base.call, made.call));
    Ok((Arc::new(made), same))
}

/// A format with code of its own, with this layout.
fn checked(layout: Layout, made: impl Protocol) -> Result<Arc<dyn Protocol>, String> {
    let (open, close) = made.info().delimiters;
    match checks::wrong_layout(&layout, &[&open, &close]) {
        Some(wrong) => Err(wrong),
        None => Ok(Arc::new(made)),
    }
}

/// A format of data: another one with changes, or a new one.
fn flat(fields: &mut FieldList<'_>, base: Option<&FlatFormat>) -> Result<FlatFormat, String> {
    let mut layout = base.map_or(message::PLAIN, |base| base.layout);
    let mut past_text = base.map_or(message::PLAIN_TEXT, |base| base.past_text);
    let own = base.and_then(|base| Calls::of(base.call));
    let (mut call, argument) =
        (fields.template_with("call", holes_of), fields.template("argument", &["key", "kind", "value"]));
    message::past_text(&mut past_text, fields);
    message::layout(&mut layout, fields);
    if let Some(outer) = call.and_then(OuterMarkers::of) {
        (call, past_text.separators) = (Some(outer.call), outer.around(&past_text.separators));
        layout.section = outer.is_section.then(|| Section::of(past_text.separators));
        // In a template, a brace ends the text between calls.
        if past_text.separators.between.contains('}') {
            return Err(
                "call has a brace in its markers, which are written between calls; write them without it".into()
            );
        }
    }
    message::section(&mut layout, &past_text.separators, fields);
    let (own_call, own_argument) = own.map(|own| own.templates()).unwrap_or_default();
    let derives = call.is_some() || argument.is_some() || own.is_none();
    let mut calls = match own {
        Some(own) if !derives => own,
        _ => {
            let call = call.unwrap_or_else(|| own_call.leak());
            if call.is_empty() {
                let example = "<do>{\"name\": {name}, \"arguments\": {arguments}}</do>";
                return Err(format!("call is missing; write one call with its markers, such as {example}"));
            }
            Calls::derived(call, &around(argument.unwrap_or(own_argument), &layout, &past_text.separators))?
        }
    };
    let options = fields.take("calls");
    let call = match (base, &options) {
        (Some(base), None) if !derives => base.call,
        _ => {
            match options {
                None => {}
                Some(Value::Object(members)) => fields.within("calls", members, |inner| calls.list(inner)),
                Some(other) => fields.refuse("calls", "a table", &other),
            }
            if let Some(wrong) = calls.wrong(layout.parts.is_some(), layout.section.is_some()) {
                return Err(wrong);
            }
            calls.kept()
        }
    };
    let made = FlatFormat { layout, call, past_text };
    match checks::wrong(&made, calls.closer()) {
        Some(wrong) => Err(wrong),
        None => Ok(made),
    }
}

fn around(argument: &'static str, layout: &Layout, separators: &Separators) -> CallSurroundings {
    let part_begin = layout.parts.and_then(parts::PartsData::of).map_or("", |parts| parts.begin());
    let part_ends = layout.parts.map_or(&[][..], |parts| parts.ends());
    CallSurroundings { argument, separators: *separators, stops: layout.stops, part_ends, part_begin }
}

/// What is larger in a value than a description may have.
fn oversized(value: &Value<'_>) -> Option<String> {
    match value {
        Value::String(text) if text.len() > TEXT_BYTES => {
            Some(format!("a text of {} bytes; at most {TEXT_BYTES} are read", text.len()))
        }
        Value::Array(items) if items.len() > ITEMS => Some(format!("a list of more than {ITEMS} items")),
        Value::Array(items) => items.iter().find_map(oversized),
        Value::Object(members) => members.iter().find_map(|(_, value)| oversized(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The description of a format. A format with code of its own is `like` the built-in one with the same code.
///
/// # Errors
///
/// That of `find`, which knows all built-in formats.
pub(crate) fn write(described: &Described, find: Find<'_>) -> Result<Vec<Member<'static>>, String> {
    let alike = match &*described.protocol as &dyn Any {
        any if any.is::<ParamsFormat>() => find("qwen3coder")?.described,
        any if any.is::<EnvelopeFormat>() && described.protocol.layout().native => find("hermes")?.described,
        _ => described.like.map(find).transpose()?.map_or_else(|| described.clone(), |base| base.described),
    };
    let mut out: Vec<Member<'static>> = vec![
        (Cow::Borrowed("version"), Value::Number(Cow::Borrowed(VERSION))),
        (Cow::Borrowed("name"), described.name.write()),
    ];
    let (any, base): (&dyn Any, &dyn Any) = (&*described.protocol, &*alike.protocol);
    if let Some(flat) = any.downcast_ref::<FlatFormat>() {
        out.extend(flat_written(flat));
    } else {
        out.push((Cow::Borrowed("like"), alike.name.write()));
    }
    if let Some([call, result]) = any.downcast_ref::<CustomProtocol>().map(CustomProtocol::markers) {
        for (key, hole, (before, after)) in [("call", "{call}", call), ("result", "{result}", result)] {
            out.push((Cow::Borrowed(key), Value::String([before, hole, after].concat().into())));
        }
    }
    if let (Some(own), Some(base)) = (any.downcast_ref::<ParamsFormat>(), base.downcast_ref::<ParamsFormat>()) {
        out.extend(message::past_text_written(&own.past_text, &base.past_text));
        out.extend(message::layout_written(&own.layout, &base.layout, &own.past_text.separators));
    }
    if let (Some(own), Some(base)) = (any.downcast_ref::<EnvelopeFormat>(), base.downcast_ref::<EnvelopeFormat>()) {
        out.extend(message::layout_written(&own.layout, &base.layout, &message::PLAIN_TEXT.separators));
    }
    let own = any.downcast_ref::<FlatFormat>().map(flat_written).unwrap_or_default();
    let spellings = described.spellings.iter().filter_map(|spelling| {
        let any: &dyn Any = &**spelling;
        any.downcast_ref().map(|spelling| spelling_written(spelling, &own))
    });
    let spellings: Vec<_> = spellings.collect();
    if !spellings.is_empty() {
        out.push((Cow::Borrowed("spellings"), Value::Array(spellings)));
    }
    Ok(out)
}

fn flat_written(flat: &FlatFormat) -> Vec<Member<'static>> {
    let separators = flat.past_text.separators;
    let mut out = Vec::new();
    let calls = Calls::of(flat.call);
    let (call, argument) = calls.map(|calls| calls.templates()).unwrap_or_default();
    let derived = Calls::derived(keep(call.clone()), &around(argument, &flat.layout, &separators));
    out.push((Cow::Borrowed("call"), Value::String(call.into())));
    if !argument.is_empty() {
        out.push((Cow::Borrowed("argument"), argument.write()));
    }
    if let (Some(calls), Ok(derived)) = (calls, derived) {
        let options = difference(&calls, &derived, &|calls, fields| calls.list(fields));
        if !options.is_empty() {
            out.push((Cow::Borrowed("calls"), Value::Object(options)));
        }
    }
    out.extend(message::past_text_written(&flat.past_text, &message::PLAIN_TEXT));
    out.extend(message::layout_written(&flat.layout, &message::PLAIN, &separators));
    out
}
