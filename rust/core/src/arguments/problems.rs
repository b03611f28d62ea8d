//! The problems of a call, with their sentences.

use super::context::{Context, MAX_PROBLEMS, Report};
use super::{ArgumentsBuilder, messages};
use crate::error::{Problem, ProblemKind};
use crate::schema::NodeId;

impl Report {
    /// Lists a value that its type cannot take.
    #[cold]
    pub(crate) fn violation(
        &mut self,
        cx: &Context<'_>,
        id: NodeId,
        kind: ProblemKind,
        path: impl FnOnce() -> String,
        value: &str,
    ) {
        if self.is_full() {
            return;
        }
        let field = path();
        let message = messages::violation(cx, id, kind, &field, value);
        self.problem(kind, field, message);
    }

    /// Reports the fields that an object of type `id` requires and does not have.
    pub(crate) fn missing(
        &mut self,
        cx: &Context<'_>,
        id: NodeId,
        path: &dyn Fn() -> String,
        has: impl Fn(&ArgumentsBuilder, &str) -> bool,
    ) {
        let room = MAX_PROBLEMS - self.problems.len();
        for problem in missing(cx, id, path, room, |name| has(&self.args, name)) {
            self.problem(problem.kind, problem.field, problem.message);
        }
    }
}

/// The first few fields that an object of type `id` requires and does not have.
pub(crate) fn missing(
    cx: &Context<'_>,
    id: NodeId,
    path: &dyn Fn() -> String,
    room: usize,
    has: impl Fn(&str) -> bool,
) -> Vec<Problem> {
    let required = cx.schema.node(id).object.iter().flat_map(|object| &object.required);
    let problem = |name: &String| {
        let field = messages::join(&path(), name);
        Problem { kind: ProblemKind::MissingRequired, message: messages::missing(cx, id, &field, name), field }
    };
    required.filter(|name| !has(name)).take(room).map(problem).collect()
}
