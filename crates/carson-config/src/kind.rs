//! What the value of a key must be, as the schema says it.

use serde_json::Value as Json;
use toml_edit::{Item, Value};

use crate::forms::{AnyForm, FORMS};
use crate::nearest::nearest;

/// What a value must be.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Text,
    Texts,
    TextMap,
    Bool,
    /// `true` or `false`; what else is written means the safer of the two.
    Switch,
    /// A whole number from here on.
    Count(i64),
    /// An amount above nothing.
    Amount,
    /// A text of a form of its own.
    Form(&'static AnyForm),
    OneOf {
        words: Vec<String>,
        /// What the design names, and this version does not know yet.
        planned: Vec<String>,
    },
    /// A list of some of these words.
    SomeOf(Vec<String>),
    /// A whole section.
    Section,
    /// The design names it, and this version does nothing with it yet.
    Planned,
    /// The old name of a key, which is still read.
    Renamed {
        to: String,
        kind: Box<Kind>,
    },
}

/// The texts in a list of the schema.
pub(crate) fn texts(list: &Json) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten();
    texts
        .filter_map(|text| Some(text.as_str()?.to_owned()))
        .collect()
}

/// The first text of a list that is none of these words.
fn stranger<'a>(array: &'a toml_edit::Array, words: &[String]) -> Option<&'a str> {
    let mut texts = array.iter().filter_map(Value::as_str);
    texts.find(|text| !words.iter().any(|word| word == text))
}

/// The words that a schema has a choice of.
fn choice(schema: &Json) -> Vec<String> {
    // A variant with a comment is a constant of its own.
    let variants = schema["oneOf"].as_array().into_iter().flatten();
    let variants = variants.filter_map(|one| Some(one["const"].as_str()?.to_owned()));
    texts(&schema["enum"]).into_iter().chain(variants).collect()
}

impl Kind {
    /// Of a schema that is none of a section, and of what it lists.
    pub(crate) fn of(schema: &Json, items: &Json) -> Self {
        let named = |form: &&AnyForm| schema["x-form"] == form.name;
        if let Some(form) = FORMS.iter().find(named) {
            return Self::Form(form);
        }
        if schema["x-switch"] == true {
            return Self::Switch;
        }
        let words = choice(schema);
        if !words.is_empty() {
            let planned = texts(&schema["x-planned"]);
            return Self::OneOf { words, planned };
        }
        // `string`, or `["string", "null"]` where it may be left out.
        let is =
            |name: &str| schema["type"] == name || texts(&schema["type"]).contains(&name.into());
        match () {
            () if is("boolean") => Self::Bool,
            () if is("integer") => Self::Count(schema["minimum"].as_i64().unwrap_or(0)),
            () if is("number") => Self::Amount,
            () if is("array") => match choice(items) {
                none if none.is_empty() => Self::Texts,
                words => Self::SomeOf(words),
            },
            () if is("object") => Self::TextMap,
            () => Self::Text,
        }
    }

    /// The word that a value most likely means, where it is one of a few.
    pub(crate) fn meant(&self, item: &Item) -> Option<&str> {
        let (text, words) = match self {
            Self::OneOf { words, .. } => (item.as_str()?, words),
            Self::SomeOf(words) => (stranger(item.as_array()?, words)?, words),
            Self::Renamed { kind, .. } => return kind.meant(item),
            _ => return None,
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        nearest(text, &words)
    }

    /// Whether a value is what is wanted; else what is wrong with it.
    pub(crate) fn fits(&self, item: &Item) -> Result<(), String> {
        let shown = || item.to_string().trim().chars().take(60).collect::<String>();
        let want = |what: &str| Err(format!("{} is not {what}", shown()));
        let is_texts = |array: &toml_edit::Array| array.iter().all(Value::is_str);
        match self {
            Self::Text if item.is_str() => Ok(()),
            Self::Text => want("a text in quotes"),
            Self::Texts if item.as_array().is_some_and(is_texts) => Ok(()),
            Self::Texts => want("a list of texts"),
            Self::TextMap => match item.as_table_like() {
                Some(map) if map.iter().all(|(_, value)| value.is_str()) => Ok(()),
                _ => want("a table of texts"),
            },
            Self::Bool if item.is_bool() => Ok(()),
            Self::Bool => want("true or false"),
            Self::Switch => Ok(()),
            // Larger ones mean nothing, and what is computed from them would overflow.
            Self::Count(least) => match item.as_integer() {
                Some(number) if number >= *least && number <= i64::from(u32::MAX) => Ok(()),
                _ => want(&format!("a whole number of at least {least}")),
            },
            Self::Amount => match item
                .as_float()
                .or(item.as_integer().map(|whole| whole as f64))
            {
                Some(amount) if amount > 0.0 && amount.is_finite() => Ok(()),
                _ => want("an amount above 0"),
            },
            Self::Form(form) => match item.as_str() {
                Some(text) => (form.check)(text),
                None => want(form.wanted),
            },
            Self::OneOf { words, planned } => match item.as_str() {
                Some(text) if words.iter().any(|word| word == text) => Ok(()),
                Some(text) if planned.iter().any(|word| word == text) => {
                    want(&format!("built yet; this version has {}", words.join(", ")))
                }
                _ => want(&format!("one of {}", words.join(", "))),
            },
            Self::SomeOf(words) => match item.as_array() {
                Some(array) if is_texts(array) => match stranger(array, words) {
                    None => Ok(()),
                    Some(word) => Err(format!("{word:?} is not one of {}", words.join(", "))),
                },
                _ => want("a list of texts"),
            },
            Self::Section => want("a section"),
            Self::Renamed { kind, .. } => kind.fits(item),
            Self::Planned => Err("this key is planned, and not built yet".to_owned()),
        }
    }
}
