//! What gives a role work, said where it found none.

use carson_config::Role;

use crate::app::App;

/// The command that does, for a role that takes issues; nothing for another.
pub fn makes_work(app: &App, role: &Role) -> Option<String> {
    let label = role.work.label()?;
    Some(format!(
        "`{} issue create \"What is to be done\" --label {label}` gives it some",
        app.called()
    ))
}
