//! Journals of robots, and a task that is stopped at every step.

use std::{collections::HashMap, future::poll_fn, path::Path, pin::pin, task::Poll};

use bytes::BytesMut;
use journal::{MAX_SIZE, Scribe, SyncPolicy, Writing};
use netcore::{Hosted, Leave, Link, Outbox, PeerId, Role, Room as _, RoomInput, Time};
use store::Order;
use testkit::{PATIENCE, TempDir};

use super::*;

/// A journal of matches between Ann and Bob, which is not closed.
fn play(directory: &Path, matches: usize) -> PathBuf {
    let config = robots::Config {
        parameters: robots::Parameters {
            server_name: netcore::wire::ShortText::default(),
            players_count: 2,
            size_x: 5,
            size_y: 5,
            game_length: 3,
            explosion_radius: 2,
            bomb_timer: 2,
        },
        turn_duration: Duration::from_millis(100),
        initial_blocks: 3,
        seed: 5,
        max_history: robots::MAX_HISTORY,
    };
    let writing = Writing { scribe: Scribe::start().unwrap(), sync: SyncPolicy::Always, max: MAX_SIZE };
    let hosted = Hosted::new(robots::Server::new(config).unwrap());
    let (path, (mut room, _, end)) = writing.create(directory, hosted, "test", vec![]).unwrap();
    let mut out = Outbox::new();
    let mut now = Time::ZERO;
    for (peer, address) in [(1, "10.0.0.1:1"), (2, "10.0.0.2:2")] {
        let peer = PeerId(peer);
        room.input(now, RoomInput::Connected { peer, role: Role::Player, link: Link::Message, address }, &mut out);
    }
    for _ in 0..matches {
        for (peer, name) in [(1, &b"\0\x03Ann"[..]), (2, b"\0\x03Bob")] {
            room.input(now, RoomInput::Bytes { peer: PeerId(peer), bytes: &mut BytesMut::from(name) }, &mut out);
        }
        while let Some(due) = room.deadline() {
            now = due;
            room.input(now, RoomInput::Elapsed, &mut out);
        }
    }
    room.input(now, RoomInput::Stop(Leave::Resumable), &mut out);
    end.close();
    assert!(end.finish(PATIENCE));
    path
}

fn results(directory: &Path) -> (Arc<Results>, Waiting) {
    let store = Store::file(&directory.join("results.db")).unwrap();
    Results::new(store, directory.join("journals"))
}

/// Everything that is stored, once.
async fn check(results: &Results, matches: u64) {
    let found = results.store.matches(&MatchFilter { limit: 100, ..MatchFilter::default() }).await.unwrap();
    assert_eq!(found.len() as u64, matches);
    let leaders = results.store.leaders("robots", Order::Rating, 10).await.unwrap();
    assert_eq!(leaders.iter().map(|leader| leader.score.matches).collect::<Vec<_>>(), [matches, matches]);
}

#[test]
fn a_journal_gives_the_results_of_its_matches() {
    let directory = TempDir::new();
    let path = play(directory.path(), 3);
    let seat = |address: &str, name: &str| ((address.to_owned(), name.to_owned()), Kind::Proven);
    // Bob uses a name of his own and not the one that he owns.
    let seats = HashMap::from([seat("10.0.0.1:1", "Ann"), seat("10.0.0.2:2", "Eve")]);
    let source = examine::Source { path: path.clone(), room: "robots-7".into(), title: "small".into(), seats };
    let mut found = vec![];
    let length = source.read(|new| {
        found.push(new);
        true
    });

    assert_eq!(length.unwrap(), path.metadata().unwrap().len());
    assert_eq!(found.iter().map(|new| new.number).collect::<Vec<_>>(), [1, 2, 3]);
    let last = &found[2];
    assert_eq!((last.room.as_str(), last.title.as_str(), last.complete), ("robots-7", "small", true));
    assert!(last.id.ends_with("-3") && last.begins < last.ends && last.started <= last.ended);
    let mut kinds: Vec<_> = last.players.iter().map(|player| (player.name.as_str(), player.kind)).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [("Ann", Kind::Proven), ("Bob", Kind::Unproven)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_dies_at_any_step_stores_each_match_once() {
    let journals = TempDir::new();
    play(&journals.path().join("journals"), 2);
    for steps in 0.. {
        let directory = TempDir::new();
        std::os::unix::fs::symlink(journals.path().join("journals"), directory.path().join("journals")).unwrap();
        let finished = {
            let (first, _waiting) = results(directory.path());
            let mut work = pin!(async {
                first.store.prepare().await.unwrap();
                first.catch_up().await;
            });
            let mut left = steps;
            poll_fn(|context| {
                if left == 0 {
                    return Poll::Ready(false);
                }
                left -= 1;
                work.as_mut().poll(context).map(|()| true)
            })
            .await
        };
        // Another process, on what the first has left.
        let (again, _waiting) = results(directory.path());
        again.store.prepare().await.unwrap();
        again.catch_up().await;
        check(&again, 2).await;
        if finished {
            assert!(steps > 10, "the task was stopped in between");
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_already_is_not_looked_through_again() {
    let directory = TempDir::new();
    let path = play(&directory.path().join("journals"), 1);
    let (first, _waiting) = results(directory.path());
    first.store.prepare().await.unwrap();
    first.catch_up().await;
    let length = path.metadata().unwrap().len();
    // Of the same length, and no journal any more: nothing reads it.
    std::fs::write(&path, vec![0; usize::try_from(length).unwrap()]).unwrap();
    first.catch_up().await;
    check(&first, 1).await;
    assert_eq!(first.health().error, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_away_nothing_waits_and_nothing_is_lost() {
    let directory = TempDir::new();
    let path = play(&directory.path().join("journals"), 1);
    // Nobody listens there.
    let store = Store::server("postgres://nobody@127.0.0.1:1/none").unwrap();
    let (results, waiting) = Results::new(store, directory.path().join("journals"));
    results.start(waiting);
    let state = async || {
        while results.health().error.is_none() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, state()).await.unwrap();
    let note = JournalNote { room: "robots-1".into(), title: "small".into(), examined: 0 };
    let file = path.file_name().unwrap().to_str().unwrap();
    for number in 0..2 * u32::try_from(MAX_WAITING).unwrap() {
        let job = Job::Examine { file: file.to_owned(), note: note.clone(), number };
        results.tell(job, file, &note);
    }
    assert_eq!(results.health().waiting, MAX_WAITING + 1, "one journal was missed");
}
