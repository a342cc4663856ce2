//! Requests to a forge, and pushes by a library: what code asks of another machine.

use crate::marks;
use crate::words::Words;

use super::super::{Exec, State, Walker};
use super::{Piece, calls};

/// Methods of a request that changes something.
const METHODS: Words = Words("put post patch delete");

/// Calls of a forge's own libraries that merge, or change a branch.
const MERGES: Words = Words(
    "pulls.merge( .mergePullRequest( merge_pull_request( git.updateRef( repos.merge( \
     git.deleteRef( MergeRequests.accept( mergerequests.accept( .accept_merge_request( \
     acceptMergeRequest( MergeRequests.merge( PullRequests.Merge( .create_or_update_file( \
     repos.createOrUpdateFileContents( enablePullRequestAutoMerge repos.deleteBranchProtection( \
     .remove_protection( .edit_protection( updateBranchProtection(",
);

impl Walker<'_> {
    pub(super) fn scan_requests(&mut self, piece: Piece<'_>, state: &State) {
        let skeleton = &piece.source.skeleton;
        for name in METHODS.iter() {
            let title = name[..1].to_ascii_uppercase() + &name[1..];
            for called in [name, title.as_str()] {
                for call in calls::of(skeleton, called) {
                    self.request(&name.to_ascii_uppercase(), call.args, piece, state);
                }
            }
        }
        for args in piece.calls(Words("request fetch axios Request urlopen ajax got ky")) {
            let words = piece.values.words(args);
            let text = words.join(" ");
            let method = METHODS.iter().map(str::to_ascii_uppercase);
            let mut method = method.filter(|name| text.contains(name.as_str()));
            if let Some(method) = method.next() {
                self.request(&method, args, piece, state);
            }
        }
        // `repo.get_pull(1).merge()`.
        let pull = Words("get_pull( mergerequests.get( merge_requests.get( pull_request(")
            .any_in(skeleton);
        let merges = calls::of(skeleton, "merge").any(|call| call.before.ends_with('.'));
        if MERGES.any_in(skeleton) || (pull && merges) {
            let merge = ["gh", "pr", "merge"].map(str::to_owned);
            self.judge_command(&Exec::of(merge.to_vec()), state);
        }
        self.scan_pushes(piece, state);
    }

    /// A request as `curl` would make it.
    fn request(&mut self, method: &str, args: &str, piece: Piece<'_>, state: &State) {
        let words = piece.values.words(args);
        let Some(url) = words.iter().find(|word| word.contains("://")) else {
            return;
        };
        let url = url.replace(marks::is_mark, "x");
        let mut argv = ["curl", "-X", method, &url].map(str::to_owned).to_vec();
        for word in words.iter().filter(|word| !word.contains("://")) {
            argv.extend(["-d".to_owned(), word.clone()]);
        }
        self.judge_command(&Exec::of(argv), state);
    }

    /// `Repo('.').remotes.origin.push('main')`, `repo.git.push('origin', 'main')`.
    fn scan_pushes(&mut self, piece: Piece<'_>, state: &State) {
        for call in calls::of(&piece.source.skeleton, "push") {
            let on = calls::receiver(call.before).to_ascii_lowercase();
            let owned =
                call.before.ends_with('.') && Words("git origin remote porcelain").any_in(&on);
            if !owned {
                continue;
            }
            let mut words = piece.values.words(call.args);
            words.retain(|word| !word.is_empty());
            if on.contains("origin") || (on.contains("remote") && words.len() == 1) {
                words.insert(0, "origin".to_owned());
            }
            if call.args.contains("force=True") || call.args.contains("force: true") {
                words.push("--force".to_owned());
            }
            let argv = ["git", "push"].map(str::to_owned).into_iter().chain(words);
            self.judge_command(&Exec::of(argv.collect()), state);
        }
        for name in Words("get_git_ref getRef get_ref").iter() {
            for call in calls::of(&piece.source.skeleton, name) {
                let changes = Words(".edit( .delete( .update(").any_in(call.after);
                let name = piece.values.words(call.args).into_iter().next();
                if let Some(name) = name.filter(|_| changes) {
                    let target = format!("+HEAD:refs/{}", name.trim_start_matches("refs/"));
                    let argv = ["git", "push", "origin", &target].map(str::to_owned);
                    self.judge_command(&Exec::of(argv.to_vec()), state);
                }
            }
        }
    }
}
