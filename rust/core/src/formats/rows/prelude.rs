//! What rows are written with.

pub(crate) use std::sync::Arc;

pub(crate) use crate::formats::bodies::json::marked::MarkedJson;
pub(crate) use crate::formats::bodies::json::named::{IdForm, NamedJson};
pub(crate) use crate::formats::bodies::json::{Ends, JsonRules, NameKey};
pub(crate) use crate::formats::bodies::notation::NotationFormat;
pub(crate) use crate::formats::bodies::pycalls::{PyCalls, PyValues};
pub(crate) use crate::formats::bodies::tagged::{TagAttributes, Tagged, Tags, ValueStyle};
pub(crate) use crate::formats::frames::channels::Channels;
pub(crate) use crate::formats::frames::elements::Elements;
pub(crate) use crate::formats::frames::flat::{FlatFormat, PastText};
pub(crate) use crate::formats::frames::recipients::Recipients;
pub(crate) use crate::formats::layout::{CallEnds, Layout, ReasoningMarks, Section};
pub(crate) use crate::formats::spec::{Models, Row, TemplateMarks};
