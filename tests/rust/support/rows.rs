//! The rows of native formats: one of them at random, and what they are read with.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use wirecall_core::{CodeMode, Limits, Options, ReasoningTags, Toolset, UnknownTools, parse_json};

use super::every::families;
use super::toolsets::{Setting, definition, options_of, settings_of};

fn toolset_of(row: &str) -> Toolset {
    Toolset::new(Vec::new(), options_of(row, false)).expect("it is a row")
}

/// A past call as the row writes it.
pub(crate) fn encoded(tools: &Toolset, name: &str, arguments: &Value) -> String {
    let arguments = parse_json(&arguments.to_string(), 64).expect("it is JSON");
    tools.encode(name, &arguments).expect("it can be written")
}

/// How a row writes an argument, which is how its calls are read.
fn body(row: &str) -> &'static str {
    let call = encoded(&toolset_of(row), "get_weather", &json!({"city": "Oslo"}));
    let has = |text: &str| call.contains(text);
    match () {
        () if has("\"city\"") && (has("name\":") || has("{\"get_weather\"")) => "envelope",
        () if has("\"city\":") => "named",
        () if has("(city=") => "calls of Python",
        () if has("{city:") => "notation",
        () if has("<city>") => "nested",
        () if has("=\"city\"") => "attributes",
        () if has("=city>") => "parameters",
        () => "keys",
    }
}

/// The rows of each body.
pub(crate) static BODIES: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
    families().fold(BTreeMap::new(), |mut bodies: BTreeMap<_, Vec<_>>, row| {
        bodies.entry(body(row)).or_default().push(row);
        bodies
    })
});

/// One row of all but these: first a body, so that each of them is tried equally often.
pub(crate) fn row_but(others: &'static [&str]) -> impl Strategy<Value = &'static str> {
    let rows = |rows: &Vec<&'static str>| rows.iter().copied().filter(|row| !others.contains(row)).collect::<Vec<_>>();
    let bodies: Vec<_> = BODIES.values().map(rows).filter(|rows| !rows.is_empty()).collect();
    select(bodies).prop_flat_map(select)
}

pub(crate) fn row() -> impl Strategy<Value = &'static str> {
    row_but(&[])
}

/// The settings of a row that only say how a call is read.
pub(crate) const USUAL: usize = 6;

/// The usual settings, and those of the options that change what is read: code, reasoning, and other formats.
pub(crate) fn settings_with(row: &'static str, limits: Limits) -> Vec<Setting> {
    let mut out = settings_of(row, limits);
    assert_eq!(out.len(), USUAL);
    let ping = || vec![definition("ping", &json!({"type": "object"})), definition("get_weather", &json!({}))];
    let mut add = |what: &str, change: &dyn Fn(&mut Options)| {
        let mut options = options_of(row, false);
        options.limits = limits;
        change(&mut options);
        // A format of messages in parts reads no others.
        if let Ok(tools) = Toolset::new(ping(), options) {
            out.push(Setting { tools, name: format!("{row} {what}") });
        }
    };
    add("forwards", &|options| options.unknown_tools = UnknownTools::Forward);
    add("without code", &|options| options.code = CodeMode::Text);
    add("without reasoning", &|options| options.reasoning = ReasoningTags::None);
    add("other tags", &|options| options.reasoning = ReasoningTags::Tags("<think>".into(), "</think>".into()));
    add("reasoning in the text", &|options| options.separate_reasoning = Some(false));
    let rows: Vec<_> = families().collect();
    let own = rows.iter().position(|name| *name == row).expect("it is a row");
    for (count, distance) in [(1, 5), (1, 23), (2, 11), (3, 17)] {
        let others = (1..=count).map(|nth| rows[(own + nth * distance) % rows.len()].to_owned());
        let others: Vec<_> = others.collect();
        add(&format!("recovers {others:?}"), &|options| {
            options.recover = true;
            options.recover_from.clone_from(&others);
        });
    }
    let mut options = options_of(row, false);
    (options.limits, options.unknown_tools) = (limits, UnknownTools::Text);
    let tools = Toolset::new(Vec::new(), options).expect("there are no tools");
    out.push(Setting { tools, name: format!("{row} reads no calls") });
    out
}
