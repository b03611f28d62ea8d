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
#[derive(Default)]
struct Traits<'a> {
    kinds: Vec<Choice>,
    literals: HashSet<&'a str>,
    literal_kinds: Vec<Choice>,
    /// The literals of each required member that allows only literals.
    members: HashMap<&'a str, HashSet<&'a str>>,
}

impl<'a> Traits<'a> {
    fn of(variant: &'a Variant, schema: &'a Schema) -> Self {
        let mut traits = Traits::default();
        for choice in &variant.choices {
            let kinds = if literal(choice).is_some() { &mut traits.literal_kinds } else { &mut traits.kinds };
            // Whole numbers are numbers.
            let kind = if *choice == Choice::Integer { Choice::Number } else { choice.kind() };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
            traits.literals.extend(literal(choice));
        }
        if let Some(object) = &variant.object {
            for name in &object.required {
                let member = object.properties.get(name).map(|id| &schema.node(*id).choices);
                let literals = member.and_then(|choices| choices.iter().map(literal).collect::<Option<HashSet<_>>>());
                traits.members.extend(literals.filter(|all| !all.is_empty()).map(|all| (name.as_str(), all)));
            }
        }
        traits
    }

    fn meets(&self, other: &Traits<'_>) -> bool {
        let both =
            |kind: &Choice| other.kinds.contains(kind) && !(*kind == Choice::Object && self.has_other_member(other));
        !self.literals.is_disjoint(&other.literals)
            || self.kinds.iter().any(|kind| other.literal_kinds.contains(kind) || both(kind))
            || self.literal_kinds.iter().any(|kind| other.kinds.contains(kind))
    }

    /// Whether both require a member that has other literals in each.
    fn has_other_member(&self, other: &Traits<'_>) -> bool {
        self.members.iter().any(|(name, all)| other.members.get(name).is_some_and(|others| all.is_disjoint(others)))
    }
}

fn literal(choice: &Choice) -> Option<&str> {
    if let Choice::Literal(literal) = choice { Some(&literal.json) } else { None }
}
