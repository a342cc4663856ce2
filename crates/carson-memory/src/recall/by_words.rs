//! How well lessons fit a task by their words.

use std::collections::BTreeSet;

use carson_store::LessonRow;

use crate::fuse::Ranking;
use crate::words;

/// Of lessons as the database ranks them: in their order of fit, each with its fit.
///
/// The fit does not depend on what else is remembered: it is the share of the telling words of the query that stand in the
/// lesson, or of the lesson's in the query, whichever is more. Of a long lesson or a long query one common word is little.
pub(super) fn ranking(found: &[LessonRow], query: &[String]) -> Ranking<i64> {
    let query: BTreeSet<&str> = query.iter().map(String::as_str).collect();
    let ranked = found
        .iter()
        .map(|row| (row.seq, fit(&row.lesson.words, &query)));
    let mut ranked: Vec<(usize, i64, f64)> = ranked
        .enumerate()
        .map(|(at, (seq, fit))| (at, seq, fit))
        .collect();
    // The database knows how rare words are, the fit how much of the texts they are: both have a say.
    let value = |(at, _, fit): &(usize, i64, f64)| {
        let at = f64::from(u32::try_from(*at).unwrap_or(u32::MAX));
        fit + 8.0 / (8.0 + at)
    };
    ranked.sort_by(|a, b| value(b).total_cmp(&value(a)).then(a.1.cmp(&b.1)));
    ranked.into_iter().map(|(_, seq, fit)| (seq, fit)).collect()
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
}
