//! Plans that wait for a person.

use carson_config::Repo;
use carson_core::Effect;
use carson_home::Home;
use carson_store::{EffectRow, EffectState, Firing as Row, StoreError};

/// The newest firing whose plan waits on this issue, and the place of that among its effects.
///
/// # Errors
/// When the store does not answer.
pub async fn waiting_plan(
    home: &Home,
    repo: &Repo,
    issue: u64,
) -> Result<Option<(Row, u32)>, StoreError> {
    for row in home.store.owing_in(&repo.name).await?.into_iter().rev() {
        let effects = home.store.effects(row.id).await?;
        let waits = |one: &&EffectRow| {
            let is_this =
                matches!(one.effect, Effect::AwaitApproval { issue: on, .. } if on == issue);
            is_this && one.state == EffectState::Owed
        };
        if let Some(n) = effects.iter().find(waits).map(|one| one.n) {
            return Ok(Some((row, n)));
        }
    }
    Ok(None)
}
