//! What firings learn of a forge while they ask it, for all the others: firings are processes of their
//! own, and one token has one limit.

use std::pin::Pin;
use std::time::Duration;

use carson_core::admission::Block;
use carson_core::stops::forge_account;
use carson_core::{BlockKind, Clock};
use carson_forge::Keeper;
use carson_redact::Redactor;
use carson_store::{BlockSetter, Store, StoreError};
use chrono::{DateTime, TimeDelta, Utc};
use secrecy::SecretString;
use tracing::warn;

/// A shorter wait is over before a row of it helps anybody.
const LEAST: Duration = Duration::from_secs(5);
/// GitHub's longest limit begins anew each hour; a forge that asks for more is asked again after this.
const LONGEST: Duration = Duration::from_secs(3600);

/// How long a forge accepts nothing from now on, as anybody of the fleet heard from it.
pub(crate) async fn shut_for(
    store: &Store,
    clock: &Clock,
    forge: &str,
) -> Result<Duration, StoreError> {
    let Some(account) = forge_account(forge) else {
        return Ok(Duration::ZERO);
    };
    let now = clock.now();
    let blocks = store.blocks().await?.into_iter();
    let ours = blocks.filter(|block| block.account == account && block.stands(now));
    let left = ours.map(|block| left(&block, now)).max();
    Ok(left.unwrap_or_default())
}

fn left(block: &Block, now: DateTime<Utc>) -> Duration {
    // One without an end is an operator's, who lifts it.
    let until = block.until.unwrap_or(now + TimeDelta::hours(1));
    (until - now).to_std().unwrap_or_default()
}

/// Who is told by the clients of one forge.
#[derive(Clone, Debug)]
pub(crate) struct ForgeLimits {
    pub forge: &'static str,
    pub store: Store,
    pub clock: Clock,
    pub redactor: Redactor,
}

impl Keeper for ForgeLimits {
    fn learn(&self, secret: &SecretString) {
        self.redactor.learn([secret.clone()]);
    }

    fn limited<'a>(
        &'a self,
        wait: Duration,
        why: &'a str,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let Some(account) = forge_account(self.forge).filter(|_| wait >= LEAST) else {
                return;
            };
            let now = self.clock.now();
            let block = Block {
                account,
                until: Some(now + wait.min(LONGEST)),
                reason: self.redactor.redact(why).to_string(),
                kind: Some(BlockKind::Limit),
            };
            // Without the row the others find out by themselves.
            if let Err(error) = self.store.set_block(&block, BlockSetter::Forge, now).await {
                warn!(%error, forge = self.forge, "the limit of a forge could not be noted");
            }
        })
    }
}
