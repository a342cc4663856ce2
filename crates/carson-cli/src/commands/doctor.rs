//! `carson doctor`

use carson_checks::{Checked, Health, Machine, Scene};
use carson_core::Clock;
use carson_core::text::counted;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App) -> Result<u8, CommandError> {
    let all = examine(app).await?;
    let fails = carson_checks::worst(&all) == Health::Error;
    if app.json {
        print::json(&serde_json::json!({"checks": all}));
    } else {
        show(&all);
    }
    Ok(u8::from(fails))
}

/// The machine is looked at even where there are no settings yet, and the home even where its
/// database cannot be opened.
async fn examine(app: &App) -> Result<Vec<Checked>, CommandError> {
    let machine = Machine::new(Clock::system());
    let loaded = match carson_config::load(&app.options()) {
        Ok(loaded) => loaded,
        Err(findings) => {
            let mut all = carson_checks::doctor_of_machine(&machine).await;
            if !app.layout.settings().exists() {
                all.extend(carson_checks::doctor_without_home());
            }
            all.extend(carson_checks::settings(&findings.0));
            return Ok(all);
        }
    };
    // First: whoever knows the home knows where sessions write, and starts no program from there.
    let (home, trouble) = app.home_as_it_is(loaded.fleet).await?;
    let mut all = carson_checks::doctor_of_machine(&machine).await;
    all.extend(carson_checks::settings(&loaded.warnings));
    let scene = Scene::examined(&home, &machine, trouble);
    all.extend(carson_checks::doctor(&scene).await);
    Ok(all)
}

fn show(all: &[Checked]) {
    for one in all {
        let word = match one.health {
            Health::Ok => "ok      ",
            Health::Warning => "warning ",
            Health::Error => "error   ",
        };
        let line = format!("{word}{}: {}", one.id, one.found);
        match one.health {
            Health::Ok => print::line(&line),
            Health::Warning => print::warning(&line),
            Health::Error => print::alarm(&line),
        }
        if let Some(remedy) = &one.remedy {
            print::line(&format!("          → {remedy}"));
        }
    }
    let count = |health| all.iter().filter(|one| one.health == health).count() as u64;
    print::line(&format!(
        "{}, {}",
        counted(count(Health::Warning), "warning"),
        counted(count(Health::Error), "error")
    ));
}
