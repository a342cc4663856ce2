//! What a firing adds up to while it runs.

use std::collections::BTreeMap;
use std::path::Path;

use carson_config::Account;
use carson_core::settle::Halt;
use carson_core::{AccountName, Stage};
use carson_proc::sandbox::{Level, Ns};
use carson_store::{Firing as Row, Progress, Used};

use crate::ctx::Ctx;
use carson_bench::proxy::{self, Proxy};
use carson_bench::toolchains::Found;

/// What the stages of a firing add to, one after the other.
#[derive(Default)]
pub(crate) struct Record {
    tally: Tally,
    /// The weakest confinement so far.
    level: Option<Level>,
    /// What its preflight found.
    pub checks: carson_checks::Findings,
    /// Whether another account was asked already for what a session could not do.
    pub gave_way: bool,
    /// The account that comes before all that the role lists: somebody chose it for this firing.
    pub chosen: Option<AccountName>,
    /// Accounts that it left, or passed over, and does not come back to.
    pub left: Vec<AccountName>,
    /// The account of the session that judges now, where that is another one.
    pub judge: Option<AccountName>,
    /// The proxy of its account, while it is open.
    pub proxy: Option<Proxy>,
    /// What the repository's toolchains say.
    pub toolchains: Found,
}

/// What the sessions of a firing add up to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub account: Option<AccountName>,
    /// The account that judged last.
    pub reviewed_by: Option<AccountName>,
    pub sessions: u32,
    pub turns: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cost_usd: Option<f64>,
    /// Whether part of it was priced from tokens.
    pub cost_estimated: bool,
    pub attempts: u32,
    /// Sessions that were tried again because the provider was not available.
    pub retries: u32,
    pub blocked_calls: u32,
    /// The same by account: each that a session had.
    pub used: Vec<Used>,
    /// The stages of the sessions so far.
    pub stages: Vec<Stage>,
    /// The final text of the last session of each stage.
    pub last_words: BTreeMap<Stage, String>,
}

impl Tally {
    /// What budgets and limits count.
    fn spent(&self) -> (u32, u64, u64, Option<f64>) {
        (self.turns, self.tokens_in, self.tokens_out, self.cost_usd)
    }

    /// What sessions with this account add up to.
    pub(crate) fn used_of(&mut self, account: &AccountName) -> &mut Used {
        let known = self.used.iter().position(|used| used.account == *account);
        let index = known.unwrap_or_else(|| {
            self.used.push(Used::with(account.clone()));
            self.used.len() - 1
        });
        &mut self.used[index]
    }

    /// Whether a model said anything.
    pub(crate) fn answered(&self) -> bool {
        let mut said = self.last_words.values();
        self.tokens_out > 0 || said.any(|text| !text.trim().is_empty())
    }
}

impl Record {
    /// Of nothing but an account.
    pub(crate) fn with(account: AccountName) -> Self {
        let mut record = Self::default();
        record.tally.account = Some(account);
        record
    }

    /// As far as the row has it.
    pub(crate) fn of_row(row: &Row) -> Self {
        let tally = Tally {
            account: row.account.clone(),
            reviewed_by: row.reviewed_by.clone(),
            turns: row.turns,
            attempts: row.attempts,
            tokens_in: row.tokens_in,
            tokens_out: row.tokens_out,
            cost_usd: row.cost_usd,
            cost_estimated: row.cost_estimated,
            retries: row.retries,
            ..Tally::default()
        };
        Self {
            tally,
            ..Self::default()
        }
    }

    /// Opens the proxy that the firing's account needs, in the place of another one.
    pub(crate) fn open_proxy(&mut self, ctx: &Ctx<'_>, bench: &Path) -> Result<(), Halt> {
        let account = self.required_account(ctx)?;
        self.proxy = proxy::begin(&ctx.firing(), account, bench, ctx.remaining())?;
        Ok(())
    }

    /// Another account may have another provider, and a key of its own.
    pub(crate) async fn open_proxy_anew(
        &mut self,
        ctx: &Ctx<'_>,
        bench: &Path,
    ) -> Result<(), Halt> {
        self.close_proxy(ctx).await;
        self.open_proxy(ctx, bench)
    }

    /// Closes it, once what went where is written down.
    pub(crate) async fn close_proxy(&mut self, ctx: &Ctx<'_>) {
        if let Some(open) = self.proxy.take() {
            proxy::end(&ctx.firing(), open).await;
        }
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Changes the tally and writes it to the row.
    pub(crate) async fn count(&mut self, ctx: &Ctx<'_>, change: impl FnOnce(&mut Tally)) {
        let before = self.tally.spent();
        change(&mut self.tally);
        let tally = &self.tally;
        let progress = Progress {
            turns: tally.turns,
            tokens_in: tally.tokens_in,
            tokens_out: tally.tokens_out,
            cost_usd: tally.cost_usd,
            attempts: tally.attempts,
            retries: tally.retries,
            cost_estimated: tally.cost_estimated,
            sessions: tally.sessions,
            engine: self.writer(ctx).map(|account| account.engine.to_string()),
            account: tally.account.clone(),
            reviewed_by: tally.reviewed_by.clone(),
            used: tally.used.clone(),
        };
        let spent = tally.spent() != before;
        let written = ctx.as_firing().progress(&progress, spent);
        ctx.best_effort("progress", written).await;
        ctx.used(tally.turns, tally.cost_usd, tally.cost_estimated);
    }

    /// The account whose engine is used now: that of who judges, else the firing's own.
    pub(crate) fn account<'h>(&self, ctx: &Ctx<'h>) -> Option<&'h Account> {
        match &self.judge {
            Some(judge) => ctx.home.fleet.accounts.get(judge),
            None => self.writer(ctx),
        }
    }

    /// The firing's own account, which writes: the one that preflight chose, or that it moved on to.
    pub(crate) fn writer<'h>(&self, ctx: &Ctx<'h>) -> Option<&'h Account> {
        let first = || ctx.role.engines.first();
        let name = self.tally.account.as_ref().or_else(first)?;
        ctx.home.fleet.accounts.get(name)
    }

    /// The same, for who cannot go on without one; nobody's where no model is asked.
    pub(crate) fn required_account<'h>(&self, ctx: &Ctx<'h>) -> Result<&'h Account, Halt> {
        if !ctx.role.kind.has_sessions() {
            return Ok(Account::nobodys());
        }
        self.account(ctx)
            .ok_or_else(|| Halt::Broken("the role's account is gone".into()))
    }

    /// Takes note of how a run was confined: whether it is the first of this firing, and the level
    /// if it is weaker than what was noted before.
    pub(crate) fn confined(&mut self, level: Level) -> (bool, Option<Level>) {
        let first = self.level.is_none();
        let noted = self.level.as_ref();
        if noted.is_some_and(|noted| level.weaker.len() <= noted.weaker.len()) {
            return (first, None);
        }
        self.level = Some(level.clone());
        (first, Some(level))
    }

    /// Whether every run of this firing had processes of its own, which ended with it.
    pub(crate) fn processes_end_with_their_session(&self) -> bool {
        self.level.as_ref().is_some_and(|level| level.has(Ns::Pid))
    }
}
