//! Formats as values: the built-in ones, and those that an application describes.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::description::{self, Described};
use super::registry::{NativeFormat, built_in};
use crate::error::ToolError;
use crate::syntax::json::{Value, parse, write_object};

/// The most bytes of a description.
const DESCRIPTION_BYTES: usize = 1 << 14;

/// The most bytes of all different descriptions in a process. What is made from one is kept as long as the process runs.
const ALL_BYTES: usize = 1 << 24;

/// Levels of nesting in a description.
const DEPTH: usize = 8;

/// How calls and messages are written and read: a built-in format, or one that is described by templates.
///
/// ```
/// use wirecall_core::Format;
///
/// let acme = Format::new(r#"{"name": "acme", "call": "<do>{name} {arguments}</do>"}"#)?;
/// assert_eq!(acme.name(), "acme");
/// assert!(acme.to_json().contains("<do>{name} {arguments}</do>"));
/// let mut options = wirecall_core::Options::default();
/// options.format = Some(acme);
/// # Ok::<(), wirecall_core::ToolError>(())
/// ```
#[derive(Clone)]
pub struct Format {
    made: Arc<Made>,
}

struct Made {
    described: Described,
    json: String,
}

/// The formats that were made, and why others were not, by their descriptions and names.
#[derive(Default)]
struct MadeFormats {
    formats: HashMap<String, Result<Format, String>>,
    bytes: usize,
}

fn known() -> &'static Mutex<MadeFormats> {
    static KNOWN: OnceLock<Mutex<MadeFormats>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default)
}

impl Format {
    /// From a description in JSON, not yet tried: see [`Format::new`].
    pub(crate) fn described_by(description: &str) -> Result<Format, ToolError> {
        let error = |why: String| ToolError::new(format!("format: {why}"));
        let bytes = description.len();
        if bytes > DESCRIPTION_BYTES {
            return Err(error(format!("the description has {bytes} bytes; at most {DESCRIPTION_BYTES} are read")));
        }
        Self::once(description, bytes, || {
            let read =
                parse(description, DEPTH).map_err(|error| format!("the description is not valid JSON: {error}"))?;
            let Value::Object(members) = read else { return Err("the description must be a table".into()) };
            description::read(members, &built_in)
        })
        .map_err(error)
    }

    /// A built-in format, by its name or an alias.
    ///
    /// # Errors
    ///
    /// There is none of this name. The message has names near it.
    pub fn built_in(name: &str) -> Result<Format, ToolError> {
        let row = built_in(name).map_err(ToolError::new)?;
        Self::once(row.described.name, 0, || Ok(row.described.clone())).map_err(ToolError::new)
    }

    fn once(key: &str, bytes: usize, make: impl FnOnce() -> Result<Described, String>) -> Result<Format, String> {
        let mut known = known().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = known.formats.get(key) {
            return made.clone();
        }
        // Failed descriptions count, because their texts are leaked, too.
        known.bytes += bytes;
        if known.bytes > ALL_BYTES {
            known.bytes -= bytes;
            return Err(format!("different descriptions have more than {ALL_BYTES} bytes in this process"));
        }
        let made = make().and_then(|described| {
            let mut json = String::new();
            write_object(&description::write(&described, &built_in)?, &mut json);
            Ok(Format { made: Arc::new(Made { described, json }) })
        });
        known.formats.insert(key.to_owned(), made.clone());
        made
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.made.described.name
    }

    /// The whole description in JSON, from which [`Format::new`] makes the same format.
    pub fn to_json(&self) -> &str {
        &self.made.json
    }

    /// The public facts about it; `None` unless it is native.
    pub fn native(&self) -> Option<NativeFormat> {
        NativeFormat::of(self.made.described.name, &*self.made.described.protocol)
    }

    /// All data of the format, for the tests that compare two. Not part of the API.
    #[doc(hidden)]
    pub fn data(&self) -> String {
        let Described { protocol, spellings, .. } = &self.made.described;
        format!("{protocol:?} {spellings:?}")
    }

    pub(crate) fn described(&self) -> &Described {
        &self.made.described
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.made.json)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.made.json == other.made.json
    }
}
