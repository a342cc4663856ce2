//! Whether a document is what a JSON schema says: all that is not, with where it stands.
//!
//! It knows the words that our own schemas are made of, and a test holds that none of them has another.

use regex::Regex;
use serde_json::{Map, Value};

use crate::stories::finding::Finding;
use crate::stories::json::{Json, Object, Pointer};

/// Everything in which a document is not what the schema says.
#[must_use]
pub fn findings(schema: &Value, document: &Json) -> Vec<Finding> {
    let mut held = Held {
        root: schema,
        findings: Vec::new(),
    };
    held.value(schema, document, &Pointer::root());
    held.findings
}

struct Held<'s> {
    root: &'s Value,
    findings: Vec<Finding>,
}

impl<'s> Held<'s> {
    fn say(&mut self, at: &Pointer, message: impl Into<String>) {
        self.findings.push(Finding::new(at, message));
    }

    fn value(&mut self, schema: &'s Value, json: &Json, at: &Pointer) {
        let schema = self.resolved(schema);
        let words = choices(schema);
        if !words.is_empty() {
            if !json.text().is_some_and(|text| words.contains(&text)) {
                self.say(at, format!("must be one of {}", words.join(", ")));
            }
            return;
        }
        if let Some(wrong) = wrong_kind(schema, json) {
            return self.say(at, wrong);
        }
        match json {
            Json::Object(object) => self.object(schema, object, at),
            Json::List(items) => self.list(schema, items, at),
            Json::Text(text) => self.text(schema, text, at),
            Json::Number(number) => self.number(schema, number, at),
            Json::Null | Json::Bool(_) => {}
        }
    }

    /// The schema that is meant, where it is only named.
    fn resolved(&self, schema: &'s Value) -> &'s Value {
        let named = schema.get("$ref").and_then(Value::as_str);
        let found = named.and_then(|name| self.root.pointer(name.strip_prefix('#')?));
        found.unwrap_or(schema)
    }

    fn object(&mut self, schema: &'s Value, object: &Object, at: &Pointer) {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        for key in object.doubled() {
            self.say(&at.key(key), "stands twice: only the last one would count");
        }
        for required in texts(schema, "required") {
            if object.get(required).is_none() {
                self.say(at, format!("has no `{required}`"));
            }
        }
        for (key, value) in object.entries() {
            match properties.and_then(|properties| properties.get(key)) {
                Some(schema) => self.value(schema, value, &at.key(key)),
                None => {
                    let known = properties.unwrap_or(&none).keys();
                    let known: Vec<&str> = known.map(String::as_str).collect();
                    let known = known.join(", ");
                    self.say(
                        &at.key(key),
                        format!("is not known here (known are {known})"),
                    );
                }
            }
        }
    }

    fn list(&mut self, schema: &'s Value, items: &[Json], at: &Pointer) {
        if too_few(schema, "minItems", items.len()) {
            self.say(at, "must not be empty");
        }
        if let Some(schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.value(schema, item, &at.item(index));
            }
        }
    }

    fn text(&mut self, schema: &Value, text: &str, at: &Pointer) {
        if too_few(schema, "minLength", text.trim().len()) {
            self.say(at, "must not be empty");
        }
        let most = schema.get("maxLength").and_then(Value::as_u64);
        if let Some(most) = most.filter(|most| text.chars().count() as u64 > *most) {
            self.say(at, format!("is longer than {most} letters"));
        }
        let pattern = schema.get("pattern").and_then(Value::as_str);
        let regex = pattern.and_then(|pattern| Regex::new(pattern).ok());
        if let Some(regex) = regex.filter(|regex| !regex.is_match(text)) {
            self.say(at, format!("must look like {}", regex.as_str()));
        }
    }

    fn number(&mut self, schema: &Value, number: &serde_json::Number, at: &Pointer) {
        let bound = |key| schema.get(key).and_then(Value::as_u64);
        // A count that is larger than any is out of its bounds, too.
        let value = number.as_u64().unwrap_or(u64::MAX);
        if let Some(least) = bound("minimum").filter(|least| value < *least) {
            self.say(at, format!("must be {least} or more"));
        }
        let most = bound("maximum").unwrap_or(u64::from(u32::MAX));
        if value > most {
            self.say(at, format!("must be {most} or less"));
        }
    }
}

/// The words of a choice: each may have a text of its own.
fn choices(schema: &Value) -> Vec<&str> {
    let words = texts(schema, "enum");
    if !words.is_empty() {
        return words;
    }
    let one_of = schema.get("oneOf").and_then(Value::as_array);
    one_of
        .into_iter()
        .flatten()
        .flat_map(|one| {
            let only = one.get("const").and_then(Value::as_str);
            only.into_iter().chain(texts(one, "enum"))
        })
        .collect()
}

/// What to say of a value that is of no kind the schema allows.
fn wrong_kind(schema: &Value, json: &Json) -> Option<String> {
    let allowed = match schema.get("type")? {
        Value::String(one) => vec![one.as_str()],
        _ => texts(schema, "type"),
    };
    let fits = |kind: &&str| match (*kind, json) {
        ("integer", Json::Number(number)) => number.is_u64(),
        ("object", Json::Object(_))
        | ("array", Json::List(_))
        | ("string", Json::Text(_))
        | ("boolean", Json::Bool(_))
        | ("null", Json::Null) => true,
        _ => false,
    };
    if allowed.iter().any(fits) {
        return None;
    }
    let wanted = allowed
        .iter()
        .filter(|kind| **kind != "null")
        .map(|kind| match *kind {
            "integer" => "a whole number, 0 or more",
            "object" => "an object",
            "array" => "a list",
            "string" => "a text",
            other => other,
        });
    let wanted: Vec<&str> = wanted.collect();
    let found = match json {
        Json::Number(number) => number.to_string(),
        other => other.kind().to_owned(),
    };
    Some(format!("must be {}, not {found}", wanted.join(" or ")))
}

fn too_few(schema: &Value, key: &str, length: usize) -> bool {
    let least = schema.get(key).and_then(Value::as_u64);
    least.is_some_and(|least| (length as u64) < least)
}

fn texts<'v>(schema: &'v Value, key: &str) -> Vec<&'v str> {
    let list = schema.get(key).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}
