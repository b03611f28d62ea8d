//! Structural tags: JSON that names what begins a call, the grammar of what follows, and what ends it.
//!
//! There is one tag for all tools, so that they share rules.

use super::bnf::{BnfNotation, rules_of};
use super::language::Language;
use super::rules::Expr;
use crate::error::ToolError;
use crate::syntax::json::json_string;

pub(super) fn write(mut language: Language) -> Result<String, ToolError> {
    language.rules.spell_out()?;
    let (first, once) = (language.first().to_owned(), !language.parallel);
    let (content, end) = if language.is_section() {
        let end = std::mem::take(&mut language.frame.end);
        (language.calls_after_opener(&language.tools()), end.trim_end().to_owned())
    } else {
        let end = language.calls.first().map_or(String::new(), |call| call.end.clone());
        let same = language.calls.iter().all(|call| call.end == end);
        if same {
            language.calls.iter_mut().for_each(|call| call.end.clear());
        }
        (language.tools(), if same { end } else { String::new() })
    };
    let excludes = || {
        // What is in the trigger cannot be excluded.
        let apart = |mark: &&String| !first.to_lowercase().contains(mark.as_str());
        let all: Vec<String> = language.frame.marks.iter().filter(apart).map(|mark| json_string(mark)).collect();
        all.join(",")
    };
    let format = if language.calls.is_empty() {
        let all: Vec<String> = language.frame.marks.iter().map(|mark| json_string(mark)).collect();
        format!("{{\"type\":\"any_text\",\"excludes\":[{}]}}", all.join(","))
    } else {
        let tag = tag(&language, &first, &content, &end);
        match (language.text, language.is_section()) {
            (true, section) => format!(
                "{{\"type\":\"triggered_tags\",\"triggers\":[{}],\"tags\":[{tag}],\"excludes\":[{}],\"at_least_one\":false,\
                 \"stop_after_first\":{}}}",
                json_string(&first),
                excludes(),
                once || section,
            ),
            (false, true) => tag,
            (false, false) => format!(
                "{{\"type\":\"tags_with_separator\",\"tags\":[{tag}],\"separator\":{},\"at_least_one\":true,\"stop_after_first\":{once}}}",
                json_string(language.frame.between)
            ),
        }
    };
    Ok(format!("{{\"type\":\"structural_tag\",\"format\":{format}}}\n"))
}

fn tag(language: &Language, begin: &str, content: &Expr, end: &str) -> String {
    let grammar = rules_of(&language.rules, content, BnfNotation::Ebnf);
    format!(
        "{{\"type\":\"tag\",\"begin\":{},\"content\":{{\"type\":\"grammar\",\"grammar\":{}}},\"end\":{}}}",
        json_string(begin),
        json_string(&grammar),
        json_string(end)
    )
}
