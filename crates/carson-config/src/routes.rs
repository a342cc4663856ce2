//! `[routes.STAGE]` of a role: what its sessions of one stage use in the place of what all others do.

use carson_core::AccountName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[routes.STAGE]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RouteSection {
    /// Accounts of this stage, in order of preference; where none of them can be used, and without this key,
    /// those of the role.
    #[schemars(extend("examples" = [["codex"]]))]
    pub engines: Vec<String>,
    /// The model that this stage asks, of accounts of one vendor; that of the account without it.
    #[schemars(extend("examples" = ["claude-opus-5"]))]
    pub model: Option<String>,
    /// How hard that model is told to think, in its CLI's own word: `low`, `medium`, `high` and more; the
    /// CLI's choice without it.
    #[schemars(extend("examples" = ["high"]))]
    pub effort: Option<String>,
}

/// What the sessions of one stage use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Route {
    /// Its accounts, in order of preference; none where it has those of the role.
    pub engines: Vec<AccountName>,
    /// The model.
    pub model: Option<String>,
    /// How hard it is told to think.
    pub effort: Option<String>,
}
