//! Tarjan's strongly connected components.

use std::collections::BTreeMap;

use super::graph::Graph;

/// The nodes that reach each other, where they are more than one. Both levels are sorted.
pub fn circles(graph: &Graph) -> Vec<Vec<&str>> {
    let mut search = Search {
        graph,
        seen: BTreeMap::new(),
        stack: Vec::new(),
        circles: Vec::new(),
    };
    for node in graph.keys() {
        search.visit(node);
    }
    search.circles.sort();
    search.circles
}

struct Search<'a> {
    graph: &'a Graph,
    /// When each node was first seen.
    seen: BTreeMap<&'a str, usize>,
    /// Seen, and not yet in a component.
    stack: Vec<&'a str>,
    circles: Vec<Vec<&'a str>>,
}

impl<'a> Search<'a> {
    /// The earliest node of the stack that `node` reaches.
    fn visit(&mut self, node: &'a str) -> usize {
        if let Some(seen) = self.seen.get(node) {
            let is_done = !self.stack.contains(&node);
            return if is_done { usize::MAX } else { *seen };
        }
        let own = self.seen.len();
        self.seen.insert(node, own);
        self.stack.push(node);
        let mut earliest = own;
        for next in self.graph.get(node).into_iter().flatten() {
            earliest = earliest.min(self.visit(next));
        }
        if earliest == own {
            let start = self.stack.iter().position(|other| *other == node);
            let mut component = self.stack.split_off(start.unwrap());
            component.sort_unstable();
            if component.len() > 1 {
                self.circles.push(component);
            }
        }
        earliest
    }
}
