//! `carson issue`, `carson labels`, `carson pr`

use clap::Subcommand;

use super::RepoArg;

/// `carson issue`
#[derive(Debug, Subcommand)]
pub enum IssueAction {
    /// Make an issue that a role may take up.
    Create {
        /// Its title.
        #[arg(required_unless_present = "title_option")]
        title: Option<String>,
        /// Its title, as `gh` takes it.
        #[arg(short, long = "title", value_name = "TITLE", conflicts_with = "title")]
        title_option: Option<String>,
        /// Its text.
        #[arg(short, long, default_value = "", allow_hyphen_values = true)]
        body: String,
        /// Its labels; without any it gets the one of the role that makes changes there.
        #[arg(short, long = "label", value_delimiter = ',')]
        labels: Vec<String>,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// List open issues.
    List {
        /// Only with this label.
        #[arg(long)]
        label: Option<String>,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Show one issue with its comments.
    Show {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Close an issue.
    Close {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Open a closed issue again; `carson retry` gives it to its role.
    Reopen {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Add labels to an issue and take labels away.
    Label {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        /// Labels that it gets.
        #[arg(long, value_name = "LABEL", value_delimiter = ',')]
        add: Vec<String>,
        /// Labels that it loses.
        #[arg(long, value_name = "LABEL", value_delimiter = ',')]
        remove: Vec<String>,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Change the title or the text of an issue.
    Edit {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        /// Its new title.
        #[arg(short, long)]
        title: Option<String>,
        /// Its new text.
        #[arg(short, long, allow_hyphen_values = true)]
        body: Option<String>,
        #[command(flatten)]
        repo: RepoArg,
    },
}

/// `carson labels`
#[derive(Debug, Subcommand)]
pub enum LabelsAction {
    /// Say which labels a repository lacks; exit code 1 when one lacks any.
    Check {
        /// One repository; without it all.
        #[arg(long)]
        repo: Option<String>,
    },
    /// Make the labels that a repository lacks.
    Bootstrap {
        /// One repository; without it all.
        #[arg(long)]
        repo: Option<String>,
    },
}

/// `carson pr`
#[derive(Debug, Subcommand)]
pub enum PrAction {
    /// List pull requests.
    List {
        /// Closed ones too.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Show one pull request with its comments.
    Show {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Show what a pull request changes.
    Diff {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Show what checks say of a pull request, and whether it can be merged.
    Checks {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Show the reviews of a pull request, and what is said about its lines.
    Reviews {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Make a draft ready for review.
    Ready {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Merge a pull request into its base branch; its issue is closed as done.
    Merge {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// The commit that was read, as `pr show` prints it: when the branch has another one now, nothing is
        /// merged.
        #[arg(long, value_name = "SHA")]
        match_head_commit: Option<String>,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Close a pull request without merging it; its branch stays, its issue goes back.
    Close {
        /// Its number.
        #[arg(value_parser = number)]
        number: u64,
        /// Why, as a comment there.
        #[arg(short, long, default_value = "", allow_hyphen_values = true)]
        comment: String,
        #[command(flatten)]
        repo: RepoArg,
    },
}

/// A number as people write it: lists have it behind a `#`.
fn number(text: &str) -> Result<u64, String> {
    let bare = text.strip_prefix('#').unwrap_or(text);
    let number = bare.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "it is no number of an issue or pull request, as 7 or '#7'".to_owned())
}
