//! What the fleet remembers, where it touches the world: evidence is looked up, a firing is told lessons and proposes
//! some, the gate runs. What any of it means is decided in `carson-memory`.

mod evidence;
mod gate;
mod harvested;
mod judge;
mod proposals;
mod recall;

pub use evidence::{Look, look};
pub use gate::{GateRun, Judged as GateJudged, run as run_gate};
pub use harvested::harvest;
pub(crate) use proposals::{ReadLessons, collect};
pub(crate) use recall::told;
pub use recall::{embedder, file_pieces};
