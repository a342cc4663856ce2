//! `carson config`

use carson_checks::{Machine, Scene};
use carson_config::Loaded;
use carson_core::Clock;
use carson_core::text::counted;

use crate::app::App;
use crate::args::ConfigAction;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: ConfigAction) -> Result<u8, CommandError> {
    match action {
        ConfigAction::Check => match carson_config::load(&app.options()) {
            Ok(loaded) => sound(app, loaded).await,
            Err(findings) if app.json => {
                print::json(&serde_json::json!({"findings": findings}));
                Ok(2)
            }
            Err(findings) => {
                print::line(&findings.to_string());
                Ok(2)
            }
        },
        ConfigAction::Show { provenance } => {
            let all = app.provenance()?;
            if app.json {
                print::json(&all);
                return Ok(0);
            }
            for (key, (value, origin)) in &all.0 {
                let origin = origin.to_string();
                let origin = origin.replace(&format!("{}/", app.layout.root.display()), "");
                let from = if provenance {
                    format!("    # {origin}")
                } else {
                    String::new()
                };
                print::line(&format!("{key} = {value}{from}"));
            }
            Ok(0)
        }
        ConfigAction::Schema { role } => {
            let (settings, role_schema) = carson_config::schema();
            print::json(if role { &role_schema } else { &settings });
            Ok(0)
        }
    }
}

/// Settings that a fleet could be made of: what somebody should look at, and what this machine lacks of
/// what they name. Who checks them may do so on another machine, so that is no error of theirs.
async fn sound(app: &App, loaded: Loaded) -> Result<u8, CommandError> {
    let Loaded {
        fleet, warnings, ..
    } = loaded;
    let (roles, repos) = (fleet.roles.len(), fleet.repos.len());
    let home = app.home_unopened(fleet)?;
    let machine = Machine::new(Clock::system());
    let lacking = carson_checks::offline(&Scene::examined(&home, &machine, None)).await;
    if app.json {
        print::json(&serde_json::json!({"findings": warnings, "checks": lacking}));
        return Ok(0);
    }
    for warning in &warnings {
        print::warning(&warning.to_string());
    }
    for one in &lacking {
        print::warning(&format!("{}: warning: {}", one.id, one.found));
        if let Some(remedy) = &one.remedy {
            print::line(&format!("  hint: {remedy}"));
        }
    }
    let found = match warnings.len() + lacking.len() {
        0 => "no findings".to_owned(),
        some => counted(some as u64, "warning"),
    };
    let roles = counted(roles as u64, "role");
    let repos = counted(repos as u64, "repository");
    print::line(&format!("{found}: {roles}, {repos}"));
    print::line(
        "`carson doctor` asks what needs the network: remotes, forges, sign-ins and the chat",
    );
    Ok(0)
}
