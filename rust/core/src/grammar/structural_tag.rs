//! Structural tags: JSON that names what begins a call, the grammar of what follows, and what ends it.

use super::bnf::{Notation, rules_of};
use super::language::Language;
use crate::error::ToolError;
use crate::syntax::json::json_string;

pub(super) fn write(mut language: Language) -> Result<String, ToolError> {
    language.rules.spell_out()?;
    let tags: Vec<String> = language
        .calls
        .iter()
        .map(|call| {
            let grammar = rules_of(&language.rules, &call.content, Notation::Ebnf);
            format!(
                "{{\"type\":\"tag\",\"begin\":{},\"content\":{{\"type\":\"grammar\",\"grammar\":{}}},\"end\":{}}}",
                json_string(&call.begin),
                json_string(&grammar),
                json_string(&call.end)
            )
        })
        .collect();
    let tags = tags.join(",");
    let once = !language.parallel;
    let format = if !language.text {
        format!(
            "{{\"type\":\"tags_with_separator\",\"tags\":[{tags}],\"separator\":{},\"at_least_one\":true,\"stop_after_first\":{once}}}",
            json_string(language.frame.between)
        )
    } else {
        // A beginning of the trigger cannot be excluded.
        let apart = |mark: &&String| !language.first().starts_with(mark.as_str());
        let excludes: Vec<String> = language.frame.marks.iter().filter(apart).map(|mark| json_string(mark)).collect();
        let excludes = excludes.join(",");
        match language.calls.is_empty() {
            true => format!("{{\"type\":\"any_text\",\"excludes\":[{excludes}]}}"),
            false => format!(
                "{{\"type\":\"triggered_tags\",\"triggers\":[{}],\"tags\":[{tags}],\"excludes\":[{excludes}],\"at_least_one\":false,\
                 \"stop_after_first\":{once}}}",
                json_string(&language.frame.open)
            ),
        }
    };
    let format = match language.is_section() {
        true => {
            let constant = |text: &str| format!("{{\"type\":\"const_string\",\"value\":{}}}", json_string(text));
            let parts = [constant(language.frame.begin), format, constant(language.frame.end)];
            format!("{{\"type\":\"sequence\",\"elements\":[{}]}}", parts.join(","))
        }
        false => format,
    };
    Ok(format!("{{\"type\":\"structural_tag\",\"format\":{format}}}\n"))
}
