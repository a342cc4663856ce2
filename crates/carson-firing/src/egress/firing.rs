//! The proxy of a firing: begun with its bench, asked for its counts after every run, ended with
//! its last session.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use carson_config::{Account, NetworkUse, Role, Sandbox};
use carson_core::FiringId;
use carson_core::egress::{Allowlist, Rule};
use carson_core::settle::Halt;
use carson_proc::sandbox::{Network, Ns, probe};
use carson_store::EgressHost;
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tracing::warn;

use super::default_rules::default_rules;
use super::doorstep::Doorstep;
use super::{Bounds, Egress, HostRefused, Plan, Provider, Resolver, variables};
use crate::firing::Firing;
use crate::household::Household;
use crate::stages::OrBroken;

/// The longest path of a socket, with something to spare: the kernel takes 107 bytes.
const LONGEST_SOCKET: usize = 104;

/// How long the last refusals may take to be written.
const LAST_NEWS: Duration = Duration::from_secs(2);

/// A firing's proxy, if it has one.
#[derive(Default)]
pub(crate) struct WayOut(Mutex<Option<Arc<Open>>>);

struct Open {
    egress: Arc<Egress>,
    /// Whether everything must go through it.
    only: bool,
    /// Waits for the listeners of sessions with a network of their own.
    doorstep: Option<Doorstep>,
    telling: Mutex<Option<JoinHandle<()>>>,
}

impl WayOut {
    fn get(&self) -> Option<Arc<Open>> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone()
    }

    /// What a session's environment says of the proxy.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let open = self.get();
        open.map_or_else(Vec::new, |open| {
            open.egress.variables(open.doorstep.is_some())
        })
    }

    /// Whom a session of this role may talk to.
    pub(crate) fn network(&self, role: &Role) -> Network {
        match (self.get(), role.confinement.network) {
            (Some(open), _) if open.only => network(&open.egress, open.doorstep.as_ref()),
            (_, NetworkUse::Own) => Network::Shared,
            (_, NetworkUse::Host) => Network::Open,
        }
    }
}

/// The network of who may talk to the proxy only.
pub(super) fn network(egress: &Egress, doorstep: Option<&Doorstep>) -> Network {
    match doorstep {
        Some(doorstep) => Network::Isolated {
            proxy: egress.port(),
            socket: doorstep.path().to_owned(),
        },
        None => Network::Ports(vec![egress.port()]),
    }
}

/// What the sessions of a role may connect to through the proxy: its list, or without one
/// everything but this machine, where that can be kept apart. `None` when nothing must go through
/// it.
fn rules(house: &Household, role: &Role, account: &Account) -> Option<Allowlist> {
    let own = role.confinement.network == NetworkUse::Own;
    let default = || (own && may_isolate(house, role)).then(|| default_rules(house, role, account));
    role.egress.clone().or_else(default)
}

/// Begins the proxy that a firing needs, if it needs one.
pub(crate) fn begin(firing: &Firing<'_>, account: &Account, bench: &Path) -> Result<(), Halt> {
    let role = firing.role;
    let rules = rules(firing.house, role, account);
    // Without rules and without a key nothing would go through it.
    if rules.is_none() && account.key.is_none() {
        return Ok(());
    }
    let only = rules.is_some();
    let provider = account.key.as_ref().map(Provider::of).transpose();
    let egress = Egress::open(Plan {
        rules,
        provider: provider.map_err(|error| Halt::Broken(error.to_string()))?,
        resolver: Resolver::system(),
        bounds: Bounds {
            total: firing.remaining() + Duration::from_secs(60),
            ..Bounds::default()
        },
    });
    let egress = Arc::new(egress.map_err(|error| Halt::Broken(error.to_string()))?);
    let doorstep = (only && may_isolate(firing.house, role))
        .then(|| Doorstep::at(&socket(bench, firing.id)?, &egress));
    let open = Open {
        telling: Mutex::new(egress.news().map(|news| tell(firing, news))),
        doorstep: doorstep
            .transpose()
            .or_broken("making the proxy's socket")?,
        egress,
        only,
    };
    let mut slot = firing
        .way_out
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    *slot = Some(Arc::new(open));
    Ok(())
}

/// Whether this host gives sessions a network of their own, and the role wants a sandbox.
fn may_isolate(house: &Household, role: &Role) -> bool {
    // A kernel does not change while we run.
    static HAS_NETWORKS: OnceLock<bool> = OnceLock::new();
    let forced = crate::reach::forced(house);
    role.confinement.sandbox != Sandbox::Off
        && forced.is_none_or(|abi| abi.namespaces)
        && *HAS_NETWORKS.get_or_init(|| probe().has(Ns::Net))
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
fn tell(firing: &Firing<'_>, mut news: UnboundedReceiver<HostRefused>) -> JoinHandle<()> {
    let (store, clock) = (firing.store().clone(), firing.house.clock.clone());
    let (id, role) = (firing.id, firing.role.name.clone());
    let redactor = firing.house.redactor.clone();
    tokio::spawn(async move {
        while let Some(HostRefused { host, why }) = news.recv().await {
            // A name can carry a secret, as everything that a session says.
            let (host, why) = (redactor.redact(&host), redactor.redact(&why));
            warn!(firing.id = %id, egress.host = %host, "a session was refused a host");
            let data = json!({ "host": host, "why": why });
            let now = clock.now();
            let noted = store
                .event("egress.refused", Some(&role), Some(id), &data, now)
                .await;
            if let Err(error) = noted {
                warn!(firing.id = %id, %error, "a refused host could not be noted");
            }
        }
    })
}

/// Writes what went where so far.
pub(crate) async fn record(firing: &Firing<'_>) {
    let Some(open) = firing.way_out.get() else {
        return;
    };
    let redactor = &firing.house.redactor;
    let mut hosts: Vec<EgressHost> = open.egress.counts();
    for host in &mut hosts {
        host.host = redactor.redact(&host.host).into_owned();
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
    if let Err(error) = firing.store().set_egress(firing.id, &hosts).await {
        warn!(firing.id = %firing.id, %error, "what went where could not be noted");
    }
}

/// Ends the proxy: from here on its token opens nothing.
pub(crate) async fn end(firing: &Firing<'_>) {
    record(firing).await;
    let taken = {
        let mut slot = firing
            .way_out
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        slot.take()
    };
    let Some(open) = taken else {
        return;
    };
    let telling = {
        let mut telling = open.telling.lock().unwrap_or_else(PoisonError::into_inner);
        telling.take()
    };
    drop(open);
    if let Some(telling) = telling {
        // The last of it; a store that does not answer is not worth the firing.
        let _ = tokio::time::timeout(LAST_NEWS, telling).await;
    }
}

/// The variables that a session will have, before there is a proxy.
pub(crate) fn foreseen(
    house: &Household,
    role: &Role,
    account: &Account,
) -> Vec<(&'static str, String)> {
    let rules = rules(house, role, account);
    let local = rules.iter().any(|rules| rules.0.iter().any(Rule::is_local));
    let own_loopback = rules.is_some() && may_isolate(house, role) && !local;
    let api = account.key.as_ref().map(|key| key.api);
    variables::foreseen(rules.is_some(), api, own_loopback)
}
