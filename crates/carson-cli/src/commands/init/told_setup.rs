//! What `carson init` says of the setup that it found, and of all that it did not take over.

use std::path::Path;

use carson_core::untrusted::one_line;

use super::asked_setup::Agreed;
use super::written::{self, LEFT_OUT};
use crate::commands::proposed_setup::Proposal;
use crate::print;

/// What was found, and what holds of it.
pub fn tell(proposal: &Proposal, agreed: Agreed) {
    if !proposal.setup.is_empty() {
        let (lines, by) = (proposal.shown(), &proposal.by);
        print::line(&match agreed.setup {
            true => format!(
                "setup: {lines} makes workspaces ready to work in (by {by}); it stands in the settings"
            ),
            false => format!(
                "setup: {lines} would make workspaces ready to work in (by {by}); the settings have it behind a #"
            ),
        });
    }
    for left in &proposal.left_out {
        let left = one_line(left, LEFT_OUT);
        print::line(&format!("setup: left out, {left}"));
    }
    for rest in &proposal.not_taken {
        let rest = one_line(rest, LEFT_OUT);
        print::line(&format!("setup: not taken over: {rest}"));
    }
    for unread in &proposal.unread {
        let unread = one_line(unread, LEFT_OUT);
        print::alarm(&format!(
            "setup: nothing is proposed from what cannot be read: {unread}"
        ));
    }
    if !proposal.toolchains.is_empty() {
        let names = written::toolchains(&proposal.toolchains);
        print::line(&format!(
            "toolchains: {names} would give sessions what the repository's own files for it name; the settings have it \
             behind a #"
        ));
    }
    tell_include(proposal, agreed);
}

fn tell_include(proposal: &Proposal, agreed: Agreed) {
    if !proposal.include.is_empty() {
        let files = proposal.include.join(", ");
        print::line(&match agreed.include {
            true => format!("include: {files} is in every workspace; it stands in the settings"),
            false => format!(
                "include: {files} would be in every workspace; the settings have it behind a #"
            ),
        });
    }
    if !proposal.no_files.is_empty() {
        print::line(&format!(
            "include: .worktreeinclude names besides what is no file here: {}; include takes files, each by its name",
            proposal.no_files.join(", ")
        ));
    }
}

/// What is left to do with it.
pub fn tell_next(proposal: &Proposal, agreed: Agreed, settings: &Path) {
    let left = [
        (
            !proposal.setup.is_empty() && !agreed.setup,
            "`setup`, where the check needs what that installs",
        ),
        (
            !proposal.include.is_empty() && !agreed.include,
            "`include`, where the check needs these files",
        ),
    ];
    for (_, what) in left.iter().filter(|(is_left, _)| *is_left) {
        print::line(&format!(
            "  edit {}: take the # off {what}",
            settings.display()
        ));
    }
}
