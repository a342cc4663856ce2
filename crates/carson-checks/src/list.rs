//! The list.

use std::pin::Pin;

use carson_config::{Account, Repo, Role};
use carson_notify::Spec;

use crate::{Checked, Machine, Scene, Verdict, checked};
use crate::{
    accounts, agents, clock, command, coverage, database, disk, egress, embedder, forges, given,
    grants, hook, identity, labels, memory, place, promise, remote, sandbox, signing, sinks,
    sinks_of_role, stories, versions, workspaces,
};

/// Whether a firing asks a check, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Never: only `carson doctor` does.
    Never,
    /// At the start of every firing.
    Always,
    /// Once there is work, and before that is claimed.
    WithWork,
    /// In the bench, before the first session.
    InBench,
}

/// One check of the list.
#[derive(Debug)]
pub struct Check {
    /// Its id. `NAME` stands for the account, repository or role that it is about.
    pub id: &'static str,
    /// What it looks at.
    pub about: &'static str,
    /// What usually mends it.
    pub remedy: &'static str,
    /// Whether preflight asks it.
    pub preflight: Asked,
    pub(crate) run: Run,
}

/// `None` is a check that has nothing to look at there.
pub(crate) type Answer<'a> = Pin<Box<dyn Future<Output = Option<Verdict>> + Send + 'a>>;

/// What a check is about, and how it is made.
#[derive(Debug)]
pub(crate) enum Run {
    Machine(for<'a> fn(&'a Machine) -> Answer<'a>),
    /// What matters as long as there are no settings: they name all that is looked at later.
    Bare(fn() -> Verdict),
    /// By who reads the settings.
    Settings,
    Home(for<'a> fn(&'a Scene<'a>) -> Answer<'a>),
    Account(for<'a> fn(&'a Scene<'a>, &'a Account) -> Answer<'a>),
    Role(for<'a> fn(&'a Scene<'a>, &'a Role) -> Answer<'a>),
    Repo(for<'a> fn(&'a Scene<'a>, &'a Repo) -> Answer<'a>),
    Sink(for<'a> fn(&'a Scene<'a>, &'a dyn Spec) -> Answer<'a>),
}

impl Check {
    /// Its id for one account, repository or role.
    pub(crate) fn id_of(&self, name: &str) -> String {
        self.id.replace("NAME", name)
    }

    pub(crate) fn checked(&self, name: &str, verdict: Verdict) -> Checked {
        let usual = match self.run {
            Run::Repo(_) => self.remedy.replace("repos.NAME", &format!("repos.{name}")),
            _ => self.remedy.to_owned(),
        };
        checked(self.id_of(name), verdict, &usual)
    }

    pub(crate) async fn on_machine(&self, machine: &Machine) -> Option<Checked> {
        let Run::Machine(run) = self.run else {
            return None;
        };
        Some(self.checked("", run(machine).await?))
    }

    /// What it finds where there is no home yet.
    pub(crate) fn without_home(&self) -> Option<Checked> {
        let Run::Bare(run) = self.run else {
            return None;
        };
        Some(self.checked("", run()))
    }

    /// What it finds in a home, of everything that the settings name.
    pub(crate) async fn in_home(&self, scene: &Scene<'_>) -> Vec<Checked> {
        let fleet = &scene.home.fleet;
        let mut all = Vec::new();
        match self.run {
            Run::Machine(_) | Run::Settings | Run::Bare(_) => {}
            Run::Home(run) => all.push(("", run(scene).await)),
            Run::Account(run) => {
                for (name, account) in &fleet.accounts {
                    all.push((name.as_str(), run(scene, account).await));
                }
            }
            Run::Role(run) => {
                for (name, role) in &fleet.roles {
                    all.push((name.as_str(), run(scene, role).await));
                }
            }
            Run::Sink(run) => {
                for sink in &fleet.sinks {
                    all.push((sink.name(), run(scene, sink.as_ref()).await));
                }
            }
            Run::Repo(run) => {
                for (name, repo) in &fleet.repos {
                    all.push((name.as_str(), run(scene, repo).await));
                }
            }
        }
        let found = all
            .into_iter()
            .filter_map(|(name, found)| Some((name, found?)));
        found
            .map(|(name, found)| self.checked(name, found))
            .collect()
    }
}

/// The list as a Markdown table.
#[must_use]
pub fn table() -> String {
    let mut text =
        String::from("| id | what is looked at | remedy | preflight |\n|---|---|---|---|\n");
    for check in LIST {
        let asked = match check.preflight {
            Asked::Never => "–",
            Asked::Always => "every firing",
            Asked::WithWork => "with work",
            Asked::InBench => "in the bench",
        };
        let Check {
            id, about, remedy, ..
        } = check;
        text.push_str(&format!("| `{id}` | {about} | {remedy} | {asked} |\n"));
    }
    text
}

macro_rules! checks {
    ($($id:literal, $asked:ident, $about:literal, $remedy:literal, $subject:ident $(($run:expr))?;)+) => {
        &[$(Check {
            id: $id,
            about: $about,
            remedy: $remedy,
            preflight: Asked::$asked,
            run: Run::$subject $(($run))?,
        }),+]
    };
}

/// Every check, in the order in which `carson doctor` prints them and preflight asks them.
pub const LIST: &[Check] = checks![
    "settings", Always,
        "carson.toml and the role files; warnings follow as `settings.KEY`",
        "mend the line that is named; docs/CONFIG.md has every key",
        Settings;
    "git.version", WithWork,
        "git is installed and new enough (2.39)",
        "install git 2.39 or newer, and have it on the daemon's PATH",
        Machine(|machine| Box::pin(versions::git(machine)));
    "agents.installed", Never,
        "the CLI of an agent is on PATH; asked as long as there is no home",
        "install one and sign in with it: docs/engines.md says which versions",
        Bare(agents::found);
    "carson.versions", WithWork,
        "carson and the programs beside it are of one version",
        "install all of them together: the archive's install.sh, the package, or cargo xtask install in a checkout",
        Home(|scene| Box::pin(versions::own(scene)));
    "clock.year", Always,
        "the clock shows a year in which Carson can run",
        "set the clock: timedatectl set-ntp true",
        Machine(|machine| Box::pin(clock::year(machine)));
    "memory.available", Always,
        "memory for one more CLI is left (128 MiB; a warning below 1 GiB)",
        "end what uses the memory, add swap, or lower fleet.max_firings",
        Machine(|_| Box::pin(memory::available()));
    "sandbox.level", Never,
        "the kernel can confine sessions",
        "Linux 6.12 or newer has everything, with landlock in the list of /sys/kernel/security/lsm; until then choose who may file issues with care",
        Machine(|machine| Box::pin(sandbox::walls(machine)));
    "sandbox.namespaces", Never,
        "this user may make the namespaces that sessions get",
        "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0, and no AppArmor restriction of them",
        Machine(|machine| Box::pin(sandbox::namespaces(machine)));
    "sandbox.cgroup", Never,
        "a session can have a control group of its own",
        "run the daemon where a cgroup is delegated: systemd-run --user --scope -p Delegate=yes carson daemon, or Delegate=yes in its unit",
        Machine(|machine| Box::pin(sandbox::cgroup(machine)));
    "sandbox.weaker", Never,
        "what is weaker here than on a full kernel",
        "docs/SECURITY.md says what each of these means",
        Machine(|machine| Box::pin(sandbox::weaker(machine)));
    "workspaces.layers", Never,
        "workspaces cost what is changed in them, not what the repository holds",
        "allow user namespaces and overlayfs in them (Linux 5.11), on a disk with extended attributes; fleet.workspaces = \"copy\" asks for copies",
        Home(|scene| Box::pin(workspaces::layers(scene)));
    "workspaces.stuck", Never,
        "no bench stays because nobody could look into it",
        "`carson status` names them, and `carson prune --discard FIRING` throws one away",
        Home(|scene| Box::pin(workspaces::stuck(scene)));
    "home.private", Never,
        "only its owner can change the home, whose settings name programs to run",
        "chmod go-w on it",
        Home(|scene| Box::pin(place::private(scene)));
    "home.filesystem", Always,
        "the home and its benches lie on a local file system that stays",
        "move CARSON_HOME to a local disk",
        Home(|scene| Box::pin(place::filesystem(scene)));
    "disk.writable", Always,
        "the disk is not mounted read-only",
        "look at the kernel's log, and mount it writable again",
        Home(|scene| Box::pin(disk::writable(scene)));
    "disk.space", Always,
        "more than fleet.min_free_mb is free",
        "make room, or move CARSON_HOME to a larger disk",
        Home(|scene| Box::pin(disk::space(scene)));
    "disk.files", Always,
        "the disk can hold 1,000 more files (inodes)",
        "remove some, or move CARSON_HOME",
        Home(|scene| Box::pin(disk::files(scene)));
    "home.writable", Always,
        "Carson can write where its files go",
        "give the directories to the user who runs Carson, or move CARSON_HOME",
        Home(|scene| Box::pin(place::writable(scene)));
    "database.writable", Always,
        "the database opens, and a row can be written (and is taken back)",
        "check database.url, and that the file is this user's; `carson backup list` shows what there is",
        Home(|scene| Box::pin(database::writable(scene)));
    "clock.order", Never,
        "the clock is not behind the newest row of the database",
        "set the clock: timedatectl set-ntp true; slots go on from what it shows",
        Home(|scene| Box::pin(clock::order(scene)));
    "hook.answers", InBench,
        "the pre-tool-use hook stops what it must and passes what it must",
        "install carson-hook beside carson, with the archive's install.sh, the package, or cargo xtask install in a checkout",
        Home(|scene| Box::pin(hook::answers(scene)));
    "account.NAME.program", Always,
        "the account's CLI is installed",
        "install it, or set accounts.NAME.binary",
        Account(|scene, account| Box::pin(accounts::program(scene, account)));
    "account.NAME.script", WithWork,
        "the script of a rehearsal can be played",
        "mend the file that the account's script names",
        Account(|scene, account| Box::pin(accounts::script(scene, account)));
    "account.NAME.version", WithWork,
        "the CLI is as new as the oldest that was measured",
        "update the CLI",
        Account(|scene, account| Box::pin(versions::cli(scene, account)));
    "account.NAME.sign_in", WithWork,
        "somebody is signed in: a key, a token or the CLI's own file; nobody is asked",
        "sign in with the CLI, or name a key in the account's env or key_file",
        Account(|scene, account| Box::pin(accounts::sign_in(scene, account)));
    "account.NAME.exposure", Never,
        "whether the model's tools can read that sign-in",
        "use a key that Carson holds (key_file)",
        Account(|scene, account| Box::pin(accounts::exposure(scene, account)));
    "role.NAME.grants", Always,
        "what a role's sessions write is nothing that Carson runs or believes",
        "grant only what its sessions need, such as ~/.cargo/registry, or install Carson elsewhere",
        Role(|scene, role| Box::pin(grants::own(scene, role)));
    "role.NAME.identity", InBench,
        "who a role's sessions are to others: what `identity.check` prints is what `identity.expect` says",
        "mend the role's [identity]: its env, or what is expected",
        Role(|scene, role| Box::pin(identity::asked(scene, role)));
    "role.NAME.signing", WithWork,
        "the key that signs the role's commits is there and asks nobody",
        "mend identity.git_sign of the role, or the key: no passphrase, or an agent that holds it",
        Role(|scene, role| Box::pin(signing::works(scene, role)));
    "role.NAME.sandbox", WithWork,
        "a role with sandbox = \"required\" can have it here",
        "sandbox = \"best-effort\", or a kernel that has it",
        Role(|scene, role| Box::pin(sandbox::required(scene, role)));
    "role.NAME.egress", WithWork,
        "the ways out of its sessions can be cut here, and it does not ask for this machine's network",
        "a kernel that permits network namespaces, or has Landlock ABI 4 (Linux 6.7)",
        Role(|scene, role| Box::pin(egress::cut(scene, role)));
    "role.NAME.servers", WithWork,
        "the programs of the MCP servers that a role gives its sessions are there, and their secrets",
        "install the program, or mend [tools.mcp.NAME] of the role",
        Role(|scene, role| Box::pin(given::servers(scene, role)));
    "role.NAME.skills", WithWork,
        "the skills that a role gives its sessions can be copied",
        "mend the folder that is named: a SKILL.md of at most 64 KiB, at most 200 plain files of 2 MiB together",
        Role(|scene, role| Box::pin(given::skills(scene, role)));
    "role.NAME.command", WithWork,
        "the program of a role's command is there, and its walls let it be seen",
        "grant its folder with [paths] read of the role, or install it in the system; a shell says 126 or 127 of a command that it cannot run",
        Role(|scene, role| Box::pin(command::seen(scene, role)));
    "role.NAME.promise", InBench,
        "what says that the work is done can be run on the untouched base",
        "mend promise.run of the role, or the repository's setup: a shell says 126 or 127 of a command that it cannot run",
        Role(|scene, role| Box::pin(promise::runs(scene, role)));
    "role.NAME.coverage", InBench,
        "what measures a tester's coverage runs on the untouched base, and prints an lcov report",
        "mend coverage.run of the role, or the repository's setup: it must exit 0, with the report on standard output",
        Role(|scene, role| Box::pin(coverage::measured(scene, role)));
    "role.NAME.stories", WithWork,
        "the plan of a role that does stories is there, and is right",
        "mend the plan in the repository as its JSON pointer says, or work.file of the role; `carson stories check` says all of it",
        Role(|scene, role| Box::pin(stories::plan(scene, role)));
    "role.NAME.sinks", Always,
        "a steward has a chat that it tells",
        "add [slack] or [webhook] to carson.toml; `carson brief` prints the same here",
        Role(|scene, role| Box::pin(sinks_of_role::heard(scene, role)));
    "role.NAME.label", Never,
        "the repositories have the role's label, and no issue waits with one that looks like it and is no role's",
        "give the issue the role's label, set work.label of the role, or `carson labels bootstrap`",
        Role(|scene, role| Box::pin(labels::carried(scene, role)));
    "repo.NAME.room", WithWork,
        "the disk has room for twice the repository's last checkout, above the floors",
        "make room, or move CARSON_HOME to a larger disk",
        Repo(|scene, repo| Box::pin(disk::checkout(scene, repo)));
    "repo.NAME.include", WithWork,
        "the files that every workspace gets are there",
        "put them where repos.NAME.include says, or take them out of it",
        Repo(|scene, repo| Box::pin(workspaces::include(scene, repo)));
    "repo.NAME.toolchains", WithWork,
        "the programs that name its toolchains are installed, and have an answer",
        "install what is named where the daemon's PATH has it, let repos.NAME.setup install the tools, mend the file that is named, or take it out of repos.NAME.toolchains",
        Repo(|scene, repo| Box::pin(workspaces::toolchains(scene, repo)));
    "repo.NAME.setup", InBench,
        "what makes a checkout ready to work in runs to its end",
        "mend repos.NAME.setup by the log that is named: it is tried again when it, a lock file or a toolchain changes, after an hour, or after `carson workspaces prune`",
        Repo(|scene, repo| Box::pin(workspaces::setup(scene, repo)));
    "repo.NAME.forge", WithWork,
        "issues can be read and written: a token is accepted, has its scopes and may push",
        "renew the token that the forge's section names; GitHub's needs the scope repo",
        Repo(|scene, repo| Box::pin(forges::standing(scene, repo)));
    "repo.NAME.rate", WithWork,
        "the forge still accepts as many requests as a firing makes",
        "this ends by itself; fire less often if it comes back",
        Repo(|scene, repo| Box::pin(forges::rate(scene, repo)));
    "repo.NAME.remote", WithWork,
        "the remote can be read and has the base branch",
        "check repos.NAME.url, repos.NAME.base, the network, and your git credentials",
        Repo(|scene, repo| Box::pin(remote::reachable(scene, repo)));
    "memory.embedder", Never,
        "the program that makes vectors of lessons here, and its model, where `memory.embedder_dir` names it",
        "cargo install --path embedder; docs/MEMORY.md says where the model comes from",
        Home(|scene| Box::pin(embedder::installed(scene)));
    "sink.NAME.answers", Never,
        "the chat takes posts: Slack is asked by `auth.test`, and where people are listened to, for a socket; a webhook is not asked, since whatever is sent there is a post",
        "renew the token or the address in the file that the sink's section names",
        Sink(|scene, sink| Box::pin(sinks::answers(scene, sink)));
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_dotted_words_once_each() {
        let ids: BTreeSet<&str> = LIST.iter().map(|check| check.id).collect();
        assert_eq!(ids.len(), LIST.len());
        for check in LIST {
            let parts = check.id.split('.');
            let word = |part: &str| {
                let plain = |c: char| c.is_ascii_lowercase() || c == '_';
                part == "NAME" || (!part.is_empty() && part.chars().all(plain))
            };
            assert!(parts.into_iter().all(word), "{}", check.id);
            assert!(!check.remedy.is_empty() && !check.about.contains('|'));
        }
    }

    #[test]
    fn the_documented_table_is_this_list() {
        let page = include_str!("../../../docs/CHECKS.md");
        assert!(
            page.contains(&table()),
            "docs/CHECKS.md must hold:\n{}",
            table()
        );
    }
}
