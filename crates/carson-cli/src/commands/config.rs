//! `carson config`

use carson_core::text::counted;

use crate::app::App;
use crate::args::ConfigAction;
use crate::error::CommandError;
use crate::print;

pub fn run(app: &App, action: ConfigAction) -> Result<u8, CommandError> {
    match action {
        ConfigAction::Check => match carson_config::load(&app.options()) {
            Ok(loaded) => {
                let (roles, repos) = (loaded.fleet.roles.len(), loaded.fleet.repos.len());
                let warnings = &loaded.warnings;
                if app.json {
                    print::json(&serde_json::json!({"findings": warnings}));
                } else {
                    for warning in warnings {
                        print::alarm(&warning.to_string());
                    }
                    let roles = counted(roles as u64, "role");
                    let found = if warnings.is_empty() {
                        "no findings".to_owned()
                    } else {
                        counted(warnings.len() as u64, "warning")
                    };
                    let repos = counted(repos as u64, "repository");
                    print::line(&format!("{found}: {roles}, {repos}"));
                }
                Ok(0)
            }
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
            let loaded = app.load()?;
            if app.json {
                print::json(&loaded.provenance);
                return Ok(0);
            }
            for (key, (value, origin)) in &loaded.provenance.0 {
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
