//! How well lessons fit a task by their words.
//!
//! The database says where words stand, and nothing else: both rank alike, and nobody ranks all that has a common word.

use std::collections::{BTreeMap, BTreeSet};

use carson_store::{LessonRow, Store, StoreError, Times};

use crate::fuse::Ranking;
use crate::words;

/// How many of the most telling are looked at, round by round, until enough of them are believed.
const ROUNDS: [usize; 3] = [100, 2_000, 20_000];
/// How soon a word that stands there again tells nothing more, and how much longer lessons lose (BM25, Robertson and
/// Zaragoza 2009, with their usual values).
const BM25: (f64, f64) = (1.2, 0.75);

/// Believed lessons that have words of a query, the best first: so many of them where there are.
///
/// # Errors
/// When the database does not answer.
pub async fn lessons_with(
    store: &Store,
    query: &[String],
    times: Times,
    want: usize,
) -> Result<Vec<LessonRow>, StoreError> {
    let best = best_with(store, query, times, want).await?;
    let seqs: Vec<i64> = best.iter().map(|(seq, _)| *seq).collect();
    let mut rows: BTreeMap<i64, LessonRow> = BTreeMap::new();
    for row in store.lessons_by_seq(&seqs, times).await? {
        rows.insert(row.seq, row);
    }
    Ok(seqs.iter().filter_map(|seq| rows.remove(seq)).collect())
}

/// The same, each with how well it fits.
///
/// The fit does not depend on what else is remembered: it is the share of the telling words of the query that stand in the
/// lesson, or of the lesson's in the query, whichever is more. Of a long lesson or a long query one common word is little.
pub(super) async fn ranking(
    store: &Store,
    query: &[String],
    times: Times,
    want: usize,
) -> Result<Ranking<i64>, StoreError> {
    let found = best_with(store, query, times, want).await?;
    let query: BTreeSet<&str> = query.iter().map(String::as_str).collect();
    let ranked = found.iter().map(|(seq, words)| (*seq, fit(words, &query)));
    let mut ranked: Vec<(usize, i64, f64)> = ranked
        .enumerate()
        .map(|(at, (seq, fit))| (at, seq, fit))
        .collect();
    // Rarity is known of all that is remembered, the fit of these texts: both have a say.
    let value = |(at, _, fit): &(usize, i64, f64)| {
        let at = f64::from(u32::try_from(*at).unwrap_or(u32::MAX));
        fit + 8.0 / (8.0 + at)
    };
    ranked.sort_by(|a, b| value(b).total_cmp(&value(a)).then(a.1.cmp(&b.1)));
    Ok(ranked.into_iter().map(|(_, seq, fit)| (seq, fit)).collect())
}

/// The best, each with its words as they are searched.
async fn best_with(
    store: &Store,
    query: &[String],
    times: Times,
    want: usize,
) -> Result<Vec<(i64, String)>, StoreError> {
    let having = store.lessons_having(query).await?;
    if having.is_empty() {
        return Ok(Vec::new());
    }
    let all = store.lessons_written().await?;
    let rarities = having.iter().map(|(word, lessons)| {
        let rarity = rarity(lessons.len(), all);
        (word.as_str(), rarity)
    });
    let rarities: BTreeMap<&str, f64> = rarities.collect();
    let telling = most_telling(&having, &rarities);
    let mut found = Vec::new();
    for most in ROUNDS {
        let first = &telling[..most.min(telling.len())];
        found = store.searched_words(first, times).await?;
        if found.len() >= want || first.len() == telling.len() {
            break;
        }
    }
    Ok(best(found, &rarities, want))
}

/// How much a word tells that stands in so many of all lessons; never less than nothing.
fn rarity(having: usize, all: u64) -> f64 {
    let having = having as f64;
    let without = (all as f64 - having).max(0.0);
    (1.0 + (without + 0.5) / (having + 0.5)).ln()
}

/// Lessons by the sum of what their words tell, the most first.
fn most_telling(having: &[(String, Vec<i64>)], rarities: &BTreeMap<&str, f64>) -> Vec<i64> {
    let mut all: Vec<(i64, f64)> = Vec::new();
    for (word, lessons) in having {
        let rarity = rarities.get(word.as_str()).copied().unwrap_or(0.0);
        all.extend(lessons.iter().map(|lesson| (*lesson, rarity)));
    }
    // Those of one lesson together, in the order of the words: what is added up in one order has one sum.
    all.sort_by_key(|(lesson, _)| *lesson);
    let mut sums: Vec<(i64, f64)> = Vec::with_capacity(all.len());
    for (lesson, rarity) in all {
        match sums.last_mut() {
            Some((last, sum)) if *last == lesson => *sum += rarity,
            _ => sums.push((lesson, rarity)),
        }
    }
    let order = |a: &(i64, f64), b: &(i64, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    let [.., most] = ROUNDS;
    if sums.len() > most {
        sums.select_nth_unstable_by(most - 1, order);
        sums.truncate(most);
    }
    sums.sort_unstable_by(order);
    sums.into_iter().map(|(lesson, _)| lesson).collect()
}

/// The best of these by BM25, so many at most.
fn best(
    found: Vec<(i64, String)>,
    rarities: &BTreeMap<&str, f64>,
    want: usize,
) -> Vec<(i64, String)> {
    let lengths = found.iter().map(|(_, words)| words.split(' ').count());
    let mean = lengths.sum::<usize>().max(1) as f64 / found.len().max(1) as f64;
    let mut scored: Vec<(f64, (i64, String))> = found
        .into_iter()
        .map(|one| (bm25(&one.1, rarities, mean), one))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.0.cmp(&b.1.0)));
    scored.truncate(want);
    scored.into_iter().map(|(_, one)| one).collect()
}

fn bm25(text: &str, rarities: &BTreeMap<&str, f64>, mean: f64) -> f64 {
    let (again, long) = BM25;
    let mut there: BTreeMap<&str, f64> = BTreeMap::new();
    let mut length = 0.0;
    for word in text.split(' ') {
        length += 1.0;
        if rarities.contains_key(word) {
            *there.entry(word).or_insert(0.0) += 1.0;
        }
    }
    let relative = 1.0 - long + long * length / mean;
    let worth = |(word, times): (&&str, &f64)| {
        rarities[word] * times * (again + 1.0) / (times + again * relative)
    };
    there.iter().map(worth).sum()
}

fn fit(lesson: &str, query: &BTreeSet<&str>) -> f64 {
    let lesson: BTreeSet<&str> = lesson.split(' ').filter(|word| !word.is_empty()).collect();
    let sum =
        |words: &mut dyn Iterator<Item = &&str>| words.map(|word| words::weight(word)).sum::<f64>();
    let both = sum(&mut lesson.intersection(query));
    let share = |all: f64| if all > 0.0 { both / all } else { 0.0 };
    share(sum(&mut lesson.iter())).max(share(sum(&mut query.iter())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_common_word_is_little_and_all_of_them_are_all() {
        let query: BTreeSet<&str> = ["parser", "test", "database", "slow"].into();
        assert!((fit("parser test database slow", &query) - 1.0).abs() < 1e-9);
        assert!(fit("test deploy friday release branch person cut", &query) < 0.25);
        assert!(fit("", &query).abs() < 1e-9);
        let none = BTreeSet::new();
        assert!(fit("parser", &none).abs() < 1e-9);
    }

    #[test]
    fn rare_words_tell_more_and_so_do_short_lessons_and_words_that_come_again() {
        assert!(rarity(1, 1_000) > rarity(10, 1_000));
        assert!(rarity(1_000, 1_000) >= 0.0);
        // More have it than were written down: of two that are written at once one is counted later.
        assert!(rarity(11, 10) >= 0.0);
        let rarities = BTreeMap::from([("parser", 3.0), ("slow", 1.0)]);
        let found = [
            "slow slow slow",
            "parser",
            "parser and much more that says little",
            "parser parser",
            "nothing",
        ];
        let found: Vec<(i64, String)> = (1..).zip(found.map(str::to_owned)).collect();
        let order = |want: usize| {
            let best = best(found.clone(), &rarities, want);
            best.into_iter().map(|(seq, _)| seq).collect::<Vec<_>>()
        };
        assert_eq!(order(9), [4, 2, 3, 1, 5]);
        assert_eq!(order(2), [4, 2]);
        assert!(best(Vec::new(), &rarities, 2).is_empty());
    }

    proptest! {
        #[test]
        fn who_has_more_of_the_words_comes_first(
            having in proptest::collection::btree_map("[a-e]", proptest::collection::btree_set(1_i64..30, 1..9), 1..5)
        ) {
            let having: Vec<(String, Vec<i64>)> =
                having.into_iter().map(|(word, lessons)| (word, lessons.into_iter().collect())).collect();
            let rarities: BTreeMap<&str, f64> =
                having.iter().map(|(word, lessons)| (word.as_str(), rarity(lessons.len(), 30))).collect();
            let told = |lesson: &i64| -> f64 {
                having.iter().filter(|(_, all)| all.contains(lesson)).map(|(word, _)| rarities[word.as_str()]).sum()
            };
            let order = most_telling(&having, &rarities);
            prop_assert!(order.windows(2).all(|two| told(&two[0]) >= told(&two[1]) - 1e-9));
            let mut all: Vec<i64> = having.iter().flat_map(|(_, lessons)| lessons.clone()).collect();
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(order.len(), all.len());
        }
    }
}
