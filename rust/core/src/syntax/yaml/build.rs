//! What becomes of lexemes: a tree. The structure of YAML is here: which indentation belongs to what.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::core_schema::json_of;
use super::lexeme::{Lexeme, NoEnds};
use super::lexer::Lexer;
use crate::error::SyntaxError;
use crate::keymap::KeyMap;
use crate::limits::RECURSION;
use crate::syntax::json::Value;
use crate::syntax::position::Position;
use crate::syntax::tree::Tree;

/// Why a text is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    Malformed(Cow<'static, str>),
    Duplicate(String),
    TooDeep,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Malformed(what) => f.write_str(what),
            Fault::Duplicate(key) => write!(f, "the key {key:?} is given twice"),
            Fault::TooDeep => f.write_str("nested too deeply"),
        }
    }
}

const INDENTATION: &str = "the indentation matches no earlier line";
const UNCLOSED: &str = "a quote or bracket is never closed";
const BEHIND: &str = "there is text after the value";
const BRACKETS: &str = "brackets do not match";
const COMMA: &str = "a comma is missing in brackets";
const NO_KEY: &str = "a key is missing in braces";
const KEY_SCALAR: &str = "a key must be plain or quoted text";
const PAIR: &str = "a key in a list needs braces";

#[derive(Debug, Default)]
struct Entries {
    list: Vec<(String, Tree)>,
    seen: KeyMap<()>,
}

#[derive(Debug)]
enum Flow {
    /// A key, or the end.
    Key,
    /// Behind a key.
    Colon(String),
    /// Behind its colon.
    Value(String),
    /// Behind a value.
    Comma,
}

#[derive(Debug)]
enum Frame {
    /// `key`: its value is next.
    Map {
        column: usize,
        entries: Entries,
        key: Option<String>,
    },
    /// `open`: the value of an item is next.
    List {
        column: usize,
        items: Vec<Tree>,
        open: bool,
    },
    FlowMap {
        entries: Entries,
        state: Flow,
    },
    /// `open`: a value may be next.
    FlowList {
        items: Vec<Tree>,
        open: bool,
    },
}

/// Builds one value.
#[derive(Debug)]
pub struct Builder {
    stack: Vec<Frame>,
    scalar: Option<(String, bool)>,
    root: Option<Tree>,
    depth: usize,
    /// The column of what the value belongs to, which stands deeper.
    base: isize,
}

fn malformed<T>(what: &'static str) -> Result<T, Fault> {
    Err(Fault::Malformed(Cow::Borrowed(what)))
}

fn null() -> Tree {
    Tree::Scalar { text: String::new(), quoted: false }
}

impl Entries {
    fn name(&mut self, key: &str) -> Result<(), Fault> {
        if self.seen.get(key).is_some() {
            return Err(Fault::Duplicate(key.to_owned()));
        }
        self.seen.push(Arc::from(key), ());
        Ok(())
    }
}

impl Builder {
    /// At most `depth` levels; `base` is the column of the key that the value belongs to, -1 for a whole text.
    pub fn new(depth: usize, base: isize) -> Self {
        Builder { stack: Vec::new(), scalar: None, root: None, depth, base }
    }

    /// The next lexeme, which stands in `column`.
    pub fn lexeme(&mut self, lexeme: Lexeme<'_>, column: usize) -> Result<(), Fault> {
        if let Some(content) = lexeme.content(&mut [0; 4]) {
            if let Some((text, _)) = &mut self.scalar {
                text.push_str(content);
            }
            return Ok(());
        }
        match lexeme {
            Lexeme::Start { quoted } => {
                self.node(column)?;
                self.scalar = Some((String::new(), quoted));
            }
            Lexeme::Stop => {
                let Some((text, quoted)) = self.scalar.take() else { return Ok(()) };
                match self.stack.last_mut() {
                    Some(Frame::FlowMap { entries, state: state @ Flow::Key }) => {
                        entries.name(&text)?;
                        *state = Flow::Colon(text);
                    }
                    _ => self.place(Tree::Scalar { text, quoted })?,
                }
            }
            Lexeme::Dash => self.dash(column)?,
            Lexeme::Key { text, .. } => self.key(text, column)?,
            Lexeme::Punct(byte) => self.punct(byte, column)?,
            Lexeme::Bad(what) => return malformed(what),
            _ => {}
        }
        Ok(())
    }

    /// The value is complete; without any it is null.
    pub fn finish(mut self) -> Result<Tree, Fault> {
        if self.scalar.is_some() || self.in_flow() {
            return malformed(UNCLOSED);
        }
        while !self.stack.is_empty() {
            self.pop()?;
        }
        Ok(self.root.unwrap_or_else(null))
    }

    fn in_flow(&self) -> bool {
        matches!(self.stack.last(), Some(Frame::FlowMap { .. } | Frame::FlowList { .. }))
    }

    /// The innermost collection is complete.
    fn pop(&mut self) -> Result<(), Fault> {
        let tree = match self.stack.pop() {
            Some(Frame::Map { mut entries, key, .. }) => {
                entries.list.extend(key.map(|key| (key, null())));
                Tree::Map(entries.list)
            }
            Some(Frame::List { mut items, open, .. }) => {
                items.extend(open.then(null));
                Tree::List(items)
            }
            Some(Frame::FlowMap { entries, .. }) => Tree::Map(entries.list),
            Some(Frame::FlowList { items, .. }) => Tree::List(items),
            None => return Ok(()),
        };
        self.place(tree)
    }

    /// Puts a value where one is expected.
    fn place(&mut self, tree: Tree) -> Result<(), Fault> {
        match self.stack.last_mut() {
            None if self.root.is_none() => self.root = Some(tree),
            None => return malformed(BEHIND),
            Some(Frame::Map { entries, key, .. }) => match key.take() {
                Some(key) => entries.list.push((key, tree)),
                None => return malformed(INDENTATION),
            },
            Some(Frame::List { items, open, .. }) => {
                if !std::mem::replace(open, false) {
                    return malformed(INDENTATION);
                }
                items.push(tree);
            }
            Some(Frame::FlowList { items, open }) => {
                if !std::mem::replace(open, false) {
                    return malformed(COMMA);
                }
                items.push(tree);
            }
            Some(Frame::FlowMap { entries, state }) => match std::mem::replace(state, Flow::Comma) {
                Flow::Value(key) => entries.list.push((key, tree)),
                Flow::Key => return malformed(KEY_SCALAR),
                Flow::Colon(_) | Flow::Comma => return malformed(COMMA),
            },
        }
        Ok(())
    }

    /// May a value stand here, in block style? Closes what stands as deep or deeper, but a list at `list`.
    fn node(&mut self, column: usize) -> Result<(), Fault> {
        if self.in_flow() {
            return Ok(());
        }
        while let Some(Frame::Map { column: own, .. } | Frame::List { column: own, .. }) = self.stack.last()
            && *own >= column
        {
            self.pop()?;
        }
        self.expects(column as isize > self.base)
    }

    /// Is a value expected? `inside`: it stands deep enough, should it be the outermost one.
    fn expects(&self, inside: bool) -> Result<(), Fault> {
        match self.stack.last() {
            None if !inside => malformed(INDENTATION),
            None if self.root.is_some() => malformed(BEHIND),
            Some(Frame::Map { key: None, .. } | Frame::List { open: false, .. }) => malformed(INDENTATION),
            _ => Ok(()),
        }
    }

    fn open(&mut self, frame: Frame) -> Result<(), Fault> {
        if self.stack.len() >= self.depth {
            return Err(Fault::TooDeep);
        }
        self.stack.push(frame);
        Ok(())
    }

    fn dash(&mut self, column: usize) -> Result<(), Fault> {
        loop {
            match self.stack.last_mut() {
                Some(Frame::Map { column: own, .. } | Frame::List { column: own, .. }) if *own > column => {
                    self.pop()?
                }
                Some(Frame::List { column: own, items, open }) if *own == column => {
                    items.extend(std::mem::replace(open, true).then(null));
                    return Ok(());
                }
                _ => break,
            }
        }
        self.expects(column as isize >= self.base)?;
        self.open(Frame::List { column, items: Vec::new(), open: true })
    }

    fn key(&mut self, text: String, column: usize) -> Result<(), Fault> {
        loop {
            match self.stack.last_mut() {
                Some(Frame::Map { column: own, entries, key }) if *own == column => {
                    entries.list.extend(key.take().map(|key| (key, null())));
                    entries.name(&text)?;
                    *key = Some(text);
                    return Ok(());
                }
                Some(Frame::Map { column: own, .. } | Frame::List { column: own, .. }) if *own >= column => {
                    self.pop()?
                }
                _ => break,
            }
        }
        self.expects(column as isize > self.base)?;
        let mut entries = Entries::default();
        entries.name(&text)?;
        self.open(Frame::Map { column, entries, key: Some(text) })
    }

    fn punct(&mut self, byte: u8, column: usize) -> Result<(), Fault> {
        if let b'[' | b'{' = byte {
            self.node(column)?;
            match self.stack.last() {
                Some(Frame::FlowMap { state: Flow::Key, .. }) => return malformed(KEY_SCALAR),
                Some(Frame::FlowMap { state: Flow::Colon(_) | Flow::Comma, .. })
                | Some(Frame::FlowList { open: false, .. }) => return malformed(COMMA),
                _ => {}
            }
            return self.open(if byte == b'[' {
                Frame::FlowList { items: Vec::new(), open: true }
            } else {
                Frame::FlowMap { entries: Entries::default(), state: Flow::Key }
            });
        }
        match (byte, self.stack.last_mut()) {
            (b']', Some(Frame::FlowList { .. })) => self.pop()?,
            (b',', Some(Frame::FlowList { items, open })) => {
                if std::mem::replace(open, true) || items.is_empty() {
                    return malformed(COMMA);
                }
            }
            (b':', Some(Frame::FlowList { .. })) => return malformed(PAIR),
            (b'}' | b',', Some(Frame::FlowMap { entries, state })) => {
                match std::mem::replace(state, Flow::Key) {
                    Flow::Colon(key) | Flow::Value(key) => entries.list.push((key, null())),
                    Flow::Key if byte == b',' => return malformed(NO_KEY),
                    Flow::Key | Flow::Comma => {}
                }
                if byte == b'}' {
                    self.pop()?;
                }
            }
            (b':', Some(Frame::FlowMap { state, .. })) => match std::mem::replace(state, Flow::Key) {
                Flow::Colon(key) => *state = Flow::Value(key),
                _ => return malformed(NO_KEY),
            },
            _ => return malformed(BRACKETS),
        }
        Ok(())
    }
}

/// Reads one YAML text, at most `depth` levels deep, and at most [`RECURSION`].
pub fn parse(text: &str, depth: usize) -> Result<Value<'static>, SyntaxError> {
    let mut lexer = Lexer::default();
    let mut builder = Builder::new(depth.min(RECURSION), -1);
    let mut at = 0;
    let mut build = || loop {
        match lexer.next(text, &mut at, true, &NoEnds) {
            Lexeme::Need => return malformed(UNCLOSED),
            Lexeme::Lax(_) => return malformed("a backslash in double quotes must begin an escape"),
            Lexeme::End => return Ok(()),
            lexeme => builder.lexeme(lexeme, lexer.place().1)?,
        }
    };
    let tree = build().and_then(|()| builder.finish()).map_err(|fault| {
        let (line, column) = lexer.place();
        Position { line: line + 1, column: column + 1 }.error(fault.to_string())
    })?;
    Ok(value(tree))
}

/// By the core schema. Recursion is bounded by the depth the tree was made with.
fn value(tree: Tree) -> Value<'static> {
    match tree {
        Tree::Scalar { text, quoted: false } => match json_of(&text).as_deref() {
            Some("null") => Value::Null,
            Some("true") => Value::Bool(true),
            Some("false") => Value::Bool(false),
            Some(number) => Value::Number(Cow::Owned(number.to_owned())),
            None => Value::String(Cow::Owned(text)),
        },
        Tree::Scalar { text, quoted: true } => Value::String(Cow::Owned(text)),
        Tree::List(items) => Value::Array(items.into_iter().map(value).collect()),
        Tree::Map(members) => {
            Value::Object(members.into_iter().map(|(key, tree)| (Cow::Owned(key), value(tree))).collect())
        }
    }
}
