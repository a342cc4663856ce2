//! `carson labels`

use carson_operator::Ask;
use carson_operator::labels::{Bootstrap, Check, Standing};

use crate::app::App;
use crate::args::LabelsAction;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: LabelsAction) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let all = match action {
        LabelsAction::Check { repo } => Check { repo }.answer(&home).await?,
        LabelsAction::Bootstrap { repo } => Bootstrap { repo }.answer(&home).await?,
    };
    let header = ["REPOSITORY", "LABELS"];
    print::list(app.json, &all, "no repository is set up", &header, row);
    let lacks = all.iter().any(|one| !one.missing.is_empty());
    if lacks && !app.json {
        print::line("make them: carson labels bootstrap");
    }
    Ok(u8::from(lacks))
}

fn row(one: &Standing) -> Vec<String> {
    let how = if !one.has_list {
        "an issue may carry any word here; nothing has to be made".to_owned()
    } else if !one.missing.is_empty() {
        format!("missing: {}", one.missing.join(", "))
    } else if !one.made.is_empty() {
        format!("made: {}", one.made.join(", "))
    } else {
        "all are there".to_owned()
    };
    vec![one.repo.to_string(), how]
}
