use super::*;
use crate::testing::{LONG, alone, detached, eventually, sh};

#[test]
fn we_are_alive_and_the_number_alone_is_not_us() {
    let me = ProcessId::current();
    assert!(me.is_alive());
    assert_eq!(ProcessId::of(me.pid), Some(me));
    assert!(
        !ProcessId {
            start: me.start - 1,
            ..me
        }
        .is_alive()
    );
    for nobody in [0, -1, i32::MAX] {
        assert_eq!(ProcessId::of(nobody), None);
    }
}

#[test]
fn whoever_got_the_number_later_is_not_killed() {
    alone(|| async {
        let child = detached(&sh("exec sleep 1000"));
        let before = ProcessId {
            start: child.id.start - 1,
            ..child.id
        };
        assert!(!before.is_alive());
        assert!(before.terminate(LONG).await, "that one is gone");
        assert!(child.id.is_alive());

        assert!(child.id.terminate(LONG).await);
        assert!(!child.id.is_alive());
        child.wait().await.unwrap();
    });
}

#[test]
fn terminating_is_polite_first() {
    alone(|| async {
        let polite = detached(&sh(
            "trap 'exit 5' TERM; echo $$ >&2; while :; do sleep 0.01; done",
        ));
        assert!(eventually(|| !polite.log().is_empty()).await);
        assert!(polite.id.terminate(LONG).await);
        assert_eq!(polite.wait().await.unwrap(), crate::Exit::Code(5));

        let deaf = detached(&sh("trap '' TERM; echo $$; while :; do sleep 0.01; done"));
        assert!(eventually(|| !deaf.log().is_empty()).await);
        assert!(deaf.id.terminate(Duration::from_millis(50)).await);
        assert_eq!(deaf.wait().await.unwrap(), crate::Exit::Signal(9));
    });
}

#[test]
fn the_dead_are_not_alive_before_they_are_reaped() {
    alone(|| async {
        let child = detached(&sh("exit 0"));
        let id = child.id;
        // The table still has it: nobody has waited for it.
        assert!(eventually(|| table::entry(id.pid).is_some_and(|entry| entry.zombie)).await);
        assert_eq!(ProcessId::of(id.pid), None);
        assert!(!id.is_alive());
        assert!(id.terminate(LONG).await);
        child.wait().await.unwrap();
        assert_eq!(table::entry(id.pid), None);
    });
}
