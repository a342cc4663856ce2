//! Block flags of accounts.

use carson_core::admission::Block;
use carson_core::stops::forge_account;
use carson_core::{AccountName, BlockKind};
use carson_home::Home;
use carson_store::{BlockRow, BlockSetter};
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::told;
use crate::verb::{Ask, Who};

/// Why an account is blocked, where nobody says.
pub const REASON: &str = "set by the operator";

/// Which accounts are blocked?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {}

impl Ask for List {
    const NAME: &'static str = "block list";
    const WHAT: &'static str = "List the accounts that are blocked";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<BlockRow>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let now = home.clock.now();
        let mut blocks = home.store.block_rows().await?;
        blocks.retain(|row| row.until.is_none_or(|until| now < until));
        Ok(blocks)
    }
}

/// Block an account.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// The account.
    pub account: String,
    /// For how long (2h); until it is cleared without it.
    pub r#for: Option<String>,
    /// Why.
    #[serde(default = "reason")]
    pub reason: String,
}

fn reason() -> String {
    REASON.to_owned()
}

/// An account is blocked.
#[derive(Debug, Serialize)]
pub struct Blocked {
    /// The account.
    pub account: AccountName,
    /// It is.
    pub blocked: bool,
    /// Until when; `None` until it is cleared.
    pub until: Option<DateTime<Utc>>,
}

impl Ask for Set {
    const NAME: &'static str = "block set";
    const WHAT: &'static str = "Block an account";
    const WHO: Who = Who::Operator;
    type Answer = Blocked;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let account = names::account(&home.fleet, &self.account)?.name.clone();
        let now = home.clock.now();
        let until = names::span(self.r#for.as_deref())?.map(|span| now + span);
        let block = Block {
            account: account.clone(),
            until,
            reason: self.reason,
            kind: Some(BlockKind::Operator),
        };
        let by = BlockSetter::Operator;
        home.store.set_block(&block, by, now).await?;
        let ends = told::until(until, &format!("carson block clear {account}"));
        let title = format!("Account {account} is blocked");
        told::tell(home, None, &title, &format!("{}\n{ends}", block.reason)).await;
        Ok(Blocked {
            account,
            blocked: true,
            until,
        })
    }
}

/// Lift a block.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clear {
    /// The account.
    pub account: String,
}

/// An account is free.
#[derive(Debug, Serialize)]
pub struct Cleared {
    /// The account.
    pub account: AccountName,
    /// It is not.
    pub blocked: bool,
    /// Whether it was.
    pub cleared: bool,
}

impl Ask for Clear {
    const NAME: &'static str = "block clear";
    const WHAT: &'static str = "Lift the block of an account";
    const WHO: Who = Who::Operator;
    type Answer = Cleared;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        // A forge whose limit was met is blocked under a name of its own.
        let forges = home.fleet.forges.iter();
        let mut forges = forges.filter_map(|forge| forge_account(forge.name()));
        let account = match forges.find(|forge| forge.as_str() == self.account) {
            Some(forge) => forge,
            None => names::account(&home.fleet, &self.account)?.name.clone(),
        };
        let cleared = home.store.clear_block(&account, home.clock.now()).await?;
        if cleared {
            let title = format!("Account {account} is free");
            told::tell(home, None, &title, "Its block was lifted.").await;
        }
        Ok(Cleared {
            account,
            blocked: false,
            cleared,
        })
    }
}
