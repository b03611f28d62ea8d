//! Calls as Qwen3-Coder writes them: a function with its parameters, each as raw text in a tag.

use crate::protocols::frames::params::ParamsFamily;
use crate::syntax::tags::QWEN3CODER as TAGS;

pub(crate) const QWEN3CODER: ParamsFamily =
    ParamsFamily { row: &TAGS, fixed: "the tags of qwen3coder are fixed, so it has no delimiters" };
