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
    if let Some(message) = language.framed()? {
        return Ok(tag_of(&grammar(&language, &message)));
    }
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
    // What is in the trigger cannot be excluded.
    let excludes = |trigger: &str| {
        let all = language.frame.marks.iter().flat_map(|mark| spellings(mark));
        all.filter(|mark| !trigger.contains(mark)).map(|mark| json_string(&mark)).collect::<Vec<_>>().join(",")
    };
    let format = if language.calls.is_empty() {
        format!(r#"{{"type":"any_text","excludes":[{}]}}"#, excludes(""))
    } else {
        let tag = tag(&language, &first, &content, &end);
        // The shortest mark with which a call begins: after it, only a call may go on.
        let begins = |mark: &&str| mark.eq_ignore_ascii_case(first.get(..mark.len()).unwrap_or_default());
        let marks = language.frame.marks.iter().map(String::as_str).filter(begins);
        let trigger = &first[..marks.map(str::len).min().unwrap_or(first.len())];
        match (language.text, language.is_section()) {
            (true, section) => format!(
                r#"{{"type":"triggered_tags","triggers":[{}],"tags":[{tag}],"excludes":[{}],"at_least_one":false,"stop_after_first":{}}}"#,
                json_string(trigger),
                excludes(trigger),
                once || section,
            ),
            (false, true) if language.lead().is_empty() => tag,
            (false, true) => format!(
                r#"{{"type":"sequence","elements":[{{"type":"regex","pattern":{}}},{tag}]}}"#,
                json_string(&format!("({})?", language.lead())),
            ),
            (false, false) => format!(
                r#"{{"type":"tags_with_separator","tags":[{tag}],"separator":{},"at_least_one":true,"stop_after_first":{once}}}"#,
                json_string(&language.frame.between)
            ),
        }
    };
    Ok(tag_of(&format))
}

fn tag_of(format: &str) -> String {
    format!("{}\n", format_args!(r#"{{"type":"structural_tag","format":{format}}}"#))
}

fn grammar(language: &Language, root: &Expr) -> String {
    let grammar = rules_from(&language.rules, &BnfNotation::Ebnf, "root", root);
    format!(r#"{{"type":"grammar","grammar":{}}}"#, json_string(&grammar))
}

fn tag(language: &Language, begin: &str, content: &Expr, end: &str) -> String {
    format!(
        r#"{{"type":"tag","begin":{},"content":{},"end":{}}}"#,
        json_string(begin),
        grammar(language, content),
        json_string(end)
    )
}
