//! Whether a JSON object without markers is a call: it names a declared tool first, and gives it arguments. What may be the
//! definition of a tool is text.

use super::members::ARGUMENTS;
use crate::arguments::is_field;
use crate::limits::ATTEMPT_CHARS;
use crate::syntax::json::{JsonLexeme, JsonLexer, TokenSet, is_literal};
use crate::syntax::quoting::begins_other;
use crate::syntax::scan::{Scan, starts, window, ws_run};
use crate::tools::{Tool, Tools};

/// What an object begins with that is looked at.
const FIRST_KEYS: [&str; 6] = ["name", "tool", "function", "type", "id", "tool_calls"];
/// Words of an object's beginning, and those among which the tool's name is: a stray quote makes two of a key.
const WORDS: usize = 5;
const NAME_WORDS: usize = 3;
/// Members of a tool's own schema that are searched. Ordinary schemas have a few.
const KEYWORDS: usize = 64;
/// What JSON Schemas of objects begin with.
const SCHEMA_KEYS: [&str; 15] = [
    "type",
    "properties",
    "required",
    "title",
    "description",
    "additionalProperties",
    "patternProperties",
    "$schema",
    "$id",
    "$ref",
    "$defs",
    "definitions",
    "anyOf",
    "oneOf",
    "allOf",
];
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

/// What the JSON object that begins here is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnmarkedObject {
    Need,
    Text,
    /// It names something that is not a tool.
    Unknown,
    /// It names a declared tool, and continues as text that is not valid JSON.
    Broken,
    /// The object, or the list of them, is at this byte. `wrapped`: it is a member of another one.
    Call {
        body: usize,
        wrapped: bool,
    },
}

/// Reads an object as far as it takes to tell what it is. Where that is decided, or nothing follows, it ends.
struct Peek<'t> {
    lexer: JsonLexer,
    /// A declared tool was named: text after that which is not valid JSON was meant as a call.
    named: bool,
    /// It was.
    broken: bool,
    /// Only that is asked: the bracket of the arguments decides.
    brief: bool,
    text: &'t str,
    at: usize,
    last: bool,
}

type Peeked<T> = Result<T, UnmarkedObject>;

impl<'t> Peek<'t> {
    fn next(&mut self, place: TokenSet) -> Peeked<JsonLexeme<'t>> {
        match self.lexer.next(self.text, &mut self.at, self.last, place) {
            JsonLexeme::Need if !self.last => Err(UnmarkedObject::Need),
            JsonLexeme::Need => Err(UnmarkedObject::Text),
            JsonLexeme::Bad(_) | JsonLexeme::Lax(_) => Err(self.wrong()),
            lexeme => Ok(lexeme),
        }
    }

    fn expect(&mut self, place: TokenSet, wanted: u8) -> Peeked<()> {
        if self.next(place)? == JsonLexeme::Punct(wanted) { Ok(()) } else { Err(self.wrong()) }
    }

    /// The text here is not valid JSON.
    fn wrong(&self) -> UnmarkedObject {
        if self.named { UnmarkedObject::Broken } else { UnmarkedObject::Text }
    }

    /// The rest of the open string, as far as `more` wants it: it is told what was read. `None`: it wanted no more.
    fn string_while(&mut self, more: impl Fn(&str) -> bool) -> Peeked<Option<String>> {
        let mut text = String::new();
        loop {
            match self.next(TokenSet::Value)? {
                JsonLexeme::Plain(part) => text.push_str(part),
                JsonLexeme::Char(c) => text.push(c),
                _ => return Ok(Some(text)),
            }
            if !more(&text) {
                return Ok(None);
            }
        }
    }

    /// The rest of the open string.
    fn string(&mut self) -> Peeked<String> {
        Ok(self.string_while(|_| true)?.unwrap_or_default())
    }

    /// Whether the open string is one of these. A longer one is not read to its end.
    fn is_one_of(&mut self, texts: &[&str]) -> Peeked<bool> {
        let text = self.string_while(|text| texts.iter().any(|one| one.starts_with(text)))?;
        Ok(text.is_some_and(|text| texts.contains(&&*text)))
    }

    /// A key and its colon; `None` at the end of the object.
    fn key(&mut self) -> Peeked<Option<String>> {
        let key = match self.next(TokenSet::Key)? {
            JsonLexeme::StringStart => self.string()?,
            JsonLexeme::Word(word) if !word.contains('=') => word.to_owned(),
            JsonLexeme::Punct(b'}') => return Ok(None),
            _ => return Err(self.wrong()),
        };
        self.expect(TokenSet::Punctuation, b':')?;
        Ok(Some(key))
    }

    /// Prose has brackets too, and is not held for longer than it takes to see that it is.
    fn is_first_key(&self) -> bool {
        let at = ws_run(self.text, self.at);
        let key = self.text[at..].trim_start_matches(['"', '\'']);
        FIRST_KEYS.iter().any(|first| starts(key, first, self.last) != Scan::NoMatch)
    }

    /// At the first bracket.
    fn look(&mut self, tools: &Tools) -> Peeked<UnmarkedObject> {
        let mut body = self.at;
        let first = self.next(TokenSet::Value)?;
        if first == JsonLexeme::Punct(b'[') {
            self.expect(TokenSet::Value, b'{')?;
        }
        if !self.is_first_key() {
            return Err(UnmarkedObject::Text);
        }
        let before = self.at;
        let wrapped = first != JsonLexeme::Punct(b'[') && self.key()?.as_deref() == Some("tool_calls");
        if wrapped {
            self.expect(TokenSet::Value, b'[')?;
            body = self.at - 1;
            self.expect(TokenSet::Value, b'{')?;
        } else {
            self.at = before;
        }
        let call = self.is_call(tools);
        self.broken = call == Err(UnmarkedObject::Broken);
        match call {
            Ok(true) | Err(UnmarkedObject::Broken) => Ok(UnmarkedObject::Call { body, wrapped }),
            Ok(false) => Err(UnmarkedObject::Text),
            Err(look) => Err(look),
        }
    }

    /// At an object's first key.
    fn is_call(&mut self, tools: &Tools) -> Peeked<bool> {
        let mut tool: Option<&Tool> = None;
        // As a definition has it: `{"type":"function","function":{…}}`.
        let mut formal = false;
        loop {
            let Some(key) = self.key()? else { return Ok(false) };
            if tool.is_none() && FIRST_KEYS[..3].contains(&&*key) && self.names_oddly(tools)? {
                return Err(UnmarkedObject::Broken);
            }
            match (&*key, self.next(TokenSet::Value)?, tool) {
                ("name" | "tool" | "function", JsonLexeme::StringStart, None) => {
                    let name = self.string()?;
                    tool = Some(tools.find(&name).map(|at| tools.at(at)).ok_or(UnmarkedObject::Unknown)?);
                    self.named = true;
                }
                // `["save"]`
                ("name" | "tool" | "function", JsonLexeme::Punct(b'['), None) => {
                    let named =
                        self.next(TokenSet::Value)? == JsonLexeme::StringStart && tools.find(&self.string()?).is_some();
                    return if named { Err(UnmarkedObject::Broken) } else { Ok(false) };
                }
                ("arguments" | "args" | "parameters", JsonLexeme::Punct(b'{'), Some(_)) if self.brief => {
                    return Ok(true);
                }
                ("arguments" | "args" | "parameters", JsonLexeme::Punct(b'['), Some(_)) => {
                    let begins = self.next(TokenSet::Value)? == JsonLexeme::Punct(b'{');
                    return if begins { Err(UnmarkedObject::Broken) } else { Ok(false) };
                }
                ("arguments" | "args" | "parameters", JsonLexeme::Word(word), Some(_)) if !is_literal(word) => {
                    return Err(UnmarkedObject::Broken);
                }
                ("name" | "tool" | "function", JsonLexeme::Word(name), None) if tools.find(name).is_some() => {
                    return Err(UnmarkedObject::Broken);
                }
                ("function", JsonLexeme::Punct(b'{'), None) => {
                    formal = true;
                    continue;
                }
                ("type", JsonLexeme::StringStart, _) => {
                    formal = true;
                    self.string()?;
                }
                ("id", JsonLexeme::StringStart, _) => _ = self.string()?,
                ("id", JsonLexeme::Word(_), _) => {}
                ("arguments" | "args", JsonLexeme::Punct(b'{') | JsonLexeme::Word("null" | "None"), Some(_)) => {
                    return Ok(true);
                }
                ("arguments" | "args", JsonLexeme::StringStart, Some(_)) => return self.is_encoded(),
                ("parameters", JsonLexeme::Punct(b'{'), Some(tool)) => return Ok(!self.is_schema(tool, formal)?),
                // Its body says how arguments are given.
                (key, _, Some(tool)) => return Ok(key != "description" && is_field(&tool.schema, key)),
                _ => return Ok(false),
            }
            match self.next(TokenSet::Punctuation)? {
                JsonLexeme::Punct(b',') => {}
                JsonLexeme::Punct(b'}') => return Ok(false),
                _ => return Err(self.wrong()),
            }
        }
    }

    /// Whether the name of a declared tool is here, in quotes that JSON does not have.
    fn names_oddly(&self, tools: &Tools) -> Peeked<bool> {
        let rest = &self.text[ws_run(self.text, self.at)..];
        let Some(first) = rest.chars().next().filter(|_| begins_other(rest)) else { return Ok(false) };
        let name = &rest[first.len_utf8()..];
        match name.find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))) {
            Some(end) => Ok(tools.find(&name[..end]).is_some()),
            None if self.last => Ok(false),
            None => Err(UnmarkedObject::Need),
        }
    }

    /// Whether the open string is the JSON of an object, or empty.
    fn is_encoded(&mut self) -> Peeked<bool> {
        loop {
            match self.next(TokenSet::Value)? {
                JsonLexeme::Plain(part) if part.trim_start().is_empty() => {}
                JsonLexeme::Plain(part) => return Ok(part.trim_start().starts_with('{')),
                JsonLexeme::Char(c) if c.is_whitespace() => {}
                JsonLexeme::Char(_) => return Ok(false),
                _ => return Ok(true),
            }
        }
    }

    /// Whether these are the parameters as the tool's definition has them. Their first member decides.
    fn is_schema(&mut self, tool: &Tool, formal: bool) -> Peeked<bool> {
        let own = tool.parameters.as_object();
        let Some(key) = self.key()? else { return Ok(formal || own.is_some_and(<[_]>::is_empty)) };
        let is_keyword = SCHEMA_KEYS.contains(&&*key);
        if is_keyword && !is_field(&tool.schema, &key) {
            return Ok(true);
        }
        match self.next(TokenSet::Value)? {
            JsonLexeme::Punct(_) if is_keyword => Ok(true),
            JsonLexeme::StringStart if is_keyword => {
                let said = own.and_then(|own| own.iter().take(KEYWORDS).find(|(name, _)| *name == key)?.1.as_str());
                self.is_one_of(&[said, (key == "type").then_some("object")].into_iter().flatten().collect::<Vec<_>>())
            }
            // Such as `"city": "string"`, and `"city": {"type": "string"}`.
            JsonLexeme::StringStart => self.is_one_of(&TYPES),
            JsonLexeme::Punct(b'{') => {
                let takes = tool.schema.member(tool.schema.root, &key).map(|id| tool.schema.node(id).takes_object());
                if takes == Some(false) {
                    return Ok(true);
                }
                let key = self.key()?;
                let is_type = key.as_deref() == Some("type") && self.next(TokenSet::Value)? == JsonLexeme::StringStart;
                Ok(is_type && self.is_one_of(&TYPES)?)
            }
            _ => Ok(false),
        }
    }
}

/// Looks at what begins with a bracket; of the text at most [`ATTEMPT_CHARS`].
pub(crate) fn look(tools: &Tools, text: &str, last: bool) -> UnmarkedObject {
    looked(tools, text, last, false).0
}

/// Whether what begins with a bracket names a declared tool, and continues as text that is not valid JSON, or that has other keys.
pub(super) fn is_broken(tools: &Tools, text: &str, last: bool) -> Scan {
    match looked(tools, text, last, true) {
        (UnmarkedObject::Need, _) => Scan::Incomplete,
        (UnmarkedObject::Text, false) => has_other_keys(tools, text, last, NAME_WORDS),
        (UnmarkedObject::Unknown, _) => has_other_keys(tools, text, last, NAME_WORDS - 1),
        (_, broken) => Scan::some(broken.then_some(())),
    }
}

/// Whether an object, whatever its keys, quotes and brackets, has the name of a declared tool first, and then one of the tool's
/// parameters with a value, in another object or behind a key of arguments: `{"nmae": "save", "arguments": {"path": …`. The name is one
/// of the first `name_words` words.
fn has_other_keys(tools: &Tools, text: &str, last: bool, name_words: usize) -> Scan {
    let (text, last) = window(text, ATTEMPT_CHARS, last);
    let divides = |c: char| c.is_ascii_whitespace() || "{[\"':=,;".contains(c);
    let mut rest = text.trim_start_matches(divides);
    let (mut named, mut inside) = (None, false);
    for words in 0..WORDS {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        rest = behind.trim_start_matches(divides);
        if rest.is_empty() {
            return Scan::at_end(last);
        }
        let between = &behind[..behind.len() - rest.len()];
        if let Some(tool) = named.filter(|_| inside) {
            return Scan::some((between.contains(':') && is_field(&tools.at(tool).schema, word)).then_some(()));
        }
        inside = named.is_some() && ARGUMENTS.contains(&word);
        named = named.or_else(|| tools.find(word));
        if named.is_none() && words + 1 == name_words {
            break;
        }
        inside |= named.is_some() && between.contains('{');
    }
    Scan::NoMatch
}

/// What it is, and whether that is a call only because it cannot be read.
fn looked(tools: &Tools, text: &str, last: bool, brief: bool) -> (UnmarkedObject, bool) {
    let (text, last) = window(text, ATTEMPT_CHARS, last);
    let lexer = JsonLexer::new(true).in_calls().with_comments();
    let mut peek = Peek { lexer, named: false, broken: false, brief, text, at: 0, last };
    match peek.look(tools) {
        Ok(look) | Err(look) => (look, peek.broken),
    }
}
