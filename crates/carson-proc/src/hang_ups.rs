//! SIGHUP, before somebody listens to it.

use nix::libc::c_int;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// What a SIGHUP did before.
pub struct HangUps(Option<SigAction>);

/// From now on a SIGHUP ends nothing. Programs that we start get it as ever: a handler is not handed on, as
/// ignoring it would be.
pub fn outlive_hang_ups() -> HangUps {
    let nothing = SigHandler::Handler(nothing);
    HangUps(set(&SigAction::new(
        nothing,
        SaFlags::SA_RESTART,
        SigSet::empty(),
    )))
}

impl HangUps {
    /// It does that again.
    pub fn as_before(self) {
        if let Some(before) = self.0 {
            let _ = set(&before);
        }
    }
}

extern "C" fn nothing(_: c_int) {}

#[expect(unsafe_code, reason = "a signal's handler")]
fn set(action: &SigAction) -> Option<SigAction> {
    // SAFETY: the handler does nothing at all, or is the one that was there before.
    unsafe { sigaction(Signal::SIGHUP, action) }.ok()
}
