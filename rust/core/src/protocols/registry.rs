//! The protocols by name.

use std::sync::Arc;

use super::custom::{Custom, Own};
use super::families::bare::Bare;
use super::families::hermes::Hermes;
use super::families::qwen3coder::Qwen3Coder;
use super::protocol::Protocol;
use super::wire::Wire;
use super::xml::Xml;
use super::yaml::Yaml;

type Make = fn() -> Arc<dyn Protocol>;

/// A protocol, the others in which calls are read, and when.
pub type Protocols = (Arc<dyn Protocol>, Vec<Arc<dyn Protocol>>, Reads);

/// In which protocols calls are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// In its own alone.
    Own,
    /// In that of the message's first call.
    First,
    /// In the others as repairs, until there was a call in its own.
    Recovers,
}

/// The protocols, by name.
const PROTOCOLS: &[(&str, Make)] = &[
    ("wire", || Arc::new(Wire)),
    ("hermes", || Arc::new(Hermes::tags())),
    ("gemma", || Arc::new(Hermes::fence())),
    ("xml", || Arc::new(Xml)),
    ("yaml", || Arc::new(Yaml)),
    // Reads a tool's own tag as well, so it stands last.
    ("qwen3coder", || Arc::new(Qwen3Coder)),
];

/// Other names of theirs.
const ALIASES: &[(&str, &str)] = &[("json", "hermes"), ("morph-xml", "xml"), ("yaml-xml", "yaml")];

/// The names, without aliases.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROTOCOLS.iter().map(|(name, _)| *name)
}

/// The protocol of that name, and the others in which calls are read; or a sentence that lists the names.
pub fn named(name: &str, recovers: bool) -> Result<Protocols, String> {
    let canonical = match name {
        // What is written is wire.
        "auto" => PROTOCOLS[0].0,
        _ => ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name),
    };
    let (_, own) = PROTOCOLS.iter().find(|(own, _)| *own == canonical).ok_or_else(|| {
        format!("there is no protocol {name:?}; available: {}, auto", names().collect::<Vec<_>>().join(", "))
    })?;
    let reads = match name {
        "auto" => Reads::First,
        _ if recovers => Reads::Recovers,
        _ => return Ok((own(), Vec::new(), Reads::Own)),
    };
    let mut others: Vec<_> =
        PROTOCOLS.iter().filter(|(other, _)| *other != canonical).map(|(_, make)| make()).collect();
    if reads == Reads::Recovers {
        others.push(Arc::new(Bare));
    }
    Ok((own(), others, reads))
}

/// A host's own protocol, and the others in which calls are read.
pub fn custom(parts: Custom, recovers: bool) -> Result<Protocols, String> {
    let base = parts.base.map(|name| named(name, false)).transpose()?.map(|(base, ..)| base);
    let own: Arc<dyn Protocol> = Arc::new(Own::new(parts, base)?);
    if !recovers {
        return Ok((own, Vec::new(), Reads::Own));
    }
    let (first, mut others, reads) = named(PROTOCOLS[0].0, true)?;
    others.insert(0, first);
    Ok((own, others, reads))
}
