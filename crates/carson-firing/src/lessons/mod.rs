//! What the fleet remembers, where it touches the world: evidence is looked up, a firing is told lessons and proposes
//! some, the gate runs. What any of it means is decided in `carson-memory`.

mod evidence;
mod gate;
mod harvested;
mod held;
mod judge;
mod proposals;
mod recall;
mod reviewed;

pub use evidence::{Look, file_pieces, look};
pub use gate::{GateRun, Judged as GateJudged, Plan as GatePlan, run as run_gate};
pub(crate) use proposals::{ReadLessons, collect};
pub(crate) use recall::told;
pub use recall::{Indexed, embedder, index};
