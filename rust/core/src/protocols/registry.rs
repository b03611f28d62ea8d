//! The protocols by name.

use std::sync::Arc;

use super::custom::{Custom, CustomProtocol};
use super::families::gemma4::GEMMA4;
use super::families::harmony::HARMONY;
use super::families::hermes::{GEMMA, HERMES, QWEN3_THINKING};
use super::families::llama_pythonic::LLAMA_PYTHONIC;
use super::families::qwen3coder::{QWEN3CODER, QWEN35};
use super::families::unmarked::UnmarkedCalls;
use super::protocol::Protocol;
use super::wire::Wire;
use super::xml::Xml;
use super::yaml::Yaml;

/// A protocol, the others in which calls are read, and when they are read.
pub(crate) type Protocols = (Arc<dyn Protocol>, Vec<Arc<dyn Protocol>>, Reads);

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
    Entry("gemma4", &[], || Arc::new(GEMMA4)),
    Entry("harmony", &["gpt-oss"], || Arc::new(HARMONY)),
    Entry("llama-pythonic", &[], || Arc::new(LLAMA_PYTHONIC)),
    Entry("qwen3-thinking", &[], || Arc::new(QWEN3_THINKING)),
    Entry("qwen3.5", &["qwen3.6", "qwen3.8"], || Arc::new(QWEN35)),
];

/// The names, without aliases.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROTOCOLS.iter().chain(FAMILIES).map(|Entry(name, ..)| *name)
}

/// The protocol of that name, and the others in which calls are read; or a sentence that lists the names.
pub(crate) fn named(name: &str, recovers: bool) -> Result<Protocols, String> {
    let known = match name {
        // Calls are written in the first one.
        "auto" => PROTOCOLS.first(),
        _ => PROTOCOLS.iter().chain(FAMILIES).find(|Entry(own, aliases, _)| *own == name || aliases.contains(&name)),
    };
    let Entry(known, _, own) = known.ok_or_else(|| {
        format!("there is no protocol {name:?}; available: {}, auto", names().collect::<Vec<_>>().join(", "))
    })?;
    let reads = match name {
        "auto" => Reads::First,
        _ if recovers => Reads::Recovers,
        _ => return Ok((own(), Vec::new(), Reads::Own)),
    };
    let mut others: Vec<_> = PROTOCOLS.iter().filter(|other| other.0 != *known).map(|Entry(.., make)| make()).collect();
    if reads == Reads::Recovers {
        others.push(Arc::new(UnmarkedCalls));
    }
    Ok((own(), others, reads))
}

/// A custom protocol, and the others in which calls are read.
pub(crate) fn custom(parts: Custom, recovers: bool) -> Result<Protocols, String> {
    let base = parts.base.map(|name| named(name, false)).transpose()?.map(|(base, ..)| base);
    let own: Arc<dyn Protocol> = Arc::new(CustomProtocol::new(parts, base)?);
    if !recovers {
        return Ok((own, Vec::new(), Reads::Own));
    }
    let (first, mut others, reads) = named(PROTOCOLS[0].0, true)?;
    others.insert(0, first);
    Ok((own, others, reads))
}
