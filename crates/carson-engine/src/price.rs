//! What tokens cost, for CLIs that do not say.

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
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("../rules/prices.toml")).unwrap_or_default());

/// Dollars for so many tokens of a model, by a dated table; `None` for no tokens. A provider's name
/// before the model's (`openai/gpt-5`) does not matter.
#[must_use]
pub fn estimate(model: Option<&str>, tokens_in: u64, tokens_out: u64) -> Option<f64> {
    if tokens_in == 0 && tokens_out == 0 {
        return None;
    }
    let model = model.unwrap_or_default().to_lowercase();
    let bare = model.rsplit('/').next().unwrap_or_default();
    let known = TABLE
        .model
        .iter()
        .find(|price| bare.starts_with(&price.begins));
    let dearest = || {
        TABLE
            .model
            .iter()
            .max_by(|a, b| a.output.total_cmp(&b.output))
    };
    let price = known.or_else(dearest)?;
    Some((tokens_in as f64 * price.input + tokens_out as f64 * price.output) / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_priced_by_the_model_and_an_unknown_one_as_the_dearest() {
        let table: Table = toml::from_str(include_str!("../rules/prices.toml")).unwrap();
        assert!(
            table
                .model
                .iter()
                .all(|price| price.input > 0.0 && price.output > price.input)
        );
        let mini = estimate(Some("openai/gpt-5-mini"), 1_000_000, 1_000_000);
        assert_eq!(mini, Some(2.25));
        assert_eq!(estimate(Some("GPT-5.2-codex"), 2_000_000, 0), Some(3.5));
        let unknown = estimate(None, 1_000_000, 0).unwrap();
        let all = table.model.iter().map(|price| price.input);
        assert!(all.fold(0.0, f64::max) <= unknown);
        assert_eq!(estimate(Some("gpt-5"), 0, 0), None);
    }
}
