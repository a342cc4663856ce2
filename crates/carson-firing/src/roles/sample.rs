//! A kind that only shows what one takes: it works at every slot, and its sessions say what they found.

use carson_core::settle::Goal;

use super::kind::Kind;
use super::routine;

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| (routine::KIND.pick)(ctx, rec),
    goal: |_| Goal::Text,
    effects: |_| Vec::new(),
};
