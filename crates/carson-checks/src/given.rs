//! Whether what a role gives its sessions beside their CLI's own tools is there.

use std::path::Path;

use carson_bench::skill_files::SkillFiles;
use carson_config::{McpServer, Role, read_secret};
use carson_home::Home;
use carson_proc::own_program;

use crate::{Scene, Verdict};

/// Programs and secrets of MCP servers. What a program answers is not asked: it runs in the sandbox of a session alone.
pub(crate) async fn servers(scene: &Scene<'_>, role: &Role) -> Option<Verdict> {
    if role.servers.is_empty() {
        return None;
    }
    let mut wrong = role
        .servers
        .iter()
        .filter_map(|server| unfit(scene.home, server));
    Some(match wrong.next() {
        Some(why) => Verdict::error(why),
        None => {
            let told: Vec<String> = role.servers.iter().map(told).collect();
            Verdict::ok(told.join("; "))
        }
    })
}

fn told(server: &McpServer) -> String {
    let program = server.command.first().map_or("", String::as_str);
    format!("{} ({program}): {}", server.name, server.tools.join(", "))
}

fn unfit(home: &Home, server: &McpServer) -> Option<String> {
    let McpServer {
        name,
        command,
        secrets,
        ..
    } = server;
    let program = command.first().map(String::as_str).unwrap_or_default();
    if own_program(Path::new(program), home.path()).is_none() {
        return Some(format!(
            "the MCP server {name}: {program:?} is not on PATH, or lies where sessions write"
        ));
    }
    let mut unread = secrets.values().filter_map(|file| read_secret(file).err());
    unread
        .next()
        .map(|error| format!("the MCP server {name}: {error}"))
}

/// Skills.
pub(crate) async fn skills(_: &Scene<'_>, role: &Role) -> Option<Verdict> {
    if role.skills.is_empty() {
        return None;
    }
    let (mut names, mut left_out) = (Vec::new(), 0);
    for skill in &role.skills {
        match SkillFiles::of(&skill.dir) {
            Err(why) => {
                let dir = skill.dir.display();
                return Some(Verdict::error(format!(
                    "the skill {} ({dir}): {why}",
                    skill.name
                )));
            }
            Ok(files) => left_out += files.left_out,
        }
        names.push(skill.name.as_str());
    }
    let names = names.join(", ");
    Some(match left_out {
        0 => Verdict::ok(names),
        more => {
            let found = format!("{names}; sessions do not get the {more} links in them");
            Verdict::warning(found).mend("put files in the place of the links")
        }
    })
}
