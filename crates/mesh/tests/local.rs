//! The contract in one process, and tests of expiry, which need a controlled clock.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use mesh::{
    Append, Appended, Committed, Directory, ENTRY_AGE_SECONDS, EVENTS_AGE_SECONDS, Events, Fence, Key, Local,
    MAX_DELIVERIES, MeshError, REMEMBERED_SECONDS, Results, TAKEN_SECONDS, Value, Written, consume_result,
};
use netcore::Time;

use crate::contract::{self, Shared, name};

#[derive(Debug, Clone, Default)]
struct Hand(Arc<AtomicU64>);

impl Hand {
    fn wait(&self, seconds: u64) {
        self.0.fetch_add(seconds * 1_000_000_000, Ordering::Relaxed);
    }

    fn local(&self) -> Local {
        let clock = self.0.clone();
        Local::new(move || Time::from_nanos(clock.load(Ordering::Relaxed)))
    }
}

fn shared() -> Shared {
    let local = Hand::default().local();
    let journals = local.journals();
    Shared::of(local, journals)
}

fn now<T>(answer: impl Future<Output = T>) -> T {
    let mut answer = pin!(answer);
    match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

contract::tests!(shared());

#[test]
fn only_watches_block_in_one_process() {
    let local = Hand::default().local();
    assert_eq!(now(Results::take(&local)), Ok(None));
    let mut follow = now(Events::follow(&local, &name("room"), None)).unwrap();
    let mut next = follow.next();
    assert!(next.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[test]
fn unacknowledged_result_is_redelivered() {
    let hand = Hand::default();
    let local = hand.local();
    assert_eq!(now(local.submit(&name("m"), &Bytes::from_static(b"1"))), Ok(true));
    let first = now(local.take()).unwrap().unwrap();
    hand.wait(TAKEN_SECONDS - 1);
    assert_eq!(now(local.take()), Ok(None), "its consumer has it");
    hand.wait(1);
    let second = now(local.take()).unwrap().unwrap();
    assert_eq!((second.id, second.body, first.count, second.count), (first.id, first.body, 1, 2));
    assert_eq!(now(local.acknowledge(&first.receipt)), Ok(()));
    hand.wait(TAKEN_SECONDS);
    assert_eq!(now(local.take()), Ok(None));
    assert_eq!(now(local.submit(&name("m"), &Bytes::new())), Ok(false), "it is remembered");
    hand.wait(REMEMBERED_SECONDS);
    assert_eq!(now(local.submit(&name("m"), &Bytes::new())), Ok(true), "no longer: the database knows it");
}

#[test]
fn events_expire_after_an_hour_and_a_snapshot_is_due_after_half_of_it() {
    let hand = Hand::default();
    let local = hand.local();
    let room = name("room");
    let append = |after, is_anchor| Append { fence: Fence(1), after, is_anchor, body: Bytes::from_static(b"x") };
    let Ok(Appended::Stored(first)) = now(local.publish(&room, &append(None, true))) else { panic!() };
    hand.wait(EVENTS_AGE_SECONDS / 2);
    let Ok(Appended::Stored(second)) = now(local.publish(&room, &append(Some(first), false))) else { panic!() };
    hand.wait(1);
    assert_eq!(now(local.publish(&room, &append(Some(second), false))), Ok(Appended::AnchorDue));
    let Ok(Appended::Stored(third)) = now(local.publish(&room, &append(Some(second), true))) else { panic!() };
    hand.wait(EVENTS_AGE_SECONDS / 2);
    // The first snapshot has expired, so its changes are useless.
    let mut late = now(local.follow(&room, Some(first))).unwrap();
    assert_eq!(now(late.next()).unwrap().sequence, second, "it has the one before");
    let mut later = now(local.follow(&room, None)).unwrap();
    assert_eq!(now(later.next()).unwrap().sequence, third);
}

#[test]
fn lasting_entries_outlive_a_directory_that_expires() {
    let hand = Hand::default();
    let local = hand.local();
    let value = Value::Common("secret".into());
    for key in [Key::Lasting(name("secret")), Key::Common(name("secret"))] {
        assert!(matches!(now(local.write(&key, Some(&value), None)), Ok(Written::Stored(_))));
    }
    hand.wait(ENTRY_AGE_SECONDS + 1);
    assert_eq!(now(local.entry(&Key::Common(name("secret")))), Ok(None));
    assert_eq!(now(local.entry(&Key::Lasting(name("secret")))).unwrap().unwrap().value, value);
}

#[test]
fn rejected_result_becomes_a_dead_letter_after_five_deliveries() {
    let hand = Hand::default();
    let local = hand.local();
    for id in ["poison", "good"] {
        assert_eq!(now(local.submit(&name(id), &Bytes::from_static(b"1"))), Ok(true));
    }
    let mut stored = vec![];
    for delivery in 1..=MAX_DELIVERIES {
        let mut commit = async |id: &mesh::Name, _: &Bytes| {
            let is_poison = *id == name("poison");
            stored.push(id.clone());
            Ok::<_, MeshError>(if is_poison { Committed::Rejected } else { Committed::Stored })
        };
        while now(consume_result(&local, &mut commit)) == Ok(true) {}
        assert_eq!(local.dead_letters(), u64::from(delivery == MAX_DELIVERIES), "after {delivery} deliveries");
        hand.wait(TAKEN_SECONDS);
    }
    let count = |id: &str| stored.iter().filter(|stored| **stored == name(id)).count() as u64;
    assert_eq!((count("poison"), count("good")), (MAX_DELIVERIES, 1));
    assert_eq!(now(local.take()), Ok(None), "it has left the queue");
}

#[test]
fn result_that_waits_for_its_database_never_becomes_a_dead_letter() {
    let hand = Hand::default();
    let local = hand.local();
    assert_eq!(now(local.submit(&name("m"), &Bytes::from_static(b"1"))), Ok(true));
    for _ in 0..2 * MAX_DELIVERIES {
        let away = || MeshError::new(mesh::ErrorKind::Away, "commit", "the database", "it is away", "try again");
        assert_eq!(now(consume_result(&local, async |_: &mesh::Name, _: &Bytes| Err(away()))), Err(away()));
        hand.wait(TAKEN_SECONDS);
    }
    let stored = async |_: &mesh::Name, _: &Bytes| Ok::<_, MeshError>(Committed::Stored);
    assert_eq!((now(consume_result(&local, stored)), local.dead_letters()), (Ok(true), 0));
}
