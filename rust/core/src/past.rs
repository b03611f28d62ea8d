//! What toolsets write: calls, results, and whole messages of the model.

use crate::error::EncodeError;
use crate::event::{CallError, message};
use crate::formats::{CallResult, PastCall};
use crate::syntax::json::{Member, Value, push_string, write_spaced_object};
use crate::toolset::Toolset;

/// A message of the model, to be written by [`Toolset::encode_message`].
///
/// ```
/// use wirecall_core::{Options, PastMessage, PastToolCall, Toolset};
///
/// let mut options = Options::default();
/// options.protocol = "hermes".into();
/// let tools = Toolset::new(Vec::new(), options)?;
/// let calls = [PastToolCall::new("now", &[])];
/// let mut message = PastMessage::default();
/// message.content = "I look it up.";
/// message.calls = &calls;
/// assert!(tools.encode_message(&message)?.starts_with("I look it up.\n<tool_call>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct PastMessage<'a> {
    /// What the model thought; an empty one is written as an empty span. Formats without reasoning leave it out.
    pub reasoning: Option<&'a str>,
    /// The text.
    pub content: &'a str,
    /// The calls, which follow the text unless the format has another order.
    pub calls: &'a [PastToolCall<'a>],
    /// How many calls there were in earlier messages: some formats number them.
    pub calls_before: usize,
    /// What the native format cannot hold is an error, and not written in another form.
    pub native: bool,
}

/// A call of a past message.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PastToolCall<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// The arguments.
    pub arguments: &'a [Member<'a>],
    /// The host's id, for formats that write ids.
    pub id: Option<&'a str>,
}

impl<'a> PastToolCall<'a> {
    /// A call without id.
    pub fn new(name: &'a str, arguments: &'a [Member<'a>]) -> Self {
        PastToolCall { name, arguments, id: None }
    }
}

/// A result of a past call.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct PastResult<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// Its text, which cannot be read as a mark.
    pub content: &'a str,
    /// The content describes an error.
    pub error: bool,
    /// Which of several calls of the same tool in one message this is the result of, from 1.
    pub number: Option<u64>,
    /// The host's id of the call, for formats that write ids.
    pub id: Option<&'a str>,
    /// Which call of its message this is the result of, from 0.
    pub index: usize,
    /// How many calls of the conversation were before that call.
    pub calls_before: usize,
}

impl Toolset {
    /// The canonical text of a call. The arguments of an undeclared tool have no types.
    ///
    /// # Errors
    ///
    /// The arguments are not an object, or no call can have the name.
    pub fn encode(&self, name: &str, arguments: &Value<'_>) -> Result<String, EncodeError> {
        match arguments {
            Value::Object(members) => {
                let mut out = String::new();
                self.encode_members(name, members, &mut out).map(|()| out)
            }
            _ => Err(EncodeError(format!("the arguments of {name:?} are not a JSON object"))),
        }
    }

    /// Appends the text of a call with these arguments, as [`Toolset::encode`] writes it.
    ///
    /// # Errors
    ///
    /// No call can have the name.
    pub fn encode_members(&self, name: &str, arguments: &[Member<'_>], out: &mut String) -> Result<(), EncodeError> {
        let at = self.named(name)?;
        if !self.native {
            self.protocol.write_call(&self.context(at, name), arguments, out);
            return Ok(());
        }
        let calls = [PastToolCall::new(name, arguments)];
        out.push_str(&self.encode_message(&PastMessage { calls: &calls, ..PastMessage::default() })?);
        Ok(())
    }

    /// The text of a result. Neither its content nor its name can be read as a mark. `error`: the content describes an error of the
    /// tool; [`Toolset::encode_error`] writes a [`CallError`]. `number`: which of several calls of the same tool in one turn this
    /// is the result of, from 1.
    pub fn encode_result(&self, name: &str, content: &str, error: bool, number: Option<u64>) -> String {
        self.encode_past_result(&PastResult { name, content, error, number, ..PastResult::default() })
    }

    /// The text of a result that reports an error to the model: its sentence, and then its example. Marks are neutralised in the
    /// sentence, which may quote the model or a schema, but not in the example.
    pub fn encode_error(&self, error: &CallError) -> String {
        self.encode_parts_of_error(error.name.as_deref(), &error.sentence, error.example.as_deref())
    }

    /// [`Toolset::encode_error`] for the Python bindings, where hosts make errors of their own.
    #[doc(hidden)]
    pub fn encode_parts_of_error(&self, name: Option<&str>, sentence: &str, example: Option<&str>) -> String {
        let content = &message(&self.neutralise(sentence), example);
        let result =
            CallResult { name: name.unwrap_or("unknown"), content, error: true, number: None, call: PastCall::NONE };
        self.protocol.wrap_result(&self.prompt(), &result)
    }

    /// A whole message of the model. In a native format, the text is that of the model's official template.
    ///
    /// A call that the native format cannot hold is written as one JSON object where the format reads that, and otherwise as a
    /// note in the content, unless only the `native` form is accepted.
    ///
    /// # Errors
    ///
    /// No call of the protocol can have the name; with `native`, or the format cannot hold the arguments, several calls, or both
    /// content and calls.
    pub fn encode_message(&self, message: &PastMessage<'_>) -> Result<String, EncodeError> {
        let mut content = message.content.to_owned();
        if message.native && self.settings.info.begins_message && !content.is_empty() && !message.calls.is_empty() {
            return Err(EncodeError("a message in this format has either a text or calls".to_owned()));
        }
        let mut calls = Vec::with_capacity(message.calls.len());
        for (index, call) in message.calls.iter().enumerate() {
            let past = PastCall { arguments: call.arguments, id: call.id, index, before: message.calls_before + index };
            let mut text = String::new();
            match self.write_past_call(call.name, &past, message.native, &mut text) {
                Ok(()) => calls.push(text),
                Err(error) if message.native || !self.native => return Err(error),
                Err(_) => {
                    if !content.is_empty() {
                        content.push('\n');
                    }
                    content.push_str(&self.note(call.name, call.arguments));
                }
            }
        }
        let mut out = String::new();
        self.protocol.write_message(message.reasoning, &content, &calls, &mut out);
        Ok(out)
    }

    /// The text of a result, as [`Toolset::encode_result`] writes it, for formats that also write ids or positions of calls.
    pub fn encode_past_result(&self, result: &PastResult<'_>) -> String {
        let PastResult { name, error, number, id, index, calls_before: before, .. } = *result;
        let content = &self.neutralise_inside(result.content);
        let call = PastCall { arguments: &[], id, index, before };
        self.protocol.wrap_result(&self.prompt(), &CallResult { name, content, error, number, call })
    }

    /// Appends a call without what surrounds the calls of a message.
    pub(crate) fn write_past_call(
        &self,
        name: &str,
        call: &PastCall<'_>,
        native: bool,
        out: &mut String,
    ) -> Result<(), EncodeError> {
        let at = self.named(name)?;
        let (cx, length) = (self.context(at, name), out.len());
        let Err(error) = self.protocol.write_past_call(&cx, call, out) else { return Ok(()) };
        out.truncate(length);
        if !native && self.protocol.write_as_object(&cx, call, out) { Ok(()) } else { Err(error) }
    }

    /// The position of a tool, if it is declared. A tool with a name that cannot be written may be declared, too.
    pub(crate) fn named(&self, name: &str) -> Result<Option<usize>, EncodeError> {
        let at = self.tools.position(name);
        if (at.is_none() || !self.tools.invalid().is_empty()) && self.bad_name(name).is_some() {
            return Err(EncodeError(format!("a call cannot be written with the name {name:?}")));
        }
        Ok(at)
    }

    /// A call that no format can hold, as text. It cannot be read as a call.
    pub(crate) fn note(&self, name: &str, arguments: &[Member<'_>]) -> String {
        let mut note = String::from("[called ");
        push_string(&mut note, name);
        note.push_str(" with ");
        write_spaced_object(arguments, &mut note);
        note.push(']');
        self.neutralise(&note)
    }
}
