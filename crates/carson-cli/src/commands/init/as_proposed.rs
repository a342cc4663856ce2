//! A home as `carson init` would make it, for somebody who only looks.

use carson_config::ShippedRole;
use carson_engine::named_clis;

use super::proposed::{self, Hosted};
use super::source::Wanted;
use super::{Begun, FIRST_ROLE};
use crate::app::App;
use crate::args::Init;
use crate::commands::new_role::NewRole;
use crate::error::CommandError;

/// Writes into a home that is not there what `carson init --yes` would for the repository around this place, with a
/// shipped role. Its issues are files, its agent CLI is the first of the list where none is installed, and none of
/// it is examined: nobody is asked, and no server but the repository's own. What it answers is the address on a forge
/// that `carson init` would take in the place of a checkout, if it is let in there.
///
/// # Errors
/// When there is no repository to take, no such role comes with Carson, or the home cannot be written.
pub async fn as_proposed(app: &App, role: &str) -> Result<Option<String>, CommandError> {
    let shipped = ShippedRole::named(role).ok_or_else(|| {
        CommandError::usage(format!("no role {role:?} comes with Carson"))
            .hint("`carson init --help` lists those that do")
    })?;
    let args = Init::default();
    let wanted = Wanted::by(&args, false).await?;
    let engine = proposed::engine(None, false).or_else(|none| {
        let first = named_clis().first().map(|(engine, _)| *engine);
        first.ok_or(none)
    });
    let mut begun = Begun {
        app,
        args: &args,
        engine: engine?,
        wanted: &wanted,
        hosted: Hosted::LOCAL,
        not_let_in: None,
        agreed: None,
        holds: None,
        may_ask: false,
    };
    let source = begun.scaffold().await?.keep().source;
    if role != FIRST_ROLE {
        NewRole::shipped(shipped)?.write(app).await?;
    }
    Ok(source.origin.filter(|origin| Hosted::at(origin).is_some()))
}
