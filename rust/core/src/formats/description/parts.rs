//! Messages in parts, in a description.

use std::any::Any;
use std::borrow::Cow;

use super::fields::{FieldList, FieldValue, difference, keep};
use crate::formats::frames::channels::Channels;
use crate::formats::frames::elements::Elements;
use crate::formats::frames::recipients::Recipients;
use crate::formats::parts::PartsFrame;
use crate::syntax::json::{Member, Value};

/// How a message is divided.
#[derive(Clone, Copy)]
pub(super) enum PartsData {
    Channels(Channels),
    Elements(Elements),
    Recipients(Recipients),
}

const NO_CHANNELS: Channels = Channels {
    start: "",
    channel: "",
    constrain: "",
    separator: "",
    ends: &[],
    recipient: "",
    functions: "",
    built_in: &[],
    reasoning: "",
    content: &[],
    address: "",
    spaced: false,
    arguments: "{",
};
const NO_RECIPIENTS: Recipients = Recipients { mark: "", content: "" };

/// The key whose value chooses the frame.
const FRAME: &str = "frame";
const FRAMES: [(&str, PartsData); 3] = [
    ("channels", PartsData::Channels(NO_CHANNELS)),
    ("elements", PartsData::Elements(Elements::PLAIN)),
    ("recipients", PartsData::Recipients(NO_RECIPIENTS)),
];

impl PartsData {
    pub(super) fn of(frame: &'static dyn PartsFrame) -> Option<PartsData> {
        let any: &dyn Any = frame;
        let channels = any.downcast_ref().copied().map(PartsData::Channels);
        channels
            .or_else(|| any.downcast_ref().copied().map(PartsData::Elements))
            .or_else(|| any.downcast_ref().copied().map(PartsData::Recipients))
    }

    pub(super) fn kept(self) -> &'static dyn PartsFrame {
        match self {
            PartsData::Channels(frame) => keep(frame),
            PartsData::Elements(frame) => keep(frame),
            PartsData::Recipients(frame) => keep(frame),
        }
    }

    /// What begins the header of a part.
    pub(super) fn begin(&self) -> &'static str {
        match self {
            PartsData::Channels(frame) if frame.channel.is_empty() => frame.start,
            PartsData::Channels(frame) => frame.channel,
            PartsData::Elements(frame) => frame.calls.0,
            PartsData::Recipients(frame) => frame.mark,
        }
    }

    fn frame(&self) -> (&'static str, PartsData) {
        match self {
            PartsData::Channels(_) => FRAMES[0],
            PartsData::Elements(_) => FRAMES[1],
            PartsData::Recipients(_) => FRAMES[2],
        }
    }

    pub(super) fn written(&self) -> Value<'static> {
        let (name, plain) = self.frame();
        let mut members: Vec<Member<'static>> = vec![(Cow::Borrowed(FRAME), name.write())];
        members.extend(difference(self, &plain, &|parts, fields| parts.list(fields)));
        Value::Object(members)
    }

    /// The frame that the table names, or else `given`, with the other fields of the table.
    pub(super) fn read(given: Option<PartsData>, fields: &mut FieldList<'_>) -> Option<PartsData> {
        let mut parts = match fields.take(FRAME) {
            None => given,
            Some(frame) => {
                let named = FRAMES.iter().find(|(name, _)| frame.as_str() == Some(name)).map(|(_, parts)| *parts);
                if named.is_none() {
                    fields.refuse(FRAME, r#"one of "channels", "elements", "recipients""#, &frame);
                }
                // The frame of the format that is changed keeps its other fields.
                given.filter(|own| named.is_some_and(|named| own.frame().0 == named.frame().0)).or(named)
            }
        };
        match &mut parts {
            Some(parts) => parts.list(fields),
            None => fields
                .fail("parts.frame is missing; it must be one of \"channels\", \"elements\", \"recipients\"".into()),
        }
        parts
    }

    /// Why the parts cannot be told apart.
    pub(super) fn wrong(&self) -> Option<String> {
        let missing = |name: &str| format!("parts.{name} is missing or empty; write its markers");
        match self {
            PartsData::Channels(frame) => {
                let texts = [
                    ("start", frame.start),
                    ("constrain", frame.constrain),
                    ("separator", frame.separator),
                    ("recipient", frame.recipient),
                    ("address", frame.address),
                    ("arguments", frame.arguments),
                ];
                let lists = [("ends", frame.ends), ("content", frame.content)];
                let empty = texts.into_iter().find(|(_, text)| text.is_empty()).map(|(name, _)| name);
                let empty_list =
                    || lists.into_iter().find(|(_, list)| list.is_empty() || list.contains(&"")).map(|(name, _)| name);
                empty.or_else(empty_list).map(missing)
            }
            PartsData::Elements(frame) => {
                if frame.content.is_empty() {
                    return Some(missing("content"));
                }
                let reasoning = (frame.reasoning != ("", "")).then_some(("reasoning", frame.reasoning));
                let content = frame.content.iter().map(|pair| ("content", *pair));
                let mut pairs = content.chain(reasoning).chain([("calls", frame.calls)]);
                let wrong = pairs.find_map(|(name, (open, close))| match open.is_empty() || close.is_empty() {
                    true => Some(missing(name)),
                    false => close.starts_with(open).then(|| {
                        format!("parts.{name}: {close:?} closes what {open:?} opens, and begins with it; they cannot be told apart")
                    }),
                });
                wrong.or_else(|| frame.tags.contains(&"").then(|| missing("tags")))
            }
            PartsData::Recipients(frame) if frame.mark.is_empty() => Some(missing("mark")),
            PartsData::Recipients(frame) => frame.content.is_empty().then(|| missing("content")),
        }
    }

    fn list(&mut self, fields: &mut FieldList<'_>) {
        match self {
            PartsData::Channels(frame) => {
                fields.field("start", &mut frame.start);
                fields.field("channel", &mut frame.channel);
                fields.field("constrain", &mut frame.constrain);
                fields.field("separator", &mut frame.separator);
                fields.field("ends", &mut frame.ends);
                fields.field("recipient", &mut frame.recipient);
                fields.field("functions", &mut frame.functions);
                fields.field("built_in", &mut frame.built_in);
                fields.field("reasoning", &mut frame.reasoning);
                fields.field("content", &mut frame.content);
                fields.field("address", &mut frame.address);
                fields.field("spaced", &mut frame.spaced);
                fields.field("arguments", &mut frame.arguments);
            }
            PartsData::Elements(frame) => {
                fields.field("reasoning", &mut frame.reasoning);
                fields.field("content", &mut frame.content);
                fields.field("calls", &mut frame.calls);
                fields.field("join", &mut frame.join);
                fields.field("close", &mut frame.close);
                fields.field("tags", &mut frame.tags);
                fields.field("always_present", &mut frame.always_present);
                fields.field("name_first", &mut frame.name_first);
            }
            PartsData::Recipients(frame) => {
                fields.field("mark", &mut frame.mark);
                fields.field("content", &mut frame.content);
            }
        }
    }
}
