//! The protocols by name.

use std::sync::Arc;

use super::custom::{Custom, CustomProtocol};
use super::families::deepseek::{DEEPSEEK_V3_2, DEEPSEEK_V4, DEEPSEEK_V4_1};
use super::families::deepseek_v3::{DEEPSEEK_R1, DEEPSEEK_V3, DEEPSEEK_V31};
use super::families::gemma4::GEMMA4;
use super::families::glm::{GLM_4_5, GLM_4_7};
use super::families::harmony::HARMONY;
use super::families::hermes::{GEMMA, HERMES, MARKED_JSON, QWEN3_THINKING};
use super::families::kimi_k2::{KIMI_K2, KIMI_K2_THINKING, KIMI_K26};
use super::families::kimi_k3::KIMI_K3;
use super::families::llama_json::LLAMA_JSON;
use super::families::llama_pythonic::LLAMA_PYTHONIC;
use super::families::mistral::MISTRAL;
use super::families::qwen3coder::{QWEN3CODER, QWEN35};
use super::families::unmarked::UnmarkedCalls;
use super::protocol::Protocol;
use super::wire::Wire;
use super::xml::Xml;
use super::yaml::Yaml;

/// A protocol with its name.
pub(crate) type NamedProtocol = (&'static str, Arc<dyn Protocol>);

/// A protocol, the others in which calls are read, and when they are read.
pub(crate) type Protocols = (Arc<dyn Protocol>, Vec<NamedProtocol>, Reads);

/// In which protocols calls are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Only in the toolset's own.
    Own,
    /// In the protocol of the message's first call.
    First,
    /// Also in the others, as repairs, until there is a call in the toolset's own.
    Recovers,
}

/// The name of a protocol, its aliases, and what makes it.
struct Entry(&'static str, &'static [&'static str], fn() -> Arc<dyn Protocol>);

const PROTOCOLS: &[Entry] = &[
    Entry("wire", &[], || Arc::new(Wire)),
    Entry("hermes", &["json"], || Arc::new(HERMES)),
    Entry("gemma", &[], || Arc::new(GEMMA)),
    Entry("xml", &["morph-xml"], || Arc::new(Xml)),
    Entry("yaml", &["yaml-xml"], || Arc::new(Yaml)),
    // It also reads tags with tools' names, so it comes last.
    Entry("qwen3coder", &[], || Arc::new(QWEN3CODER)),
];

/// Native formats. They are read by other protocols only if they are named.
const FAMILIES: &[Entry] = &[
    Entry("deepseek-r1", &[], || Arc::new(DEEPSEEK_R1)),
    Entry("deepseek-v3", &["deepseek-v3-0324", "deepseek-r1-0528"], || Arc::new(DEEPSEEK_V3)),
    Entry("deepseek-v3.1", &[], || Arc::new(DEEPSEEK_V31)),
    Entry("deepseek-v3.2", &[], || Arc::new(DEEPSEEK_V3_2)),
    Entry("deepseek-v4", &[], || Arc::new(DEEPSEEK_V4)),
    Entry("deepseek-v4.1", &[], || Arc::new(DEEPSEEK_V4_1)),
    Entry("gemma4", &[], || Arc::new(GEMMA4)),
    Entry("glm-4.5", &["glm-4.6"], || Arc::new(GLM_4_5)),
    Entry("glm-4.7", &["glm-5.3"], || Arc::new(GLM_4_7)),
    Entry("harmony", &["gpt-oss"], || Arc::new(HARMONY)),
    Entry("kimi-k2", &[], || Arc::new(KIMI_K2)),
    Entry("kimi-k2-thinking", &[], || Arc::new(KIMI_K2_THINKING)),
    Entry("kimi-k2.6", &["kimi-k2.5", "kimi-k2.7"], || Arc::new(KIMI_K26)),
    Entry("kimi-k3", &[], || Arc::new(KIMI_K3)),
    Entry("llama-json", &[], || Arc::new(LLAMA_JSON)),
    Entry("llama-pythonic", &[], || Arc::new(LLAMA_PYTHONIC)),
    Entry("mistral", &[], || Arc::new(MISTRAL)),
    Entry("qwen3-thinking", &[], || Arc::new(QWEN3_THINKING)),
    Entry("qwen3.5", &["qwen3.6", "qwen3.8"], || Arc::new(QWEN35)),
];

/// The names of the protocols that a manual teaches, without aliases.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROTOCOLS.iter().map(|Entry(name, ..)| *name)
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
    /// The markers are special tokens, which servers remove from text unless they are told not to.
    pub special_tokens: bool,
    /// Tokens that end a message, and that are no part of it.
    pub stops: Vec<&'static str>,
}

/// The native formats.
pub fn native_formats() -> impl Iterator<Item = NativeFormat> {
    PROTOCOLS.iter().chain(FAMILIES).filter_map(|Entry(name, aliases, make)| {
        let protocol = make();
        let layout = protocol.layout();
        let first = |marks: &'static [&'static str]| marks.first().copied().unwrap_or_default();
        let (open, close) = protocol.facts().delimiters;
        let ends = layout.parts.map_or(&[][..], |parts| parts.ends());
        layout.native.then(|| NativeFormat {
            name,
            aliases,
            call: (open.into_owned(), close.into_owned()),
            section: layout.section.as_ref().map(|section| (first(section.begin), first(section.end))),
            reasoning: layout.reasoning.iter().flat_map(|marks| marks.pairs).copied().collect(),
            starts_in_reasoning: layout.starts_in_reasoning,
            special_tokens: layout.special_tokens,
            stops: layout.stops.iter().chain(ends).copied().collect(),
        })
    })
}

/// In which other protocols calls are read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recover<'a> {
    Nothing,
    /// In all that are not only native, and as JSON objects without markers.
    Usual,
    Named(&'a [String]),
}

/// The protocol of that name or alias; or a sentence that lists the names.
fn find(name: &str) -> Result<&'static Entry, String> {
    let mut all = PROTOCOLS.iter().chain(FAMILIES);
    all.find(|Entry(own, aliases, _)| *own == name || aliases.contains(&name)).ok_or_else(|| {
        let known: Vec<_> = PROTOCOLS.iter().chain(FAMILIES).map(|Entry(name, ..)| *name).collect();
        format!("there is no protocol {name:?}; available: {}, auto", known.join(", "))
    })
}

/// The other protocols in which calls are read, with their names: without `own`, in which they are read anyway.
fn others(own: Option<&str>, recover: Recover<'_>) -> Result<Vec<NamedProtocol>, String> {
    let is_other = |name: &str| own != Some(name);
    let made = |Entry(name, _, make): &'static Entry| (*name, make());
    match recover {
        Recover::Nothing => Ok(Vec::new()),
        Recover::Usual => Ok(PROTOCOLS.iter().filter(|entry| is_other(entry.0)).map(made).collect()),
        Recover::Named(names) => {
            let found = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
            Ok(found.into_iter().filter(|entry| is_other(entry.0)).map(made).collect())
        }
    }
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
        let Entry(first, _, make) = &PROTOCOLS[0];
        return Ok((make(), others(Some(first), Recover::Usual)?, Reads::First));
    }
    let Entry(known, _, make) = find(name)?;
    recovering(make(), Some(known), recover)
}

/// A custom protocol, and the others in which calls are read.
pub(crate) fn custom(parts: Custom, recover: Recover<'_>) -> Result<Protocols, String> {
    let base = match parts.base {
        // It is for prompting, as it is.
        Some("hermes") => Some(Arc::new(MARKED_JSON) as Arc<dyn Protocol>),
        other => other.map(|name| named(name, Recover::Nothing)).transpose()?.map(|(base, ..)| base),
    };
    recovering(Arc::new(CustomProtocol::new(parts, base)?), None, recover)
}

fn recovering(own: Arc<dyn Protocol>, name: Option<&str>, recover: Recover<'_>) -> Result<Protocols, String> {
    let mut others = others(name, recover)?;
    if let Recover::Usual = recover {
        others.push(("calls without markers", Arc::new(UnmarkedCalls)));
    }
    let reads = if others.is_empty() { Reads::Own } else { Reads::Recovers };
    Ok((own, others, reads))
}
