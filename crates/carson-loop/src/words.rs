//! What is run: a line for the shell, or words without one.

use std::fmt;

use carson_core::text::shell_word;
use schemars::JsonSchema;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is run. In JSON a text is a line for `sh`, and a list of texts is a program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// A line for `sh -c`.
    Line(String),
    /// A program and its arguments, as they are.
    Argv(Vec<String>),
}

impl Words {
    /// A line, unless it is empty.
    ///
    /// # Errors
    /// When it is.
    pub fn line(line: &str) -> Result<Self, String> {
        match line.trim() {
            "" => Err("it is empty".to_owned()),
            line if line.contains('\0') => Err("it holds a NUL".to_owned()),
            line => Ok(Self::Line(line.to_owned())),
        }
    }

    /// A program and its arguments, unless there is none.
    ///
    /// # Errors
    /// When there is none.
    pub fn argv(words: Vec<String>) -> Result<Self, String> {
        match words.first().map(String::as_str) {
            None | Some("") => Err("it names no program".to_owned()),
            Some(_) if words.iter().any(|word| word.contains('\0')) => {
                Err("it holds a NUL".to_owned())
            }
            Some(_) => Ok(Self::Argv(words)),
        }
    }

    /// The word that most probably is the program: of a line the first one that sets no variable.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        match self {
            Self::Argv(words) => words.first().map(String::as_str),
            Self::Line(line) => {
                let is_variable = |word: &&str| {
                    let name = word.split_once('=').map(|(name, _)| name);
                    name.is_some_and(|name| {
                        let letter = |c: char| c == '_' || c.is_ascii_alphanumeric();
                        !name.is_empty() && name.chars().all(letter)
                    })
                };
                let word = line.split_whitespace().find(|word| !is_variable(word))?;
                let plain = |c: char| c.is_ascii_alphanumeric() || "._/+-@~".contains(c);
                word.chars().all(plain).then_some(word)
            }
        }
    }
}

impl fmt::Display for Words {
    /// As a person would type it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => f.write_str(line),
            Self::Argv(words) => {
                let quoted: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
                f.write_str(&quoted.join(" "))
            }
        }
    }
}

impl Serialize for Words {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Line(line) => line.serialize(to),
            Self::Argv(words) => words.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a line for the shell, or a list of words")
            }

            fn visit_str<E: de::Error>(self, line: &str) -> Result<Words, E> {
                Words::line(line).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<Words, A::Error> {
                let mut all = Vec::new();
                while let Some(word) = words.next_element()? {
                    all.push(word);
                }
                Words::argv(all).map_err(de::Error::custom)
            }
        }
        from.deserialize_any(Either)
    }
}

impl JsonSchema for Words {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Words".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A line for `sh`, or a program and its arguments as a list.",
            "oneOf": [
                { "type": "string", "minLength": 1 },
                { "type": "array", "minItems": 1, "items": { "type": "string" } }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_line_and_a_list_is_words() {
        for (json, shown) in [
            (r#""npm test""#, "npm test"),
            (
                r#"["claude","-p","fix it's tests"]"#,
                r"claude -p 'fix it'\''s tests'",
            ),
        ] {
            let words: Words = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&words).unwrap(), json);
            assert_eq!(words.to_string(), shown);
        }
        for wrong in [
            r#""  ""#,
            "[]",
            r#"[""]"#,
            "7",
            "null",
            r#"["a", 1]"#,
            r#""a\u0000""#,
        ] {
            assert!(serde_json::from_str::<Words>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_program_is_the_first_word_that_sets_no_variable() {
        let program = |line: &str| Words::line(line).unwrap().program().map(str::to_owned);
        assert_eq!(program("claude -p 'x'").as_deref(), Some("claude"));
        assert_eq!(program("A=1 B= ./fix.sh && x").as_deref(), Some("./fix.sh"));
        for none in ["(cd a; b)", "$TOOL x", "\"a b\" c", "A=1"] {
            assert_eq!(program(none), None, "{none}");
        }
    }
}
