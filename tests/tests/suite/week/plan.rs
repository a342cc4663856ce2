//! What the world takes away, and when.

use serde_json::Value;

/// How much of Monday the suite plays: it has an outage, the reboot and the full disk.
pub(super) const HOURS_OF_THE_SUITE: u64 = 10;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The provider of `main` is not reached.
    ProviderAway,
    /// `main` has used up its window; the provider says until when, to the minute.
    RateLimit,
    /// Everything is killed in the middle of its work, and off for the rest of the time.
    Reboot,
    /// No byte can be written.
    FullDisk,
    /// Somebody wrote a promise that names no program.
    WrongPromise,
    /// The CLI of `main` ends at once, before any model is asked.
    BrokenCli,
    /// The forge answers nothing.
    SilentForge,
}

/// Something that goes wrong from one hour to another, since Monday 00:00.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub what: Trouble,
    pub from: u64,
    pub to: u64,
}

const fn fault(what: Trouble, from: u64, to: u64) -> Fault {
    Fault { what, from, to }
}

/// The week.
pub(super) const FAULTS: [Fault; 8] = [
    fault(Trouble::ProviderAway, 1, 3),
    fault(Trouble::Reboot, 4, 6),
    fault(Trouble::FullDisk, 8, 10),
    fault(Trouble::ProviderAway, 27, 29),
    fault(Trouble::RateLimit, 37, 40),
    fault(Trouble::BrokenCli, 50, 53),
    fault(Trouble::WrongPromise, 72, 78),
    fault(Trouble::SilentForge, 100, 101),
];

impl Fault {
    /// Whether it stands in an hour.
    pub(super) fn covers(&self, hour: u64) -> bool {
        (self.from..self.to).contains(&hour)
    }

    /// Its name in the table.
    pub(super) fn name(&self) -> &'static str {
        match self.what {
            Trouble::ProviderAway => "provider",
            Trouble::RateLimit => "limit",
            Trouble::Reboot => "reboot",
            Trouble::FullDisk => "disk",
            Trouble::WrongPromise => "promise",
            Trouble::BrokenCli => "cli",
            Trouble::SilentForge => "forge",
        }
    }

    /// Whether it is why a slot of this role, while it stood, has this row, or none.
    pub(super) fn explains(&self, role: &str, row: Option<&Value>) -> bool {
        let Some(row) = row else {
            return matches!(self.what, Trouble::Reboot | Trouble::FullDisk);
        };
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let end = (text("outcome"), text("skip"));
        let reason = text("reason");
        match self.what {
            // Until it is known to be down, and then.
            Trouble::ProviderAway => match end.0 {
                "FAILED" => reason.contains("not available"),
                "RATE_LIMITED" => true,
                _ => end == ("SKIPPED", "block"),
            },
            // A role with another account goes on with that.
            Trouble::RateLimit => {
                role != "spared" && (end.0 == "RATE_LIMITED" || end == ("SKIPPED", "block"))
            }
            Trouble::Reboot => end.0 == "CRASHED",
            Trouble::FullDisk => false,
            Trouble::WrongPromise => role == "checked" && end.0 != "OK",
            Trouble::BrokenCli => end.0 == "FAILED" && reason.contains("exit code 3"),
            Trouble::SilentForge => end.0 != "OK" && reason.contains("the forge does not answer"),
        }
    }
}
