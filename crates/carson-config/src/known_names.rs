//! Names in a role file that must stand in `carson.toml`.

use crate::check::Check;
use crate::nearest::nearest;

/// Names that must stand in the settings, each once.
pub(crate) fn known_names<T: std::str::FromStr + PartialEq>(
    key: &str,
    wanted: &[String],
    known: Option<&[String]>,
    check: &mut Check<'_>,
) -> Vec<T> {
    let mut names = Vec::new();
    for name in wanted {
        let is_known = known.is_none_or(|known| known.contains(name));
        match name.parse() {
            Ok(parsed) if names.contains(&parsed) => {
                check.problem(key, format!("{name:?} is named twice"), "name it once");
            }
            Ok(parsed) if is_known => names.push(parsed),
            _ => {
                let known: Vec<&str> = known
                    .unwrap_or_default()
                    .iter()
                    .map(String::as_str)
                    .collect();
                let hint = match nearest(name, &known) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None if known.is_empty() => "it has none".to_owned(),
                    None => format!("it has: {}", known.join(", ")),
                };
                check.problem(key, format!("carson.toml has no {name:?}"), &hint);
            }
        }
    }
    names
}
