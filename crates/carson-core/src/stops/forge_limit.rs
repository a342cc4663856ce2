//! Every forge that the role may work on accepts no requests for a while.
//!
//! What one firing learned of a forge's limit is a block like that of an account: firings are processes
//! of their own, on several hosts, and who goes on asking is shut out for longer.

use chrono::{DateTime, Utc};

use super::change::Change;
use super::gate::{Block, Gate};
use super::stop::{Cause, Standing, Stop};
use crate::id::AccountName;
use crate::skip::{SkipKind, SkipReason};
use crate::text::instant;

const KIND: SkipKind = SkipKind::new("forge-limit");

pub(super) const STOP: Stop = Stop {
    kinds: &[KIND],
    stands,
    // What a firing owes a forge then is told it later.
    during: None,
    yields: false,
};

/// Under which name a forge is blocked; `None` for a forge whose name is none.
#[must_use]
pub fn forge_account(forge: &str) -> Option<AccountName> {
    format!("forge-{forge}").parse().ok()
}

fn stands(gate: &Gate, now: DateTime<Utc>) -> Option<Standing> {
    let block_of = |forge: &AccountName| {
        let mut blocks = gate.blocks.iter();
        blocks.find(|block| block.account == *forge && block.stands(now))
    };
    let blocks: Option<Vec<&Block>> = gate.forges.iter().map(block_of).collect();
    // One that answers is enough.
    let blocks = blocks.filter(|blocks| !blocks.is_empty())?;
    let causes: Vec<Cause> = blocks.into_iter().map(cause).collect();
    let why: Vec<&str> = causes.iter().map(|cause| cause.why.as_str()).collect();
    Some(Standing {
        reason: SkipReason::new(KIND, why.join("; ")),
        waits: false,
        causes,
    })
}

fn cause(block: &Block) -> Cause {
    let forge = block.account.as_str().trim_start_matches("forge-");
    let end = block.until.map_or("an operator ends that".into(), instant);
    let clear = format!("block clear {}", block.account);
    Cause {
        why: format!("{forge} accepts no requests until {end}: {}", block.reason),
        until: block.until,
        change: Change::default()
            .text("wait, or ")
            .command(clear)
            .text(" if it answers again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_waits_for_its_forges_only_when_none_answers() {
        let now: DateTime<Utc> = "2026-01-01T12:00:00Z".parse().unwrap();
        let (github, local) = (forge_account("github"), forge_account("local"));
        let (github, local) = (github.unwrap(), local.unwrap());
        let mut gate = Gate::of("hand".parse().unwrap());
        gate.blocks.push(Block {
            account: github.clone(),
            until: Some("2026-01-01T12:30:00Z".parse().unwrap()),
            reason: "all 5000 requests of this hour are used up".into(),
            kind: None,
        });
        assert_eq!(stands(&gate, now), None, "it works on no forge");
        gate.forges = vec![github.clone(), local];
        assert_eq!(stands(&gate, now), None);
        gate.forges = vec![github];
        let standing = stands(&gate, now).unwrap();
        let said = "github accepts no requests until 2026-01-01 12:30:00Z: all 5000 requests of \
                    this hour are used up";
        assert_eq!(standing.reason.to_string(), said);
        assert_eq!(standing.reason.kind(), KIND);
        let later = "2026-01-01T12:30:00Z".parse().unwrap();
        assert_eq!(stands(&gate, later), None, "it ends by itself");
    }
}
