//! A role's accounts, written into the text of its file: everything else stays as it is, comments too.

use toml_edit::{Array, DocumentMut, InlineTable, Item, RawString, Table, TableLike, Value};

/// The key of a role's accounts, and of a stage's.
const ENGINES: &str = "engines";
/// The section of stages with accounts of their own.
const ROUTES: &str = "routes";

/// What shall be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// These accounts, and for a stage this model and this effort; without accounts those that it has.
    Route {
        /// Accounts, in order of preference.
        engines: Vec<String>,
        /// The model; the account's without it.
        model: Option<String>,
        /// How hard it is told to think; the CLI's choice without it.
        effort: Option<String>,
    },
    /// The stage has nothing of its own.
    Usual,
}

/// Writes it down. `None` where the text holds something else in that place: its own check says so.
pub(crate) fn written(
    document: &mut DocumentMut,
    stage: Option<&str>,
    wanted: &Wanted,
) -> Option<()> {
    let root = document.as_table_mut();
    match (stage, wanted) {
        (None, Wanted::Route { engines, .. }) => {
            set_list(root, ENGINES, engines);
            Some(())
        }
        // A role without accounts is nothing that could be asked for.
        (None, Wanted::Usual) => Some(()),
        (Some(stage), Wanted::Usual) => leave_out(root, stage),
        (
            Some(stage),
            Wanted::Route {
                engines,
                model,
                effort,
            },
        ) => {
            let route = section(root, stage)?;
            if !engines.is_empty() {
                set_list(route, ENGINES, engines);
            }
            set_text(route, "model", model.as_deref());
            set_text(route, "effort", effort.as_deref());
            Some(())
        }
    }
}

/// The section of a stage, made where there is none, in the notation of those beside it.
fn section<'t>(root: &'t mut Table, stage: &str) -> Option<&'t mut dyn TableLike> {
    let routes = root.entry(ROUTES).or_insert_with(|| {
        let mut routes = Table::new();
        // It has no line of its own: its stages have.
        routes.set_implicit(true);
        Item::Table(routes)
    });
    if let Some(inline) = routes.as_inline_table_mut() {
        if !inline.contains_key(stage) {
            append(inline, stage);
        }
    } else {
        let routes = routes.as_table_like_mut()?;
        routes.entry(stage).or_insert(Item::Table(Table::new()));
    }
    let routes = routes.as_table_like_mut()?;
    routes.get_mut(stage)?.as_table_like_mut()
}

/// Puts an empty section behind those of one line; the space before the bracket stays there.
fn append(inline: &mut InlineTable, stage: &str) {
    let mut new = Value::InlineTable(InlineTable::new());
    let last = inline.iter_mut().last().map(|(_, value)| value.decor_mut());
    if let Some(decor) = last {
        if let Some(space) = decor.suffix().cloned() {
            decor.set_suffix("");
            new.decor_mut().set_suffix(space);
        }
        new.decor_mut().set_prefix(" ");
    }
    inline.insert(stage, new);
}

/// Removes the section of a stage, and the section of all stages with the last of them.
fn leave_out(root: &mut Table, stage: &str) -> Option<()> {
    let Some(routes) = root.get_mut(ROUTES) else {
        return Some(());
    };
    let routes = routes.as_table_like_mut()?;
    routes.remove(stage);
    if routes.is_empty() {
        root.remove(ROUTES);
    }
    Some(())
}

fn set_list(table: &mut dyn TableLike, key: &str, names: &[String]) {
    let before = table.get(key).and_then(Item::as_array);
    let comments = before.map(comments_in).unwrap_or_default();
    set(table, key, names.iter().collect::<Array>().into());
    if let Some(mut key) = table.key_mut(key).filter(|_| !comments.is_empty()) {
        let decor = key.leaf_decor_mut();
        let above = decor.prefix().and_then(RawString::as_str);
        let above = format!("{}{comments}", above.unwrap_or_default());
        decor.set_prefix(above);
    }
}

fn set_text(table: &mut dyn TableLike, key: &str, text: Option<&str>) {
    match text {
        Some(text) => set(table, key, text.into()),
        None => {
            table.remove(key);
        }
    }
}

/// Sets a value; what stands behind the one before, such as a comment, stands behind this one.
fn set(table: &mut dyn TableLike, key: &str, mut value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(before) => {
            *value.decor_mut() = before.decor().clone();
            *before = value;
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

/// The comments between the brackets of a list, a line each: a list of one line has no place for them.
fn comments_in(array: &Array) -> String {
    let around = array.iter().map(Value::decor);
    let texts = around.flat_map(|decor| [decor.prefix(), decor.suffix()]);
    let texts = texts.flatten().chain([array.trailing()]);
    let lines = texts.filter_map(RawString::as_str).flat_map(str::lines);
    let comments = lines.map(str::trim).filter(|line| line.starts_with('#'));
    comments.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, stage: Option<&str>, wanted: &Wanted) -> String {
        let mut document: DocumentMut = text.parse().unwrap();
        written(&mut document, stage, wanted).unwrap();
        document.to_string()
    }

    fn route(engines: &[&str], model: Option<&str>) -> Wanted {
        Wanted::Route {
            engines: engines.iter().map(ToString::to_string).collect(),
            model: model.map(str::to_owned),
            effort: None,
        }
    }

    #[test]
    fn the_accounts_of_a_role_are_written_and_nothing_else_changes() {
        let text = "# mine\ntitle = \"A\"\nengines = [\"claude\"]   # who works\n\n[limits]\nmax_turns = 3 # few\n";
        let now = edited(text, None, &route(&["codex", "claude"], None));
        assert_eq!(now, text.replace("[\"claude\"]", "[\"codex\", \"claude\"]"));
        let none = "title = \"A\"\n\n[limits]\nmax_turns = 3\n";
        let now = edited(none, None, &route(&["codex"], None));
        assert_eq!(
            now,
            "title = \"A\"\nengines = [\"codex\"]\n\n[limits]\nmax_turns = 3\n"
        );
    }

    #[test]
    fn comments_within_a_list_stand_above_it_then() {
        let text = "# who works\nengines = [\n  \"claude\", # mine\n  # of the firm\n  \"codex\",\n]\nenabled = true\n";
        let now = edited(text, None, &route(&["codex"], None));
        let expected =
            "# who works\n# mine\n# of the firm\nengines = [\"codex\"]\nenabled = true\n";
        assert_eq!(now, expected);
    }

    #[test]
    fn a_stage_gets_a_section_in_the_notation_that_is_there() {
        let review = Some("review");
        let now = edited(
            "title = \"A\"\n\n[limits]\nmax_turns = 3\n",
            review,
            &route(&["codex"], Some("gpt-5")),
        );
        assert_eq!(
            now,
            "title = \"A\"\n\n[limits]\nmax_turns = 3\n\n[routes.review]\nengines = [\"codex\"]\nmodel = \"gpt-5\"\n"
        );
        let inline = "routes = { plan = { engines = [\"a\"] } } # both\n";
        let now = edited(inline, review, &route(&["codex"], None));
        assert_eq!(
            now,
            "routes = { plan = { engines = [\"a\"] }, review = { engines = [\"codex\"] } } # both\n"
        );
        let there = "[routes.review]\nengines = [\"a\"] # other eyes\nmodel = \"m\"\n";
        let now = edited(there, review, &route(&["codex"], None));
        assert_eq!(now, "[routes.review]\nengines = [\"codex\"] # other eyes\n");
        let dotted = "routes.review.engines = [\"a\"]\n";
        let now = edited(dotted, review, &route(&["codex"], None));
        assert_eq!(now, "routes.review.engines = [\"codex\"]\n");
    }

    #[test]
    fn a_stage_that_is_as_all_others_has_no_section() {
        let text =
            "title = \"A\"\n\n[routes.review]\nengines = [\"a\"]\n\n[routes.plan]\nmodel = \"m\"\n";
        let now = edited(text, Some("review"), &Wanted::Usual);
        assert_eq!(now, "title = \"A\"\n\n[routes.plan]\nmodel = \"m\"\n");
        let now = edited(&now, Some("plan"), &Wanted::Usual);
        assert_eq!(now, "title = \"A\"\n");
        assert_eq!(edited(&now, Some("plan"), &Wanted::Usual), now);
    }

    #[test]
    fn what_is_no_section_is_left_alone() {
        let mut document: DocumentMut = "routes = 3\n".parse().unwrap();
        assert_eq!(written(&mut document, Some("plan"), &Wanted::Usual), None);
        assert_eq!(
            written(&mut document, Some("plan"), &route(&["a"], None)),
            None
        );
    }
}
