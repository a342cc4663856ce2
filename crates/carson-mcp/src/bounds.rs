//! An answer has a size: what is too large gives way where it is largest.

use serde_json::Value;

/// The longest text in an answer, in bytes: its beginning and its end are kept.
pub(crate) const TEXT: usize = 4_000;

/// What is left of a text that gives way says so; a shorter one is not worth it.
const LEAST_TEXT: usize = 200;

/// Makes a value small enough to be written in so many bytes; how much of it was left out: entries of lists,
/// and keys.
pub(crate) fn fit(value: &mut Value, most: usize) -> usize {
    cut_texts(value);
    let mut left_out = 0;
    // Each round takes something away.
    while size(value) > most {
        left_out += shrink(value);
    }
    left_out
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

fn cut_texts(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > TEXT => *text = cut(text, TEXT),
        Value::Array(items) => items.iter_mut().for_each(cut_texts),
        Value::Object(keys) => keys.values_mut().for_each(cut_texts),
        _ => {}
    }
}

/// Its beginning and its end, and how much lies between them.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let half = most.saturating_sub(60) / 2;
    let head = &text[..text.floor_char_boundary(half)];
    let tail = &text[text.ceil_char_boundary(text.len() - half)..];
    let between = text.len() - head.len() - tail.len();
    format!("{head} […{between} bytes left out…] {tail}")
}

/// Takes something away from where there is most; how many entries or keys that were.
fn shrink(value: &mut Value) -> usize {
    let whole = size(value);
    match value {
        Value::String(text) if text.len() > LEAST_TEXT => {
            *text = cut(text, text.len() / 2);
            0
        }
        Value::Array(items) if !items.is_empty() => match largest(items.iter_mut(), whole) {
            Some(item) => shrink(item),
            None => {
                let keep = items.len() / 2;
                let gone = items.len() - keep;
                items.truncate(keep);
                gone
            }
        },
        Value::Object(keys) if !keys.is_empty() => {
            if let Some(value) = largest(keys.values_mut(), whole) {
                return shrink(value);
            }
            let names: Vec<String> = keys.keys().skip(keys.len() / 2).cloned().collect();
            keys.retain(|name, _| !names.contains(name));
            names.len()
        }
        value => {
            *value = Value::Null;
            1
        }
    }
}

/// The part that makes up most of it, where one does and can give way.
fn largest<'v>(parts: impl Iterator<Item = &'v mut Value>, whole: usize) -> Option<&'v mut Value> {
    let gives_way = |value: &Value| match value {
        Value::String(text) => text.len() > LEAST_TEXT,
        Value::Array(items) => !items.is_empty(),
        Value::Object(keys) => !keys.is_empty(),
        _ => false,
    };
    let sized = parts.map(|part| (size(part), part));
    let (size, largest) = sized.max_by_key(|(size, _)| *size)?;
    (gives_way(largest) && size > whole / 2).then_some(largest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn what_is_small_stays_as_it_is() {
        let mut value = json!({"a": [1, "two", null], "b": {"c": "ü".repeat(500)}});
        let before = value.clone();
        assert_eq!(fit(&mut value, 64_000), 0);
        assert_eq!(value, before);
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let mut value = json!({"output": format!("first{}last", "ü".repeat(500_000))});
        assert_eq!(fit(&mut value, 64_000), 0);
        let text = value["output"].as_str().unwrap();
        assert!(text.len() <= TEXT && text.starts_with("firstü") && text.ends_with("ülast"));
        assert!(text.contains(" bytes left out"), "{text}");
    }

    #[test]
    fn a_long_list_loses_its_end_and_its_neighbours_nothing() {
        let firings: Vec<Value> = (0..1_000)
            .map(|n| json!({"id": n, "reason": "x".repeat(300)}))
            .collect();
        let mut value = json!({"fleet": "home", "firings": firings, "spent": 1.5});
        let left_out = fit(&mut value, 64_000);
        let kept = value["firings"].as_array().unwrap();
        assert_eq!(kept.len() + left_out, 1_000);
        assert!(kept.len() > 50 && kept[0]["id"] == 0, "{}", kept.len());
        assert_eq!(
            (&value["fleet"], &value["spent"]),
            (&json!("home"), &json!(1.5))
        );
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            ".{0,40}".prop_map(Value::from),
            "\\PC{0,900}".prop_map(|text| Value::from(text.repeat(8))),
        ];
        leaf.prop_recursive(6, 200, 12, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from);
            let keys = prop::collection::vec((".{0,30}", inner), 0..12);
            let keys = keys.prop_map(|keys| Value::from(keys.into_iter().collect::<Map<_, _>>()));
            prop_oneof![list, keys]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn whatever_it_is_it_fits(mut value in values(), most in 4_usize..4_000) {
            fit(&mut value, most);
            let text = value.to_string();
            prop_assert!(text.len() <= most, "{} > {most}: {text}", text.len());
        }
    }
}
