//! What can be typed after `carson memory`.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, Subcommand};

/// What to do with what the fleet remembers.
#[derive(Debug, Subcommand)]
pub enum Memory {
    /// List lessons and candidates, the newest first.
    List {
        /// Only in this state: candidate, held, promoted, rejected or reverted.
        #[arg(long)]
        state: Option<String>,
        /// Only from there: operator, session, harvest, review, mcp, import or alfred.
        #[arg(long)]
        source: Option<String>,
        /// As it was known then: a time, a day, or how long ago.
        #[arg(long, value_name = "WHEN")]
        known_at: Option<String>,
        /// Only of this scope: fleet, repo:NAME, path:GLOB or role:NAME.
        #[arg(long)]
        scope: Option<String>,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Show one lesson whole.
    Show {
        /// The lesson: its id, or any part of it that no other has.
        id: String,
    },
    /// Find what the fleet knows of a task.
    Recall(Recall),
    /// Propose a lesson; nobody is told it before it is promoted.
    Propose(Propose),
    /// Promote a candidate: sessions are told it from now on.
    Promote {
        /// The candidate: its id, or any part of it that no other has.
        id: String,
        /// How much it is believed, from 0 to 1, 0.8 without it; from 0.75 on it is an instruction.
        #[arg(long, value_name = "SHARE")]
        confidence: Option<f64>,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Hold a lesson: nobody is told it until you decide.
    Hold {
        /// The lesson: its id, or any part of it that no other has.
        id: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
        /// It will not be believed.
        #[arg(long)]
        reject: bool,
    },
    /// Take lessons back, and see who was told them; with --undo they are believed again.
    Revert(Revert),
    /// Show a lesson's whole chain, from its evidence to the prompts that had it.
    Audit {
        /// The lesson: its id, or any part of it that no other has.
        id: String,
    },
    /// Bring lessons from a file of Carson's or of Alfred's.
    #[command(group = ArgGroup::new("imported").args(["file", "alfred"]).required(true))]
    Import {
        /// Lines as `carson memory export` writes them.
        file: Option<PathBuf>,
        /// What `alfred brain export` wrote, lines of JSON, or a directory of such files: what nobody refused there becomes a candidate.
        #[arg(long, value_name = "FILE|DIR")]
        alfred: Option<PathBuf>,
    },
    /// Print every lesson with its history, a line of JSON each.
    Export,
    /// Run the gate once: rules, evidence and judge over every candidate.
    Gate {
        /// Change nothing, and ask no judge.
        #[arg(long)]
        dry_run: bool,
    },
    /// Make the vectors of lessons that have none; it goes on where it stopped.
    Reindex {
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 100_000)]
        most: u64,
    },
    /// Compare firings that were told lessons with those that were told none on purpose.
    Lift {
        /// Firings since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day; of ninety days without it.
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
    },
}

/// What is looked for.
#[derive(Debug, ClapArgs)]
pub struct Recall {
    /// Words, or a whole task.
    pub query: String,
    /// At most so many; as the settings say without it.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Only what holds in this repository.
    #[arg(long)]
    pub repo: Option<String>,
    /// Only what holds for this role.
    #[arg(long)]
    pub role: Option<String>,
    /// What was so in the world then.
    #[arg(long, value_name = "WHEN")]
    pub as_of: Option<String>,
    /// By what was known then.
    #[arg(long, value_name = "WHEN")]
    pub known_at: Option<String>,
    /// Also what was found and is not told, and why.
    #[arg(long)]
    pub explain: bool,
}

/// What is proposed.
#[derive(Debug, ClapArgs)]
pub struct Propose {
    /// One claim, in at most 600 characters.
    pub text: String,
    /// Where it holds: fleet, repo:NAME, path:GLOB or role:NAME.
    #[arg(long)]
    pub scope: String,
    /// What it rests on: file:PATH@COMMIT:FIRST-LAST, pr:N, issue:N, firing:ID or note:TEXT; several times.
    #[arg(long, required = true)]
    pub evidence: Vec<String>,
    /// How much it matters: info, warning or blocker.
    #[arg(long)]
    pub severity: Option<String>,
    /// What it is: fact, pitfall, convention or procedure.
    #[arg(long)]
    pub kind: Option<String>,
    /// How sure you are, from 0 to 1.
    #[arg(long, value_name = "SHARE")]
    pub confidence: Option<f64>,
    /// The repository in which its evidence is found, where the scope does not say it.
    #[arg(long)]
    pub repo: Option<String>,
    /// Since when it is so.
    #[arg(long, value_name = "WHEN")]
    pub valid_from: Option<String>,
    /// Until when it was so.
    #[arg(long, value_name = "WHEN")]
    pub valid_to: Option<String>,
}

/// What is taken back.
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("reverted").args(["id", "since", "firing", "source"]).required(true).multiple(true))]
pub struct Revert {
    /// One lesson: its id, or any part of it that no other has.
    #[arg(value_name = "ID", conflicts_with_all = ["since", "firing", "source"])]
    pub id: Option<String>,
    /// All that was promoted since then: a time, a day, or how long ago.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// All that sessions of this firing proposed: what is believed is taken back, what waits is rejected.
    #[arg(long)]
    pub firing: Option<String>,
    /// The same of all that came from there: session, harvest, alfred, …
    #[arg(long)]
    pub source: Option<String>,
    /// Take reversals back: what was reverted is believed again.
    #[arg(long)]
    pub undo: bool,
    /// Why.
    #[arg(long)]
    pub reason: Option<String>,
}
