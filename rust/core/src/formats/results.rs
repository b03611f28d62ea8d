//! How results of prompted protocols are written.

use super::protocol::CallResult;
use super::teaching::Prompt;
use crate::syntax::json::{Value, json_string, parse};
use crate::syntax::xml::{For, escape};

/// What the tag of a result contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultForm {
    /// A JSON object.
    Json,
    /// An element for each part.
    Elements,
    /// The content on lines of its own, as templates write it.
    Lines,
}

impl ResultForm {
    pub(crate) fn write(self, prompt: &Prompt<'_>, result: &CallResult<'_>) -> String {
        match self {
            ResultForm::Json => json(prompt, result),
            ResultForm::Elements => elements(prompt, result),
            ResultForm::Lines => format!("<tool_response>\n{}\n</tool_response>", result.content),
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
