//! Cases by theme rather than by rule: each blocked one with the rule that refuses it.

mod hosts;
mod lists;
mod options;
mod pipes;
mod pushes;
mod spellings;
mod state;

/// Identifier of the rule and the command it refuses.
pub type Refused = (&'static str, &'static str);

/// Cases to block and cases to allow.
pub const THEMES: &[(&[Refused], &[&str])] = &[
    (pushes::BLOCK, pushes::ALLOW),
    (options::BLOCK, options::ALLOW),
    (pipes::BLOCK, pipes::ALLOW),
    (hosts::BLOCK, hosts::ALLOW),
    (lists::BLOCK, lists::ALLOW),
    (spellings::BLOCK, spellings::ALLOW),
    (state::BLOCK, state::ALLOW),
];
