//! Whether the commits of a role can be signed, and by nobody else: a word is.

use std::path::{Path, PathBuf};

use carson_config::{Role, Sandbox};
use carson_core::signing::SigningKey;
use carson_home::Home;

use crate::{Scene, Verdict};

pub(crate) async fn works(scene: &Scene<'_>, role: &Role) -> Option<Verdict> {
    let key = role.signing.as_ref()?;
    if let Some(why) = within_reach(scene.home, key) {
        let remedy = "move the key to where no role's `paths`, and no `include`, leads";
        return Some(Verdict::error(format!("{key} is no secret: {why}")).mend(remedy));
    }
    if let Err(error) = carson_git::sign(key, b"Carson asks whether this key signs.\n").await {
        return Some(Verdict::error(format!("{key}: {error}")));
    }
    let mut roles = scene.home.fleet.roles.values();
    let open = roles.find(|role| role.enabled && role.confinement.sandbox == Sandbox::Off);
    Some(match open {
        None => Verdict::ok(format!("{key} signs")),
        Some(open) => Verdict::warning(format!(
            "{key} signs, and so may sessions of role {}, which have no sandbox",
            open.name
        )),
    })
}

/// How sessions could read it; whichever role's they are, and whatever links lead there.
fn within_reach(home: &Home, key: &SigningKey) -> Option<String> {
    let place = match key {
        SigningKey::Ssh(file) => file.clone(),
        SigningKey::Gpg(_) => gpg_home(home)?,
    };
    let real = place.canonicalize().ok()?;
    for role in home.fleet.roles.values().filter(|role| role.enabled) {
        let granted = role.confinement.read.iter().chain(&role.confinement.write);
        if let Some(open) = granted.into_iter().find(|open| leads(open, &real)) {
            return Some(format!(
                "[paths] of role {} has {}",
                role.name,
                open.display()
            ));
        }
    }
    let repos = home.fleet.repos.values();
    let included = repos.flat_map(|repo| repo.include.iter().map(move |one| (repo, one)));
    included
        .into_iter()
        .find(|(_, one)| leads(&one.from, &real))
        .map(|(repo, one)| format!("repos.{}.include has {}", repo.name, one.from.display()))
}

/// Whether what lies at a path, or below it, is this, or a part of it.
fn leads(open: &Path, real: &Path) -> bool {
    open.canonicalize()
        .is_ok_and(|open| real.starts_with(&open) || open.starts_with(real))
}

/// Where gpg has its keys.
fn gpg_home(home: &Home) -> Option<PathBuf> {
    let named = home.environ.iter().find(|(name, _)| name == "GNUPGHOME");
    match named {
        Some((_, dir)) => Some(PathBuf::from(dir)),
        None => Some(home.user_home.as_ref()?.join(".gnupg")),
    }
}
