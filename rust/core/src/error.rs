//! Kinds of errors, repairs and problems, with the stable names that hosts match on.

use std::fmt;

/// A near miss that the lenient reader reads anyway; in strict mode an error of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repair {
    JsonWrapper,
    RelaxedJson,
    SpacedEquals,
    EmptyValue,
    CommaSeparator,
    TrailingCharacters,
    UnquotedSpaces,
    InnerQuotes,
    MissingClose,
    KeyStyle,
    ToolStyle,
    CallStyle,
    ColonSeparator,
    QuoteStyle,
    Coerced,
    OtherFormat,
    KeyNumber,
    ListWrapper,
    ValueWrapper,
    EnumQuotes,
    KeyAlias,
    EncodedArguments,
    UnbalancedBrackets,
    StrayTag,
    Markup,
    BareText,
    BareName,
    UnclosedTag,
    TagStyle,
    MissingWrapper,
    RelaxedYaml,
    VerbatimText,
}

impl Repair {
    pub fn as_str(self) -> &'static str {
        match self {
            Repair::JsonWrapper => "json_wrapper",
            Repair::RelaxedJson => "relaxed_json",
            Repair::SpacedEquals => "spaced_equals",
            Repair::EmptyValue => "empty_value",
            Repair::CommaSeparator => "comma_separator",
            Repair::TrailingCharacters => "trailing_characters",
            Repair::UnquotedSpaces => "unquoted_spaces",
            Repair::InnerQuotes => "inner_quotes",
            Repair::MissingClose => "missing_close",
            Repair::KeyStyle => "key_style",
            Repair::ToolStyle => "tool_style",
            Repair::CallStyle => "call_style",
            Repair::ColonSeparator => "colon_separator",
            Repair::QuoteStyle => "quote_style",
            Repair::Coerced => "coerced",
            Repair::OtherFormat => "other_format",
            Repair::KeyNumber => "key_number",
            Repair::ListWrapper => "list_wrapper",
            Repair::ValueWrapper => "value_wrapper",
            Repair::EnumQuotes => "enum_quotes",
            Repair::KeyAlias => "key_alias",
            Repair::EncodedArguments => "encoded_arguments",
            Repair::UnbalancedBrackets => "unbalanced_brackets",
            Repair::StrayTag => "stray_tag",
            Repair::Markup => "markup",
            Repair::BareText => "bare_text",
            Repair::BareName => "bare_name",
            Repair::UnclosedTag => "unclosed_tag",
            Repair::TagStyle => "tag_style",
            Repair::MissingWrapper => "missing_wrapper",
            Repair::RelaxedYaml => "relaxed_yaml",
            Repair::VerbatimText => "verbatim_text",
        }
    }
}

/// Why a call could not be handed over.
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
    /// Strict mode met something that the lenient reader would have repaired.
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

/// What is wrong with arguments that were read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    WrongType,
    NotInEnum,
    MissingRequired,
    UnknownField,
    /// Found by the full validation only.
    Schema,
}

impl ProblemKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ProblemKind::WrongType => "wrong_type",
            ProblemKind::NotInEnum => "not_in_enum",
            ProblemKind::MissingRequired => "missing_required",
            ProblemKind::UnknownField => "unknown_field",
            ProblemKind::Schema => "schema",
        }
    }
}

/// One thing wrong with arguments that were handed over all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    /// Where, as a key would be written: `profile.address.city`, `items[0].sku`; empty for the whole.
    pub field: String,
    /// A sentence for the model.
    pub message: String,
}

/// A tool definition that cannot be used; the caller's mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    pub tool: String,
    /// JSON pointer into the tool's schema, where the fault lies there.
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

/// Arguments that cannot be written; the caller's mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError(pub String);

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EncodeError {}
