//! What a forge can do: the verbs that each kind has in its own way.

use std::fmt::Debug;

use crate::answer::Answer;
use crate::pull_api::PullApi;
use crate::standing::Standing;
use crate::words::{Comment, Issue, IssueEdit, Labelled, Listed, NewIssue, NewPull, Pull};

/// One repository's issues and pull requests, as its forge has them. Queues, claims and releases
/// are built on these ([`Forge`](crate::Forge)).
pub trait Api: PullApi + Debug + Send + Sync {
    /// The author of our own comments.
    fn me(&self) -> Answer<'_, &str>;

    /// How we stand with it, as its answers so far told; asks nothing.
    fn standing(&self) -> Standing {
        Standing::default()
    }

    /// Looks whether it can be read and written, without writing anything that stays.
    fn examine(&self) -> Answer<'_, Standing>;

    /// Open issues, of one label or all.
    fn issues<'a>(&'a self, label: Option<&'a str>) -> Answer<'a, Listed<Issue>>;

    /// One issue, or [`ForgeError::NotFound`](crate::ForgeError::NotFound).
    fn issue(&self, number: u64) -> Answer<'_, Issue>;

    /// Makes an issue.
    fn create_issue<'a>(&'a self, new: &'a NewIssue) -> Answer<'a, Issue>;

    /// Our own issues in any state, the newest first; those of the last days are enough.
    fn own_issues(&self) -> Answer<'_, Listed<Issue>>;

    /// Makes an issue whose author we are, to the letter. An answer that was lost is
    /// [`ForgeError::Unavailable`](crate::ForgeError::Unavailable): whoever asked knows what to look for.
    fn create_own_issue<'a>(&'a self, new: &'a NewIssue) -> Answer<'a, Issue>;

    /// Closes an issue.
    fn close_issue(&self, number: u64) -> Answer<'_, ()>;

    /// Opens a closed issue again; what is so already is no error.
    fn reopen_issue(&self, number: u64) -> Answer<'_, ()>;

    /// Changes an issue's title or text.
    fn edit_issue<'a>(&'a self, number: u64, edit: &'a IssueEdit) -> Answer<'a, ()>;

    /// All comments of an issue or a pull request, oldest first; half of them is an error, because a
    /// claim may stand in the other half.
    fn comments(&self, number: u64) -> Answer<'_, Vec<Comment>>;

    /// Comments on an issue or a pull request, to the letter.
    fn comment<'a>(&'a self, number: u64, body: &'a str) -> Answer<'a, Comment>;

    /// Adds and removes labels; what is so already is no error.
    fn set_labels<'a>(
        &'a self,
        number: u64,
        add: &'a [&'a str],
        remove: &'a [&'a str],
    ) -> Answer<'a, ()>;

    /// Who put a label on an issue last; `None` where it does not carry it, or the forge does not tell (yet).
    fn labelled<'a>(&'a self, _number: u64, _label: &'a str) -> Answer<'a, Option<Labelled>> {
        Box::pin(async { Ok(None) })
    }

    /// The labels that the repository has; `None` where an issue may carry any word.
    fn labels(&self) -> Answer<'_, Option<Vec<String>>> {
        Box::pin(async { Ok(None) })
    }

    /// Makes a label, with what it says of an issue; one that is there already is no error.
    fn make_label<'a>(&'a self, _name: &'a str, _says: &'a str) -> Answer<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Pull requests, open ones or all.
    fn pulls(&self, open_only: bool) -> Answer<'_, Listed<Pull>>;

    /// One pull request, or [`ForgeError::NotFound`](crate::ForgeError::NotFound).
    fn pull(&self, number: u64) -> Answer<'_, Pull>;

    /// The newest pull request of a branch, in any state.
    fn pull_by_head<'a>(&'a self, branch: &'a str) -> Answer<'a, Option<Pull>>;

    /// Opens a pull request; one that the branch has already is changed to match. So calling this
    /// twice makes one.
    fn create_pull<'a>(&'a self, new: &'a NewPull) -> Answer<'a, Pull>;

    /// Closes a pull request without merging it; what is so already is no error.
    fn close_pull(&self, number: u64) -> Answer<'_, ()>;

    /// Whether it holds the branches and merges them itself. One that does not is told what became
    /// of them.
    fn holds_branches(&self) -> bool {
        true
    }
}
