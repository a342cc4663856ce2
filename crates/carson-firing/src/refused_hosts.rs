//! Which hosts Carson refused to a program behind the walls, for whoever reads how that failed: a package manager tells the
//! refusal as an answer of the registry.

use std::collections::BTreeMap;

use carson_bench::proxy::Proxy;

use crate::ctx::Ctx;
use crate::record::Record;

/// Hosts that are told by name.
const TOLD: usize = 3;

/// How often each host was refused, before a program begins.
pub(crate) struct RefusedHosts(BTreeMap<String, u64>);

impl RefusedHosts {
    pub(crate) fn so_far(rec: &Record) -> Self {
        Self(rec.proxy.as_ref().map(Proxy::refused).unwrap_or_default())
    }

    /// A line about those that were refused since then; nothing where there are none.
    pub(crate) fn since(&self, ctx: &Ctx<'_>, rec: &Record) -> String {
        let now = Self::so_far(rec);
        let words = in_words(&self.0, &now.0, ctx.role.name.as_str());
        words.map_or_else(String::new, |words| ctx.redacted(&words))
    }
}

fn in_words(
    before: &BTreeMap<String, u64>,
    now: &BTreeMap<String, u64>,
    role: &str,
) -> Option<String> {
    let more = |(host, times): &(&String, &u64)| before.get(*host) < Some(*times);
    let hosts: Vec<&str> = now
        .iter()
        .filter(more)
        .map(|(host, _)| host.as_str())
        .collect();
    let rest = match hosts.len().saturating_sub(TOLD) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let told = hosts.get(..TOLD).unwrap_or(&hosts).join(", ");
    (!hosts.is_empty()).then(|| {
        format!(
            "Carson let it not connect to {told}{rest}: `egress` of role {role} does not allow it\n"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(all: &[(&str, u64)]) -> BTreeMap<String, u64> {
        let owned = all.iter().map(|(host, times)| ((*host).to_owned(), *times));
        owned.collect()
    }

    #[test]
    fn what_was_refused_meanwhile_is_told_and_nothing_else() {
        let before = hosts(&[("a:443", 2), ("b:443", 1)]);
        assert_eq!(in_words(&before, &before, "r"), None);
        let now = hosts(&[("a:443", 3), ("b:443", 1), ("c:80", 1)]);
        let told = in_words(&before, &now, "r").unwrap();
        assert!(
            told.contains("to a:443, c:80: `egress` of role r"),
            "{told}"
        );
        let many = hosts(&[("a:1", 9), ("c:1", 1), ("d:1", 1), ("e:1", 1), ("f:1", 1)]);
        let told = in_words(&BTreeMap::new(), &many, "r").unwrap();
        assert!(told.contains("a:1, c:1, d:1 and 2 more:"), "{told}");
    }
}
