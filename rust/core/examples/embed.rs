//! A server that reads the answers of many models at once: one shared toolset, one parser for each stream.
//!
//! Each line of the input is a JSON object, and lines of different streams come in any order:
//!
//! ```text
//! {"stream": "a", "delta": "<call>get_weather ci"}
//! {"stream": "b", "delta": "Hello!"}
//! {"stream": "a", "delta": "ty=Oslo</call>"}
//! {"stream": "a", "end": "stop"}
//! ```
//!
//! `end` is `stop` if the model has finished, and anything else if its answer was cut off. For each event, one line is written.
//! A bad line is answered with an error and changes nothing. `cargo run --example embed < input.jsonl`

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use wirecall_core::{Definition, Event, Options, Parser, ToolError, Toolset, Value, parse_json};

/// Open streams, each of which holds at most one call in memory (`Limits::call_bytes`) and one delta.
const STREAMS: usize = 10_000;
/// Levels of JSON in a line.
const DEPTH: usize = 4;

/// The tools of the server, compiled once.
pub(crate) fn toolset() -> Result<Arc<Toolset>, ToolError> {
    let parameters = r#"{
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"]
    }"#;
    let mut options = Options::default();
    options.limits.call_bytes = 1 << 20;
    Ok(Arc::new(Toolset::new(vec![Definition::new("get_weather", parameters)], options)?))
}

/// The open streams. A server with several threads has one of these in each, and sends a stream to the same thread always.
pub(crate) struct Server {
    tools: Arc<Toolset>,
    parsers: HashMap<String, Parser>,
}

impl Server {
    pub(crate) fn new(tools: Arc<Toolset>) -> Self {
        Server { tools, parsers: HashMap::new() }
    }

    /// Reads one line, and writes a line for each event that has become certain.
    pub(crate) fn line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<()> {
        match Message::read(line) {
            Ok(Message::Delta { stream, delta }) => self.feed(&stream, &delta, out),
            Ok(Message::End { stream, stopped }) => self.end(&stream, stopped, out),
            Err(what) => refuse(&what, out),
        }
    }

    fn feed(&mut self, stream: &str, delta: &str, out: &mut dyn Write) -> io::Result<()> {
        if !self.parsers.contains_key(stream) {
            if self.parsers.len() == STREAMS {
                return refuse("too many streams are open", out);
            }
            self.parsers.insert(stream.to_owned(), Parser::new(self.tools.clone(), None));
        }
        let Some(parser) = self.parsers.get_mut(stream) else { return Ok(()) };
        written(out, |out| parser.feed(delta, &mut |event| push(stream, event, out)))
    }

    fn end(&mut self, stream: &str, stopped: bool, out: &mut dyn Write) -> io::Result<()> {
        let Some(mut parser) = self.parsers.remove(stream) else { return refuse("there is no such stream", out) };
        written(out, |out| parser.finish(Some(!stopped), &mut |event| push(stream, event, out)))
    }

    /// Ends all streams: the connection to the models is lost.
    pub(crate) fn close(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut open: Vec<String> = self.parsers.keys().cloned().collect();
        open.sort();
        open.iter().try_for_each(|stream| self.end(stream, false, out))
    }
}

/// A line of the input.
enum Message {
    Delta { stream: String, delta: String },
    End { stream: String, stopped: bool },
}

impl Message {
    fn read(line: &str) -> Result<Self, String> {
        let value = parse_json(line, DEPTH).map_err(|error| format!("not JSON: {error}"))?;
        let Value::Object(members) = value else { return Err("not an object".to_owned()) };
        let mut strings = HashMap::new();
        for (name, value) in members {
            let Value::String(text) = value else { return Err(format!("{name:?} must be a string")) };
            strings.insert(name.into_owned(), text.into_owned());
        }
        let stream = strings.remove("stream").ok_or("\"stream\" is missing")?;
        match (strings.remove("delta"), strings.remove("end")) {
            (Some(delta), None) => Ok(Message::Delta { stream, delta }),
            (None, Some(end)) => Ok(Message::End { stream, stopped: end == "stop" }),
            _ => Err("there must be either \"delta\" or \"end\"".to_owned()),
        }
    }
}

/// Collects what `write` makes before it is written: an event sink cannot fail, and a writer can.
fn written(out: &mut dyn Write, write: impl FnOnce(&mut String)) -> io::Result<()> {
    let mut lines = String::new();
    write(&mut lines);
    out.write_all(lines.as_bytes())
}

fn refuse(what: &str, out: &mut dyn Write) -> io::Result<()> {
    written(out, |lines| push_line(vec![("error", string(what))], lines))
}

/// Appends an event as one line of JSON.
fn push(stream: &str, event: Event<'_>, lines: &mut String) {
    let mut members = vec![("stream", string(stream))];
    match event {
        Event::Text(text) => members.push(("text", string(text))),
        Event::CallStart { index, name } => members.extend([("start", number(index)), ("name", string(name))]),
        Event::ArgumentsDelta { index, delta } => members.extend([("call", number(index)), ("delta", string(delta))]),
        // Here a server runs the tool, and answers the model with `Toolset::encode_result`.
        Event::CallEnd(call) => members.extend([
            ("end", number(call.index)),
            ("name", string(&call.name)),
            ("arguments", string(&call.arguments)),
            ("problems", Value::Array(call.problems.iter().map(|problem| string(&problem.message)).collect())),
        ]),
        // And here it tells the model what was wrong; `Toolset::encode_error` writes the same text as a result.
        Event::CallError(error) => {
            members.extend([("failed", string(error.kind.as_str())), ("message", string(&error.message()))]);
        }
        // Later versions may report more.
        _ => return,
    }
    push_line(members, lines);
}

fn push_line(members: Vec<(&str, Value<'_>)>, lines: &mut String) {
    let members = members.into_iter().map(|(name, value)| (name.into(), value));
    Value::Object(members.collect()).write(lines);
    lines.push('\n');
}

fn string(text: &str) -> Value<'static> {
    Value::String(text.to_owned().into())
}

fn number(number: usize) -> Value<'static> {
    Value::Number(number.to_string().into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut server, out) = (Server::new(toolset()?), &mut io::stdout().lock());
    for line in io::stdin().lock().lines() {
        server.line(&line?, out)?;
    }
    Ok(server.close(out)?)
}
