//! The protocols by name.

use std::sync::Arc;

use super::custom::{Custom, CustomProtocol};
use super::families::apertus::APERTUS;
use super::families::apriel_1_5::APRIEL_1_5;
use super::families::apriel_1_6::APRIEL_1_6;
use super::families::cohere::{COHERE, COHERE_COMMAND4};
use super::families::command_r_plus::COMMAND_R_PLUS;
use super::families::deepseek::{DEEPSEEK_V3_2, DEEPSEEK_V4, DEEPSEEK_V4_1, GIGACHAT_3_5};
use super::families::deepseek_v3::{DEEPSEEK_R1, DEEPSEEK_V3, DEEPSEEK_V31};
use super::families::dots::DOTS;
use super::families::ernie_4_5::ERNIE_4_5;
use super::families::firefunction_v2::FIREFUNCTION_V2;
use super::families::functionary_v3_1::FUNCTIONARY_V3_1;
use super::families::functionary_v3_2::FUNCTIONARY_V3_2;
use super::families::functiongemma::FUNCTIONGEMMA;
use super::families::gemma4::GEMMA4;
use super::families::gigachat3::GIGACHAT3;
use super::families::glm::{GLM_4_5, GLM_4_7, IQUEST_Q1, LING_3, SPARK_2_5};
use super::families::granite_3::GRANITE_3;
use super::families::granite_20b_fc::GRANITE_20B_FC;
use super::families::harmony::{HARMONY, LLM_JP};
use super::families::hermes::{GEMMA, HERMES, MARKED_JSON, QWEN3_THINKING, TRINITY};
use super::families::hunyuan_a13b::HUNYUAN_A13B;
use super::families::hy3::{HY3, HY4};
use super::families::inkling::INKLING;
use super::families::internlm2::INTERNLM2;
use super::families::jamba::JAMBA;
use super::families::k2_horizon::K2_HORIZON;
use super::families::kimi_k2::{KIMI_K2, KIMI_K2_THINKING, KIMI_K26};
use super::families::kimi_k3::KIMI_K3;
use super::families::laguna::LAGUNA_XS;
use super::families::lfm2::LFM2;
use super::families::llama_json::LLAMA_JSON;
use super::families::llama_pythonic::LLAMA_PYTHONIC;
use super::families::longcat::LONGCAT;
use super::families::mimo::MIMO_V2;
use super::families::minicpm5::MINICPM5;
use super::families::minimax_m1::MINIMAX_M1;
use super::families::minimax_m2::MINIMAX_M2;
use super::families::minimax_m3::MINIMAX_M3;
use super::families::mistral::MISTRAL;
use super::families::muse::MUSE;
use super::families::nemotron_nano_v2::NEMOTRON_NANO_V2;
use super::families::olmo3::{OLMO3, OLMO3_THINK};
use super::families::phi_4_mini::PHI_4_MINI;
use super::families::plamo3::PLAMO3;
use super::families::qwen3coder::{NEMOTRON_3, QWEN3CODER, QWEN35, STEP_3_5};
use super::families::seed_oss::SEED_OSS;
use super::families::solar_open::SOLAR_OPEN;
use super::families::step3::STEP_3;
use super::families::unmarked::UnmarkedCalls;
use super::families::xlam::XLAM;
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
    /// In none: calls are text.
    Nothing,
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
    Entry("apertus", &[], || Arc::new(APERTUS)),
    Entry("apriel-1.5", &[], || Arc::new(APRIEL_1_5)),
    Entry("apriel-1.6", &[], || Arc::new(APRIEL_1_6)),
    Entry("cohere", &[], || Arc::new(COHERE)),
    Entry("cohere-command4", &[], || Arc::new(COHERE_COMMAND4)),
    Entry("command-r-plus", &[], || Arc::new(COMMAND_R_PLUS)),
    Entry("deepseek-r1", &[], || Arc::new(DEEPSEEK_R1)),
    Entry("deepseek-v3", &["deepseek-v3-0324", "deepseek-r1-0528"], || Arc::new(DEEPSEEK_V3)),
    Entry("deepseek-v3.1", &[], || Arc::new(DEEPSEEK_V31)),
    Entry("deepseek-v3.2", &[], || Arc::new(DEEPSEEK_V3_2)),
    Entry("deepseek-v4", &[], || Arc::new(DEEPSEEK_V4)),
    Entry("deepseek-v4.1", &[], || Arc::new(DEEPSEEK_V4_1)),
    Entry("dots", &[], || Arc::new(DOTS)),
    Entry("ernie-4.5", &[], || Arc::new(ERNIE_4_5)),
    Entry("firefunction-v2", &[], || Arc::new(FIREFUNCTION_V2)),
    Entry("functionary-v3.1", &["llama4-custom"], || Arc::new(FUNCTIONARY_V3_1)),
    Entry("functionary-v3.2", &[], || Arc::new(FUNCTIONARY_V3_2)),
    Entry("functiongemma", &[], || Arc::new(FUNCTIONGEMMA)),
    Entry("gemma4", &[], || Arc::new(GEMMA4)),
    Entry("gigachat3", &["gigachat3.1"], || Arc::new(GIGACHAT3)),
    Entry("gigachat3.5", &[], || Arc::new(GIGACHAT_3_5)),
    Entry("glm-4.5", &["glm-4.6"], || Arc::new(GLM_4_5)),
    Entry("glm-4.7", &["glm-5.3"], || Arc::new(GLM_4_7)),
    Entry("granite-20b-fc", &[], || Arc::new(GRANITE_20B_FC)),
    Entry("granite-3", &["granite-3.1", "granite-3.2", "granite-3.3"], || Arc::new(GRANITE_3)),
    Entry("harmony", &["gpt-oss"], || Arc::new(HARMONY)),
    Entry("hunyuan-a13b", &[], || Arc::new(HUNYUAN_A13B)),
    Entry("hy3", &[], || Arc::new(HY3)),
    Entry("hy4", &[], || Arc::new(HY4)),
    Entry("inkling", &[], || Arc::new(INKLING)),
    Entry("internlm2", &["intern-s1"], || Arc::new(INTERNLM2)),
    Entry("iquest-q1", &[], || Arc::new(IQUEST_Q1)),
    Entry("jamba", &[], || Arc::new(JAMBA)),
    Entry("k2-horizon", &[], || Arc::new(K2_HORIZON)),
    Entry("kimi-k2", &[], || Arc::new(KIMI_K2)),
    Entry("kimi-k2-thinking", &[], || Arc::new(KIMI_K2_THINKING)),
    Entry("kimi-k2.6", &["kimi-k2.5", "kimi-k2.7"], || Arc::new(KIMI_K26)),
    Entry("kimi-k3", &[], || Arc::new(KIMI_K3)),
    Entry("laguna-xs", &[], || Arc::new(LAGUNA_XS)),
    Entry("lfm2", &["lfm2.5"], || Arc::new(LFM2)),
    Entry("ling-3", &[], || Arc::new(LING_3)),
    Entry("llama-json", &[], || Arc::new(LLAMA_JSON)),
    Entry("llama-pythonic", &[], || Arc::new(LLAMA_PYTHONIC)),
    Entry("llm-jp-4.1", &[], || Arc::new(LLM_JP)),
    Entry("longcat", &[], || Arc::new(LONGCAT)),
    Entry("mimo-v2", &[], || Arc::new(MIMO_V2)),
    Entry("minicpm5", &[], || Arc::new(MINICPM5)),
    Entry("minimax-m1", &[], || Arc::new(MINIMAX_M1)),
    Entry("minimax-m2", &[], || Arc::new(MINIMAX_M2)),
    Entry("minimax-m3", &[], || Arc::new(MINIMAX_M3)),
    Entry("mistral", &[], || Arc::new(MISTRAL)),
    Entry("muse", &[], || Arc::new(MUSE)),
    Entry("nemotron-3", &["granite-4.2", "nanbeige", "step-5"], || Arc::new(NEMOTRON_3)),
    Entry("nemotron-nano-v2", &[], || Arc::new(NEMOTRON_NANO_V2)),
    Entry("olmo3", &[], || Arc::new(OLMO3)),
    Entry("olmo3-think", &[], || Arc::new(OLMO3_THINK)),
    Entry("phi-4-mini", &[], || Arc::new(PHI_4_MINI)),
    Entry("plamo3", &[], || Arc::new(PLAMO3)),
    Entry("qwen3-thinking", &[], || Arc::new(QWEN3_THINKING)),
    Entry("qwen3.5", &["qwen3.6", "qwen3.8"], || Arc::new(QWEN35)),
    Entry("seed-oss", &[], || Arc::new(SEED_OSS)),
    Entry("solar-open", &[], || Arc::new(SOLAR_OPEN)),
    Entry("spark-2.5", &[], || Arc::new(SPARK_2_5)),
    Entry("step-3", &[], || Arc::new(STEP_3)),
    Entry("step-3.5", &["step-3.7"], || Arc::new(STEP_3_5)),
    Entry("trinity", &[], || Arc::new(TRINITY)),
    Entry("xlam", &[], || Arc::new(XLAM)),
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
    /// The end of a prompt after which a message begins in reasoning, as the official template writes it: with several pairs, the
    /// first opener. `None` if there is no reasoning, or no prompt opens it.
    pub reasoning_prompt: Option<String>,
    /// The markers are special tokens, which servers remove from text unless they are told not to.
    pub special_tokens: bool,
    /// Calls may be in a list that is one unit: they start one after another, and end together where the list ends.
    pub lists: bool,
    /// Messages are divided into parts, or a call may be a whole message.
    pub whole_messages: bool,
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
            reasoning_prompt: layout.reasoning_prompt(),
            special_tokens: layout.special_tokens,
            lists: protocol.has_lists(),
            whole_messages: protocol.whole_messages(),
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

/// The protocol of that name or alias; or a sentence with names near it.
fn find(name: &str) -> Result<&'static Entry, String> {
    let mut all = PROTOCOLS.iter().chain(FAMILIES);
    all.find(|Entry(own, aliases, _)| *own == name || aliases.contains(&name)).ok_or_else(|| {
        let near: Vec<_> = near(name).iter().map(|name| format!("{name:?}")).collect();
        let advice = match near.is_empty() {
            true => format!("available: {}, auto;", names().collect::<Vec<_>>().join(", ")),
            false => format!("did you mean {}?", near.join(" or ")),
        };
        format!("there is no protocol {name:?}; {advice} `wirecall protocols` lists all")
    })
}

/// The known names that differ least from this one. Case and separators do not count, nor does a version that was left out.
fn near(name: &str) -> Vec<&'static str> {
    let folded = |name: &str| {
        let kept = name.bytes().filter(|byte| !matches!(byte, b'-' | b'_' | b'.' | b' '));
        kept.map(|byte| byte.to_ascii_lowercase()).take(NEAR_BYTES).collect::<Vec<_>>()
    };
    let given = folded(name);
    let all = PROTOCOLS
        .iter()
        .chain(FAMILIES)
        .flat_map(|Entry(name, aliases, _)| [*name].into_iter().chain(aliases.iter().copied()));
    let rated = all.map(|known| (differences(&given, &folded(known)), known));
    let mut rated: Vec<_> = rated.filter(|(count, known)| *count * 3 <= folded(known).len()).collect();
    if let Some(least) = rated.iter().map(|(count, _)| *count).min() {
        rated.retain(|(count, _)| *count == least);
    } else if given.len() >= 3 {
        let all = PROTOCOLS.iter().chain(FAMILIES).map(|Entry(name, ..)| *name);
        rated = all.filter(|known| folded(known).starts_with(&given)).map(|known| (0, known)).collect();
    }
    rated.into_iter().map(|(_, known)| known).collect()
}

/// How many bytes of names are compared.
const NEAR_BYTES: usize = 32;

/// How many bytes must be added, removed or replaced.
fn differences(from: &[u8], to: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, byte) in from.iter().enumerate() {
        let (mut before, mut left) = (at, at + 1);
        for (place, other) in row.iter_mut().skip(1).zip(to) {
            let above = *place;
            left = (before + usize::from(byte != other)).min(above + 1).min(left + 1);
            (before, *place) = (above, left);
        }
        if let Some(first) = row.first_mut() {
            *first = at + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// The other protocols in which calls are read, with their names: without `own`, in which they are read anyway.
fn others(own: Option<&str>, recover: Recover<'_>) -> Result<Vec<NamedProtocol>, String> {
    let is_other = |name: &str| own != Some(name);
    let made = |Entry(name, _, make): &'static Entry| (*name, make());
    match recover {
        Recover::Nothing => Ok(Vec::new()),
        Recover::Usual => Ok(PROTOCOLS.iter().filter(|entry| is_other(entry.0)).map(made).collect()),
        Recover::Named(names) => {
            if names.iter().any(|name| name == "auto") {
                return Err(
                    "recover lists formats, and auto is not one of them; recover=True reads all that it reads".into()
                );
            }
            let found = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
            let given = || names.iter().zip(&found);
            for (at, (name, entry)) in given().enumerate() {
                if let Some((first, _)) = given().take(at).find(|(_, other)| other.0 == entry.0) {
                    return Err(format!("{first} and {name} are names of the same format; leave one out"));
                }
            }
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
