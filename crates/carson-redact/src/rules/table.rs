//! The rules by issuer. Names of rules are what an operator writes into `allow_secrets`.
//!
//! After the rule sets that are widely used (gitleaks' default configuration, MIT, © Zachary Rice;
//! GitHub's and GitLab's lists of partner patterns) and the issuers' own documentation.

use super::rule::{Around, Rule, Tail, Verdict};
use super::{address, assigned, jwt, pem};
use crate::runs::Alphabet::{Alnum, Any, Base64, Dashed, Word, WordDashed};

const NO_TAIL: Tail = Tail {
    alphabet: Alnum,
    least: 0,
    most: 0,
    random: false,
    digits: false,
    each: |_| true,
};

const fn special(
    name: &'static str,
    anchors: &'static [&'static str],
    judge: fn(&Rule, &Around<'_>, &mut crate::runs::Runs) -> Verdict,
) -> Rule {
    Rule {
        name,
        anchors,
        judge,
        tail: NO_TAIL,
    }
}

/// Rules of one name stand together.
pub(crate) static RULES: &[Rule] = &[
    special("private-key", &["-----BEGIN "], pem::judge_private_key),
    Rule::tail("private-key", &["AGE-SECRET-KEY-1"], Alnum, 58).most(58),
    special("jwt", &["eyJ"], jwt::judge_jwt),
    special("url-password", &["://"], address::judge_url_password),
    special("assignment", assigned::NAMES, assigned::judge_assignment),
    special("authorization", &["bearer ", "basic "], assigned::header),
    // Models.
    Rule::tail("anthropic", &["sk-ant-"], WordDashed, 20).random(),
    Rule::tail(
        "openai",
        &[
            "sk-proj-",
            "sk-svcacct-",
            "sk-admin-",
            "sk-None-",
            "sk-or-v1-",
        ],
        WordDashed,
        20,
    )
    .random(),
    Rule::tail("openai", &["sk-"], Alnum, 32).random(),
    Rule::tail("huggingface", &["hf_", "api_org_"], Alnum, 34)
        .most(40)
        .random(),
    Rule::tail("groq", &["gsk_"], Alnum, 48).most(56).random(),
    Rule::tail("xai", &["xai-"], Alnum, 70).random(),
    Rule::tail("perplexity", &["pplx-"], Alnum, 40).random(),
    Rule::tail("replicate", &["r8_"], Alnum, 37)
        .most(40)
        .random(),
    // Forges.
    Rule::tail("github", &["github_pat_"], Word, 22),
    Rule::tail(
        "github",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        Alnum,
        20,
    ),
    Rule::tail(
        "gitlab",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-",
            "glagent-", "gloas-", "glffct-",
        ],
        WordDashed,
        20,
    )
    .random(),
    Rule::tail("gitlab", &["GR1348941"], WordDashed, 20).random(),
    Rule::tail("bitbucket", &["ATBB", "ATATT3", "ATCTT3"], WordDashed, 24).random(),
    // Clouds.
    Rule::tail("aws", &["AKIA", "ASIA", "ABIA", "ACCA"], Alnum, 16)
        .most(16)
        .made_of(|byte| byte.is_ascii_uppercase() || b"234567".contains(&byte)),
    Rule::tail("google", &["AIza"], WordDashed, 35)
        .most(35)
        .random(),
    Rule::tail("google", &["GOCSPX-"], WordDashed, 28).most(28),
    Rule::tail("google", &["ya29."], WordDashed, 20).random(),
    Rule::tail(
        "azure",
        &["AccountKey=", "SharedAccessKey=", "SharedSecretValue="],
        Base64,
        40,
    ),
    Rule::tail(
        "digitalocean",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        Alnum,
        64,
    )
    .most(64),
    Rule::tail("fly", &["FlyV1 fm1_", "FlyV1 fm2_", "fm2_"], Base64, 60).random(),
    Rule::tail("heroku", &["HRKU-"], WordDashed, 36).random(),
    Rule::tail("databricks", &["dapi"], Alnum, 32)
        .most(34)
        .random(),
    Rule::tail("vault", &["hvs.", "hvb.", "hvr."], WordDashed, 24).random(),
    Rule::tail("doppler", &["dp.pt.", "dp.st.", "dp.sa."], Alnum, 40).random(),
    Rule::tail("pulumi", &["pul-"], Alnum, 40).most(40).random(),
    Rule::tail(
        "planetscale",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        WordDashed,
        32,
    ),
    Rule::tail("supabase", &["sbp_", "sb_secret_"], Word, 30).random(),
    // Chat and mail.
    Rule::tail(
        "slack",
        &[
            "xoxb-",
            "xoxp-",
            "xoxa-",
            "xoxr-",
            "xoxs-",
            "xoxe-",
            "xoxe.xoxb-",
            "xoxe.xoxp-",
            "xoxc-",
            "xoxd-",
            "xapp-",
        ],
        Dashed,
        10,
    )
    .with_digits(),
    Rule::tail(
        "slack-webhook",
        &[
            "hooks.slack.com/services/",
            "hooks.slack.com/workflows/",
            "hooks.slack.com/triggers/",
        ],
        Any,
        20,
    )
    .with_digits(),
    Rule::tail(
        "webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        Any,
        60,
    ),
    Rule::tail("sendgrid", &["SG."], crate::runs::Alphabet::Dotted, 60).random(),
    Rule::tail("twilio", &["SK"], Alnum, 32)
        .most(32)
        .made_of(|byte| byte.is_ascii_digit() || b"abcdef".contains(&byte)),
    // Money.
    Rule::tail(
        "stripe",
        &["sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"],
        Alnum,
        16,
    )
    .with_digits(),
    Rule::tail(
        "shopify",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        Alnum,
        32,
    )
    .most(32),
    // Registries.
    Rule::tail("npm", &["npm_"], Alnum, 36).most(36).random(),
    Rule::tail("pypi", &["pypi-Ag"], WordDashed, 40).random(),
    Rule::tail("crates-io", &["cio"], Alnum, 32)
        .most(32)
        .random(),
    Rule::tail("rubygems", &["rubygems_"], Alnum, 48).most(48),
    Rule::tail("nuget", &["oy2"], Alnum, 43).most(43).random(),
    Rule::tail("docker", &["dckr_pat_", "dckr_oat_"], WordDashed, 20).random(),
    // Tools.
    Rule::tail("grafana", &["glsa_", "glc_"], Any, 32).random(),
    Rule::tail("sentry", &["sntrys_", "sntryu_"], Any, 40).random(),
    Rule::tail("newrelic", &["NRAK-", "NRII-", "NRJS-"], WordDashed, 19).random(),
    Rule::tail("linear", &["lin_api_", "lin_oauth_"], Alnum, 32).random(),
    Rule::tail("notion", &["ntn_", "secret_"], Alnum, 43)
        .most(50)
        .random(),
    Rule::tail("postman", &["PMAK-"], Dashed, 50).random(),
    Rule::tail("atlas", &[".atlasv1."], WordDashed, 50),
    Rule::tail("dropbox", &["sl."], WordDashed, 130).random(),
    Rule::tail("1password", &["ops_eyJ"], Base64, 200),
];
