//! Builds values from lexemes. Indentation decides which value belongs to which key or dash.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::core_schema::json_of;
use super::lexeme::{NoSurroundings, YamlLexeme};
use super::lexer::YamlLexer;
use super::nodes::TEXT_AFTER;
use crate::error::SyntaxError;
use crate::keymap::KeyMap;
use crate::limits::RECURSION;
use crate::syntax::json::Value;
use crate::syntax::position::Position;
use crate::syntax::tree::UntypedValue;

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum YamlFault {
    Malformed(Cow<'static, str>),
    Duplicate(String),
    TooDeep,
}

impl fmt::Display for YamlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            YamlFault::Malformed(what) => f.write_str(what),
            YamlFault::Duplicate(key) => write!(f, "the key {key:?} is given twice"),
            YamlFault::TooDeep => f.write_str("nested too deeply"),
        }
    }
}

const INDENTATION: &str = "the indentation matches no earlier line";
const UNCLOSED: &str = "a quote or bracket is never closed";
const BRACKETS: &str = "brackets do not match";
const COMMA: &str = "a comma is missing in brackets";
const NO_KEY: &str = "a key is missing in braces";
const KEY_SCALAR: &str = "a key must be plain or quoted text";
const PAIR: &str = "a key in a list needs braces";

#[derive(Debug, Default)]
struct Entries {
    list: Vec<(String, UntypedValue)>,
    seen: KeyMap<()>,
}

#[derive(Debug)]
enum FlowMapState {
    /// A key, or the end.
    Key,
    /// After a key.
    Colon(String),
    /// After the colon of a key.
    Value(String),
    /// After a value.
    Comma,
}

#[derive(Debug)]
enum Collection {
    /// `key`: its value is next.
    Map {
        column: usize,
        entries: Entries,
        key: Option<String>,
    },
    /// `open`: the value of an item is next.
    List {
        column: usize,
        items: Vec<UntypedValue>,
        open: bool,
    },
    FlowMap {
        entries: Entries,
        state: FlowMapState,
    },
    /// `open`: a value may be next.
    FlowList {
        items: Vec<UntypedValue>,
        open: bool,
    },
}

/// Builds one value.
#[derive(Debug)]
pub(crate) struct TreeBuilder {
    stack: Vec<Collection>,
    scalar: Option<(String, bool)>,
    root: Option<UntypedValue>,
    depth: usize,
    /// The column of the parent. The value is indented more.
    base: isize,
}

fn malformed<T>(what: &'static str) -> Result<T, YamlFault> {
    Err(YamlFault::Malformed(Cow::Borrowed(what)))
}

fn null() -> UntypedValue {
    UntypedValue::Scalar { text: String::new(), quoted: false }
}

impl Entries {
    fn name(&mut self, key: &str) -> Result<(), YamlFault> {
        if self.seen.get(key).is_some() {
            return Err(YamlFault::Duplicate(key.to_owned()));
        }
        self.seen.push(Arc::from(key), ());
        Ok(())
    }
}

impl TreeBuilder {
    /// A builder for at most `depth` levels. `base` is the column of the key of the value, or -1 for a whole text.
    pub(crate) fn new(depth: usize, base: isize) -> Self {
        TreeBuilder { stack: Vec::new(), scalar: None, root: None, depth, base }
    }

    /// Adds the next lexeme, which is in `column`.
    pub(crate) fn lexeme(&mut self, lexeme: YamlLexeme<'_>, column: usize) -> Result<(), YamlFault> {
        if let Some(content) = lexeme.content(&mut [0; 4]) {
            if let Some((text, _)) = &mut self.scalar {
                text.push_str(content);
            }
            return Ok(());
        }
        match lexeme {
            YamlLexeme::Start { quoted } => {
                self.node(column)?;
                self.scalar = Some((String::new(), quoted));
            }
            YamlLexeme::Stop => {
                let Some((text, quoted)) = self.scalar.take() else { return Ok(()) };
                match self.stack.last_mut() {
                    Some(Collection::FlowMap { entries, state: state @ FlowMapState::Key }) => {
                        entries.name(&text)?;
                        *state = FlowMapState::Colon(text);
                    }
                    _ => self.place(UntypedValue::Scalar { text, quoted })?,
                }
            }
            YamlLexeme::Dash => self.dash(column)?,
            YamlLexeme::Key { text, .. } => self.key(text, column)?,
            YamlLexeme::Punct(byte) => self.punct(byte, column)?,
            YamlLexeme::Bad(what) => return malformed(what),
            _ => {}
        }
        Ok(())
    }

    /// The complete value; null without lexemes.
    pub(crate) fn finish(mut self) -> Result<UntypedValue, YamlFault> {
        if self.scalar.is_some() || self.in_flow() {
            return malformed(UNCLOSED);
        }
        while !self.stack.is_empty() {
            self.pop()?;
        }
        Ok(self.root.unwrap_or_else(null))
    }

    fn in_flow(&self) -> bool {
        matches!(self.stack.last(), Some(Collection::FlowMap { .. } | Collection::FlowList { .. }))
    }

    /// Closes the innermost collection.
    fn pop(&mut self) -> Result<(), YamlFault> {
        let tree = match self.stack.pop() {
            Some(Collection::Map { mut entries, key, .. }) => {
                entries.list.extend(key.map(|key| (key, null())));
                UntypedValue::Map(entries.list)
            }
            Some(Collection::List { mut items, open, .. }) => {
                items.extend(open.then(null));
                UntypedValue::List(items)
            }
            Some(Collection::FlowMap { entries, .. }) => UntypedValue::Map(entries.list),
            Some(Collection::FlowList { items, .. }) => UntypedValue::List(items),
            None => return Ok(()),
        };
        self.place(tree)
    }

    /// Puts a value where one is expected.
    fn place(&mut self, tree: UntypedValue) -> Result<(), YamlFault> {
        match self.stack.last_mut() {
            None if self.root.is_none() => self.root = Some(tree),
            None => return malformed(TEXT_AFTER),
            Some(Collection::Map { entries, key, .. }) => match key.take() {
                Some(key) => entries.list.push((key, tree)),
                None => return malformed(INDENTATION),
            },
            Some(Collection::List { items, open, .. } | Collection::FlowList { items, open }) if *open => {
                *open = false;
                items.push(tree);
            }
            Some(Collection::List { .. }) => return malformed(INDENTATION),
            Some(Collection::FlowList { .. }) => return malformed(COMMA),
            Some(Collection::FlowMap { entries, state }) => match std::mem::replace(state, FlowMapState::Comma) {
                FlowMapState::Value(key) => entries.list.push((key, tree)),
                FlowMapState::Key => return malformed(KEY_SCALAR),
                FlowMapState::Colon(_) | FlowMapState::Comma => return malformed(COMMA),
            },
        }
        Ok(())
    }

    /// Checks that a value in block style may begin in this column. Closes collections in this column or deeper ones.
    fn node(&mut self, column: usize) -> Result<(), YamlFault> {
        if self.in_flow() {
            return Ok(());
        }
        self.close(column)?;
        self.expects(column as isize > self.base)
    }

    /// Closes collections in block style in this column or deeper ones.
    fn close(&mut self, column: usize) -> Result<(), YamlFault> {
        while let Some(Collection::Map { column: own, .. } | Collection::List { column: own, .. }) = self.stack.last()
            && *own >= column
        {
            self.pop()?;
        }
        Ok(())
    }

    /// Checks that a value is expected. `inside`: as the outermost value, it would be indented enough.
    fn expects(&self, inside: bool) -> Result<(), YamlFault> {
        match self.stack.last() {
            None if !inside => malformed(INDENTATION),
            None if self.root.is_some() => malformed(TEXT_AFTER),
            Some(Collection::Map { key: None, .. } | Collection::List { open: false, .. }) => malformed(INDENTATION),
            _ => Ok(()),
        }
    }

    fn open(&mut self, frame: Collection) -> Result<(), YamlFault> {
        if self.stack.len() >= self.depth {
            return Err(YamlFault::TooDeep);
        }
        self.stack.push(frame);
        Ok(())
    }

    fn dash(&mut self, column: usize) -> Result<(), YamlFault> {
        self.close(column + 1)?;
        if let Some(Collection::List { column: own, items, open }) = self.stack.last_mut()
            && *own == column
        {
            items.extend(std::mem::replace(open, true).then(null));
            return Ok(());
        }
        self.expects(column as isize >= self.base)?;
        self.open(Collection::List { column, items: Vec::new(), open: true })
    }

    fn key(&mut self, text: String, column: usize) -> Result<(), YamlFault> {
        self.close(column + 1)?;
        if matches!(self.stack.last(), Some(Collection::List { column: own, .. }) if *own == column) {
            self.pop()?;
        }
        if let Some(Collection::Map { column: own, entries, key }) = self.stack.last_mut()
            && *own == column
        {
            entries.list.extend(key.take().map(|key| (key, null())));
            entries.name(&text)?;
            *key = Some(text);
            return Ok(());
        }
        self.expects(column as isize > self.base)?;
        let mut entries = Entries::default();
        entries.name(&text)?;
        self.open(Collection::Map { column, entries, key: Some(text) })
    }

    fn punct(&mut self, byte: u8, column: usize) -> Result<(), YamlFault> {
        if let b'[' | b'{' = byte {
            self.node(column)?;
            match self.stack.last() {
                Some(Collection::FlowMap { state: FlowMapState::Key, .. }) => return malformed(KEY_SCALAR),
                Some(Collection::FlowMap { state: FlowMapState::Colon(_) | FlowMapState::Comma, .. })
                | Some(Collection::FlowList { open: false, .. }) => return malformed(COMMA),
                _ => {}
            }
            return self.open(if byte == b'[' {
                Collection::FlowList { items: Vec::new(), open: true }
            } else {
                Collection::FlowMap { entries: Entries::default(), state: FlowMapState::Key }
            });
        }
        match (byte, self.stack.last_mut()) {
            (b']', Some(Collection::FlowList { .. })) => self.pop()?,
            (b',', Some(Collection::FlowList { items, open })) => {
                if std::mem::replace(open, true) || items.is_empty() {
                    return malformed(COMMA);
                }
            }
            (b':', Some(Collection::FlowList { .. })) => return malformed(PAIR),
            (b'}' | b',', Some(Collection::FlowMap { entries, state })) => {
                match std::mem::replace(state, FlowMapState::Key) {
                    FlowMapState::Colon(key) | FlowMapState::Value(key) => entries.list.push((key, null())),
                    FlowMapState::Key if byte == b',' => return malformed(NO_KEY),
                    FlowMapState::Key | FlowMapState::Comma => {}
                }
                if byte == b'}' {
                    self.pop()?;
                }
            }
            (b':', Some(Collection::FlowMap { state, .. })) => match std::mem::replace(state, FlowMapState::Key) {
                FlowMapState::Colon(key) => *state = FlowMapState::Value(key),
                _ => return malformed(NO_KEY),
            },
            _ => return malformed(BRACKETS),
        }
        Ok(())
    }
}

/// Reads one YAML text, at most `depth` and at most [`RECURSION`] levels deep.
pub fn parse(text: &str, depth: usize) -> Result<Value<'static>, SyntaxError> {
    let mut lexer = YamlLexer::default();
    let mut builder = TreeBuilder::new(depth.min(RECURSION), -1);
    let mut at = 0;
    let mut build = || loop {
        match lexer.next(text, &mut at, true, &NoSurroundings) {
            YamlLexeme::Need => return malformed(UNCLOSED),
            YamlLexeme::Lax(_) => return malformed("a backslash in double quotes must begin an escape"),
            YamlLexeme::End => return Ok(()),
            lexeme => builder.lexeme(lexeme, lexer.place.1)?,
        }
    };
    let tree = build().and_then(|()| builder.finish()).map_err(|fault| {
        let (line, column) = lexer.place;
        Position { line: line + 1, column: column + 1 }.error(fault.to_string())
    })?;
    Ok(value(tree))
}

/// Types scalars by the core schema. Callers must limit the depth.
fn value(tree: UntypedValue) -> Value<'static> {
    match tree {
        UntypedValue::Scalar { text, quoted: false } => match json_of(&text).as_deref() {
            Some("null") => Value::Null,
            Some("true") => Value::Bool(true),
            Some("false") => Value::Bool(false),
            Some(number) => Value::Number(Cow::Owned(number.to_owned())),
            None => Value::String(Cow::Owned(text)),
        },
        UntypedValue::Scalar { text, quoted: true } => Value::String(Cow::Owned(text)),
        UntypedValue::List(items) => Value::Array(items.into_iter().map(value).collect()),
        UntypedValue::Map(members) => {
            Value::Object(members.into_iter().map(|(key, tree)| (Cow::Owned(key), value(tree))).collect())
        }
    }
}
