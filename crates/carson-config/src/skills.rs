//! Skills of a role: folders with a `SKILL.md`, in the role's own folder or wherever `[tools] skills` says.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::check::Check;
use crate::confine::too_much;
use crate::paths::Paths;

/// Most skills of a role.
const MOST: usize = 16;
/// Longest name.
const NAME: usize = 64;

/// A skill of a role: its sessions have a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// Its name: that of its folder.
    pub name: String,
    /// The folder.
    pub dir: PathBuf,
}

/// Those in the role's own folder, and those that are named, in the order of their names.
pub(crate) fn skills(
    named: &[String],
    role: &str,
    at: &Paths<'_>,
    check: &mut Check<'_>,
) -> Vec<Skill> {
    const KEY: &str = "tools.skills";
    let mut skills = own(&at.home.join("roles").join(role).join("skills"));
    for (place, text) in named.iter().enumerate() {
        let key = format!("{KEY}.{place}");
        let dir = at.expand(text);
        let wide = too_much(&dir, at).filter(|_| !is_ours(&dir, at));
        let name = dir
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        match (wide, name.filter(|name| is_name(name))) {
            (Some(why), _) => {
                check.problem(&key, format!("{text:?} {why}"), "name one skill's folder");
            }
            (None, None) => {
                let problem = format!("the folder {text:?} has no name of a skill");
                let hint = format!("small letters, digits and -, at most {NAME}");
                check.problem(&key, problem, &hint);
            }
            (None, Some(name)) if skills.iter().any(|known| known.name == name) => {
                let problem = format!("the role has another skill {name:?}");
                check.problem(&key, problem, "rename one of the folders");
            }
            (None, Some(name)) => skills.push(Skill { name, dir }),
        }
    }
    if skills.len() > MOST {
        let problem = format!("{} skills are too many", skills.len());
        check.problem(KEY, problem, &format!("at most {MOST}"));
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    skills
}

/// What lies in Carson's home is closed to sessions; a folder of settings there may be copied for them.
fn is_ours(dir: &Path, at: &Paths<'_>) -> bool {
    let upwards = dir
        .components()
        .any(|part| matches!(part, std::path::Component::ParentDir));
    dir.starts_with(at.home)
        && !dir.starts_with(at.home.join("state"))
        && dir != at.home
        && !upwards
}

/// Every folder there with a name of a skill.
fn own(dir: &Path) -> Vec<Skill> {
    let found = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let dirs = found.filter(|one| one.file_type().is_ok_and(|kind| kind.is_dir()));
    let named = dirs.filter_map(|one| {
        let name = one.file_name().into_string().ok()?;
        is_name(&name).then(|| Skill {
            name,
            dir: one.path(),
        })
    });
    // More are refused anyway.
    named.take(MOST + 1).collect()
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=NAME).contains(&name.len()) && name.bytes().all(plain)
}
