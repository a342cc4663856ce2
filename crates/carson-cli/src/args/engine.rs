//! `carson engine`

use carson_core::Stage;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Subcommand};

/// `carson engine`
#[derive(Debug, Subcommand)]
pub enum Engine {
    /// List the engines that Carson knows: program, version, and whose accounts use them.
    List,
    /// Show each account: signed in, blocked, how much is used, and by which roles.
    Status,
    /// Write which accounts a role uses, or one of its stages, into its role.toml.
    ///
    /// Nothing is written that `carson config check` would refuse, and comments stay. A running daemon takes the
    /// file by itself; firings that run go on as they began. With --stage the accounts, the model and the effort
    /// are those of that stage alone; what is not said stays, but a model does not go over to another vendor.
    Set(Set),
}

/// `carson engine set`
#[derive(Debug, ClapArgs)]
pub struct Set {
    /// The role.
    pub role: String,
    /// Accounts, in order of preference.
    #[arg(value_name = "ACCOUNT")]
    pub accounts: Vec<String>,
    /// Only for this stage.
    #[arg(long, value_parser = stages())]
    pub stage: Option<String>,
    /// The model that the stage asks.
    #[arg(long, value_name = "NAME", requires = "stage")]
    pub model: Option<String>,
    /// How hard that is told to think, in its CLI's own word: low, medium, high and more.
    #[arg(long, value_name = "WORD", requires = "stage")]
    pub effort: Option<String>,
    /// The stage has nothing of its own any more, and uses what the role does.
    #[arg(long, requires = "stage", conflicts_with_all = ["accounts", "model", "effort"])]
    pub reset: bool,
}

/// The stages that may have accounts of their own.
fn stages() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(Stage::ROUTED.map(Stage::as_str))
}
