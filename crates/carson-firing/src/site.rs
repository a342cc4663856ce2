//! Where something of the operator's runs in a repository before any session: a setup, or who is asked for
//! toolchains.

use std::ffi::OsString;

use carson_bench::bench::Bench;
use carson_bench::environment::{From, Wanted};
use carson_bench::proxy::Proxy;
use carson_config::Repo;
use carson_core::settle::Halt;
use carson_core::work::WorkKey;
use carson_git::{Mirror, Oid};

use crate::ctx::Ctx;
use crate::record::Record;

/// The branch of a setup's own workspace.
pub(crate) const BRANCH: &str = "carson/setup";

/// Where a setup runs.
#[derive(Clone, Copy)]
pub(crate) struct Site<'s> {
    pub repo: &'s Repo,
    pub mirror: &'s Mirror,
    pub base: &'s Oid,
    /// The firing's bench.
    pub bench: &'s Bench,
}

/// That of a session, but for what it signs in with.
pub(crate) fn environment(
    ctx: &Ctx<'_>,
    rec: &Record,
    site: &Site<'_>,
    bench: &Bench,
) -> Result<Vec<(OsString, OsString)>, Halt> {
    let variables = bench.variables(&Wanted {
        home: ctx.home,
        id: ctx.id,
        role: ctx.role,
        account: rec.required_account(ctx)?,
        repo: &site.repo.name,
        protected: &site.repo.protected,
        work: WorkKey::None,
        branch: BRANCH,
        attempt: 0,
        egress: rec.proxy.as_ref().map_or_else(Vec::new, Proxy::variables),
        toolchains: &rec.toolchains,
    });
    let signs_in = |from| matches!(from, From::Account | From::SignIn | From::Identity);
    let plain = variables.into_iter().filter(|one| !signs_in(one.from));
    Ok(plain.map(|one| (one.name, one.value)).collect())
}
