//! `[metrics]`: where the daemon tells its numbers and traces, and whether it lives and is ready.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::forms::{Address, Maybe};

/// Where the daemon tells its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Names under which others than this machine itself ask there, in small letters.
    pub hosts: Vec<String>,
}

/// `[metrics]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MetricsSection {
    /// The address at which the daemon serves `/metrics`, `/healthz` and `/readyz` over HTTP, without a
    /// password; it serves none without it. Where others than this machine reach it, `hosts` is required.
    #[serde(with = "Maybe::<Address>")]
    #[schemars(extend("examples" = ["127.0.0.1:9420"]))]
    pub listen: Option<SocketAddr>,
    /// Names or addresses, without a port, under which other machines ask there. A request that says another
    /// one is refused: a web page could make a name of its own lead here.
    #[schemars(extend("examples" = [["attic.lan"]]))]
    pub hosts: Vec<String>,
    /// Where ended firings are told as traces: an address that takes OTLP over HTTP as JSON. A firing is a trace and each of
    /// its stages a span; nothing is told without it.
    #[schemars(extend("examples" = ["http://127.0.0.1:4318/v1/traces"]))]
    pub traces_to: Option<String>,
}

/// Where ended firings are told as traces.
pub(crate) fn traces_to(raw: &MetricsSection, check: &mut Check<'_>) -> Option<String> {
    let address = raw.traces_to.clone()?;
    let is_web = url::Url::parse(&address).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.host().is_some() && url.password().is_none()
    });
    if !is_web {
        let hint = "traces_to = \"http://127.0.0.1:4318/v1/traces\"";
        let problem = "it is no web address, or has a password in it";
        check.problem("metrics.traces_to", problem, hint);
    }
    is_web.then_some(address)
}

pub(crate) fn metrics(raw: MetricsSection, check: &mut Check<'_>) -> Option<Metrics> {
    let mut hosts = Vec::new();
    for (at, host) in raw.hosts.into_iter().enumerate() {
        if is_host(&host) {
            hosts.push(host.to_ascii_lowercase());
        } else {
            let problem = format!("{host:?} is neither a name nor an address");
            let hint = "write it without a scheme, a port and a path: \"attic.lan\"";
            check.problem(&format!("metrics.hosts.{at}"), problem, hint);
        }
    }
    let Some(listen) = raw.listen else {
        if !hosts.is_empty() {
            let warning = "without listen nothing is served, and hosts means nothing";
            check.warning("metrics", warning, "listen = \"127.0.0.1:9420\"");
        }
        return None;
    };
    if !listen.ip().is_loopback() && hosts.is_empty() {
        let problem = format!("other machines reach {listen}, and whoever does reads the numbers");
        let hint = "listen = \"127.0.0.1:9420\", or say under which names they may ask: \
                    hosts = [\"attic.lan\"]";
        check.problem("metrics.listen", problem, hint);
    }
    Some(Metrics { listen, hosts })
}

/// A name, or an address as it stands in `Host`, in brackets where it has colons.
fn is_host(text: &str) -> bool {
    let inner = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Some(inner) = inner {
        return inner.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    !text.is_empty() && text.len() <= 253 && text.bytes().all(fits)
}
