//! Two dictionaries: what one says of a word is a lesson, what the other says of it is asked.
//!
//! WordNet 3.1 and the GNU version of Webster's of 1913 have been written by different people at different times. Of a noun
//! that has one meaning in each, WordNet's gloss is the answer to Webster's definition without the word. Definitions that
//! share much are asked as they are; those that share no telling word with the answer, nor with its names, are
//! what paraphrases are: there keywords miss. What Webster's GNU version took from WordNet is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use carson_memory::words;
use serde_json::Value;

/// Lessons that are searched.
pub const PASSAGES: usize = 3_500;
/// Queries of each sort.
pub const QUERIES: usize = 300;

/// What is asked, and what answers it.
pub struct Query {
    /// Webster's definition.
    pub text: String,
    /// The place of WordNet's among the passages.
    pub answer: usize,
    /// Whether no word of it stands there.
    pub paraphrased: bool,
}

/// All of it.
pub struct Dictionaries {
    /// Lessons, each `noun: gloss`.
    pub passages: Vec<String>,
    /// Half of them paraphrased, alternately, in an order that says nothing.
    pub queries: Vec<Query>,
    /// Every gloss of WordNet: text for a large memory.
    pub glosses: Vec<String>,
}

struct Gloss {
    names: Vec<String>,
    text: String,
    is_noun: bool,
}

struct Pair {
    name: String,
    gloss: String,
    definition: String,
    /// The telling words of the definition that the gloss has too, and all of them.
    shared: (usize, usize),
}

/// Reads both.
///
/// # Errors
/// When one is not there, or has too little.
pub fn read(webster: &Path, wordnet: &Path) -> anyhow::Result<Dictionaries> {
    let all = wordnet_glosses(wordnet)?;
    let glosses = all
        .iter()
        .map(|one| format!("{}: {}", one.names.join(", "), one.text));
    let glosses = glosses.collect();
    let mut by_name: BTreeMap<&str, Vec<&Gloss>> = BTreeMap::new();
    for gloss in &all {
        for name in &gloss.names {
            by_name.entry(name).or_default().push(gloss);
        }
    }
    let mut pairs = Vec::new();
    for (name, definition) in webster_definitions(webster)? {
        if let Some([gloss]) = by_name.get(name.as_str()).map(Vec::as_slice)
            && let Some(pair) = pair(&name, gloss, &definition)
        {
            pairs.push(pair);
        }
    }
    // An order that has nothing to do with what they say.
    pairs.sort_by_cached_key(|pair| words::digest(&pair.name));
    let (passages, queries) = chosen(pairs)?;
    Ok(Dictionaries {
        passages,
        queries,
        glosses,
    })
}

fn chosen(pairs: Vec<Pair>) -> anyhow::Result<(Vec<String>, Vec<Query>)> {
    // Beyond three quarters one was copied of the other.
    let is_near = |pair: &Pair| {
        let (both, all) = pair.shared;
        both >= 2 && both * 5 >= all * 2 && both * 4 <= all * 3
    };
    let (paraphrased, rest): (Vec<Pair>, Vec<Pair>) =
        pairs.into_iter().partition(|pair| pair.shared.0 == 0);
    let (near, others): (Vec<Pair>, Vec<Pair>) = rest.into_iter().partition(is_near);
    anyhow::ensure!(
        paraphrased.len() >= QUERIES && near.len() >= QUERIES,
        "the dictionaries have {} paraphrases and {} near definitions, less than {QUERIES}",
        paraphrased.len(),
        near.len(),
    );
    let mut passages = Vec::new();
    let mut queries = Vec::new();
    let mut add = |passages: &mut Vec<String>, pair: &Pair, paraphrased: bool| {
        queries.push(Query {
            text: pair.definition.clone(),
            answer: passages.len(),
            paraphrased,
        });
        passages.push(format!("{}: {}", pair.name, pair.gloss));
    };
    for (far, near) in paraphrased.iter().zip(&near).take(QUERIES) {
        add(&mut passages, far, true);
        add(&mut passages, near, false);
    }
    let unasked = paraphrased[QUERIES..]
        .iter()
        .chain(&near[QUERIES..])
        .chain(&others);
    let room = PASSAGES - passages.len();
    passages.extend(
        unasked
            .take(room)
            .map(|pair| format!("{}: {}", pair.name, pair.gloss)),
    );
    anyhow::ensure!(
        passages.len() == PASSAGES,
        "only {} passages",
        passages.len()
    );
    Ok((passages, queries))
}

fn pair(name: &str, gloss: &Gloss, definition: &str) -> Option<Pair> {
    let lengths = (30..=300).contains(&definition.len()) && (25..=400).contains(&gloss.text.len());
    if !gloss.is_noun || !lengths {
        return None;
    }
    let names: BTreeSet<String> = gloss
        .names
        .iter()
        .flat_map(|name| words::set(name))
        .collect();
    let asked = words::set(definition);
    // One that has the word, or one made of it, is no question after it.
    let root = &name[..name.floor_char_boundary(5)];
    let tells = asked
        .iter()
        .any(|word| names.contains(word) || word.starts_with(root));
    if tells || asked.len() < 5 {
        return None;
    }
    let shared = asked.intersection(&words::set(&gloss.text)).count();
    Some(Pair {
        name: name.to_owned(),
        gloss: gloss.text.clone(),
        definition: definition.to_owned(),
        shared: (shared, asked.len()),
    })
}

/// Of data files as `wndb(5)` has them: the names of a meaning, and behind ` | ` what it is, and examples in quotes.
fn wordnet_glosses(dir: &Path) -> anyhow::Result<Vec<Gloss>> {
    let mut all = Vec::new();
    for sort in ["noun", "verb", "adj", "adv"] {
        let path = dir.join(format!("data.{sort}"));
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for line in text.lines().filter(|line| !line.starts_with(' ')) {
            let (head, gloss) = line.split_once(" | ").context("a line without a gloss")?;
            let fields: Vec<&str> = head.split(' ').collect();
            let count = fields.get(3).context("a line without words")?;
            let count = usize::from_str_radix(count, 16)?;
            let names = fields.iter().skip(4).step_by(2).take(count);
            let names = names.map(|name| name.replace('_', " ").to_lowercase());
            let text = gloss.split("; \"").next().unwrap_or(gloss).trim();
            all.push(Gloss {
                names: names.collect(),
                text: text.to_owned(),
                is_noun: sort == "noun",
            });
        }
    }
    Ok(all)
}

/// Words of one meaning, and what it is.
fn webster_definitions(dir: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for letter in 'A'..='Z' {
        let path = dir.join(format!("words_{letter}.json"));
        let text = fs::read(&path).with_context(|| path.display().to_string())?;
        let words: BTreeMap<String, Value> = serde_json::from_slice(&text)?;
        for (name, entry) in words {
            let plain = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_lowercase());
            let parts = entry["pos"].as_array().into_iter().flatten();
            let meanings: Vec<&Value> = parts
                .filter_map(|part| part["definitions"].as_array())
                .flatten()
                .collect();
            if let ([one], true) = (&meanings[..], plain)
                && let Some(text) = one["text"].as_str()
                && !text.contains("WordNet")
            {
                // Who wrote it stands behind it.
                let end = ["[1913", "1913 Webster", "[Webster", "[PJC", "PJC]"];
                let end = end.iter().filter_map(|mark| text.find(mark)).min();
                let text = text[..end.unwrap_or(text.len())].trim();
                all.insert(name, text.to_owned());
            }
        }
    }
    Ok(all)
}
