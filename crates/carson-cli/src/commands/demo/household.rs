//! The demo's home: settings, roles and issues.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use carson_core::{EngineKind, Outcome};
use carson_forge::{Forge, LocalForge, NewIssue};

use super::{accounts, crew, repository};
use crate::args::Demo;
use crate::error::CommandError;

/// One role of the demo: name, title, cadence, account, what else its file says, its issue, and the
/// ends that it has to come to before all is shown: without them any.
struct Part {
    role: &'static str,
    title: &'static str,
    cadence: &'static str,
    account: &'static str,
    more: &'static str,
    issue: &'static str,
    ends: &'static [Outcome],
}

const fn part(
    role: &'static str,
    title: &'static str,
    cadence: &'static str,
    issue: &'static str,
) -> Part {
    Part {
        role,
        title,
        cadence,
        account: "play",
        more: "",
        issue,
        ends: &[],
    }
}

/// The rehearsed household. The numbers of the issues are the order here; the script knows them.
const PARTS: [Part; 8] = [
    part(
        "butler",
        "Butler",
        "*/5 * * * * *",
        "Greet the owner in the evening",
    ),
    Part {
        more: "[promise]\nrun = \"grep -q 12 silver.txt\"\ntimeout = \"5s\"\n",
        ..part("footman", "Footman", "1-59/6 * * * * *", "Count the silver")
    },
    Part {
        ends: &[Outcome::NoCommit, Outcome::Ok],
        ..part("cook", "Cook", "2-59/6 * * * * *", "Write the menu")
    },
    part(
        "porter",
        "Porter",
        "3-59/7 * * * * *",
        "List the spare keys",
    ),
    part("maid", "Maid", "4-59/7 * * * * *", "Tidy the cellar"),
    Part {
        more: "[limits]\nwall_clock = \"5s\"\n",
        ..part(
            "clockmaker",
            "Clockmaker",
            "5-59/9 * * * * *",
            "Mend the clock",
        )
    },
    Part {
        account: "tired",
        ..part("gardener", "Gardener", "2-59/8 * * * * *", "Cut the hedge")
    },
    Part {
        account: "tired",
        ..part("groom", "Groom", "*/10 * * * * *", "Feed the horses")
    },
];

/// The work that a real engine is given.
const REAL: [Part; 2] = [
    part(
        "butler",
        "Butler",
        "*/5 * * * * *",
        "Add a file greet.txt that says: Good evening.",
    ),
    part(
        "cook",
        "Cook",
        "2-59/5 * * * * *",
        "Add a section \"Menu\" with three dishes to README.md",
    ),
];

/// What the sample repository has.
const SAMPLE: [(&str, &str); 1] = [("README.md", "# A house\n\nKept by Carson.\n")];

fn parts(engine: EngineKind) -> &'static [Part] {
    match engine.facts().plays_script {
        true => &PARTS,
        false => &REAL,
    }
}

/// The ends that a role has to come to before all is shown.
pub fn ends(engine: EngineKind, role: &str) -> &'static [Outcome] {
    let part = parts(engine).iter().find(|part| part.role == role);
    part.map_or(&[], |part| part.ends)
}

/// Makes everything below `root`; the repository is the sample, or a copy of the given one.
pub async fn make(root: &Path, args: &Demo) -> Result<PathBuf, CommandError> {
    let remote = root.join("remote.git");
    match &args.repo {
        Some(repo) => repository::copy(repo, &remote).await?,
        None => repository::sample(&root.join("seed"), &SAMPLE, &remote).await?,
    }
    let base = repository::head_of(&remote).await?;
    let home = root.join("home");
    let script = home.join("play.toml");
    std::fs::create_dir_all(&home)?;
    std::fs::write(&script, include_str!("../../../demo/play.toml"))?;
    let mut sections = accounts::sections(args.engine, &script);
    if args.engine.facts().plays_script {
        sections.push_str(&crew::make(root, &home).await?);
    }
    // It may hold a key out of the operator's environment.
    let mut file = OpenOptions::new();
    file.create_new(true).write(true).mode(0o600);
    let mut file = file.open(home.join("carson.toml"))?;
    file.write_all(format!("{}{sections}", settings(&remote, &base)).as_bytes())?;
    let forge = Forge::of(LocalForge::at(home.join("forge/sample")));
    for part in parts(args.engine) {
        let dir = home.join("roles").join(part.role);
        std::fs::create_dir_all(&dir)?;
        std::fs::write(dir.join("role.toml"), role(part, args.engine))?;
        forge
            .create_issue(&NewIssue {
                title: part.issue.to_owned(),
                body: "Please.".to_owned(),
                labels: vec![format!("for:{}", part.role)],
            })
            .await?;
    }
    Ok(home)
}

fn settings(remote: &Path, base: &str) -> String {
    let url = serde_json::Value::from(remote.to_string_lossy());
    format!(
        "[fleet]\nname = \"demo\"\nmax_firings = 6\n\n\
         [repos.sample]\nurl = {url}\nbase = {base:?}\n\n"
    )
}

fn role(part: &Part, engine: EngineKind) -> String {
    let facts = engine.facts();
    let account = match facts.plays_script {
        true => part.account,
        false => facts.name,
    };
    format!(
        "title = {:?}\nrepos = [\"sample\"]\ncadence = [{:?}]\nengines = [{:?}]\n\
         work = {{ from = \"issues\", label = \"for:{}\" }}\n{}",
        part.title, part.cadence, account, part.role, part.more
    )
}
