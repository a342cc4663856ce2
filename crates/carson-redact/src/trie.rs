//! An automaton over known values that knows how far into one it is.

use std::collections::{BTreeMap, VecDeque};

/// Where the automaton stands; 0 is the beginning.
pub(crate) type State = u32;

/// Finds patterns in bytes that are given one by one, each with one step (Aho and Corasick, 1975).
/// Unlike the crate of that name, it tells how much of a pattern has been seen: whoever gets text in
/// pieces must know what to hold back.
#[derive(Debug, Default)]
pub(crate) struct Trie {
    /// Column of each byte; 0 for those that no pattern has.
    columns: Vec<u16>,
    width: usize,
    next: Vec<State>,
    /// How much of a pattern a state has seen.
    depth: Vec<u32>,
    /// Length of the longest pattern that ends here; 0 for none.
    whole: Vec<u32>,
    /// Length of the shortest pattern that goes through here.
    shortest: Vec<u32>,
    longest: usize,
}

impl Trie {
    pub(crate) fn new<'p>(patterns: impl Iterator<Item = &'p [u8]> + Clone) -> Self {
        let mut columns = vec![0_u16; 256];
        let mut width = 1_u16;
        for byte in patterns.clone().flatten() {
            let column = &mut columns[usize::from(*byte)];
            if *column == 0 {
                (*column, width) = (width, width + 1);
            }
        }
        let mut trie = Self {
            columns,
            width: usize::from(width),
            ..Self::default()
        };
        let mut children: Vec<BTreeMap<u16, State>> = Vec::new();
        trie.node(0, &mut children);
        for pattern in patterns {
            trie.add(pattern, &mut children);
        }
        trie.link(&children);
        trie
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.longest == 0
    }

    /// Length of the longest pattern.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Length of the shortest pattern; 0 when there is none.
    pub(crate) fn shortest(&self) -> usize {
        match self.is_empty() {
            true => 0,
            false => self.shortest_from(0),
        }
    }

    #[inline]
    pub(crate) fn step(&self, state: State, byte: u8) -> State {
        let column = usize::from(self.columns[usize::from(byte)]);
        self.next[state as usize * self.width + column]
    }

    #[inline]
    pub(crate) fn depth(&self, state: State) -> usize {
        self.depth[state as usize] as usize
    }

    #[inline]
    pub(crate) fn whole(&self, state: State) -> usize {
        self.whole[state as usize] as usize
    }

    /// Length of the shortest pattern of which a state has seen the beginning.
    pub(crate) fn shortest_from(&self, state: State) -> usize {
        self.shortest[state as usize] as usize
    }

    fn node(&mut self, depth: u32, children: &mut Vec<BTreeMap<u16, State>>) -> State {
        children.push(BTreeMap::new());
        self.depth.push(depth);
        self.whole.push(0);
        self.shortest.push(u32::MAX);
        // More nodes than this many are more bytes of secrets than any memory has.
        State::try_from(self.depth.len() - 1).unwrap_or(0)
    }

    fn add(&mut self, pattern: &[u8], children: &mut Vec<BTreeMap<u16, State>>) {
        let length = u32::try_from(pattern.len()).unwrap_or(u32::MAX);
        let mut here: State = 0;
        self.shortest[0] = self.shortest[0].min(length);
        for (depth, byte) in (1..).zip(pattern) {
            let column = self.columns[usize::from(*byte)];
            here = match children[here as usize].get(&column) {
                Some(child) => *child,
                None => {
                    let child = self.node(depth, children);
                    children[here as usize].insert(column, child);
                    child
                }
            };
            let shortest = &mut self.shortest[here as usize];
            *shortest = (*shortest).min(length);
        }
        self.whole[here as usize] = length;
        self.longest = self.longest.max(pattern.len());
    }

    /// Breadth first, so that where a state falls back to is complete before the state.
    fn link(&mut self, children: &[BTreeMap<u16, State>]) {
        self.next = vec![0; children.len() * self.width];
        let mut fallback = vec![0 as State; children.len()];
        let mut waiting = VecDeque::from([0 as State]);
        while let Some(state) = waiting.pop_front() {
            let (at, back) = (state as usize * self.width, fallback[state as usize]);
            if state != 0 {
                let back = back as usize * self.width;
                self.next.copy_within(back..back + self.width, at);
            }
            if self.whole[state as usize] == 0 {
                self.whole[state as usize] = self.whole[back as usize];
            }
            for (column, child) in &children[state as usize] {
                let place = at + usize::from(*column);
                fallback[*child as usize] = self.next[place];
                self.next[place] = *child;
                waiting.push_back(*child);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ends(trie: &Trie, text: &[u8]) -> Vec<(usize, usize)> {
        let (mut state, mut found) = (0, Vec::new());
        for (at, byte) in text.iter().enumerate() {
            state = trie.step(state, *byte);
            if trie.whole(state) > 0 {
                found.push((at + 1, trie.whole(state)));
            }
        }
        found
    }

    proptest! {
        #[test]
        fn it_finds_what_a_plain_search_finds(
            patterns in proptest::collection::btree_set("[ab]{1,5}", 0..6),
            text in "[abc]{0,60}",
        ) {
            let trie = Trie::new(patterns.iter().map(String::as_bytes));
            let text = text.as_bytes();
            let longest = |end: usize| {
                let fits = patterns.iter().filter(|one| text[..end].ends_with(one.as_bytes()));
                fits.map(String::len).max().map(|length| (end, length))
            };
            let wanted: Vec<_> = (1..=text.len()).filter_map(longest).collect();
            prop_assert_eq!(ends(&trie, text), wanted);
        }
    }

    #[test]
    fn it_tells_how_far_it_is() {
        let trie = Trie::new([b"abcdef".as_slice(), b"abx"].into_iter());
        let state = b"zabcd"
            .iter()
            .fold(0, |state, byte| trie.step(state, *byte));
        assert_eq!((trie.depth(state), trie.shortest_from(state)), (4, 6));
        assert_eq!((trie.longest(), trie.shortest()), (6, 3));
        assert!(Trie::new([].into_iter()).is_empty());
    }
}
