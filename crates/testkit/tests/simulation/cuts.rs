//! Journals of short matches, truncated at every byte.

use std::{fmt::Debug, path::Path, sync::Arc, time::Duration};

use journal_core::{Head, Journal, MAX_SIZE, ReadError, Resumable, ResumeError, Scribe, SyncPolicy, Writing};
use netcore::{Client, Hosted, Recorded, Room, Time};
use testkit::{
    disk::{Fault, SimulatedDisk},
    net::{Conditions, Delivered, Net},
    seeds::for_each_seed,
    simulation::{Game, expected_deliveries},
};

use super::{blackjack::Blackjack, nuggets::Nuggets, robots::Robots};

/// The name of every journal.
const JOURNAL: &str = "/games/match.journal";

/// Plays until `until`, or until the server dies in a sync.
fn play<E, C, G>(seed: u64, sync: SyncPolicy, until: Duration, fault: Option<Fault>) -> (Net<E, C>, Played)
where
    E: Recorded,
    Hosted<E>: Send + Sync + 'static,
    C: Client<Error: Debug>,
    G: Game<E, C>,
{
    let (mut game, engine) = G::begin(seed);
    let head = Head::new(&engine, "0.0.0", vec![], 0);
    let (disk, scribe) = (SimulatedDisk::new(), Scribe::by_hand());
    // All that counts is in the file.
    disk.set_memory(false);
    let writing = Writing { disk: Arc::new(disk.clone()), scribe: scribe.clone(), sync, max: MAX_SIZE };
    let (journal, (room, hold, _)) = writing.create(Path::new("/games"), Hosted::new(engine), head).unwrap();
    let files = |disk: &SimulatedDisk| Played {
        synced: disk.synced(&journal),
        written: disk.written(&journal),
        dead: disk.is_dead(),
    };
    let mut net = Net::journalled(seed, Conditions::CALM, room, hold);
    disk.set_fault(fault);
    game.enter(&mut net);
    let until = Time::ZERO.plus(until);
    while net.now() < until {
        net.step(game.wake().map_or(until, |wake| wake.min(until)));
        while scribe.write() {
            if disk.is_dead() {
                return (net, files(&disk));
            }
            net.poke();
        }
        game.step(&mut net);
    }
    (net, files(&disk))
}

/// What a match has left of its journal.
struct Played {
    written: Vec<u8>,
    synced: Vec<u8>,
    // Whether the server died in an operation of the disk.
    dead: bool,
}

fn disk_with(file: &[u8]) -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    disk.put(JOURNAL, file.to_vec());
    disk
}

fn resume<E: Recorded>(file: &[u8]) -> Result<Resumable<E>, ResumeError> {
    Resumable::open(&disk_with(file), Path::new(JOURNAL))
}

fn expected<E: Recorded>(file: &[u8]) -> Delivered {
    expected_deliveries::<E>(&Journal::open_on(&disk_with(file), Path::new(JOURNAL)).unwrap())
}

fn replays_alike<E, C, G>()
where
    E: Recorded,
    Hosted<E>: Send + Sync + 'static,
    C: Client<Error: Debug>,
    G: Game<E, C>,
{
    for_each_seed(5, |seed| {
        let (net, played) = play::<E, C, G>(seed, SyncPolicy::Interval, Duration::from_secs(10), None);
        let delivered = net.delivered();
        assert!(delivered.values().map(Vec::len).sum::<usize>() > 100);
        assert_eq!(expected::<E>(&played.written), delivered);
    });
}

#[test]
fn a_replay_sends_everybody_the_same_bytes() {
    replays_alike::<_, _, Nuggets>();
    replays_alike::<_, _, Robots>();
    replays_alike::<_, _, Blackjack>();
}

fn states_are_real<E, C, G>(until: Duration)
where
    E: Recorded,
    Hosted<E>: Send + Sync + 'static,
    C: Client<Error: Debug>,
    G: Game<E, C>,
{
    let (net, played) = play::<E, C, G>(1, SyncPolicy::Interval, until, None);
    let (first, file) = (G::begin(1).1.digest(), played.written);
    let (mut resumed, mut digests) = (0, vec![]);
    for length in 0..=file.len() {
        match resume::<E>(&file[..length]) {
            Ok(resumable) => {
                let digest = resumable.room().digest();
                assert!(digest == first || net.had(digest), "cut at {length}");
                resumed += 1;
                digests.push(digest);
            }
            Err(ResumeError::Read(ReadError::Empty | ReadError::NotAJournal | ReadError::Damaged { .. })) => {
                assert_eq!(resumed, 0, "cut at {length} it cannot be resumed, but cut before that it can");
            }
            Err(error) => panic!("cut at {length}: {error}"),
        }
    }
    assert_eq!(digests.last(), Some(&net.engine().digest()));
    digests.dedup();
    assert!(resumed > 400 && digests.len() > 20, "{resumed} {}", digests.len());
}

#[test]
fn a_journal_cut_anywhere_leads_to_a_state_that_the_match_had() {
    states_are_real::<_, _, Nuggets>(Duration::from_millis(2_500));
    states_are_real::<_, _, Robots>(Duration::from_millis(900));
    states_are_real::<_, _, Blackjack>(Duration::from_millis(900));
}

fn synced_is_safe<E, C, G>()
where
    E: Recorded,
    Hosted<E>: Send + Sync + 'static,
    C: Client<Error: Debug>,
    G: Game<E, C>,
{
    for_each_seed(4, |seed| {
        // The newest records are written, not synced, and their outputs were not sent.
        let death = Fault::DeathInSync(3 * seed, false);
        let (net, played) = play::<E, C, G>(seed, SyncPolicy::Always, Duration::from_secs(60), Some(death));
        assert!(played.dead);
        let (synced, file, delivered) = (played.synced.len(), played.written, net.delivered());
        assert!(synced < file.len());
        for length in synced..=file.len() {
            let resumable = resume::<E>(&file[..length]).unwrap_or_else(|error| panic!("cut at {length}: {error}"));
            assert!(net.had(resumable.room().digest()));
            let expected = expected::<E>(&file[..length]);
            for (peer, delivered) in &delivered {
                let expected = expected.get(peer).map(Vec::as_slice).unwrap_or_default();
                assert!(expected.starts_with(delivered), "cut at {length} {peer} received more than the replay sends");
            }
        }
    });
}

#[test]
fn a_cut_after_the_synced_part_loses_nothing_that_was_delivered() {
    synced_is_safe::<_, _, Nuggets>();
    synced_is_safe::<_, _, Robots>();
    synced_is_safe::<_, _, Blackjack>();
}
