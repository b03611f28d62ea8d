//! Results in `<tool_response>`, as in the formats that models were trained on.

use crate::protocols::prompt::Prompt;
use crate::protocols::protocol::CallResult;
use crate::syntax::json::{Value, json_string, parse};
use crate::syntax::scan::starts_ignoring_case;
use crate::syntax::xml::{For, escape};

/// What begins and ends a result.
pub const RESULT_TAGS: [&str; 2] = ["<tool_response", "</tool_response"];

/// Whether the text begins with the tag of a result.
pub fn is_result_tag(text: &str) -> bool {
    RESULT_TAGS.iter().any(|tag| starts_ignoring_case(text, tag))
}

/// What the tag of a result contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultForm {
    /// A JSON object.
    Json,
    /// The content, with the name in an attribute.
    Attributes,
    /// An element for each part.
    Elements,
}

impl ResultForm {
    pub fn write(self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        match self {
            ResultForm::Json => json(prompt, result),
            ResultForm::Attributes => attributes(prompt, result),
            ResultForm::Elements => elements(prompt, result),
        }
    }
}

fn json(prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
    let name = json_string(&prompt.neutralise(result.name));
    let error = if result.error { ",\"error\":true" } else { "" };
    let number = result.number.map_or(String::new(), |number| format!(",\"number\":{number}"));
    // An object or list is written unquoted.
    let content = match parse(result.content, prompt.settings.limits.depth) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            let mut json = String::new();
            value.write(&mut json);
            // Without escapes it may contain a mark.
            if prompt.neutralise(&json) == json { json } else { json_string(result.content) }
        }
        _ => json_string(result.content),
    };
    format!("<tool_response>{{\"name\":{name}{number}{error},\"content\":{content}}}</tool_response>")
}

fn attributes(prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
    let name = prompt.neutralise(&json_string(result.name));
    let number = result.number.map_or(String::new(), |number| format!(" name={name} number=\"{number}\""));
    let error = if result.error { " error=\"true\"" } else { "" };
    format!("<tool_response{number}{error}>\n{}\n</tool_response>", result.content)
}

fn elements(prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
    let tag = if result.error { "error" } else { "result" };
    let mut out = String::from("<tool_response>\n  <tool_name>");
    escape(&prompt.neutralise(result.name), For::Us, &mut out);
    out.push_str("</tool_name>\n");
    if let Some(number) = result.number {
        out.push_str(&format!("  <number>{number}</number>\n"));
    }
    out.push_str(&format!("  <{tag}>{}</{tag}>\n</tool_response>", result.content));
    out
}
