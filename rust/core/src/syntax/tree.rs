//! A value as a protocol has read it, before it is typed.

/// Whoever makes one bounds its depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UntypedValue {
    /// `quoted`: certainly a string. Other text may be the JSON of something, where its type allows it.
    Scalar {
        text: String,
        quoted: bool,
    },
    List(Vec<UntypedValue>),
    /// A key may be repeated.
    Map(Vec<(String, UntypedValue)>),
}
