//! The protocols by name.

use std::sync::Arc;

use super::custom::{Custom, CustomProtocol};
use super::description::{BuiltIn, Described};
use super::layout::ReasoningMarks;
use super::protocol::Protocol;
use super::rows;
use super::rows::hermes::{GEMMA_ROW, HERMES_ROW};
use super::rows::qwen3coder::QWEN3CODER_ROW;
use super::spec::{Models, Row, TemplateMarks};
use super::unmarked::UnmarkedCalls;
use super::{wire, xml, yaml};
use crate::syntax::near::{folded, nearest};

/// A protocol with its name.
pub(crate) type NamedProtocol = (&'static str, Arc<dyn Protocol>);

/// The protocols of a toolset.
pub(crate) struct Protocols {
    pub own: Arc<dyn Protocol>,
    /// Other spellings of its own format, which are read as well.
    pub spellings: Vec<Arc<dyn Protocol>>,
    /// The other protocols in which calls are read.
    pub others: Vec<NamedProtocol>,
    pub reads: Reads,
}

/// In which protocols calls are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// In none: calls are text.
    Nothing,
    /// Only in the toolset's own.
    Own,
    /// In the protocol of the message's first call.
    First,
    /// Also in the others, as repairs, until there is a call in the toolset's own.
    Recovers,
}

/// What a manual teaches, and `recover` reads: in this order.
const TAUGHT: &[Row] = &[
    wire::ROW,
    HERMES_ROW,
    GEMMA_ROW,
    xml::ROW,
    yaml::ROW,
    // It also reads tags with tools' names, so it comes last.
    QWEN3CODER_ROW,
];

fn rows() -> impl Iterator<Item = &'static Row> + Clone {
    TAUGHT.iter().chain(rows::ROWS.iter().copied().flatten())
}

/// The names of the protocols that a manual teaches, without aliases.
pub fn names() -> impl Iterator<Item = &'static str> {
    TAUGHT.iter().map(|row| row.name)
}

/// What a host or a server must know about a native format.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NativeFormat {
    /// The name as an option of a toolset.
    pub name: &'static str,
    /// Other names of the same.
    pub aliases: &'static [&'static str],
    /// What opens and what closes a call.
    pub call: (String, String),
    /// What begins and what ends a list of calls, if anything does.
    pub section: Option<(&'static str, &'static str)>,
    /// What opens and what closes reasoning: none, or several pairs. Formats of messages in parts have no such pair.
    pub reasoning: Vec<(&'static str, &'static str)>,
    /// A message begins in reasoning, unless the host says how the prompt ends.
    pub starts_in_reasoning: bool,
    /// The end of a prompt after which a message begins in reasoning, as the official template writes it: with several pairs, the
    /// first opener. `None` if there is no reasoning, or no prompt opens it.
    pub reasoning_prompt: Option<String>,
    /// What closes reasoning: one of these; of pairs, the one of its opener. Empty if there is none.
    pub reasoning_ends: Vec<&'static str>,
    /// The markers are special tokens, which servers remove from text unless they are told not to.
    pub special_tokens: bool,
    /// Calls may be in a list that is one unit: they start one after another, and end together where the list ends.
    pub lists: bool,
    /// Messages are divided into parts, or a call may be a whole message.
    pub whole_messages: bool,
    /// Tokens that end a message, and that are no part of it.
    pub stops: Vec<&'static str>,
    /// The models that write it.
    pub models: &'static [Models],
    /// The marks of their chat templates: one of these is in each.
    pub chat_templates: &'static [TemplateMarks],
    /// The same for the response templates of Hugging Face, one line for each text or pattern, after what it is for.
    pub response_templates: &'static [TemplateMarks],
}

/// The native formats: those that a manual teaches, too, and the others by name.
pub fn native_formats() -> impl Iterator<Item = NativeFormat> {
    let mut others: Vec<_> = rows::ROWS.iter().copied().flatten().collect();
    others.sort_unstable_by_key(|row| row.name);
    TAUGHT.iter().chain(others).filter_map(|row| {
        NativeFormat::of(row.name, &*(row.make)()).map(|native| NativeFormat {
            aliases: row.aliases,
            models: row.models,
            chat_templates: row.chat_templates,
            response_templates: row.response_templates,
            ..native
        })
    })
}

impl NativeFormat {
    /// The public facts of a protocol; `None` unless it is native. Models and template marks come from rows.
    pub(crate) fn of(name: &'static str, protocol: &dyn Protocol) -> Option<NativeFormat> {
        let (layout, info) = (protocol.layout(), protocol.info());
        let (open, close) = info.delimiters;
        let ends = layout.parts.map_or(&[][..], |parts| parts.ends());
        layout.native.then(|| NativeFormat {
            name,
            aliases: &[],
            call: (open.into_owned(), close.into_owned()),
            section: layout.section.as_ref().map(|section| (section.begin, section.end)),
            reasoning: layout.reasoning.iter().flat_map(ReasoningMarks::pairs).collect(),
            starts_in_reasoning: layout.starts_in_reasoning,
            reasoning_prompt: layout.reasoning_prompt(),
            reasoning_ends: layout.reasoning_ends(),
            special_tokens: layout.special_tokens,
            lists: info.lists,
            whole_messages: protocol.whole_messages(),
            stops: layout.stops.iter().chain(ends).copied().collect(),
            models: &[],
            chat_templates: &[],
            response_templates: &[],
        })
    }
}

/// In which other protocols calls are read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recover<'a> {
    Nothing,
    /// In the spellings that the models of the format also write.
    Spellings,
    /// In all that are not only native, and as JSON objects without markers.
    Usual,
    Named(&'a [String]),
}

/// The protocol of that name or alias; or a sentence with names near it.
fn find(name: &str) -> Result<&'static Row, String> {
    rows().find(|row| row.is_named(name)).ok_or_else(|| {
        let near: Vec<_> = near(name).iter().map(|name| format!("{name:?}")).collect();
        let advice = match near.is_empty() {
            true => format!("available: {}, auto;", names().collect::<Vec<_>>().join(", ")),
            false => format!("did you mean {}?", near.join(" or ")),
        };
        if name.ends_with(".toml") || name.ends_with(".json") {
            return format!("{name:?} is a file; pass Format.load({name:?})");
        }
        format!("there is no protocol {name:?}; {advice} `wirecall protocols` lists all")
    })
}

/// The known names that differ least from this one, or begin with it: a version was left out.
fn near(name: &str) -> Vec<&'static str> {
    let near = nearest(name, rows().flat_map(|row| [row.name].into_iter().chain(row.aliases.iter().copied())));
    let given = folded(name);
    if !near.is_empty() || given.len() < 3 {
        return near;
    }
    rows().map(|row| row.name).filter(|known| folded(known).starts_with(&given)).collect()
}

/// The other protocols in which calls are read, with their names: without `own`, in which they are read anyway.
fn others(own: Option<&str>, recover: Recover<'_>) -> Result<Vec<NamedProtocol>, String> {
    let is_other = |name: &str| own != Some(name);
    let made = |row: &'static Row| (row.name, (row.make)());
    match recover {
        Recover::Nothing | Recover::Spellings => Ok(Vec::new()),
        Recover::Usual => Ok(TAUGHT.iter().filter(|row| is_other(row.name)).map(made).collect()),
        Recover::Named(names) => {
            if names.iter().any(|name| name == "auto") {
                return Err(
                    "recover lists formats, and auto is not one of them; recover=True reads all that it reads".into()
                );
            }
            let found = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
            let given = || names.iter().zip(&found);
            for (at, (name, row)) in given().enumerate() {
                if let Some((first, _)) = given().take(at).find(|(_, other)| other.name == row.name) {
                    return Err(format!("{first} and {name} are names of the same format; leave one out"));
                }
            }
            Ok(found.into_iter().filter(|row| is_other(row.name)).map(made).collect())
        }
    }
}

/// The built-in format of that name, or a sentence with names near it.
pub(crate) fn built_in(name: &str) -> Result<BuiltIn, String> {
    let described = |row: &'static Row| Described {
        name: row.name,
        protocol: (row.make)(),
        spellings: row.also.iter().map(|make| make()).collect(),
        like: None,
    };
    find(name).map(|row| BuiltIn { described: described(row), taught: row.taught })
}

/// A format at run time, and the others in which calls are read.
pub(crate) fn described(format: &Described, recover: Recover<'_>) -> Result<Protocols, String> {
    let others = others(Some(format.name), recover)?;
    Ok(reading(format.protocol.clone(), others, format.spellings.clone(), recover))
}

/// The protocol of that name, and the others in which calls are read; or a sentence about a name.
pub(crate) fn named(name: &str, recover: Recover<'_>) -> Result<Protocols, String> {
    if name == "auto" {
        if let Recover::Named(_) = recover {
            return Err(
                "auto reads the protocol of each message's first call, so it takes no list of other formats".into()
            );
        }
        // Calls are written in the first one.
        let first = &TAUGHT[0];
        let others = others(Some(first.name), Recover::Usual)?;
        return Ok(Protocols { own: (first.make)(), spellings: Vec::new(), others, reads: Reads::First });
    }
    described(&built_in(name)?.described, recover)
}

/// A custom protocol, and the others in which calls are read.
pub(crate) fn custom(parts: Custom, recover: Recover<'_>) -> Result<Protocols, String> {
    Ok(reading(Arc::new(CustomProtocol::hosted(parts)?), others(None, recover)?, Vec::new(), recover))
}

fn reading(
    own: Arc<dyn Protocol>,
    mut others: Vec<NamedProtocol>,
    spellings: Vec<Arc<dyn Protocol>>,
    recover: Recover<'_>,
) -> Protocols {
    let spellings = if let Recover::Nothing = recover { Vec::new() } else { spellings };
    if let Recover::Usual = recover {
        others.push(("calls without markers", Arc::new(UnmarkedCalls)));
    }
    let reads = if others.is_empty() && spellings.is_empty() { Reads::Own } else { Reads::Recovers };
    Protocols { own, spellings, others, reads }
}
