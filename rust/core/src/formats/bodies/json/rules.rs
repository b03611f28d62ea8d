//! What is special in a native format whose calls are JSON: data of its row.

/// What is special in native formats, in which the JSON ends with its last bracket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonRules {
    pub name: NameKey,
    /// The keys of the arguments.
    pub arguments: &'static [&'static str],
    /// The key of the id, which is ignored.
    pub id: &'static str,
    /// The JSON may be an answer: it is a call once its name and the opening bracket of its arguments are read. Until then, anything
    /// else is text.
    pub may_be_text: bool,
    /// What may follow the last bracket, after whitespace, and belongs to the call. Before it there may be more objects.
    pub close: &'static [&'static str],
}

/// Where the tool's name is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NameKey {
    /// Under this key.
    Under(&'static str),
    /// It is itself the key of the arguments.
    NameIsKey,
    /// In the opening: the object is the arguments, with this around it.
    Opening(Ends),
}

/// What surrounds the object of a call whose name is in its opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    /// What may open and close a fence around it, or empty.
    pub fence: &'static str,
    /// What closes the call. If it is empty, the object's last bracket does.
    pub close: &'static str,
    /// What ends a call that is not closed, without being part of it.
    pub implicit_closers: &'static [&'static str],
}

impl JsonRules {
    /// `{"name": …, "arguments": {…}}`, or a list of them, and nothing that closes it.
    pub(crate) const USUAL: JsonRules =
        JsonRules { name: NameKey::Under("name"), arguments: &["arguments"], id: "id", may_be_text: false, close: &[] };

    /// What surrounds the object, if the name is in the opening.
    pub(super) fn ends(&self) -> Option<Ends> {
        match self.name {
            NameKey::Opening(ends) => Some(ends),
            NameKey::Under(_) | NameKey::NameIsKey => None,
        }
    }
}
