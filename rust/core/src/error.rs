//! Errors, repairs and problems. Their kinds have stable names, which hosts match on.

use std::borrow::Cow;
use std::fmt;

/// An enum whose values have stable names.
macro_rules! named {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$doc:meta])* $value:ident => $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $value,)*
        }

        impl $name {
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $text,)*
                }
            }
        }
    };
}

named! {
    /// A near miss that the lenient reader repairs; in strict mode an error of the same name.
    pub enum Repair {
        JsonWrapper => "json_wrapper",
        RelaxedJson => "relaxed_json",
        SpacedEquals => "spaced_equals",
        EmptyValue => "empty_value",
        CommaSeparator => "comma_separator",
        TrailingCharacters => "trailing_characters",
        UnquotedSpaces => "unquoted_spaces",
        InnerQuotes => "inner_quotes",
        MissingClose => "missing_close",
        KeyStyle => "key_style",
        ToolStyle => "tool_style",
        CallStyle => "call_style",
        ColonSeparator => "colon_separator",
        QuoteStyle => "quote_style",
        Coerced => "coerced",
        OtherFormat => "other_format",
        KeyNumber => "key_number",
        ListWrapper => "list_wrapper",
        ValueWrapper => "value_wrapper",
        EnumQuotes => "enum_quotes",
        KeyAlias => "key_alias",
        EncodedArguments => "encoded_arguments",
        UnbalancedBrackets => "unbalanced_brackets",
        StrayTag => "stray_tag",
        Markup => "markup",
        BareText => "bare_text",
        BareName => "bare_name",
        UnclosedTag => "unclosed_tag",
        TagStyle => "tag_style",
        MissingWrapper => "missing_wrapper",
        RelaxedYaml => "relaxed_yaml",
        VerbatimText => "verbatim_text",
    }
}

/// Why a call was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    UnknownTool,
    MalformedCall,
    UnterminatedValue,
    IncompleteCall,
    InvalidJson,
    DuplicateArgument,
    InvalidArguments,
    ForgedResult,
    TooLarge,
    TooDeep,
    TooManyCalls,
    /// Strict mode found what the lenient reader would have repaired.
    Strict(Repair),
}

impl ErrorKind {
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

named! {
    /// What is wrong with arguments that were accepted.
    pub enum ProblemKind {
        WrongType => "wrong_type",
        NotInEnum => "not_in_enum",
        MissingRequired => "missing_required",
        UnknownField => "unknown_field",
        /// Found by the full validation only.
        Schema => "schema",
    }
}

/// One thing that is wrong with arguments that were accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    /// The path, written like a key: `profile.address.city`, `items[0].sku`; empty for all arguments.
    pub field: String,
    /// A sentence for the model.
    pub message: String,
}

/// A tool definition that cannot be used: a mistake of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    pub tool: String,
    /// A JSON pointer into the tool's schema, if the error is in the schema.
    pub pointer: Option<String>,
    pub message: String,
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pointer {
            Some(pointer) => write!(f, "tool {:?}, at {pointer:?}: {}", self.tool, self.message),
            None => write!(f, "tool {:?}: {}", self.tool, self.message),
        }
    }
}

impl std::error::Error for ToolError {}

/// Arguments that cannot be written: a mistake of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError(pub String);

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EncodeError {}

/// What is wrong with a JSON, YAML or XML text, and where. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub message: Cow<'static, str>,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}, column {})", self.message, self.line, self.column)
    }
}

impl std::error::Error for SyntaxError {}
