//! The accounts: signed in, blocked, how much is used, and by whom.

use carson_checks::{Checked, Health, Machine, Scene};
use carson_config::Account;
use carson_core::admission::{Block, Spent};
use carson_core::{AccountName, BlockKind};
use carson_firing::admit;
use carson_home::Home;
use carson_store::{Outage, UsedBy};
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::places::{Place, places};
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};
use crate::windows::{WindowLine, windows_of};

/// How are the accounts?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {}

/// An account.
#[derive(Debug, Serialize)]
pub struct AccountLine {
    /// Its name.
    pub account: AccountName,
    /// Its engine.
    pub engine: &'static str,
    /// What people call that.
    pub title: &'static str,
    /// Whose model answers, as far as that is known.
    pub vendor: String,
    /// The model, where one is chosen.
    pub model: Option<String>,
    /// Whether its program is there.
    pub program: Word,
    /// Whether somebody is signed in; none where nobody has to.
    pub sign_in: Option<Word>,
    /// What keeps everybody from it now.
    pub blocks: Vec<Block>,
    /// What is done about a provider that is down.
    pub outage: Option<OutageState>,
    /// Its usage windows.
    pub windows: Vec<WindowLine>,
    /// What its sessions of today used.
    pub today: Today,
    /// Which stages of which roles it has.
    pub used_by: Vec<Place>,
}

/// What was found, and what would mend it.
#[derive(Debug, Serialize)]
pub struct Word {
    /// How that is.
    pub health: Health,
    /// What was found.
    pub found: String,
    /// What to do, where there is something.
    pub remedy: Option<String>,
}

/// Whether a provider that is down is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutageState {
    /// Everybody waits until the block is over.
    Waits,
    /// A firing asks now.
    IsAsked,
    /// The next session asks.
    MayBeAsked,
}

/// Sessions of the fleet's day.
#[derive(Debug, Default, Serialize)]
pub struct Today {
    /// How many.
    pub sessions: u32,
    /// Their money, as far as it is known.
    pub spent: Spent,
    /// How many of them nobody told the cost of.
    pub untold: u32,
}

impl Ask for Status {
    const NAME: &'static str = "engine status";
    const WHAT: &'static str = "Show each account: signed in, blocked, used, and by whom";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<AccountLine>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let now = home.clock.now();
        let machine = Machine::new(home.clock.clone());
        let scene = Scene::examined(home, &machine, None);
        let asked = ["account.NAME.program", "account.NAME.sign_in"];
        let checked = carson_checks::some_of(&scene, &asked).await;
        let blocks = home.store.blocks().await?;
        let windows = home.store.windows().await?;
        let used = home.store.used(admit::today(home, now)).await?;
        let mut lines = Vec::new();
        for account in home.fleet.accounts.values() {
            let name = &account.name;
            let standing = blocks.iter().filter(|block| block.account == *name);
            lines.push(AccountLine {
                account: name.clone(),
                engine: account.engine.facts().name,
                title: account.engine.facts().title,
                vendor: account.vendor().to_owned(),
                model: account.model.clone(),
                program: word(&checked, account, "program").unwrap_or_else(Word::nothing),
                sign_in: word(&checked, account, "sign_in"),
                outage: outage(home, account, &blocks, now).await?,
                blocks: standing
                    .filter(|block| block.stands(now))
                    .cloned()
                    .collect(),
                windows: windows_of(&windows, name, now),
                today: today(&used, name),
                used_by: places(&home.fleet, name),
            });
        }
        Ok(lines)
    }
}

impl Word {
    fn nothing() -> Self {
        Self {
            health: Health::Ok,
            found: "nothing is looked for".to_owned(),
            remedy: None,
        }
    }
}

/// What a check of the list says of an account.
fn word(checked: &[Checked], account: &Account, what: &str) -> Option<Word> {
    let id = format!("account.{}.{what}", account.name);
    let one = checked.iter().find(|one| one.id == id)?;
    Some(Word {
        health: one.health,
        found: one.found.clone(),
        remedy: one.remedy.clone(),
    })
}

/// A block for an outage that is over says that nobody has asked since.
async fn outage(
    home: &Home,
    account: &Account,
    blocks: &[Block],
    now: DateTime<Utc>,
) -> Result<Option<OutageState>, Refusal> {
    let is_down =
        |block: &&Block| block.account == account.name && block.kind == Some(BlockKind::Outage);
    let Some(block) = blocks.iter().find(is_down) else {
        return Ok(None);
    };
    if !block.stands(now) {
        return Ok(Some(OutageState::MayBeAsked));
    }
    let known = home.store.outage(&account.name, now).await?;
    Ok(known.map(|outage| match outage {
        Outage::Waits => OutageState::Waits,
        Outage::IsAsked => OutageState::IsAsked,
    }))
}

fn today(used: &[UsedBy], account: &AccountName) -> Today {
    let mut today = Today::default();
    for row in used.iter().filter(|row| row.used.account == *account) {
        today.sessions = today.sessions.saturating_add(row.used.sessions);
        today.spent.usd += row.used.cost_usd.unwrap_or(0.0);
        today.spent.estimated |= row.used.cost_estimated;
        today.untold = today.untold.saturating_add(row.used.untold);
    }
    today
}
