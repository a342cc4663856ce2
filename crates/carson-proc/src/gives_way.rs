//! Whom the kernel ends first where the machine has no memory left (`oom_score_adj`, proc(5)).

use std::fs;

const FILE: &str = "/proc/self/oom_score_adj";

/// How early a process goes, with all that it starts. A daemon, and whatever else runs on the machine, goes last:
/// it is what tells that the others ended, and begins them anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivesWay {
    /// A firing: before its daemon.
    Firing = 300,
    /// What it starts behind walls: before the firing, which saves its work.
    Session = 500,
}

impl GivesWay {
    /// From now on; never later than it did so far. To go earlier is anybody's right; where the system does not know
    /// of it, nothing happens.
    pub fn begin(self) {
        let points = self as i32;
        let now = fs::read_to_string(FILE).ok();
        let now = now.and_then(|text| text.trim().parse::<i32>().ok());
        if now.is_some_and(|now| now < points) {
            let _ = fs::write(FILE, points.to_string());
        }
    }
}
