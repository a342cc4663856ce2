//! JSON as a person wrote it: keys stay in their order, numbers as they are, and a key that stands
//! twice is known.
//!
//! A PRD belongs to people. What we change of it is a status and a count; everything else must come
//! back as it was, in its place, which no map of `serde_json` does.

mod pointer;
mod splice;

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use pointer::Pointer;
pub use splice::{Step, with_text};

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number.
    Number(serde_json::Number),
    /// A text.
    Text(String),
    /// `[…]`
    List(Vec<Self>),
    /// `{…}`
    Object(Object),
}

/// `{…}`, in the order in which it was written.
#[derive(Clone, Debug, Default)]
pub struct Object {
    entries: Vec<(String, Json)>,
    /// Keys that were written more than once; the last value counts, as everywhere.
    doubled: Vec<String>,
}

/// Two objects are equal when they say the same, in whatever order.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        let said = |(key, value): &(String, Json)| other.get(key) == Some(value);
        self.entries.len() == other.entries.len() && self.entries.iter().all(said)
    }
}

impl Json {
    /// Reads one document.
    ///
    /// # Errors
    /// What is wrong with it, with line and column.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The document as it is written to a file: two spaces, and a line's end.
    #[must_use]
    pub fn pretty(&self) -> String {
        // Writing to memory does not fail, and every key is a text.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Its text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Its entries, if it is an object.
    #[must_use]
    pub fn object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Its items, if it is a list.
    #[must_use]
    pub fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn list_mut(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// What stands under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.object()?.get(key)
    }

    /// What it is, in a word.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    /// Every value in it, with where it stands; itself first.
    pub fn walk(&self, at: &Pointer, seen: &mut impl FnMut(&Pointer, &Self)) {
        seen(at, self);
        match self {
            Self::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.walk(&at.item(index), seen);
                }
            }
            Self::Object(object) => {
                for (key, value) in object.entries() {
                    value.walk(&at.key(key), seen);
                }
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => {}
        }
    }
}

impl Object {
    /// What stands under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        let found = self.entries.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    /// Puts a value under a key: in its place, or at the end.
    pub fn set(&mut self, key: &str, value: Json) {
        match self.entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.entries.push((key.to_owned(), value)),
        }
    }

    /// What stands under a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        let found = self.entries.iter_mut().find(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    /// Takes a key away.
    pub fn remove(&mut self, key: &str) {
        self.entries.retain(|(name, _)| name != key);
    }

    /// Its keys and values in their order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.entries
            .iter()
            .map(|(key, value)| (key.as_str(), value))
    }

    /// Keys that were written more than once.
    #[must_use]
    pub fn doubled(&self) -> &[String] {
        &self.doubled
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Json, E> {
        let number = serde_json::Number::from_f64(value);
        let number = number.ok_or_else(|| E::custom("a number that is none"))?;
        Ok(Json::Number(number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut object = Object::default();
        while let Some((key, value)) = from.next_entry::<String, Json>()? {
            if object.get(&key).is_some() {
                object.doubled.push(key.clone());
            }
            object.set(&key, value);
        }
        Ok(Json::Object(object))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Number(value) => value.serialize(to),
            Self::Text(value) => to.serialize_str(value),
            Self::List(items) => {
                let mut list = to.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Object(object) => {
                let mut map = to.serialize_map(Some(object.entries.len()))?;
                for (key, value) in object.entries() {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_stay_where_they_are_and_numbers_what_they_are() {
        let text = "{\n  \"z\": 1,\n  \"a\": [\n    1.5,\n    -3,\n    18446744073709551615\n  ],\n  \"m\": {}\n}\n";
        assert_eq!(Json::parse(text).unwrap().pretty(), text);
    }

    #[test]
    fn a_change_moves_nothing() {
        let mut json = Json::parse(r#"{"b": 1, "a": "x", "c": null}"#).unwrap();
        let object = json.object_mut().unwrap();
        object.set("a", Json::Bool(true));
        object.set("new", Json::Text("last".into()));
        object.remove("b");
        let line: String = json.pretty().split_whitespace().collect();
        assert_eq!(line, r#"{"a":true,"c":null,"new":"last"}"#);
    }

    #[test]
    fn a_key_that_stands_twice_is_known_and_the_last_one_counts() {
        let json = Json::parse(r#"{"a": 1, "b": 2, "a": 3}"#).unwrap();
        assert_eq!(json.object().unwrap().doubled(), ["a"]);
        assert_eq!(json.get("a"), Some(&Json::Number(3.into())));
    }

    #[test]
    fn order_is_no_difference() {
        let one = Json::parse(r#"{"a": 1, "b": [1, 2]}"#).unwrap();
        assert_eq!(one, Json::parse(r#"{"b": [1, 2], "a": 1}"#).unwrap());
        assert_ne!(one, Json::parse(r#"{"b": [2, 1], "a": 1}"#).unwrap());
        assert_ne!(one, Json::parse(r#"{"a": 1}"#).unwrap());
    }

    #[test]
    fn depth_has_a_bound() {
        let deep = "[".repeat(100_000);
        assert!(Json::parse(&deep).is_err());
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            any::<i64>().prop_map(|n| Json::Number(n.into())),
            "\\PC*".prop_map(Json::Text),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Json::List),
                proptest::collection::vec((".*", inner), 0..6).prop_map(|entries| {
                    let mut object = Object::default();
                    for (key, value) in entries {
                        object.set(&key, value);
                    }
                    Json::Object(object)
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(json in any_json()) {
            let text = json.pretty();
            let again = Json::parse(&text).unwrap();
            prop_assert_eq!(again.pretty(), text);
            prop_assert_eq!(again, json);
        }
    }
}
