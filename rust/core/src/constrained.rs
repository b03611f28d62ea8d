//! Grammars for constrained decoding: what a model with these tools may write.

use crate::error::ToolError;
use crate::formats::WrittenForm;
use crate::grammar::{
    CallGrammar, CallGrammarWriter, Grammar, GrammarKind, GrammarRules, JsonValues, Language, ToolChoice,
    Unconstrained, unconstrained,
};
use crate::limits::COUNTED_JSON_CHARS;
use crate::schema::{SchemaDocument, Variants, compile_variants};
use crate::tools::{Tool, Tools, unwritable};
use crate::toolset::Toolset;

impl Toolset {
    /// The grammar of messages with calls of these tools, for constrained decoding.
    ///
    /// A call is what [`encode`](Toolset::encode) writes: declared members only, in the order of the schema. In text, no call and no
    /// result begins; a format that divides messages into parts has text only in parts of its own. With `parallel`, a message may
    /// contain several calls, if the format allows that. `longest` bounds what a schema does not: about how many characters a
    /// string, digits a number and items an array have at most, and a tenth of the items if they are strings, arrays or objects.
    /// How deep values are nested is not bounded, nor are strings in EBNF and structural tags.
    ///
    /// # Errors
    ///
    /// The protocol has no grammar, or none of a tool's calls; the toolset has no tools, no arguments fit their schemas, `choice`
    /// names none of them, `longest` is not from 1 to 1,000, or the grammar is too large.
    pub fn grammar(
        &self,
        kind: GrammarKind,
        choice: &ToolChoice,
        parallel: bool,
        longest: Option<usize>,
    ) -> Result<Grammar, ToolError> {
        let own = self.protocol.grammar();
        let form = if own.is_some() { None } else { WrittenForm::of(&*self.protocol, &self.tools, &self.settings) };
        let form = form.as_ref().map(|form| form as &dyn CallGrammarWriter);
        let Some(writer) = own.or(form) else {
            return Err(ToolError::new(
                "there is no grammar of this protocol's calls; use \"wire\", \"hermes\" or another: docs/grammars.md lists those \
                 without one",
            ));
        };
        let tools: Vec<(usize, &Tool)> = match choice {
            ToolChoice::None => Vec::new(),
            ToolChoice::Named(name) => {
                let at = self.tools.position(name);
                let at = at.ok_or_else(|| ToolError::new(not_a_tool(name, &self.tools)))?;
                if let Some(why) = self.bad_name(name) {
                    return Err(unwritable(name, why));
                }
                vec![(at, self.tools.at(at))]
            }
            ToolChoice::Auto | ToolChoice::Required => {
                // Calls of tools with other names cannot be written.
                self.tools.iter().enumerate().filter(|(_, tool)| self.bad_name(&tool.name).is_none()).collect()
            }
        };
        if self.tools.is_empty() {
            return Err(ToolError::new("a grammar needs tools; this toolset has none"));
        }
        if let Some(longest) = longest.filter(|longest| !(1..=COUNTED_JSON_CHARS).contains(longest)) {
            return Err(ToolError::new(format!("longest is {longest}; it must be from 1 to {COUNTED_JSON_CHARS}")));
        }
        let delimiters = &self.settings.delimiters;
        let counts = kind.counts();
        let mut rules = GrammarRules::new(counts, longest);
        let mut calls = Vec::new();
        let mut open: Vec<Unconstrained> = Vec::new();
        for (at, tool) in tools {
            let in_tool = |fault: ToolError| ToolError { tool: Some(tool.name.clone()), ..fault };
            let variants = variants_of(tool).map_err(in_tool)?;
            open.extend(unconstrained(&variants, &tool.name, delimiters, writer.raw(tool, counts), counts.json));
            let values = JsonValues { variants: &variants, tool: at, style: writer.style() };
            let call = writer.call(tool, delimiters, &values, &mut rules).map_err(in_tool)?;
            let content = rules.named(&format!("call {}", tool.name), call.content).map_err(in_tool)?;
            calls.push(CallGrammar { content, ..call });
        }
        // All rules so far are of calls.
        rules.drop_endless();
        rules.bound();
        calls.retain(|call| !rules.is_never(&call.content));
        if calls.is_empty() && *choice != ToolChoice::None {
            return Err(ToolError::new(
                "no arguments fit the schemas of these tools, so they cannot be called; look for a minimum above a maximum, or for a \
                 type that must contain itself",
            ));
        }
        let allows_text = matches!(choice, ToolChoice::Auto | ToolChoice::None);
        let frame = writer.frame(delimiters);
        let allows_several = parallel && !frame.one_call;
        let language = Language { rules, calls, frame, allows_text, allows_several };
        language.write(kind, open)
    }
}

/// Names of tools in an error.
const NAMED: usize = 8;

fn not_a_tool(name: &str, tools: &Tools) -> String {
    let names: Vec<&str> = tools.iter().take(NAMED).map(|tool| tool.name.as_str()).collect();
    let more = if tools.iter().count() > NAMED { ", …" } else { "" };
    format!("tool_choice names {name:?}, which is not one of the tools: {}{more}", names.join(", "))
}

fn variants_of(tool: &Tool) -> Result<Variants, ToolError> {
    let fault = |(pointer, message)| ToolError { tool: None, pointer: Some(pointer), message };
    let document = SchemaDocument::new(&tool.parameters).map_err(fault)?;
    compile_variants(&document).map_err(fault)
}
