//! Values as a protocol reads them, before they are typed.

/// A value that is not typed yet. Callers must limit the depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UntypedValue {
    /// `quoted`: it is certainly a string. Other text may be JSON, if its type allows that.
    Scalar {
        text: String,
        quoted: bool,
    },
    List(Vec<UntypedValue>),
    /// Keys may be repeated.
    Map(Vec<(String, UntypedValue)>),
}
