//! The proxy of a firing: begun with its bench, asked for its counts after every run, ended with
//! its last session.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use carson_config::{Account, NetworkUse, ProviderKey, Role, Sandbox, SecretError, read_secret};
use carson_core::egress::{Allowlist, EgressHost, Rule};
use carson_core::settle::Halt;
use carson_core::{Event, FiringId};
use carson_egress::{Bounds, Egress, HostRefused, Plan, Provider, Resolver, SocketHandover};
use carson_proc::sandbox::{Ns, probe};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tracing::warn;

use super::default_rules::default_rules;
use super::open::Proxy;
use carson_home::halt::OrBroken;
use carson_home::{FiringRef, Home};

/// The longest path of a socket, with something to spare: the kernel takes 107 bytes.
const LONGEST_SOCKET: usize = 104;

/// How long the last refusals may take to be written.
const LAST_NEWS: Duration = Duration::from_secs(2);

/// What the sessions of a role may connect to through the proxy: its list, or without one
/// everything but this machine, where that can be kept apart. `None` when nothing must go through
/// it.
fn rules(home: &Home, role: &Role, account: &Account) -> Option<Allowlist> {
    let own = role.confinement.network == NetworkUse::Own;
    let default = || (own && may_isolate(home, role)).then(|| default_rules(home, role, account));
    role.egress.clone().or_else(default)
}

/// Begins the proxy that a firing needs for an account, if it needs one, for as long as it has left.
///
/// # Errors
/// When the key cannot be read, or no socket can be made.
pub fn begin(
    firing: &FiringRef<'_>,
    account: &Account,
    bench: &Path,
    left: Duration,
) -> Result<Option<Proxy>, Halt> {
    let role = firing.role;
    let rules = rules(firing.home, role, account);
    // Without rules and without a key nothing would go through it.
    if rules.is_none() && account.key.is_none() {
        return Ok(None);
    }
    let only = rules.is_some();
    let key_holder = account.key.as_ref().map(provider).transpose();
    let egress = Egress::open(Plan {
        rules,
        provider: key_holder.map_err(|error| Halt::Broken(error.to_string()))?,
        resolver: Resolver::system(),
        bounds: Bounds {
            total: left + Duration::from_secs(60),
            ..Bounds::default()
        },
    });
    let egress = Arc::new(egress.map_err(|error| Halt::Broken(error.to_string()))?);
    let handover = (only && may_isolate(firing.home, role))
        .then(|| SocketHandover::at(&socket(bench, firing.id)?, &egress));
    Ok(Some(Proxy {
        telling: egress.news().map(|news| record_refused_hosts(firing, news)),
        handover: handover
            .transpose()
            .or_broken("making the proxy's socket")?,
        egress,
        only,
    }))
}

/// The provider of an account, with the key that its file holds.
fn provider(key: &ProviderKey) -> Result<Provider, SecretError> {
    Ok(Provider {
        api: key.api,
        base: key.upstream.clone(),
        header: key.header.clone(),
        key: read_secret(&key.file)?,
        allowed: key.allow.clone(),
    })
}

/// Whether this host gives sessions a network of their own, and the role wants a sandbox.
fn may_isolate(home: &Home, role: &Role) -> bool {
    let forced = crate::sandbox_profile::forced(home);
    role.confinement.sandbox != Sandbox::Off
        && forced.is_none_or(|abi| abi.namespaces)
        && probe().has(Ns::Net)
}

/// A path that a socket can have: in the bench, or where that is too deep for one, in a folder of
/// its own under the system's temporary one.
fn socket(bench: &Path, id: FiringId) -> std::io::Result<PathBuf> {
    let path = bench.join("way-out");
    if path.as_os_str().len() <= LONGEST_SOCKET {
        return Ok(path);
    }
    let dir = std::env::temp_dir().join(format!("carson-{id}"));
    // Whoever made it before us is not us.
    std::fs::DirBuilder::new().mode(0o700).create(&dir)?;
    Ok(dir.join("way-out"))
}

/// Writes each host that is refused down, as it is refused.
fn record_refused_hosts(
    firing: &FiringRef<'_>,
    mut news: UnboundedReceiver<HostRefused>,
) -> JoinHandle<()> {
    let (store, clock) = (firing.store().clone(), firing.home.clock.clone());
    let (id, role) = (firing.id, firing.role.name.clone());
    let redactor = firing.home.redactor.clone();
    tokio::spawn(async move {
        while let Some(HostRefused { host, why }) = news.recv().await {
            // A name can carry a secret, as everything that a session says.
            let (host, why) = (redactor.redact(&host), redactor.redact(&why));
            warn!(firing.id = %id, egress.host = %host, "a session was refused a host");
            let event = Event::EgressRefused {
                host: host.into_owned(),
                why: why.into_owned(),
            };
            let noted = store
                .event(&event, Some(&role), Some(id), clock.now())
                .await;
            if let Err(error) = noted {
                warn!(firing.id = %id, %error, "a refused host could not be noted");
            }
        }
    })
}

/// Writes what went where so far.
pub async fn record(firing: &FiringRef<'_>, open: &Proxy) {
    let mut hosts: Vec<EgressHost> = open.egress.counts();
    for host in &mut hosts {
        host.host = firing.redacted(&host.host);
    }
    // Names that differ only in what was taken out of them are one.
    hosts.dedup_by(|next, kept| {
        let same = next.host == kept.host;
        if same {
            kept.allowed += next.allowed;
            kept.refused += next.refused;
            kept.bytes_up += next.bytes_up;
            kept.bytes_down += next.bytes_down;
        }
        same
    });
    let written = firing.as_firing().set_egress(&hosts);
    firing.best_effort("what went where", written).await;
}

/// Ends the proxy: from here on its token opens nothing.
pub async fn end(firing: &FiringRef<'_>, open: Proxy) {
    record(firing, &open).await;
    if let Some(telling) = open.close() {
        // The last of it; a store that does not answer is not worth the firing.
        let _ = tokio::time::timeout(LAST_NEWS, telling).await;
    }
}

/// The variables that a session will have, before there is a proxy.
pub fn foreseen(home: &Home, role: &Role, account: &Account) -> Vec<(&'static str, String)> {
    let rules = rules(home, role, account);
    let local = rules.iter().any(|rules| rules.0.iter().any(Rule::is_local));
    let own_loopback = rules.is_some() && may_isolate(home, role) && !local;
    let api = account.key.as_ref().map(|key| key.api);
    carson_egress::foreseen(rules.is_some(), api, own_loopback)
}
