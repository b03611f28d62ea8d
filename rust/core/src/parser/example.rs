//! The example of a call in an error. The encoder writes it, so that the model can copy it exactly, and it
//! is parsed before it is shown: with the same tools it is one call, without repairs or problems.

use super::Parser;
use crate::arguments::{Given, example_members};
use crate::error::ErrorKind;
use crate::event::Item;
use crate::formats::teaching::ANY_NAME;
use crate::schema::fold as folded;
use crate::syntax::json::{Member, Value};
use crate::toolset::Toolset;

/// Maximum bytes of an example; a longer one would not help a model.
const LONGEST: usize = 4096;
/// Maximum number of tools that are searched for the nearest name.
const COMPARED: usize = 256;

/// Whether an example would help: not if the call was too large or there were too many.
fn helps(kind: ErrorKind) -> bool {
    !matches!(kind, ErrorKind::ForgedResult | ErrorKind::TooLarge | ErrorKind::TooDeep | ErrorKind::TooManyCalls)
}

/// An example for the error of a call of this tool, or of this name, which may be unknown.
pub(super) fn example(tools: &Toolset, kind: ErrorKind, tool: Option<usize>, name: Option<&str>) -> Option<String> {
    if !helps(kind) {
        return None;
    }
    // Calls are read in several protocols, and written in one.
    let tools = tools.writer.as_deref().unwrap_or(tools);
    match tool.or_else(|| nearest(tools, name.unwrap_or(""))) {
        Some(at) => of_tool(tools, at),
        None => {
            let written = |name: &str| written(tools, None, name, |_| None);
            written(name.unwrap_or(ANY_NAME)).or_else(|| written(ANY_NAME))
        }
    }
}

/// An example for the manual.
pub(crate) fn shown_example(tools: &Toolset, at: usize) -> Option<String> {
    let tools = tools.writer.as_deref().unwrap_or(tools);
    let tool = tools.tools.at(at);
    let shown = |members: &[Member<'static>]| tools.protocol.shown_arguments(&tool.schema, members);
    // Most protocols show the same.
    match shown(&[]) {
        Some(_) => written(tools, Some(at), &tool.name, shown).or_else(|| of_tool(tools, at)),
        None => of_tool(tools, at),
    }
}

fn of_tool(tools: &Toolset, at: usize) -> Option<String> {
    let tool = tools.tools.at(at);
    if tool.example.get().is_none() {
        // A host's protocol may wait for another thread here, so `get_or_init`, which blocks others, could deadlock.
        tool.example.set(written(tools, Some(at), &tool.name, |_| None)).ok();
    }
    tool.example.get().cloned().flatten()
}

/// The tool whose name has the longest common prefix with this one; the first of several.
fn nearest(tools: &Toolset, name: &str) -> Option<usize> {
    let name = folded(name);
    let common = |other: &str| folded(other).chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let counted = tools.tools().take(COMPARED).enumerate().map(|(at, tool)| (at, common(&tool.name)));
    counted.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(at, _)| at)
}

/// `change` may replace the generated arguments.
fn written(
    tools: &Toolset,
    at: Option<usize>,
    name: &str,
    change: impl Fn(&[Member<'static>]) -> Option<Vec<Member<'static>>>,
) -> Option<String> {
    if tools.prompt().may_hold_mark(name) {
        return None;
    }
    let schema = tools.context(at, name).schema;
    [Given::All, Given::Scalars, Given::None].into_iter().find_map(|given| {
        let mut members = example_members(schema, given)?;
        members = change(&members).unwrap_or(members);
        // If a required member is removed, the check below rejects the example.
        members.retain(|member| !member_holds_mark(tools, member));
        let mut text = String::new();
        tools.encode_members(name, &members, &mut text).ok()?;
        (text.len() <= LONGEST && is_good(tools, name, &members, &text)).then_some(text)
    })
}

/// Whether this text parses as exactly the one call that is meant.
fn is_good(tools: &Toolset, name: &str, members: &[Member<'_>], text: &str) -> bool {
    let mut items = Parser::items(tools, text);
    items.retain(|item| !matches!(item, Item::Framing(_)));
    let [Item::Call(call)] = items.as_slice() else { return false };
    let read = crate::syntax::json::parse(&call.arguments, crate::limits::RECURSION);
    call.name == name
        && call.repairs.is_empty()
        && call.problems.is_empty()
        && read.is_ok_and(|read| read.equals(&Value::Object(members.to_vec())))
}

fn member_holds_mark(tools: &Toolset, (key, value): &Member<'_>) -> bool {
    tools.prompt().may_hold_mark(key) || value_holds_mark(tools, value)
}

fn value_holds_mark(tools: &Toolset, value: &Value<'_>) -> bool {
    match value {
        Value::String(text) => tools.prompt().may_hold_mark(text),
        Value::Array(items) => items.iter().any(|item| value_holds_mark(tools, item)),
        Value::Object(members) => members.iter().any(|member| member_holds_mark(tools, member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
