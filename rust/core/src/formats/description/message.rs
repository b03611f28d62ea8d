//! How messages are divided and past messages are written, in a description.

use std::borrow::Cow;

use super::fields::{FieldList, FieldValue, all, difference};
use super::parts::PartsData;
use crate::formats::call::Separators;
use crate::formats::frames::flat::PastText;
use crate::formats::layout::{CallEnds, Layout, ReasoningMarks, Section};
use crate::formats::template::divided;
use crate::syntax::json::{Member, Value};

/// A layout of which nothing is said.
pub(super) const PLAIN: Layout = Layout { trim_before_call: true, ..Layout::NATIVE };

/// Past messages and results of which nothing is said.
pub(super) const PLAIN_TEXT: PastText = PastText::of("{content|\n}{calls|\n}", "{content}");

const CALL_ENDS: [(&str, CallEnds); 3] =
    [("never", CallEnds::Never), ("always", CallEnds::Always), ("declared", CallEnds::Declared)];

const NO_SECTION: Section = Section { begin: "", end: "", also: &[] };

/// The template of a message.
pub(super) fn template(separators: &Separators) -> String {
    let Separators { begin, end, between, after_content, calls_first } = separators;
    let hole = |name: &str, text: &str| match text {
        "" => format!("{{{name}}}"),
        text => format!("{{{name}|{text}}}"),
    };
    let content = if after_content.is_empty() { String::new() } else { hole("content", after_content) };
    let last = if *calls_first { "{content}" } else { "" };
    format!("{content}{begin}{}{end}{last}", hole("calls", between))
}

/// Past messages and results.
pub(super) fn past_text(text: &mut PastText, fields: &mut FieldList<'_>) {
    match fields.template("message", &["content", "calls"]) {
        None => {}
        Some(template) if divided(template, "calls").is_some() => text.separators = Separators::of(template),
        Some(_) => fields.fail("message has no {calls}; write it where the calls are".into()),
    }
    fields.template_field("result", &mut text.result, &["name", "content", "json", "id", "index"]);
    if divided(text.result, "content").or(divided(text.result, "json")).is_none() {
        fields.fail("result has no {content} or {json}; write one where the text of the result is".into());
    }
    fields.field("result_mark", &mut text.result_mark);
}

pub(super) fn past_text_written(text: &PastText, other: &PastText) -> Vec<Member<'static>> {
    let message = template(&text.separators);
    let own =
        (message != template(&other.separators)).then(|| (Cow::Borrowed("message"), Value::String(message.into())));
    own.into_iter().chain(difference(text, other, &past_text)).collect()
}

/// The fields of a format of which nothing is said, as they are written.
pub(super) fn plain_members() -> Vec<Member<'static>> {
    let message = (Cow::Borrowed("message"), Value::String(template(&PLAIN_TEXT.separators).into()));
    [message].into_iter().chain(all(&PLAIN_TEXT, &past_text)).chain(all(&PLAIN, &plain_fields)).collect()
}

/// The layout, except for its section.
pub(super) fn layout(layout: &mut Layout, fields: &mut FieldList<'_>) {
    if let Some(given) = fields.take("reasoning") {
        reasoning(&mut layout.reasoning, given, fields);
    }
    plain_fields(layout, fields);
    match fields.take("parts") {
        None => {}
        Some(Value::Bool(false)) => layout.parts = None,
        Some(Value::Object(members)) => {
            let own = layout.parts.and_then(PartsData::of);
            let parts = fields.within("parts", members, |inner| PartsData::read(own, inner));
            if let Some(wrong) = parts.and_then(|parts| parts.wrong()) {
                fields.fail(wrong);
            }
            layout.parts = parts.map(PartsData::kept);
        }
        Some(other) => fields.refuse("parts", "a table", &other),
    }
}

fn plain_fields(layout: &mut Layout, fields: &mut FieldList<'_>) {
    fields.field("answer", &mut layout.answer);
    fields.field("starts_in_reasoning", &mut layout.starts_in_reasoning);
    fields.field("trim_before_call", &mut layout.trim_before_call);
    fields.field("breaks_at_start", &mut layout.breaks_at_start);
    fields.field("special_tokens", &mut layout.special_tokens);
    fields.field("stops", &mut layout.stops);
}

/// The section. With `true`, the text of a message around its calls begins and ends it.
pub(super) fn section(layout: &mut Layout, separators: &Separators, fields: &mut FieldList<'_>) {
    match fields.take("section") {
        None => {}
        Some(Value::Bool(false)) => layout.section = None,
        Some(Value::Bool(true)) => layout.section = Some(Section::of(*separators)),
        Some(Value::Object(members)) => {
            let section = layout.section.get_or_insert(NO_SECTION);
            fields.within("section", members, |inner| section_fields(section, inner));
        }
        Some(other) => fields.refuse("section", "true, false or a table", &other),
    }
}

fn section_fields(section: &mut Section, fields: &mut FieldList<'_>) {
    fields.field("begin", &mut section.begin);
    fields.field("end", &mut section.end);
    fields.field("also", &mut section.also);
}

/// Reasoning: a template, a table with one, or `false`.
fn reasoning(marks: &mut Option<ReasoningMarks>, given: Value<'_>, fields: &mut FieldList<'_>) {
    const SHAPE: &str = "a template with {reasoning}, a table, or false";
    let template = match &given {
        Value::Bool(false) => return *marks = None,
        Value::Object(members) => members.iter().find(|(key, _)| key == "template").map(|(_, template)| template),
        text => Some(text),
    };
    let template = template.map(|text| <&'static str>::read(text).filter(|text| divided(text, "reasoning").is_some()));
    match template {
        Some(None) => return fields.refuse("reasoning", SHAPE, &given),
        // What is said of the reasoning of another format may not fit these tags.
        Some(Some(template)) => *marks = Some(ReasoningMarks::of(template)),
        None => {}
    }
    let Value::Object(members) = given else { return };
    let Some(marks) = marks else {
        return fields.fail("reasoning.template is missing; write <think>{reasoning}</think>".into());
    };
    fields.within("reasoning", members, |inner| {
        inner.take("template");
        reasoning_fields(marks, inner);
    });
}

fn reasoning_fields(marks: &mut ReasoningMarks, fields: &mut FieldList<'_>) {
    fields.field("pair", &mut marks.pair);
    fields.field("also", &mut marks.also);
    fields.field("prompt", &mut marks.prompt);
    fields.field("break_after_open", &mut marks.break_after_open);
    fields.field("break_before_close", &mut marks.break_before_close);
    fields.field("breaks_after", &mut marks.breaks_after);
    fields.choice("call_ends", &mut marks.call_ends, &CALL_ENDS);
}

fn reasoning_written(marks: Option<&ReasoningMarks>) -> Value<'static> {
    let Some(marks) = marks else { return Value::Bool(false) };
    let template = format!("{}{{reasoning}}{}", marks.written.0, marks.written.1);
    // The derived marks are only compared, and have the texts of these.
    let derived = ReasoningMarks::of_parts(marks.written);
    let mut members = difference(marks, &derived, &reasoning_fields);
    match members.is_empty() {
        true => Value::String(template.into()),
        false => {
            members.insert(0, (Cow::Borrowed("template"), Value::String(template.into())));
            Value::Object(members)
        }
    }
}

/// The fields of a layout that differ from those of another one. The section is that of these separators, or is written.
pub(super) fn layout_written(layout: &Layout, other: &Layout, separators: &Separators) -> Vec<Member<'static>> {
    let all = |layout: &Layout| {
        let parts = layout.parts.and_then(PartsData::of).map_or(Value::Bool(false), |parts| parts.written());
        [
            ("section", section_written(layout.section.as_ref(), separators)),
            ("reasoning", reasoning_written(layout.reasoning.as_ref())),
            ("parts", parts),
        ]
    };
    let own = all(layout).into_iter().zip(all(other)).filter(|(own, other)| own != other);
    let own = own.map(|((key, value), _)| (Cow::Borrowed(key), value));
    own.chain(difference(layout, other, &plain_fields)).collect()
}

fn section_written(section: Option<&Section>, separators: &Separators) -> Value<'static> {
    let Some(section) = section else { return Value::Bool(false) };
    let derived = Section::of(*separators);
    let same = (section.begin, section.end, section.also) == (derived.begin, derived.end, derived.also);
    if same { Value::Bool(true) } else { Value::Object(difference(section, &NO_SECTION, &section_fields)) }
}
