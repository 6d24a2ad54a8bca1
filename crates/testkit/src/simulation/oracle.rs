//! What a crash may leave.

use std::{collections::BTreeMap, fmt::Debug};

use bytes::Bytes;
use journal::{Arrival, Entry, Note, Peer, ReadError, Reader, Replay, Resumable, State, What};
use netcore::{Client, Gone, Hosted, Link, Outbox, Output, PeerId, Recorded, Room, Time, To};

use crate::net::{Net, Told, bytes_of};

/// What a journal tells of its match.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is true or not by itself")]
pub(super) struct Survived {
    /// It was given up, and says so.
    pub(super) cut: bool,
    /// It was given up and could not say so: somebody was told what it does not know.
    pub(super) beyond: bool,
    /// The match had come to its end.
    pub(super) over: bool,
    /// Somebody was told what it does not know, as may be after a power cut.
    pub(super) forked: bool,
    /// Frames that somebody was told.
    pub(super) frames: u64,
    pub(super) snapshots: u64,
    /// Those who were closed and had not been told all.
    pub(super) interrupted: Vec<Interrupted>,
    /// What counts as told once the server goes on: those who were told less are told all that they may know.
    pub(super) follows: Told,
    digest: u64,
    peers: Vec<Peer>,
}

/// Somebody who was closed and had not been told all.
#[derive(Debug)]
pub(super) struct Interrupted {
    pub(super) peer: PeerId,
    pub(super) closed: Time,
    pub(super) missing: Vec<Bytes>,
}

fn reader(bytes: &[u8]) -> Reader<&[u8]> {
    Reader::new(bytes, bytes.len() as u64).unwrap_or_else(|error| panic!("the journal: {error}"))
}

// What arrived, as a journal tells it. One that was given up since the disk did not sync may lack the bytes before its end.
fn arrivals(bytes: &[u8]) -> Vec<Entry> {
    let (mut reader, mut arrivals) = (reader(bytes), vec![]);
    loop {
        match reader.next() {
            Ok(Some(entry @ Entry::Arrival(_))) => arrivals.push(entry),
            Ok(Some(Entry::Note(_))) => {}
            Ok(None) => return arrivals,
            Err(ReadError::Damaged { .. }) if reader.state() == State::Cut => return arrivals,
            Err(error) => panic!("the journal: {error}"),
        }
    }
}

/// Whether a journal that was given up is damaged before its end.
pub(super) fn is_damaged_and_cut(bytes: &[u8]) -> bool {
    let mut reader = reader(bytes);
    loop {
        match reader.next() {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(error) => return reader.state() == State::Cut && matches!(error, ReadError::Damaged { .. }),
        }
    }
}

/// Nothing is lost that was synced, and nothing is there that was not written.
pub(super) fn check_files(written: &[u8], synced: &[u8], left: &[u8]) {
    let (written, synced, left) = (arrivals(written), arrivals(synced), arrivals(left));
    assert!(left.starts_with(&synced), "{} arrivals were synced, {} are left", synced.len(), left.len());
    assert!(written.starts_with(&left), "of {} arrivals {} are left, but others", written.len(), left.len());
}

// Replays a journal from its beginning, and says how many snapshots are in it.
fn replay<E: Recorded>(journal: &[u8], mut look: impl FnMut(&Hosted<E>, &Arrival)) -> (Replay<E>, Follows, u64, State) {
    let mut reader = reader(journal);
    let mut replay = Replay::<E>::start(reader.head()).unwrap_or_else(|error| panic!("the journal: {error}"));
    let (mut follows, mut out, mut snapshots) = (Follows::default(), Outbox::new(), 0);
    while let Some(entry) = reader.next().unwrap_or_else(|error| panic!("the journal: {error}")) {
        match entry {
            Entry::Arrival(arrival) => {
                follows.arrive(&arrival.what);
                let applied = replay.apply(&arrival, &mut out);
                applied.unwrap_or_else(|error| panic!("the journal: {error}: {arrival:?}"));
                follows.tell(arrival.time, &arrival.what, &mut out);
                look(replay.room(), &arrival);
            }
            Entry::Note(Note::Mark(mark)) => {
                replay.check(&mark).unwrap_or_else(|error| panic!("the journal: {error}"));
            }
            Entry::Note(Note::Snapshot(_)) => snapshots += 1,
            Entry::Note(_) => {}
        }
    }
    (replay, follows, snapshots, reader.state())
}

/// Replays a journal from its beginning: every state is one that the match had, and everybody was told the front of what it is
/// told in the replay.
pub(super) fn check_told<E, C>(net: &Net<E, C>, left: &[u8], strict: bool, given_up: bool) -> Survived
where
    E: Recorded,
    Hosted<E>: Send + Sync + 'static,
    C: Client,
    C::Error: Debug,
{
    let (replay, follows, snapshots, state) = replay::<E>(left, |room, arrival| {
        assert!(net.had(room.digest()), "the match never was as it is after {arrival:?}");
    });
    let cut = state == State::Cut;
    let told = net.told();
    let mut survived = Survived {
        cut,
        beyond: false,
        over: replay.room().outcome().is_some(),
        forked: false,
        frames: told.values().map(|frames| frames.len() as u64).sum(),
        snapshots,
        interrupted: vec![],
        follows: Told::new(),
        digest: replay.room().digest(),
        peers: replay.peers().cloned().collect(),
    };
    let nothing = vec![];
    for (peer, told) in &told {
        let follows = follows.told.get(peer).unwrap_or(&nothing);
        if follows.starts_with(told) {
            continue;
        }
        let at = follows.iter().zip(told).take_while(|(one, two)| one == two).count();
        assert!(
            at == follows.len(),
            "{peer} was told {:?} as number {at} of {}, and {:?} follows from the journal",
            told[at].escape_ascii().to_string(),
            told.len(),
            follows[at].escape_ascii().to_string(),
        );
        if cut || given_up {
            survived.beyond = true;
            continue;
        }
        assert!(
            !strict,
            "{peer} was told {} frames, and only {} follow from the journal; the next is {:?}",
            told.len(),
            follows.len(),
            told[at].escape_ascii().to_string(),
        );
        survived.forked = true;
    }
    for (peer, closed) in &follows.closed {
        let (told, follows) = (told.get(peer).unwrap_or(&nothing), follows.told.get(peer).unwrap_or(&nothing));
        if told.len() < follows.len() {
            let missing = follows[told.len()..].to_vec();
            survived.interrupted.push(Interrupted { peer: *peer, closed: *closed, missing });
        }
    }
    survived.follows = follows.told;
    survived
}

/// What everybody was told in a match by the time at which its journal ends, if all of it has left. Panics when it is damaged, or
/// cannot be replayed.
pub fn follows<E: Recorded>(journal: &[u8]) -> Told {
    replay::<E>(journal, |_, _| {}).1.told
}

impl Survived {
    /// Going on with the journal leads to where its replay does.
    pub(super) fn compare<E: Recorded>(&self, resumable: &Resumable<E>) {
        assert_eq!(resumable.room().digest(), self.digest, "the server goes on from another state");
        assert_eq!(resumable.peers, self.peers);
    }
}

/// What follows for everybody from what arrives.
#[derive(Debug, Default)]
struct Follows {
    told: Told,
    present: BTreeMap<PeerId, Link>,
    // When those were closed who are reached by datagrams.
    closed: BTreeMap<PeerId, Time>,
}

impl Follows {
    fn arrive(&mut self, what: &What) {
        if let What::Connected(peer) = what {
            self.present.insert(peer.peer, peer.link);
        }
    }

    fn tell(&mut self, now: Time, what: &What, out: &mut Outbox) {
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => self.one(peer, &frame),
                Output::Send { to: To::Everyone, frame } => {
                    for &peer in self.present.keys() {
                        self.told.entry(peer).or_default().push(frame.clone());
                    }
                }
                Output::Replay { to, log } => self.one(to, &bytes_of(&log)),
                Output::Close { peer } => {
                    if self.present.remove(&peer) == Some(Link::Datagram) {
                        self.closed.insert(peer, now);
                    }
                }
                Output::Event(_) => {}
            }
        }
        if let What::Disconnected { peer, why } = what
            && *why != Gone::Left
        {
            self.present.remove(peer);
        }
    }

    fn one(&mut self, peer: PeerId, frame: &Bytes) {
        if self.present.contains_key(&peer) {
            self.told.entry(peer).or_default().push(frame.clone());
        }
    }
}
