//! The list.

use crate::verb::Verb;
use crate::{
    backup, block, breaker, cost, fire, firings, issue_edits, issues, logs, pause, prune,
    pull_ends, pulls, retry, roles, show, status, stop, why, workspaces,
};

/// Every verb there is.
pub const VERBS: &[Verb] = &[
    Verb::of::<status::Status>(),
    Verb::of::<why::Why>(),
    Verb::of::<roles::List>(),
    Verb::of::<roles::Show>(),
    Verb::of::<firings::List>(),
    Verb::of::<firings::Show>(),
    Verb::of::<show::Show>(),
    Verb::of::<logs::Logs>(),
    Verb::of::<cost::Cost>(),
    Verb::of::<issues::Create>(),
    Verb::of::<issues::List>(),
    Verb::of::<issues::Show>(),
    Verb::of::<issue_edits::Close>(),
    Verb::of::<issue_edits::Reopen>(),
    Verb::of::<issue_edits::Label>(),
    Verb::of::<issue_edits::Edit>(),
    Verb::of::<pulls::List>(),
    Verb::of::<pulls::Show>(),
    Verb::of::<pull_ends::Diff>(),
    Verb::of::<pull_ends::Merge>(),
    Verb::of::<pull_ends::Close>(),
    Verb::of::<fire::Fire>(),
    Verb::of::<fire::DryRun>(),
    Verb::of::<stop::Stop>(),
    Verb::of::<retry::Retry>(),
    Verb::of::<pause::Pause>(),
    Verb::of::<pause::Resume>(),
    Verb::of::<block::List>(),
    Verb::of::<block::Set>(),
    Verb::of::<block::Clear>(),
    Verb::of::<breaker::List>(),
    Verb::of::<breaker::Reset>(),
    Verb::of::<prune::Prune>(),
    Verb::of::<prune::Discard>(),
    Verb::of::<workspaces::List>(),
    Verb::of::<workspaces::Prune>(),
    Verb::of::<backup::List>(),
    Verb::of::<backup::Make>(),
];
