//! Messages in channels, as gpt-oss writes them: `<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>`.

use crate::arguments::Context;
use crate::error::EncodeError;
use crate::protocols::attempt::Attempt;
use crate::protocols::bodies::named::{Ends, Named};
use crate::protocols::body::Body;
use crate::protocols::format::{CallFormat, PastCall};
use crate::protocols::frames::channels::Channels;
use crate::protocols::frames::flat::{FlatFamily, Writing};
use crate::protocols::layout::Layout;
use crate::protocols::settings::Settings;
use crate::syntax::json::write_spaced_object;
use crate::tools::Tools;

const WRITING: Writing = Writing {
    begin: "",
    end: "<|call|>",
    between: "<|call|><|start|>assistant",
    after_content: "<|end|><|start|>assistant",
    result: "<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{content}<|end|>",
    result_mark: None,
};

const CHANNELS: Channels = Channels {
    start: "<|start|>",
    channel: "<|channel|>",
    constrain: "<|constrain|>",
    separator: "<|message|>",
    ends: &["<|end|>", "<|call|>", "<|return|>"],
    recipient: "to=",
    functions: "functions.",
    built_in: &["browser", "python", "container"],
    reasoning: "analysis",
    content: &["final", "commentary"],
    address: " to=functions.{name}<|channel|>commentary <|constrain|>json<|message|>",
};

pub(crate) const HARMONY: FlatFamily = FlatFamily {
    layout: Layout { parts: Some(&CHANNELS), special_tokens: true, ..Layout::NATIVE },
    call: &HarmonyCall,
    writing: WRITING,
};

/// Of llm-jp-4.1, which ends only the last of several calls as a call.
pub(crate) const LLM_JP: FlatFamily = FlatFamily {
    layout: Layout {
        parts: Some(&Channels {
            address: " to=functions.{name}<|channel|>commentary <|constrain|> json<|message|>",
            ..CHANNELS
        }),
        ..HARMONY.layout
    },
    writing: Writing {
        between: "<|end|><|start|>assistant",
        result: "<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{json}<|end|>",
        ..WRITING
    },
    ..HARMONY
};

#[derive(Debug)]
struct HarmonyCall;

/// The object's last bracket ends a call. A message that has failed is read up to its end.
const ENDS: Ends = Ends { fence: "", close: "", before: CHANNELS.ends };

impl CallFormat for HarmonyCall {
    fn openers(&self) -> &'static [&'static str] {
        &["<|channel|>"]
    }
    fn close(&self) -> &'static str {
        "<|call|>"
    }
    fn attempt(&self, _: &Tools, _: &Settings, text: &str, _: bool) -> Attempt {
        Attempt::text(text)
    }
    fn body(&self, cx: &Context<'_>, _: &str, recycled: Box<dyn Body>) -> Box<dyn Body> {
        Named::make(cx, &ENDS, false, recycled)
    }
    fn write(&self, _: &Context<'_>, call: &PastCall<'_>, out: &mut String) -> Result<(), EncodeError> {
        write_spaced_object(call.arguments, out);
        Ok(())
    }
    fn field_example(&self, field: &str, value: &str) -> String {
        format!("\"{field}\": {value}")
    }
}
