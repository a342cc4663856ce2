//! Which file of a crate knows which: what its imports and the paths in its code lead to.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Module, Names};

/// File → the files it knows.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// Re-exports of re-exports, and two modules that import everything of each other, end here.
const DEPTH: u32 = 16;

/// A module is made of its children: that it calls them by their bare names is no arrow. That it
/// says `crate::` or `super::` is one, and so is what a child says of it.
pub fn build_graph(modules: &BTreeMap<Names, Module>) -> Graph {
    let names = NamesOf(modules);
    let mut graph = Graph::new();
    for (path, module) in modules {
        if module.is_transparent() {
            continue;
        }
        let known = graph.entry(module.file.clone()).or_default();
        let imported = module.imports.iter().map(|import| &import.path);
        for said in imported.chain(&module.mentions) {
            let file = names.said_in(path, said, DEPTH);
            if !is_of_a_child(module, said, DEPTH) && file.is_some_and(|it| it != module.file) {
                known.extend(file.map(str::to_owned));
            }
        }
    }
    graph
}

fn is_of_a_child(module: &Module, said: &[String], depth: u32) -> bool {
    let mut imports = module.imports.iter();
    let import = imports.find(|import| import.name.as_ref() == Some(&said[0]));
    match import.filter(|import| import.path[0] != said[0] && depth > 0) {
        Some(import) => is_of_a_child(module, &import.path, depth - 1),
        None => module.children.contains(&said[0]),
    }
}

struct NamesOf<'a>(&'a BTreeMap<Names, Module>);

impl<'a> NamesOf<'a> {
    /// The file that defines what the module at `here` calls `said`; `None` if another crate does,
    /// or no file at all.
    fn said_in(&self, here: &[String], said: &[String], depth: u32) -> Option<&'a str> {
        let (first, rest) = said.split_first()?;
        match first.as_str() {
            "crate" => self.behind(&[], rest, depth),
            "self" => self.behind(here, rest, depth),
            "super" => {
                let above = &here[..here.len().checked_sub(1)?];
                match rest.first() {
                    Some(next) if next == "super" => self.said_in(above, rest, depth),
                    _ => self.behind(above, rest, depth),
                }
            }
            _ => self.known_to(here, said, depth)?,
        }
    }

    /// The file behind `rest`, seen from the module at `here`.
    fn behind(&self, here: &[String], rest: &[String], depth: u32) -> Option<&'a str> {
        let module = self.0.get(here)?;
        let own = (!module.is_transparent()).then_some(module.file.as_str());
        self.known_to(here, rest, depth).unwrap_or(own)
    }

    /// `None` if the module at `here` has no such name.
    fn known_to(&self, here: &[String], said: &[String], depth: u32) -> Option<Option<&'a str>> {
        let depth = depth.checked_sub(1)?;
        let module = self.0.get(here)?;
        let (first, rest) = said.split_first()?;
        if module.children.contains(first) {
            let child = [here, std::slice::from_ref(first)].concat();
            return Some(self.behind(&child, rest, depth));
        }
        if module.items.contains(first) {
            return Some(Some(&module.file));
        }
        let mut imports = module.imports.iter();
        if let Some(import) = imports.find(|import| import.name.as_ref() == Some(first)) {
            let whole = [import.path.as_slice(), rest].concat();
            return Some(self.said_in(here, &whole, depth));
        }
        let all = module.imports.iter().filter(|import| import.name.is_none());
        let mut found = all.filter_map(|import| {
            let whole = [import.path.as_slice(), said].concat();
            self.said_in(here, &whole, depth)
        });
        found.next().map(Some)
    }
}
