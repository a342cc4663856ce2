//! The shapes of well-known credentials.
//!
//! The prefixes are those of the widely used public rule sets (gitleaks, MIT; the issuers' own
//! documentation). A shape is a prefix and a tail of a known alphabet and least length.

/// One shape.
pub(crate) struct Shape {
    /// Its name in `[redacted:NAME]`.
    pub name: &'static str,
    /// How it begins.
    pub prefix: &'static str,
    /// Least number of characters after the prefix.
    pub least: usize,
    /// Characters of the tail besides letters and digits.
    pub also: &'static str,
}

const fn shape(
    name: &'static str,
    prefix: &'static str,
    least: usize,
    also: &'static str,
) -> Shape {
    Shape {
        name,
        prefix,
        least,
        also,
    }
}

/// Longer prefixes before shorter ones that they begin with.
pub(crate) const SHAPES: [Shape; 24] = [
    shape("anthropic", "sk-ant-", 20, "-_"),
    shape("openai", "sk-proj-", 20, "-_"),
    shape("openai", "sk-", 32, "-_"),
    shape("github", "github_pat_", 22, "_"),
    shape("github", "ghp_", 20, ""),
    shape("github", "gho_", 20, ""),
    shape("github", "ghu_", 20, ""),
    shape("github", "ghs_", 20, ""),
    shape("github", "ghr_", 20, ""),
    shape("gitlab", "glpat-", 16, "-_"),
    shape("slack", "xoxb-", 10, "-"),
    shape("slack", "xoxp-", 10, "-"),
    shape("slack", "xoxa-", 10, "-"),
    shape("slack", "xoxr-", 10, "-"),
    shape("slack", "xoxs-", 10, "-"),
    shape("slack", "xapp-", 10, "-"),
    shape("aws", "AKIA", 16, ""),
    shape("aws", "ASIA", 16, ""),
    shape("google", "AIza", 30, "-_"),
    shape("npm", "npm_", 30, ""),
    shape("pypi", "pypi-", 40, "-_"),
    shape("stripe", "sk_live_", 16, ""),
    shape("stripe", "rk_live_", 16, ""),
    shape("jwt", "eyJ", 40, "-_."),
];
