//! `git` command lines and repositories.
//!
//! [`GitLine`] reads a command line: global options, subcommand, arguments. [`Repository`] reads the
//! little of a repository on the disk that decides where a bare `git push` goes. The functions here
//! join both with what the command line itself changed ([`World`]).

mod line;
mod repository;

pub use line::{GitLine, is_builtin};
pub use repository::Repository;

use crate::context::Context;
use crate::marks::{self, ANY};
use crate::path::{self, Place};
use crate::walk::{State, World};

/// The top of the work tree that contains `dir`.
pub fn top_level(dir: &str, ctx: &Context) -> String {
    let in_worktree = matches!(
        path::place(dir, ctx),
        Place::Root | Place::Inside | Place::Git
    );
    match Repository::find(dir, ctx) {
        Some(repository) => repository.root,
        None if in_worktree => ctx.worktree.clone(),
        None => dir.to_owned(),
    }
}

/// The branches that may be checked out where the command runs; unknown is a mark.
pub fn current_branches(
    line: &GitLine,
    world: &World,
    state: &State,
    ctx: &Context,
) -> Vec<String> {
    line.directories(state)
        .iter()
        .map(|dir| branch_in(dir, world, ctx))
        .collect()
}

fn branch_in(dir: &str, world: &World, ctx: &Context) -> String {
    if !dir.starts_with('/') {
        return marks::only(ANY);
    }
    let top = top_level(dir, ctx);
    // The deepest: a worktree of its own may lie in this one.
    let holds = |root: &str| {
        let below = dir.strip_prefix(root);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            && root.len() >= top.len()
    };
    let known = world.branches.iter().filter(|(root, _)| holds(root));
    if let Some((_, branch)) = known.max_by_key(|(root, _)| root.len()) {
        return branch.clone();
    }
    if let Some(repository) = Repository::find(dir, ctx) {
        return repository.branch.unwrap_or_default();
    }
    if top == ctx.worktree && !ctx.branch.is_empty() {
        ctx.branch.clone()
    } else {
        marks::only(ANY)
    }
}
