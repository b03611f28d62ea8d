//! Sequences in which parts may be missing: members of an object, and the items of a tuple.
//!
//! They are divided into halves. A chain of rules, one for each part, is as deep as it is long, and decoders follow rules
//! recursively: llguidance 1.9.1 runs out of stack in one of 3,000.

use std::ops::Range;

use super::rules::{Expr, GrammarRules};
use crate::error::ToolError;

/// Members in their order, of which some are required, with something between them; at least one, unless there may be none. Optional ones that
/// nothing fits are left out.
pub(crate) fn in_order(
    rules: &mut GrammarRules,
    key: &str,
    between: &str,
    mut members: Vec<(Expr, bool)>,
    may_be_empty: bool,
) -> Result<Expr, ToolError> {
    members.retain(|(member, required)| *required || !member.is_never());
    if may_be_empty && between.is_empty() {
        return Ok(Expr::seq(members.into_iter().map(|(member, required)| unless(required, member))));
    }
    if members.is_empty() {
        return Ok(if may_be_empty { Expr::EMPTY } else { Expr::NEVER });
    }
    let Members { begun, required, .. } = Members::of(rules, key, between, &members, 0)?;
    Ok(if may_be_empty { unless(required, begun) } else { begun })
}

/// Optional unless it is required.
fn unless(required: bool, expr: Expr) -> Expr {
    if required { expr } else { expr.optional() }
}

/// Some members that follow each other.
struct Members {
    /// At least one of them, where none is before them.
    begun: Expr,
    /// All that may follow another member.
    next: Expr,
    required: bool,
}

impl Members {
    /// `at`: the position of the first.
    fn of(
        rules: &mut GrammarRules,
        key: &str,
        between: &str,
        members: &[(Expr, bool)],
        at: usize,
    ) -> Result<Members, ToolError> {
        if let [(member, required)] = members {
            let next = unless(*required, Expr::seq([Expr::text(between), member.clone()]));
            return Ok(Members { begun: member.clone(), next, required: *required });
        }
        let middle = members.len() / 2;
        let (left, right) = members.split_at(middle);
        let left = Members::of(rules, key, between, left, at)?;
        let right = Members::of(rules, key, between, right, at + middle)?;
        let after = shared(rules, key, at + middle..at + members.len(), right.next)?;
        let begun = Expr::seq([left.begun, after.clone()]);
        Ok(Members {
            begun: if left.required { begun } else { Expr::choice([begun, right.begun]) },
            next: Expr::seq([left.next, after]),
            required: left.required || right.required,
        })
    }
}

/// Items that follow each other.
pub(super) struct Items {
    pub all: Expr,
    /// The first of them, or none, but not all.
    pub some: Expr,
}

impl Items {
    /// `at`: the position of the first.
    pub(super) fn of(rules: &mut GrammarRules, key: &str, parts: &[Expr], at: usize) -> Result<Items, ToolError> {
        match parts {
            [] => return Ok(Items { all: Expr::EMPTY, some: Expr::NEVER }),
            [part] => return Ok(Items { all: part.clone(), some: Expr::EMPTY }),
            _ => {}
        }
        let (left, right) = parts.split_at(parts.len() / 2);
        let middle = at + left.len();
        let (left, right) = (Items::of(rules, key, left, at)?, Items::of(rules, key, right, middle)?);
        let before = shared(rules, key, at..middle, left.all)?;
        Ok(Items {
            some: Expr::choice([left.some, Expr::seq([before.clone(), right.some])]),
            all: Expr::seq([before, right.all]),
        })
    }
}

/// What several of these parts are used for, twice, becomes a rule.
fn shared(rules: &mut GrammarRules, key: &str, parts: Range<usize>, expr: Expr) -> Result<Expr, ToolError> {
    if parts.len() == 1 { Ok(expr) } else { rules.named(&format!("{key} from {} to {}", parts.start, parts.end), expr) }
}
