//! Whether a value may fit two alternatives of a type that allows only one (`oneOf`).

use std::collections::{HashMap, HashSet};

use super::{Choice, NodeId, Schema, Variant, Variants};

/// Alternatives that are compared in pairs.
const COMPARED: usize = 32;

impl Variants {
    /// Whether a value may fit two alternatives of a type that allows only one, as far as can be seen: by kind, by literals, and
    /// by required members that have other literals in each.
    pub(crate) fn overlap(&self, id: NodeId) -> bool {
        let all = self.of(id).unwrap_or_default();
        if !all.iter().any(|variant| variant.demands.one_of) {
            return false;
        }
        let traits: Vec<Traits<'_>> =
            all.iter().take(COMPARED + 1).map(|variant| Traits::of(variant, &self.schema)).collect();
        traits.len() > COMPARED
            || traits.iter().enumerate().any(|(at, one)| traits[at + 1..].iter().any(|other| one.meets(other)))
    }
}

/// What tells an alternative from others.
struct Traits<'a> {
    variant: &'a Variant,
    /// As digests, which are the same for equal values.
    literals: HashSet<u64>,
    /// The literals of each required member that allows only literals.
    members: HashMap<&'a str, HashSet<u64>>,
}

impl<'a> Traits<'a> {
    fn of(variant: &'a Variant, schema: &'a Schema) -> Self {
        let mut members = HashMap::new();
        if let Some(object) = &variant.object {
            for name in &object.required {
                let member = object.properties.get(name).map(|id| &schema.node(*id).choices);
                let literals = member.and_then(|choices| choices.iter().map(literal).collect::<Option<HashSet<_>>>());
                members.extend(literals.filter(|all| !all.is_empty()).map(|all| (name.as_str(), all)));
            }
        }
        Traits { variant, literals: variant.choices.iter().filter_map(literal).collect(), members }
    }

    fn meets(&self, other: &Traits<'_>) -> bool {
        let (one, two) = (self.variant, other.variant);
        let among = |kinds: &[Choice], kind: &Choice| kinds.iter().any(|other| is_same_kind(kind, other));
        let both =
            |kind: &Choice| among(&two.kinds, kind) && !(*kind == Choice::Object && self.has_other_member(other));
        !self.literals.is_disjoint(&other.literals)
            || one.kinds.iter().any(|kind| among(&two.literal_kinds, kind) || both(kind))
            || one.literal_kinds.iter().any(|kind| among(&two.kinds, kind))
    }

    /// Whether both require a member that has other literals in each.
    fn has_other_member(&self, other: &Traits<'_>) -> bool {
        self.members.iter().any(|(name, all)| other.members.get(name).is_some_and(|others| all.is_disjoint(others)))
    }
}

/// Whole numbers are numbers.
fn is_same_kind(one: &Choice, other: &Choice) -> bool {
    one == other || [one, other].into_iter().all(|kind| matches!(kind, Choice::Integer | Choice::Number))
}

fn literal(choice: &Choice) -> Option<u64> {
    if let Choice::Literal(literal) = choice { Some(literal.digest) } else { None }
}
