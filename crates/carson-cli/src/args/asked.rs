//! What is asked of people, and what they are told: the verbs of plans and of the chat.

use clap::Subcommand;

use super::RepoArg;

/// `carson reject`, `carson plans` and their like.
#[derive(Debug, Subcommand)]
pub enum Asked {
    /// Reject the plan that waits on an issue: nothing of it is filed.
    Reject {
        /// The issue's number.
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        issue: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// List what waits for a yes or a no, with its text and what names it.
    Plans,
    /// Say whether the fleet itself is well, and which alerts there were.
    Health,
    /// Say what was merged, and what is ready to be.
    Shipped {
        /// Since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
        #[arg(long, default_value = carson_operator::shipped::SINCE)]
        since: String,
    },
    /// Tell the chat nothing but alerts for a while.
    Quiet {
        /// For how long (2h), a week at most.
        r#for: String,
        /// Only there (`slack`).
        #[arg(long)]
        sink: Option<String>,
    },
    /// Say that an alert was seen: the same is not told again for a day.
    Ack {
        /// Its id, as `carson health` lists it.
        alert: String,
    },
    /// Listen to somebody in the chat.
    Trust {
        /// Their id there (U012ABC34).
        id: String,
    },
    /// Listen to somebody in the chat no more.
    Untrust {
        /// Their id there.
        id: String,
    },
}
