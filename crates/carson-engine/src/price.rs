//! What tokens cost, for CLIs that do not say. An estimate is marked as one wherever it is shown, and a
//! model that the table does not have costs what nobody knows: there is no guess.

use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[expect(dead_code, reason = "for people, and held by a test")]
    version: u32,
    #[expect(dead_code, reason = "for people, and held by a test")]
    dated: String,
    model: Vec<Price>,
}

/// Dollars for a million tokens.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    begins: String,
    input: f64,
    output: f64,
    /// The page that says so.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for people, and held by a test")
    )]
    source: String,
    /// The day on which it did.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for people, and held by a test")
    )]
    seen: String,
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("../rules/prices.toml")).unwrap_or_default());

/// What may follow the name of a family of models.
const BEHIND: [char; 5] = ['-', '.', '@', ':', '['];

impl Price {
    fn is_of(&self, model: &str) -> bool {
        let behind = model.strip_prefix(self.begins.as_str());
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(BEHIND))
    }

    fn of(&self, tokens_in: u64, tokens_out: u64) -> f64 {
        (tokens_in as f64 * self.input + tokens_out as f64 * self.output) / 1e6
    }
}

/// Dollars for so many tokens of a model, by a dated table; `None` for no tokens, and for a model that is
/// not in it. A provider's name before the model's (`openai/gpt-5`) does not matter.
#[must_use]
pub fn estimate(model: Option<&str>, tokens_in: u64, tokens_out: u64) -> Option<f64> {
    if tokens_in == 0 && tokens_out == 0 {
        return None;
    }
    let model = model?.to_lowercase();
    let bare = model.rsplit('/').next().unwrap_or_default();
    let price = TABLE.model.iter().find(|price| price.is_of(bare))?;
    Some(price.of(tokens_in, tokens_out))
}

/// Dollars for so many tokens of the dearest model that is known: the most that any of them can cost.
#[must_use]
pub fn dearest(tokens_in: u64, tokens_out: u64) -> f64 {
    let all = TABLE.model.iter();
    all.map(|price| price.of(tokens_in, tokens_out))
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_priced_by_the_model_and_an_unknown_one_is_not() {
        let mini = estimate(Some("openai/gpt-5-mini"), 1_000_000, 1_000_000);
        assert_eq!(mini, Some(2.25));
        assert_eq!(estimate(Some("GPT-5.2-codex"), 2_000_000, 0), Some(3.5));
        for unknown in [None, Some(""), Some("gpt-50"), Some("o365"), Some("llama")] {
            assert_eq!(estimate(unknown, 1_000_000, 0), None, "{unknown:?}");
        }
        assert_eq!(estimate(Some("gpt-5"), 0, 0), None);
    }

    #[test]
    fn every_price_has_its_source_and_its_day() {
        let table: Table = toml::from_str(include_str!("../rules/prices.toml")).unwrap();
        for price in &table.model {
            let Price {
                begins,
                source,
                seen,
                ..
            } = price;
            assert!(price.input > 0.0 && price.output > price.input, "{begins}");
            assert!(source.starts_with("https://"), "{begins}: {source}");
            let day = seen.parse::<chrono::NaiveDate>();
            assert!(day.is_ok(), "{begins}: {seen}");
            // None hides a later one.
            assert_eq!(
                estimate(Some(begins.as_str()), 1_000_000, 0),
                Some(price.input),
                "{begins}"
            );
        }
    }

    #[test]
    fn nothing_known_costs_more_than_the_dearest() {
        for model in ["claude-opus-4-5", "gpt-5", "gemini-3-pro"] {
            let cost = estimate(Some(model), 3_000_000, 500_000).unwrap();
            assert!(cost <= dearest(3_000_000, 500_000), "{model}");
        }
    }
}
