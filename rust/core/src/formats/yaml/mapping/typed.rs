//! Plain scalars by the core schema, where the tool's schema leaves it the choice.

use crate::arguments::coercion;
use crate::schema::{Choice, NodeId, Schema, UNKNOWN};
use crate::syntax::tree::UntypedValue;
use crate::syntax::yaml::json_of;

/// Plain scalars as the core schema has them, where their type takes no such text. Recursion is bounded by the tree's depth.
pub(super) fn resolve(schema: &Schema, id: NodeId, tree: &mut UntypedValue) {
    match tree {
        UntypedValue::Scalar { text, quoted: false } => {
            let Some(json) = json_of(text).filter(|json| json != text) else { return };
            let node = schema.node(id);
            let string = |choice: &Choice| coercion::is_string(choice, text);
            if node.is_unknown() || coercion::takes_bare(node, &json) || !node.choices.iter().any(string) {
                *text = json.into_owned();
            }
        }
        UntypedValue::Scalar { .. } => {}
        UntypedValue::List(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                resolve(schema, schema.item(id, at), item);
            }
        }
        UntypedValue::Map(members) => {
            for (key, member) in members {
                resolve(schema, schema.member(id, key).unwrap_or(UNKNOWN), member);
            }
        }
    }
}
