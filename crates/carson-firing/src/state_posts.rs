//! What a firing's end changes for those that follow: a breaker that opens or closes, an account that
//! is blocked. One post each, in the channel, with the command that ends the stop; what fails while
//! the state lasts is told by nothing more.

use carson_core::breaker::{Breaker, Thresholds};
use carson_core::outcome::{Severity, StreakEffect};
use carson_core::text::{counted, instant};
use carson_core::{BlockKind, Outcome};
use carson_home::Word;
use carson_notify::Message;
use carson_store::{BlockRow, StoreError};
use chrono::{DateTime, Utc};

use crate::ctx::Ctx;
use crate::effects::OpenedPull;
use crate::saved::Saved;

/// How the firing ended, as far as the chat is concerned.
pub(crate) struct End<'e> {
    pub outcome: Outcome,
    pub reason: &'e str,
    pub saved: &'e Saved,
    pub pull: Option<&'e OpenedPull>,
    pub thresholds: Option<Thresholds>,
    pub at: DateTime<Utc>,
}

/// The state before and after the end.
pub(crate) struct Changes {
    before: Breaker,
    after: Breaker,
    /// The blocks that this firing set: one for each account that refused it.
    blocks: Vec<BlockRow>,
    /// The end tells nothing of the role: its provider did not answer.
    spares_the_role: bool,
}

impl Changes {
    /// What the end changes.
    pub(crate) async fn by(ctx: &Ctx<'_>, end: &End<'_>) -> Result<Self, StoreError> {
        let before = ctx.store().breaker(&ctx.role.name).await?;
        let (claimed_at, at) = (ctx.claimed_at, end.at);
        let after = before.clone();
        let after = after.after_firing(claimed_at, end.outcome, end.reason, at, end.thresholds);
        let ours = ctx.id.to_string();
        let mut blocks = ctx.store().block_rows().await?;
        blocks.retain(|block| block.set_by == ours);
        Ok(Self {
            before,
            after,
            blocks,
            spares_the_role: end.thresholds.is_none(),
        })
    }

    fn opens(&self) -> bool {
        self.after.is_open() && !self.before.is_open()
    }

    fn closes(&self) -> bool {
        self.before.is_open() && !self.after.is_open()
    }

    /// How loud the end is; `None` needs nobody's attention. One wall is told once, and a failure
    /// after another is no news. A provider that is down is told with the block that comes of it.
    pub(crate) fn loudness(&self, outcome: Outcome) -> Option<Severity> {
        match outcome {
            Outcome::RateLimited | Outcome::Auth if self.blocks.is_empty() => None,
            _ if self.spares_the_role && self.blocks.is_empty() => None,
            _ => match outcome.severity()? {
                Severity::Warning if self.fails_again(outcome) => None,
                severity => Some(severity),
            },
        }
    }

    fn fails_again(&self, outcome: Outcome) -> bool {
        self.before.streak > 0 && outcome.streak() == StreakEffect::Counts
    }

    /// Whether the posts on the state tell the end as well. An end that wants a person has its own.
    pub(crate) fn say_it(&self, outcome: Outcome) -> bool {
        let told = self.opens() || !self.blocks.is_empty();
        told && (outcome == Outcome::Auth || outcome.severity() != Some(Severity::Error))
    }

    /// The posts.
    pub(crate) fn words(&self, ctx: &Ctx<'_>) -> Vec<Message> {
        let (role, title) = (&ctx.role.name, &ctx.role.title);
        let mut words = Vec::new();
        let mut say = |severity, title: String, text: String| {
            words.push(ctx.home.word(&Word {
                severity,
                title: &title,
                text: &text,
                role: Some(role),
            }));
        };
        if self.opens() {
            say(
                Severity::Error,
                format!("{title} stopped"),
                self.opened(ctx),
            );
        }
        if self.closes() {
            let text = "It tried once more and ended well: its breaker is closed.".to_owned();
            say(Severity::Info, format!("{title} fires again"), text);
        }
        for block in &self.blocks {
            let (severity, text) = blocked(block);
            say(
                severity,
                format!("Account {} is blocked", block.account),
                text,
            );
        }
        words
    }

    fn opened(&self, ctx: &Ctx<'_>) -> String {
        let role = &ctx.role.name;
        let count = counted(self.after.streak, "bad outcome");
        let reason = self.after.reason.as_deref().unwrap_or_default();
        let tries = self.after.half_opens_at(ctx.role.limits.cooldown);
        let tries = tries.map_or_else(String::new, |at| {
            let at = at.format("%Y-%m-%d %H:%M:%SZ");
            format!(" One firing tries again after {at}.")
        });
        format!(
            "Its breaker opened after {count} in a row; the last one: {reason}\nIt does not fire until \
             `carson breaker reset {role}`.{tries} `carson firings --role {role}` has them all."
        )
    }
}

/// Until when nothing is asked of it, and what ends that; loud where only a person does.
fn blocked(block: &BlockRow) -> (Severity, String) {
    let account = &block.account;
    let until = match (block.until, block.kind) {
        (Some(until), _) => format!("Until {}", instant(until)),
        (None, Some(BlockKind::Auth)) => "Until somebody signs in again".to_owned(),
        (None, Some(BlockKind::Billing)) => "Until it is paid for".to_owned(),
        (None, _) => "From now on".to_owned(),
    };
    let text = format!(
        "{}\n{until} nothing is asked of it; `carson block clear {account}` ends that.",
        block.reason
    );
    let severity = match block.kind {
        Some(BlockKind::Auth) => Severity::Error,
        _ => Severity::Warning,
    };
    (severity, text)
}
