//! `carson init --role`: a role that comes with Carson, for a home that is there already.

use carson_config::RoleKind;
use carson_operator::names;
use serde_json::json;

use super::source::files_of;
use super::{not_writable, written};
use crate::app::App;
use crate::commands::proposed_check::proposed_check;
use crate::error::CommandError;
use crate::print;

/// Writes its file, for one repository of the settings and their first account.
pub async fn add(app: &App, kind: RoleKind, repo: Option<&str>) -> Result<u8, CommandError> {
    if !app.layout.settings().exists() {
        let missing = format!("{} is not there", app.layout.settings().display());
        return Err(CommandError::failed(missing).hint("`carson init` makes it, with a first role"));
    }
    let file = app.layout.roles().join(kind.as_str()).join("role.toml");
    if file.exists() {
        let exists = CommandError::failed(format!("{} exists already", file.display()));
        return Err(exists.hint("edit it; `carson config check` finds mistakes"));
    }
    let fleet = app.load()?.fleet;
    let repo = names::repo_or_only(&fleet, repo)?;
    let Some(account) = fleet.accounts.keys().next() else {
        let none = CommandError::usage("carson.toml has no account that the role could work with");
        return Err(none.hint("[accounts.claude] with engine = \"claude\""));
    };
    let check = proposed_check(&files_of(&repo.url, &repo.base).await);
    let text = written::role(kind, repo.name.as_str(), account.as_str(), check.as_ref());
    super::write(&file, &text).map_err(not_writable)?;
    if let Err(error) = app.load() {
        // It would keep every other role from firing.
        let _ = std::fs::remove_file(&file);
        let _ = file.parent().map(std::fs::remove_dir);
        return Err(error);
    }
    let mut told = format!("role: {} works in {}", file.display(), repo.name);
    if kind.has_sessions() {
        told.push_str(&format!(" with the account {account}"));
    }
    if kind == RoleKind::Merger && !repo.merge {
        told.push_str(&format!(
            "; it merges nothing before carson.toml has `policy = {{ merge = true }}` in [repos.{}]",
            repo.name
        ));
    }
    let account = kind.has_sessions().then_some(account);
    let made = json!({"role": file, "repository": repo.name, "account": account});
    print::done(app.json, &told, &made);
    Ok(0)
}
