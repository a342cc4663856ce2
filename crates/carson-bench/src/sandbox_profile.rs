//! What a session reaches: the profile of its sandbox, from the role, the account and the bench.
//!
//! It reads the system, the toolchains on `PATH`, the CLI itself and the mirror's objects; it
//! writes its bench and what its role and its account name. Everything else is simply not granted.
//! Places of credentials stay closed even inside what is.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use carson_config::{Account, Role, Sandbox};
use carson_engine::Access;
use carson_proc::own_program;
use carson_proc::sandbox::{Abi, Demand, Network, Profile, Resources, Ways, probe};

use crate::bench::Bench;
use crate::ground::Ground;
use crate::own_places;
use crate::programs;
use carson_home::Home;
use carson_home::lent_dirs::is_lent;

/// Pretends that the kernel has less, as JSON; for tests, and for an operator who wants to see it.
const FORCE: &str = "CARSON_SANDBOX_FORCE";

/// What a profile is made for.
pub struct Reach<'a> {
    /// The home.
    pub home: &'a Home,
    /// The role.
    pub role: &'a Role,
    /// The account whose CLI runs.
    pub account: &'a Account,
    /// The bench.
    pub bench: &'a Bench,
    /// Carson's own clone of the repository.
    pub mirror: &'a Path,
    /// What the session may do in the worktree.
    pub access: Access,
    /// Whom it may talk to.
    pub network: Network,
    /// Whether it is a session, which has what its role grants: servers and skills. What else runs has not.
    pub is_session: bool,
}

/// Begins to find out, beside everything else, what every profile of this process needs and takes milliseconds: what the
/// kernel can do, the system's secrets, the programs on `PATH`. Each is asked once: who needs it sooner waits for the
/// same answer.
pub fn prepare(home: &Home) {
    let home = home.clone();
    drop(tokio::task::spawn_blocking(move || {
        let _ = probe();
        let _ = Profile::system_secrets();
        if let Some(path) = home.path() {
            let _ = programs::on_path(path, home.user_home.as_deref(), &Ground::of(&home));
        }
    }));
}

impl Reach<'_> {
    /// The profile of such a session, and of the promise.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let limits = &self.role.limits;
        let ground = Ground::of(self.home);
        let mut grants = Grants::on(&ground);
        self.system(&mut grants);
        self.cli(&mut grants);
        if self.is_session {
            self.granted(&mut grants);
        }
        self.bench(&mut grants);
        self.asked(&mut grants);
        self.own(&mut grants);
        let hide = self.hidden(&grants);
        Profile {
            demand: demand(self.role.confinement.sandbox),
            read: grants.needed_reads(&hide),
            write: grants.write.into_iter().collect(),
            hide,
            shared: ground.shared().to_vec(),
            overlays: self.bench.overlays(self.access),
            network: self.network.clone(),
            resources: Resources {
                processes: Some(limits.max_processes.into()),
                file_size_mb: Some(limits.max_file_mb),
                memory_mb: limits.max_memory_mb,
                tree_memory_mb: Resources::usual_tree_memory_mb(),
                ..Resources::default()
            },
            force: forced(self.home),
        }
    }

    fn system(&self, grants: &mut Grants<'_>) {
        grants.read.extend(Profile::system_reads());
        if let Some(path) = self.home.path() {
            let avoid = self.home.user_home.as_deref();
            let places = programs::on_path(path, avoid, grants.ground);
            grants.read.extend(places);
        }
        let rustup = self.home.environ.iter();
        let rustup = rustup.filter(|(name, _)| name == "RUSTUP_HOME");
        for (_, place) in rustup {
            grants.read(PathBuf::from(place));
        }
        if let Some(user_home) = &self.home.user_home {
            grants.read(user_home.join(".rustup"));
        }
    }

    /// The CLI, what it signs in with, and what its account names.
    fn cli(&self, grants: &mut Grants<'_>) {
        let carson = &self.home.program;
        grants.read(carson.clone());
        grants.read(carson.with_file_name("carson-hook"));
        if let Some(program) = self.home.engine_program(self.account) {
            let avoid = self.home.user_home.as_deref();
            let places = programs::places_of_program(&program, avoid, grants.ground);
            grants.read.extend(places);
        }
        if let Some(script) = &self.account.script {
            grants.read(script.clone());
        }
        for arg in self.account.args.iter().map(Path::new) {
            if arg.is_absolute() && arg.is_file() {
                grants.read(arg.to_owned());
            }
        }
        for (name, value) in self.account.env.iter().chain(&self.role.identity) {
            let place = PathBuf::from(value);
            // Of a sign-in's directory it has a copy, in the bench.
            if is_lent(name, value).is_none() && place.is_absolute() && place.is_file() {
                grants.read(place);
            }
        }
    }

    /// Servers, with what they are started from, and skills.
    fn granted(&self, grants: &mut Grants<'_>) {
        if !self.role.servers.is_empty() || !self.role.skills.is_empty() {
            grants.read.insert(self.bench.granted());
            grants.write.insert(self.bench.server_homes());
        }
        let avoid = self.home.user_home.as_deref();
        for server in &self.role.servers {
            let mut words = server.command.iter().map(Path::new);
            let program = words
                .next()
                .and_then(|named| own_program(named, self.home.path()));
            if let Some(program) = program {
                let places = programs::places_of_program(&program, avoid, grants.ground);
                grants.read.extend(places);
            }
            for word in words {
                if word.is_absolute() && word.is_file() {
                    grants.read(word.to_owned());
                }
            }
        }
    }

    fn bench(&self, grants: &mut Grants<'_>) {
        let bench = self.bench;
        grants.read.insert(self.mirror.join("objects"));
        grants.read.insert(bench.hook_settings());
        for place in [
            bench.seen_home(),
            bench.temp(),
            bench.runtime(),
            bench.hook_events(),
            bench.sign_in(),
        ] {
            grants.write.insert(place);
        }
        for place in [bench.seen_tree(), bench.repository()] {
            match self.access {
                Access::Write => grants.write.insert(place),
                Access::Read => grants.read.insert(place),
            };
        }
        if let Some(layered) = bench.layered() {
            // By which git is told what was written.
            grants.read(own_places::who_answers(self.home));
            let upper = layered.overlay.upper.map(|upper| upper.dir);
            grants.read.extend(upper);
            grants.read.extend(layered.overlay.lower);
        }
        // The tree stays a worktree of its own repository, whatever is written in it.
        grants.read.insert(bench.seen_tree().join(".git"));
    }

    fn asked(&self, grants: &mut Grants<'_>) {
        let confinement = &self.role.confinement;
        // Sign-ins, also those of other accounts, and Carson's own keys are granted to nobody, whatever
        // a role asks for.
        let keys = self.home.secret_files().into_iter();
        let keys = keys.flat_map(|key| key.canonicalize().into_iter().chain([key]));
        let kept: Vec<PathBuf> = self.sign_ins().chain(keys).collect();
        let is_free = |path: &&PathBuf| {
            let real = path.canonicalize();
            let real = real.as_ref().unwrap_or(path);
            !kept
                .iter()
                .any(|kept| real.starts_with(kept) || path.starts_with(kept))
        };
        let read = confinement.read.iter().filter(is_free);
        read.for_each(|path| grants.read(path.clone()));
        let write = confinement.write.iter().filter(is_free);
        write.for_each(|path| grants.write(path.clone()));
    }

    /// Carson's own programs, where they lie inside what is written: nobody replaces one of them, or
    /// puts one where there is none yet.
    fn own(&self, grants: &mut Grants<'_>) {
        let programs = own_places::programs(self.home);
        let inside = |dir: &PathBuf| {
            dir.ancestors()
                .skip(1)
                .any(|above| grants.write.contains(above))
        };
        if let Some(programs) = programs.filter(inside) {
            grants.read.insert(programs);
        }
    }

    /// What the fleet's accounts and roles sign in from, by every name.
    fn sign_ins(&self) -> impl Iterator<Item = PathBuf> {
        let fleet = &self.home.fleet;
        let accounts = fleet.accounts.values().flat_map(|account| &account.env);
        let roles = fleet.roles.values().flat_map(|role| &role.identity);
        let kept = accounts
            .chain(roles)
            .filter_map(|(name, value)| Some(is_lent(name, value)?.kept(Path::new(value))));
        kept.flat_map(|place| place.canonicalize().into_iter().chain([place]))
    }

    /// What is never seen, where it lies inside of what is granted.
    fn hidden(&self, grants: &Grants<'_>) -> Vec<PathBuf> {
        let mut places: BTreeSet<PathBuf> = Profile::system_secrets().into_iter().collect();
        places.extend(grants.ground.credentials().iter().cloned());
        let fleet = &self.home.fleet;
        places.extend(self.sign_ins());
        for account in fleet.accounts.values() {
            let sign_ins = account.env.values().map(PathBuf::from);
            places.extend(sign_ins.filter(|place| place.is_absolute()));
        }
        places.insert(fleet.layout.state());
        places.insert(fleet.layout.settings());
        places.extend(self.home.secret_files());
        places.extend(
            own_places::believed(self.home)
                .into_iter()
                .map(|own| own.path),
        );
        let granted: HashSet<&Path> = grants.all().collect();
        places.retain(|place| {
            let mut above = place.ancestors().skip(1);
            let lies_in_a_grant = above.any(|above| granted.contains(above));
            lies_in_a_grant && !granted.contains(place.as_path()) && exists(place)
        });
        places.into_iter().collect()
    }
}

/// The kernel that is pretended, if one is.
pub fn forced(home: &Home) -> Option<Abi> {
    let forced = home.environ.iter().find(|(name, _)| name == FORCE);
    serde_json::from_str(forced?.1.to_str()?).ok()
}

fn demand(sandbox: Sandbox) -> Demand {
    match sandbox {
        Sandbox::Required => Demand::Required,
        Sandbox::BestEffort => Demand::BestEffort,
        Sandbox::Off => Demand::Off,
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Paths, each once.
struct Grants<'g> {
    ground: &'g Ground,
    ways: Ways<'g>,
    read: BTreeSet<PathBuf>,
    write: BTreeSet<PathBuf>,
}

impl<'g> Grants<'g> {
    fn on(ground: &'g Ground) -> Self {
        Self {
            ground,
            ways: Ways::past(ground.shared()),
            read: BTreeSet::new(),
            write: BTreeSet::new(),
        }
    }

    /// What leads elsewhere is granted where it leads, too; what must not lead there is not.
    fn read(&mut self, path: PathBuf) {
        if let Some(real) = self.ground.lead_by(&mut self.ways, &path) {
            self.read.extend([real, path]);
        }
    }

    fn write(&mut self, path: PathBuf) {
        if let Some(real) = self.ground.lead_by(&mut self.ways, &path) {
            self.write.extend([real, path]);
        }
    }

    /// What is read, without what lies in something that is read anyway: each path costs every run a
    /// rule of the kernel's. What lies in something written or hidden is no such thing: there it is
    /// an exception.
    fn needed_reads(&self, hide: &[PathBuf]) -> Vec<PathBuf> {
        // Of a path in both, what differs counts.
        let same = self.read.iter().map(|path| (path.as_path(), true));
        let differ = self.write.iter().chain(hide);
        let differ = differ.map(|path| (path.as_path(), false));
        let places: HashMap<&Path, bool> = same.chain(differ).collect();
        let hidden: HashSet<&Path> = hide.iter().map(PathBuf::as_path).collect();
        let is_implied = |path: &&PathBuf| {
            let mut above = path.ancestors().skip(1);
            let nearest = above.find_map(|dir| places.get(dir));
            nearest == Some(&true) && !hidden.contains(path.as_path())
        };
        let needed = self.read.iter().filter(|path| !is_implied(path));
        needed.cloned().collect()
    }

    fn all(&self) -> impl Iterator<Item = &Path> {
        self.read.iter().chain(&self.write).map(PathBuf::as_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_something_read_needs_no_rule_of_its_own() {
        let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
        let ground = Ground::default();
        let grants = Grants {
            read: paths(&[
                "/t",
                "/t/bin",
                "/t/keys/pub",
                "/t/home/conf",
                "/t/home/conf/x",
                "/u",
            ]),
            write: paths(&["/t/home"]),
            ..Grants::on(&ground)
        };
        let hide = [PathBuf::from("/t/keys")];
        let needed = ["/t", "/t/home/conf", "/t/keys/pub", "/u"].map(PathBuf::from);
        assert_eq!(grants.needed_reads(&hide), needed);
    }
}
