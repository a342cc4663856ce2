//! `carson doctor`

use carson_checks::{Checked, Health, Machine, Scene};
use carson_core::Clock;
use carson_core::text::counted;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App) -> Result<u8, CommandError> {
    let all = examine(app).await?;
    let broken = carson_checks::worst(&all) == Health::Broken;
    if app.json {
        print::json(&serde_json::json!({"checks": all}));
    } else {
        show(&all);
    }
    Ok(u8::from(broken))
}

/// The machine is looked at even where there are no settings yet, and the home even where its
/// database cannot be opened.
async fn examine(app: &App) -> Result<Vec<Checked>, CommandError> {
    let machine = Machine::new(Clock::system());
    let loaded = match carson_config::load(&app.options()) {
        Ok(loaded) => loaded,
        Err(findings) => {
            let mut all = carson_checks::doctor_of_machine(&machine).await;
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
            Health::Broken => "broken  ",
        };
        let line = format!("{word}{}: {}", one.id, one.found);
        match one.health {
            Health::Ok => print::line(&line),
            Health::Warning => print::warning(&line),
            Health::Broken => print::alarm(&line),
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
