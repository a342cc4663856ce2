//! `carson init`

use std::io::IsTerminal;
use std::path::Path;

use carson_config::shipped_roles;
use carson_core::EngineKind;
use carson_forge::OPENERS;
use serde_json::json;

use crate::app::App;
use crate::args::Init;
use crate::commands::proposed_setup::{Proposal, proposed};
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, args: &Init) -> Result<u8, CommandError> {
    let settings = app.layout.settings();
    if settings.exists() {
        return Err(
            CommandError::failed(format!("{} exists already", settings.display()))
                .hint("edit it, or choose another home with --home"),
        );
    }
    let repo = match &args.repo {
        Some(repo) => repo.clone(),
        None => ask(args)?,
    };
    let url = absolute(&repo)?;
    let name = repo_name(&url);
    app.layout.create().map_err(not_writable)?;
    let role = app.layout.roles().join("implementer/role.toml");
    write(&settings, &settings_text(args, &url, &name)).map_err(not_writable)?;
    let written = write_role(app, &name, args.engine).and_then(|()| app.load().map(drop));
    if let Err(error) = written {
        // What was written is held against the same checks as what people write; half a home
        // would be in the way of the next try.
        let _ = std::fs::remove_file(&settings);
        return Err(error.hint("nothing was kept: run it again with other options"));
    }
    if app.json {
        print::json(&json!({"home": app.layout.root, "settings": settings, "role": role}));
        return Ok(0);
    }
    print::line(&format!("home: {}", app.layout.root.display()));
    print::line(&format!("settings: {}", settings.display()));
    print::line(&format!("role: {}", role.display()));
    let proposal = proposed(Path::new(&url));
    if !proposal.setup.is_empty() {
        print::line(&format!(
            "setup: {} would make workspaces ready to work in; the settings have it behind a #",
            proposal.setup.join("; ")
        ));
    }
    print::line("next:");
    let carson = app.called();
    for rest in [
        "issue create \"What is to be done\"",
        "fire implementer --dry-run",
        "fire implementer",
        "daemon",
    ] {
        print::line(&format!("  {carson} {rest}"));
    }
    Ok(0)
}

fn not_writable(error: std::io::Error) -> CommandError {
    CommandError::from(error)
        .hint("check that the home can be written, or choose another with --home")
}

fn ask(args: &Init) -> Result<String, CommandError> {
    let missing =
        || CommandError::usage("which repository?").hint("carson init --repo PATH_OR_URL");
    if args.yes || !std::io::stdin().is_terminal() {
        return Err(missing());
    }
    print::line("Repository (a path, or an address that git understands):");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let answer = answer.trim();
    if answer.is_empty() {
        Err(missing())
    } else {
        Ok(answer.to_owned())
    }
}

/// A path becomes absolute; an address stays.
fn absolute(repo: &str) -> Result<String, CommandError> {
    let path = Path::new(repo);
    if path.is_dir() {
        if !path.join(".git").exists() && !path.join("HEAD").is_file() {
            return Err(
                CommandError::usage(format!("{repo:?} is not a git repository"))
                    .hint("name the directory that has .git in it, or run `git init` there"),
            );
        }
        return Ok(path.canonicalize()?.to_string_lossy().into_owned());
    }
    let is_address = repo.contains("://") || repo.contains('@') && repo.contains(':');
    if is_address {
        return Ok(repo.to_owned());
    }
    Err(
        CommandError::usage(format!("{repo:?} is neither a directory nor an address"))
            .hint("carson init --repo ~/src/widget, or --repo git@host:owner/name.git"),
    )
}

fn repo_name(url: &str) -> String {
    let last = url
        .trim_end_matches('/')
        .rsplit(['/', ':'])
        .next()
        .unwrap_or_default();
    let name: String = last
        .trim_end_matches(".git")
        .to_lowercase()
        .chars()
        .map(|c| {
            if c.is_ascii_lowercase() || c.is_ascii_digit() {
                c
            } else {
                '-'
            }
        })
        .take(40)
        .collect();
    let name = name.trim_matches('-');
    if name.is_empty() {
        "repo".to_owned()
    } else {
        name.to_owned()
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn settings_text(args: &Init, url: &str, name: &str) -> String {
    let mut text = format!(
        "# Every key is described in docs/CONFIG.md; `carson config check` finds mistakes.\n\
         [fleet]\nname = \"home\"\nzone = \"UTC\"          # IANA; roles may override\n\
         max_firings = 2        # at once on this host\n\n\
         [repos.{name}]\nurl = {}\nbase = {}\n",
        quoted(url),
        quoted(&args.base),
    );
    text.push_str(&setup_text(&proposed(Path::new(url)), url));
    text.push_str(&forge_text(args));
    let engine = args.engine;
    text.push_str(&format!("\n[accounts.{engine}]\nengine = \"{engine}\"\n"));
    if let Some((variable, dir)) = engine.facts().sign_in_dir {
        let comment = "   # how this account signs in";
        text.push_str(&format!(
            "env = {{ {variable} = {} }}{comment}\n",
            quoted(dir)
        ));
    }
    text
}

/// What would make workspaces ready to work in, for the operator to decide.
fn setup_text(proposal: &Proposal, url: &str) -> String {
    let listed = |all: &[String]| {
        let all: Vec<String> = all.iter().map(|one| quoted(one)).collect();
        format!("[{}]", all.join(", "))
    };
    let mut text = String::new();
    if !proposal.setup.is_empty() {
        let (by, lines) = (&proposal.by, listed(&proposal.setup));
        text.push_str(&format!(
            "# Without the # every workspace is ready to work in ({by}; docs/WORKSPACES.md):\n# setup = {lines}\n"
        ));
    }
    if !proposal.include.is_empty() {
        let (from, files) = (quoted(url), listed(&proposal.include));
        text.push_str(&format!(
            "# include = {{ from = {from}, files = {files} }}\n"
        ));
    }
    text
}

fn forge_text(args: &Init) -> String {
    let forge = &args.forge;
    let opener = OPENERS.iter().find(|opener| opener.name == forge);
    match (&args.slug, opener.filter(|opener| opener.section.is_some())) {
        (Some(slug), Some(opener)) => {
            let (slug, sample) = (quoted(slug), opener.sample);
            format!("forge = \"{forge}\"\nslug = {slug}\n\n[{forge}]\n{sample}\n")
        }
        _ => {
            let comment = "issues and pull requests as files, under forge/";
            format!("forge = \"{forge}\"        # {comment}\n")
        }
    }
}

fn write_role(app: &App, repo: &str, engine: EngineKind) -> Result<(), CommandError> {
    let Some(role) = shipped_roles().first() else {
        return Ok(());
    };
    let dir = app.layout.roles().join(role.name);
    std::fs::create_dir_all(&dir)?;
    // A role that lies there already is the operator's own.
    let missing = |file: &str| file == "role.toml" && !dir.join(file).exists();
    for (file, text) in role.files.iter().filter(|(file, _)| missing(file)) {
        let text = text
            .replace("repos   = []", &format!("repos   = [{}]", quoted(repo)))
            .replace("engines = []", &format!("engines = [\"{engine}\"]"));
        write(&dir.join(file), &text)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_get_names() {
        assert_eq!(repo_name("git@github.com:acme/Widget.git"), "widget");
        assert_eq!(repo_name("/srv/my repo/"), "my-repo");
        assert_eq!(repo_name("///"), "repo");
    }
}
