//! What a request to a provider's API may ask for.
//!
//! The provider reaches the internet and other people's machines on a client's word: it fetches
//! pages, files by their address, and tools of MCP servers. A session that may connect to nobody
//! must not have the provider do it, so a request passes when all that it asks for is in these lists,
//! or the account's `allow_provider` names it. What nobody here has heard of does not pass.

mod google;
mod lists;

use std::cell::Cell;
use std::fmt;

use carson_core::Api;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use lists::{ANTHROPIC, BETA, BLOCKS, OPENAI, SOURCES, TOOLS};

/// Something that the provider would do in the session's place, by the name that `allow_provider`
/// has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Feature(pub String);

/// The first thing that a request asks for and nobody allowed.
///
/// # Errors
/// When it is no JSON object, or says something twice: then provider and Carson might each read
/// another of the two.
pub(crate) fn forbidden(
    api: Api,
    body: &[u8],
    allowed: &[String],
) -> Result<Option<Feature>, serde_json::Error> {
    LEFT.set(VALUES);
    let Strict(body) = serde_json::from_slice(body)?;
    let Value::Object(body) = body else {
        return Err(serde_json::Error::custom("it is no object"));
    };
    let asked = match api {
        Api::Anthropic => of_members(api, ANTHROPIC, &body),
        Api::OpenAi => of_members(api, OPENAI, &body),
        Api::Google => google::asked(&body),
    };
    let mut asked = asked.into_iter().map(|name| short(&name));
    Ok(asked.find(|name| !allowed.contains(name)).map(Feature))
}

/// What a request of Anthropic's or OpenAI's API asks for.
fn of_members(api: Api, members: &[&str], body: &Map<String, Value>) -> Vec<String> {
    let mut asked = Vec::new();
    // `prompt` is a text, or the name of one that is kept at the provider.
    let is_text = |name: &str| api == Api::OpenAi && name == "prompt" && !body[name].is_object();
    let known = |name: &str| members.contains(&name) || is_text(name);
    asked.extend(body.keys().filter(|name| !known(name)).cloned());
    tools(body.get("tools"), &mut asked);
    for content in ["messages", "system", "input"] {
        blocks(body.get(content), &mut asked);
    }
    asked
}

/// A name as an operator would write it: without its date, and bounded.
fn short(name: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || "_.-".contains(*c);
    let name: String = name.chars().filter(plain).take(64).collect();
    without_date(&name).to_owned()
}

fn without_date(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((rest, date)) if date.len() >= 8 && date.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => name,
    }
}

fn tools(listed: Option<&Value>, asked: &mut Vec<String>) {
    let Some(listed) = listed else { return };
    let Some(all) = listed.as_array() else {
        asked.push("tools".to_owned());
        return;
    };
    for tool in all {
        match tool.get("type") {
            _ if !tool.is_object() => asked.push("tools".to_owned()),
            Some(Value::String(kind)) if !TOOLS.contains(&without_date(kind)) => {
                asked.push(kind.clone());
            }
            None | Some(Value::String(_)) => {
                // Whatever it calls itself, it is another machine's.
                let others = ["server_url", "connector_id", "mcp_server_name"];
                let has = others.into_iter().filter(|name| tool.get(*name).is_some());
                asked.extend(has.map(str::to_owned));
                tools(tool.get("tools"), asked);
            }
            Some(_) => asked.push("tools.type".to_owned()),
        }
    }
}

/// Every block of content, also in the results of tools. Not what the model itself gave a tool: that
/// is data.
fn blocks(value: Option<&Value>, asked: &mut Vec<String>) {
    match value {
        Some(Value::Array(all)) => all.iter().for_each(|one| blocks(Some(one), asked)),
        Some(Value::Object(block)) => {
            one_block(block, asked);
            let is = |kind: &str| block.get("type").is_some_and(|own| own == kind);
            for (name, value) in block {
                match name.as_str() {
                    "input" if is("tool_use") => {}
                    "tools" if is("tool_search_output") => tools(Some(value), asked),
                    _ => blocks(Some(value), asked),
                }
            }
        }
        _ => {}
    }
}

fn one_block(block: &Map<String, Value>, asked: &mut Vec<String>) {
    let kind = block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if kind == "container_upload" || kind == "item_reference" {
        asked.push(kind.to_owned());
    }
    // Whatever it calls itself: a provider may take a block for what its members say.
    if let Some(source) = block.get("source") {
        let from = source.get("type").and_then(Value::as_str);
        // The source of a search result is a text that nobody fetches.
        let is_text = source.is_string() && !BLOCKS.contains(&kind);
        if !is_text && !from.is_some_and(|from| SOURCES.contains(&from)) {
            asked.push(format!("source.{}", from.unwrap_or("?")));
        }
    }
    for (name, value) in block.iter().filter(|(name, _)| name.ends_with("_url")) {
        let address = value.get("url").unwrap_or(value);
        let here = address.as_str().is_some_and(|url| url.starts_with("data:"));
        if !here && !address.is_null() && name != "file_url" {
            asked.push(name.clone());
        }
    }
    let file = block.get("file").and_then(Value::as_object);
    for holder in [Some(block), file].into_iter().flatten() {
        for name in ["file_url", "file_id"] {
            if holder.get(name).is_some_and(|value| !value.is_null()) {
                asked.push(name.to_owned());
            }
        }
    }
}

/// The names of headers that turn features on.
pub(crate) fn beta_headers() -> impl Iterator<Item = &'static str> {
    BETA.iter().map(|(name, _)| *name)
}

/// What may stay of such a header.
pub(crate) fn beta(header: &str, values: &str, allowed: &[String]) -> String {
    let known = BETA.iter().find(|(name, _)| *name == header);
    let known = known.map_or(&[][..], |(_, known)| *known);
    let stays = |value: &&str| {
        // Behind a name stands a date, or a number, and nothing else.
        let dated = |rest: &str| {
            rest.bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
        };
        let rest = known
            .iter()
            .find_map(|beginning| value.strip_prefix(beginning));
        let is_known = rest.is_some_and(|rest| header != "anthropic-beta" || dated(rest));
        !value.is_empty() && (is_known || allowed.iter().any(|allowed| allowed == value))
    };
    let kept: Vec<&str> = values.split(',').map(str::trim).filter(stays).collect();
    kept.join(",")
}

/// Values in one body: a few bytes of JSON are many in memory.
const VALUES: u32 = 500_000;

thread_local! {
    /// How many more may be read.
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

/// JSON in which no object has a name twice, and not too many values.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let left = LEFT.get().checked_sub(1);
        LEFT.set(left.ok_or_else(|| D::Error::custom("it has too many values"))?);
        from.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(value)) = from.next_element()? {
            all.push(value);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((name, Strict(value))) = from.next_entry::<String, Strict>()? {
            if all.insert(name, value).is_some() {
                return Err(A::Error::custom("a name stands twice in an object"));
            }
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests;
