//! What Carson itself runs or believes, outside of every wall: no session may write there, whatever a
//! role grants.

use std::path::{Path, PathBuf};

use carson_home::Home;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPlace {
    /// Where it lies, without links.
    pub path: PathBuf,
    /// What it is, for the operator.
    pub what: &'static str,
}

/// The directory of Carson's own programs: the service manager starts one from there, and they start
/// each other.
pub fn programs(home: &Home) -> Option<PathBuf> {
    home.program.parent()?.canonicalize().ok()
}

/// The program that names what was written above layers: the smaller one, where it is there.
pub(crate) fn who_answers(home: &Home) -> PathBuf {
    let small = home.program.with_file_name("carson-launch");
    match small.is_file() {
        true => small,
        false => home.program.clone(),
    }
}

/// What sessions are given and Carson takes from the operator's own places: programs of MCP servers, which see
/// secrets, and skills.
pub fn lent(home: &Home) -> Vec<OwnPlace> {
    let roles = home.fleet.roles.values();
    let given = roles.flat_map(|role| {
        let words = role.servers.iter().flat_map(|server| &server.command);
        let files = words
            .map(PathBuf::from)
            .filter(|word| word.is_absolute() && word.is_file());
        let files = files.map(|file| (file, "what an MCP server runs"));
        files.chain(
            role.skills
                .iter()
                .map(|skill| (skill.dir.clone(), "a skill")),
        )
    });
    let found = given.filter_map(|(path, what)| {
        let path = path.canonicalize().ok()?;
        Some(OwnPlace { path, what })
    });
    found.collect()
}

/// What Carson believes: settings, also where a link leads to them, and the repositories of this
/// machine that it pushes to, whose hooks run as the operator.
pub fn believed(home: &Home) -> Vec<OwnPlace> {
    let layout = &home.fleet.layout;
    let mut found = Vec::new();
    let mut add = |path: &Path, what| {
        found.extend(path.canonicalize().map(|path| OwnPlace { path, what }));
    };
    add(&layout.settings(), "settings");
    add(&layout.roles(), "roles");
    for role in home.fleet.roles.keys() {
        let dir = layout.role(role);
        add(&dir, "a role");
        let files = std::fs::read_dir(&dir).into_iter().flatten().flatten();
        files.for_each(|file| add(&file.path(), "a role's settings and prompts"));
    }
    for repo in home.fleet.repos.values() {
        let path = Path::new(repo.url.strip_prefix("file://").unwrap_or(&repo.url));
        if path.is_absolute() {
            add(path, "a repository that Carson pushes to");
        }
    }
    found
}
