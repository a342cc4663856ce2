//! The templates of docs/engines.md are settings that are accepted as they stand there.

use std::path::Path;

use carson_config::{Loaded, load};

use super::{ROLE, SETTINGS, good_home, options, write};

/// The blocks of TOML in the page's section on templates.
fn templates() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/engines.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("\n## Templates\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let blocks = section.split("```toml\n").skip(1);
    let blocks = blocks.map(|block| block.split_once("```").unwrap().0.to_owned());
    blocks.collect()
}

#[test]
fn each_template_is_accepted_with_a_role_of_its_account() {
    let templates = templates();
    let accounts = templates
        .iter()
        .filter(|block| block.contains("[accounts."));
    let accounts: Vec<&String> = accounts.collect();
    assert_eq!(accounts.len(), 2, "{templates:#?}");
    for (block, name) in accounts.into_iter().zip(["copilot", "aider"]) {
        let home = good_home();
        write(home.path(), "provider.key", "sk-x\n");
        write(home.path(), "carson.toml", &format!("{SETTINGS}\n{block}"));
        let role = ROLE.replace("[\"claude\"]", &format!("[{name:?}]"));
        write(home.path(), "roles/implementer/role.toml", &role);

        let loaded = load(&options(home.path(), &[])).unwrap();

        let Loaded {
            fleet, warnings, ..
        } = loaded;
        let told: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let told: Vec<&String> = told.iter().filter(|line| line.contains(name)).collect();
        assert!(told.is_empty(), "{told:#?}");
        let mut accounts = fleet.accounts.values();
        let account = accounts.find(|account| account.name.as_str() == name);
        assert_eq!(account.unwrap().engine.to_string(), "command");
    }
}
