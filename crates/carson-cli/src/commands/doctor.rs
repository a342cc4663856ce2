//! `carson doctor`

use carson_firing::doctor::{self, Checked, Health};

use crate::app::App;
use crate::error::CommandError;
use crate::print::{self, counted};

pub async fn run(app: &App) -> Result<u8, CommandError> {
    let all = examine(app).await?;
    let broken = doctor::worst(&all) == Health::Broken;
    if app.json {
        print::json(&serde_json::json!({"checks": all}));
    } else {
        show(&all);
    }
    Ok(u8::from(broken))
}

/// The machine is looked at even where there are no settings yet.
async fn examine(app: &App) -> Result<Vec<Checked>, CommandError> {
    let mut all = doctor::machine();
    match carson_config::load(&app.options()) {
        Ok(loaded) => {
            all.extend(doctor::settings(&loaded.warnings));
            let house = app.house_of(loaded.fleet).await?;
            all.extend(doctor::home(&house).await);
        }
        Err(findings) => all.extend(doctor::settings(&findings.0)),
    }
    Ok(all)
}

fn show(all: &[Checked]) {
    for one in all {
        let word = match one.health {
            Health::Ok => "ok      ",
            Health::Warning => "warning ",
            Health::Broken => "broken  ",
        };
        let line = format!("{word}{}: {}", one.id, one.found);
        if one.health == Health::Ok {
            print::line(&line);
        } else {
            print::alarm(&line);
        }
        if let Some(remedy) = &one.remedy {
            print::line(&format!("          → {remedy}"));
        }
    }
    let count = |health| all.iter().filter(|one| one.health == health).count() as u64;
    print::line(&format!(
        "{}, {} broken",
        counted(count(Health::Warning), "warning"),
        count(Health::Broken)
    ));
}
