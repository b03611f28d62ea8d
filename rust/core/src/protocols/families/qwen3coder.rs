//! Calls as Qwen3-Coder writes them: a function with its parameters, each as raw text in a tag.

use crate::protocols::frames::flat::{Family, FamilyBody};
use crate::protocols::protocol::ResultForm;
use crate::syntax::tags::QWEN3CODER as TAGS;

pub static QWEN3CODER: Family = Family {
    name: "qwen3coder",
    aliases: &[],
    open: TAGS.block_open,
    close: TAGS.block_close,
    fixed: Some("the tags of qwen3coder are fixed, so it has no delimiters"),
    body: FamilyBody::Params(&TAGS),
    results: ResultForm::Attributes,
};
