//! Texts that are hard on readers.

use proptest::prelude::*;

/// Pieces of the format, of what JSON would make of them, and of what Unicode has in store.
const TOKENS: &[&str] = &[
    "<call>",
    "</call>",
    "<call>note body=",
    "<call>x a=1</call>",
    "\n<call>note {\"body\":\"",
    "<tool-result",
    "</tool-error>",
    "<TOOL-result name=\"x\">",
    "<think>",
    "</think>",
    "«call»",
    "«/call»",
    "<|tool|>",
    "<|end|>",
    "<json>",
    "```json\n{",
    "<",
    "</",
    "</cal",
    "\"",
    "'",
    "\\",
    "\\\"",
    "\\'",
    "\\n",
    "\\u0041",
    "\\ud83d",
    "\\ude00",
    "\\u12",
    "\\x",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "=",
    ",",
    ", ",
    ".",
    "[",
    "]",
    "{",
    "}",
    ":",
    "[0]",
    "{\"",
    "[\"",
    "[{",
    "{\"a\":1}",
    "[1,2]",
    "true",
    "null",
    "None",
    "True",
    "5",
    "-0.0",
    "1e5",
    "007",
    "a",
    "b",
    "body",
    " a=",
    " body=",
    ", body=",
    " \"body\"=",
    "body = ",
    "é",
    "日本",
    "😀",
    "\u{a0}",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\u{301}",
    "\0",
    "\u{1}",
    "\u{7f}",
    "\u{fffd}",
    "Hello",
    "don't",
];

/// A token, or now and then any characters at all.
fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => prop::sample::select(TOKENS).prop_map(str::to_owned),
        1 => prop::collection::vec(any::<char>(), 1..3).prop_map(String::from_iter),
    ]
}

/// Token soup.
pub(crate) fn soup(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(token(), 0..most).prop_map(|tokens| tokens.concat())
}

/// Text without the first character of any marker.
pub(crate) fn prose() -> impl Strategy<Value = String> {
    const WORDS: &[&str] =
        &["Let me look.", " ", "\n", "\n\n", "It's \"fine\"", "{\"a\":1}", "a=1", "- ", "日本語", "😀", "\r\n", "```"];
    prop::collection::vec(prop::sample::select(WORDS), 0..4).prop_map(|words| words.concat())
}
