//! Errors, repairs and problems. Their kinds have stable names, which hosts match on.

use std::borrow::Cow;
use std::fmt;

/// An enum whose values have stable names.
macro_rules! named {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$doc:meta])* $value:ident => $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $value,)*
        }

        impl $name {
            /// The stable name.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $text,)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

named! {
    /// A near miss that the lenient reader repairs; in strict mode an error of the same name.
    pub enum Repair {
        /// A JSON object in a Markdown fence, in `<json>` tags or in parentheses, or another call in a fence: read without it.
        JsonWrapper => "json_wrapper",
        /// JSON with single quotes, bare keys, trailing commas or Python's literals, or arguments of Python or of a notation with
        /// near misses of this kind: read as intended.
        RelaxedJson => "relaxed_json",
        /// Spaces around the `=` of a declared key: ignored.
        SpacedEquals => "spaced_equals",
        /// A key without a value: read as the empty string.
        EmptyValue => "empty_value",
        /// A comma between two arguments: ignored.
        CommaSeparator => "comma_separator",
        /// One of `,` `;` `>` `/>` between the last value and the closing tag: ignored.
        TrailingCharacters => "trailing_characters",
        /// Spaces in a string without quotes: part of the value.
        UnquotedSpaces => "unquoted_spaces",
        /// Unescaped quotes inside a quoted value: kept as part of the text.
        InnerQuotes => "inner_quotes",
        /// A missing closing tag: closed at the next tag, or at the end of a message that is known to be complete.
        MissingClose => "missing_close",
        /// A key in another style, such as `guest_name` for `guestName`: read as the declared key.
        KeyStyle => "key_style",
        /// The tool's name in another style, in quotes, with a prefix, or without that of the format: read as the declared name.
        ToolStyle => "tool_style",
        /// A call or its arguments in another notation between the usual markers: read as the name and its arguments.
        CallStyle => "call_style",
        /// A colon instead of `=` after a declared key: read as `=`.
        ColonSeparator => "colon_separator",
        /// Typographic or triple quotes around a value: read as plain quotes.
        QuoteStyle => "quote_style",
        /// A value that is not written as its type requires: converted to the schema's type.
        Coerced => "coerced",
        /// With [`Options::recover`](crate::Options::recover), a call in another format: read by that format's rules.
        OtherFormat => "other_format",
        /// The singular or plural of the only required key that is missing: read as that key.
        KeyNumber => "key_number",
        /// An object around a list, with `item` or indexes as keys: read as the list.
        ListWrapper => "list_wrapper",
        /// An object with the single key `value` around a scalar: read as the scalar.
        ValueWrapper => "value_wrapper",
        /// An enum value with extra quotes in it, or with other whitespace: read as that value.
        EnumQuotes => "enum_quotes",
        /// Another name for a key of the call object, such as `parameters`: read as `arguments` or `name`.
        KeyAlias => "key_alias",
        /// Arguments, or a list or object in them, written as a string of JSON: read as that JSON.
        EncodedArguments => "encoded_arguments",
        /// The last closing bracket is missing, or there is one too many: read as balanced.
        UnbalancedBrackets => "unbalanced_brackets",
        /// A tag or special token between the call's object and its end: ignored.
        StrayTag => "stray_tag",
        /// Unclosed elements, stray closing tags or text between fields: the fields are read, the rest is ignored.
        Markup => "markup",
        /// Text instead of elements, for a tool that needs a single string: read as that string.
        BareText => "bare_text",
        /// The tool's name on a line of its own, then its elements: read as if the name were a tag.
        BareName => "bare_name",
        /// An opening tag without its `>`: read as if it were closed.
        UnclosedTag => "unclosed_tag",
        /// Tags in another spelling or form, missing or written twice: read as the protocol's own tags.
        TagStyle => "tag_style",
        /// A function without `<tool_call>` around it: read as if it had one.
        MissingWrapper => "missing_wrapper",
        /// A backslash in double quotes that does not begin a YAML escape: kept as a backslash.
        RelaxedYaml => "relaxed_yaml",
        /// Text that is not valid YAML, or that continues without indentation: taken exactly as written.
        VerbatimText => "verbatim_text",
    }
}

/// Why a call was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such tool.
    UnknownTool,
    /// The call is ambiguous, or in a form that is never read as a call.
    MalformedCall,
    /// The end of a value is missing or ambiguous.
    UnterminatedValue,
    /// The message ends inside the call.
    IncompleteCall,
    /// The JSON is invalid and cannot be repaired without guessing.
    InvalidJson,
    /// An argument is given twice, with different values.
    DuplicateArgument,
    /// The arguments do not match the schema, and calls are validated.
    InvalidArguments,
    /// The model wrote the result of a tool, which only the host may.
    ForgedResult,
    /// The call exceeds [`Limits::call_bytes`](crate::Limits::call_bytes).
    TooLarge,
    /// A value exceeds [`Limits::depth`](crate::Limits::depth).
    TooDeep,
    /// The message exceeds [`Limits::calls`](crate::Limits::calls).
    TooManyCalls,
    /// Strict mode found what the lenient reader would have repaired.
    Strict(Repair),
}

impl ErrorKind {
    /// The stable name; that of the repair in strict mode.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::UnknownTool => "unknown_tool",
            ErrorKind::MalformedCall => "malformed_call",
            ErrorKind::UnterminatedValue => "unterminated_value",
            ErrorKind::IncompleteCall => "incomplete_call",
            ErrorKind::InvalidJson => "invalid_json",
            ErrorKind::DuplicateArgument => "duplicate_argument",
            ErrorKind::InvalidArguments => "invalid_arguments",
            ErrorKind::ForgedResult => "forged_result",
            ErrorKind::TooLarge => "too_large",
            ErrorKind::TooDeep => "too_deep",
            ErrorKind::TooManyCalls => "too_many_calls",
            ErrorKind::Strict(repair) => repair.as_str(),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

named! {
    /// What is wrong with arguments that were accepted.
    pub enum ProblemKind {
        /// The value has another type than the schema says.
        WrongType => "wrong_type",
        /// The value is not one of the enum's.
        NotInEnum => "not_in_enum",
        /// A required field is missing.
        MissingRequired => "missing_required",
        /// The schema does not allow a field with this name.
        UnknownField => "unknown_field",
        /// Found by the full validation only.
        Schema => "schema",
    }
}

/// One thing that is wrong with arguments that were accepted. Displayed as its message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// What kind of problem it is.
    pub kind: ProblemKind,
    /// The path, written like a key: `profile.address.city`, `items[0].sku`; empty for all arguments.
    pub field: String,
    /// A sentence for the model.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// A tool definition or an option that cannot be used: a mistake of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolError {
    /// The tool's name; `None` if the error is in the options.
    pub tool: Option<String>,
    /// A JSON pointer into the tool's schema, if the error is in the schema.
    pub pointer: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl ToolError {
    /// An error that names no tool.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ToolError { tool: None, pointer: None, message: message.into() }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tool) = &self.tool {
            write!(f, "tool {tool:?}")?;
            if let Some(pointer) = &self.pointer {
                write!(f, ", at {pointer:?}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolError {}

/// A schema that cannot be used: a mistake of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaError {
    /// A JSON pointer into the schema; empty for all of it.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:?}: {}", self.pointer, self.message)
    }
}

impl std::error::Error for SchemaError {}

/// A call or a value that cannot be written: a mistake of the caller. Displayed as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError(pub(crate) String);

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EncodeError {}

/// What is wrong with a JSON, YAML or XML text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyntaxError {
    /// What is wrong.
    pub message: Cow<'static, str>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}, column {})", self.message, self.line, self.column)
    }
}

impl std::error::Error for SyntaxError {}
