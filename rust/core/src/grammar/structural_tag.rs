//! Structural tags: JSON that names what begins a call, the grammar of what follows, and what ends it.
//!
//! There is one tag for all tools, so that they share rules.

use super::bnf::{BnfNotation, spellings};
use super::language::Language;
use super::notation::rules_from;
use super::rules::Expr;
use crate::error::ToolError;
use crate::syntax::json::json_string;

pub(super) fn write(mut language: Language) -> Result<String, ToolError> {
    let format = match language.message()? {
        Some(message) => grammar(&language, &message),
        None => text_and_calls(language),
    };
    Ok(format!("{{\"type\":\"structural_tag\",\"format\":{format}}}\n"))
}

/// Text with calls anywhere in it.
fn text_and_calls(mut language: Language) -> String {
    // What is in the trigger cannot be excluded.
    let marks = language.frame.marks.clone();
    let excludes = |trigger: &str| {
        let all = marks.iter().flat_map(|mark| spellings(mark));
        all.filter(|mark| !trigger.contains(mark)).map(|mark| json_string(&mark)).collect::<Vec<_>>().join(",")
    };
    if language.calls.is_empty() {
        return format!(r#"{{"type":"any_text","excludes":[{}]}}"#, excludes(""));
    }
    let first = language.opener();
    // The shortest mark with which a call begins: after it, only a call may go on.
    let begins = |mark: &&str| mark.eq_ignore_ascii_case(first.get(..mark.len()).unwrap_or_default());
    let begun = marks.iter().map(String::as_str).filter(begins).map(str::len).min();
    let trigger = &first[..begun.unwrap_or(first.len())];
    let end = language.take_end();
    let content = grammar(&language, &language.unit(&language.call()));
    format!(
        r#"{{"type":"triggered_tags","triggers":[{}],"tags":[{{"type":"tag","begin":{},"content":{content},"end":{}}}],"excludes":[{}],"at_least_one":false,"stop_after_first":{}}}"#,
        json_string(trigger),
        json_string(&first),
        json_string(&end),
        excludes(trigger),
        !language.repeats(),
    )
}

fn grammar(language: &Language, root: &Expr) -> String {
    let grammar = rules_from(&language.rules, &BnfNotation::Ebnf, "root", root);
    format!(r#"{{"type":"grammar","grammar":{}}}"#, json_string(&grammar))
}
