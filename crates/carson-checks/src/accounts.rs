//! Accounts: their programs, their sign-ins, and who can read those.

use std::path::{Path, PathBuf};

use carson_config::{Account, Family, family, read_secret};

use crate::{Scene, Verdict};
use carson_home::engines;
use carson_home::lent_dirs::is_lent;

const SUBSCRIPTION: &str = "the hook stops reads of it and redaction keeps it out of what leaves, but \
     no wall can: give the role an egress list, or use an account with a key that Carson holds";
const KEY: &str = "use a key that only Carson holds, or a key with a low limit of its own";

pub(crate) async fn program(scene: &Scene<'_>, account: &Account) -> Option<Verdict> {
    if let Some(program) = scene.home.engine_program(account) {
        return Some(Verdict::ok(format!("{} is installed", program.display())));
    }
    let binary = account.binary.as_deref();
    let binary = binary.unwrap_or(Path::new("carson")).display();
    let (engine, name) = (account.engine, &account.name);
    let found = format!("the {engine} CLI {binary} of account {name} is not installed");
    Some(Verdict::error(found).mend(format!("install it or set accounts.{name}.binary")))
}

pub(crate) async fn script(scene: &Scene<'_>, account: &Account) -> Option<Verdict> {
    let engine = scene.engine(account)?;
    let script = engine.script.as_ref()?;
    Some(match engine.script_is_sound() {
        Ok(()) => Verdict::ok(format!("{} can be played", script.display())),
        Err(error) => Verdict::error(error.to_string()).mend(error.hint()),
    })
}

pub(crate) async fn sign_in(scene: &Scene<'_>, account: &Account) -> Option<Verdict> {
    if account.engine.facts().plays_script {
        return None;
    }
    if let Some(key) = &account.key {
        let file = key.file.display();
        return Some(match read_secret(&key.file) {
            Ok(_) => Verdict::ok(format!("the proxy holds the key in {file}")),
            Err(error) => Verdict::error(error.to_string())
                .mend(format!("write the key into {file}, with mode 0600")),
        });
    }
    // Independent of whether it is installed.
    let engine = engines::engine_at(PathBuf::new(), account);
    Some(match engine.signed_in(&scene.environment(account)) {
        None => Verdict::ok("the program signs in by itself"),
        Some(Ok(())) => {
            Verdict::ok("there is a sign-in; whether it still holds shows at a session")
        }
        Some(Err(error)) => Verdict::error(error.to_string()).mend(error.hint()),
    })
}

pub(crate) async fn exposure(_: &Scene<'_>, account: &Account) -> Option<Verdict> {
    (!account.engine.facts().plays_script).then(|| exposed(account))
}

fn exposed(account: &Account) -> Verdict {
    if account.key.is_some() {
        return Verdict::ok("its sessions never see the key that the proxy holds");
    }
    let mut named = account.env.iter();
    let is_subscription = named.any(|(name, value)| is_lent(name, value).is_some());
    let mut secrets = account
        .env
        .keys()
        .filter(|name| family(name) == Some(Family::Secret))
        .filter(|name| !name.ends_with("_DIR") && !name.contains("_TOKENS"))
        .filter(|name| name.contains("KEY") || name.contains("TOKEN") || name.contains("SECRET"));
    if let Some(name) = secrets.next() {
        let found =
            format!("{name} is in its sessions' environment: the model's tools can read it");
        Verdict::warning(found).mend(KEY)
    } else if is_subscription {
        let found = "a subscription: the CLI must read its sign-in, and so can the model's tools";
        Verdict::warning(found).mend(SUBSCRIPTION)
    } else {
        Verdict::ok("no sign-in of its own is within a session's reach")
    }
}
