use std::{
    collections::VecDeque,
    io,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use netcore::{Link, Outbox, Outcome, Output, PeerId, Recorded, Room, Time, To};
use thiserror::Error;
use tracing::warn;

use crate::{
    Arrival, Divergence, Entry, Facts, Head, HeadError, Journal, Note, Parts, Peer, ReadError, Reader, Replay,
    Snapshot, Source, Writing,
    disk::{Disk, rewrite},
    layout::{RECORDS, SegmentState, Status, VERSION},
    segment::{self, Segment},
    sink::{Current, Start},
};

/// Peers closed at most this long before the end receive their last messages again, in case these were not sent.
const FAREWELLS: Duration = Duration::from_secs(1);
/// Replaces an address that cannot be parsed.
const NOWHERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
const MAX_FAREWELLS: usize = 256;

#[derive(Debug, Error)]
pub enum ResumeError {
    #[error("it cannot be opened")]
    Io(#[from] io::Error),
    #[error("another server is writing it; stop that one first")]
    InUse,
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Head(#[from] HeadError),
    #[error(
        "it was cut during the match, so the rest of the match is unknown; `journal replay` shows what it contains"
    )]
    Cut,
    #[error("the match is over ({0}); there is nothing to resume")]
    Over(&'static str),
    #[error("its last arrival makes the server panic; `journal verify` shows it")]
    Broken,
    #[error(transparent)]
    Diverges(#[from] Divergence),
    #[error("it contains no journal of {0}; a server of {0} writes one with --journal")]
    None(&'static str),
}

#[derive(Debug, Clone)]
pub struct LastFrames {
    pub peer: Peer,
    pub frames: Vec<Bytes>,
}

#[derive(Debug)]
pub struct Resumable<E: Recorded> {
    pub head: Head,
    pub time: Time,
    pub next_peer: PeerId,
    pub peers: Vec<Peer>,
    pub farewells: Vec<LastFrames>,
    pub facts: Facts,
    /// Bytes after the last complete record.
    pub torn: u64,
    pub journal: PathBuf,
    segments: Segments,
    end: u64,
    sum: u32,
    replay: Replay<E>,
}

#[derive(Debug)]
struct Segments {
    last: Segment,
    older: VecDeque<(PathBuf, u64)>,
}

impl<E: Recorded> Resumable<E> {
    /// Locks the journal at `path`, or the newest one of the game if `path` is a directory.
    pub fn open(disk: &dyn Disk, path: &Path) -> Result<Self, ResumeError> {
        let journal = find::<E>(disk, path)?;
        let claimed = segment::claim(disk, &journal)?.ok_or(ResumeError::InUse)?;
        let older = claimed.iter().rev().skip(1).rev().map(|segment| (segment.path.clone(), segment.length)).collect();
        let opened = Journal::claimed(journal.clone(), claimed)?;
        let Survey { mut reader, newest, facts, over, broken } = survey(&opened)?;
        if broken {
            return Err(ResumeError::Broken);
        }
        // The replay may begin in an earlier segment, so the last one is checked here.
        if opened.last()?.state() == SegmentState::Cut {
            return Err(ResumeError::Cut);
        }
        let head = reader.head().clone();
        if !head.has_rules_of::<E>() {
            // Fails with another error if the game differs.
            head.setup::<E>()?;
            return Err(head.other_rules::<E>().into());
        }
        let mut replay = match newest {
            Some(snapshot) => match Replay::restore(&head, &snapshot) {
                Ok(replay) => {
                    reader.go_to(&snapshot)?;
                    replay
                }
                Err(HeadError::Setup(error)) => {
                    warn!(error, "a snapshot is unusable; replaying the whole match");
                    Replay::start(&head)?
                }
                Err(error) => return Err(error.into()),
            },
            None => Replay::start(&head)?,
        };
        let mut farewells = Farewells::default();
        let mut out = Outbox::new();
        while let Some(entry) = reader.next()? {
            match entry {
                Entry::Arrival(arrival) => farewells.apply(&mut replay, &arrival, &mut out)?,
                Entry::Note(Note::Mark(mark)) => replay.check(&mark)?,
                Entry::Note(_) => {}
            }
        }
        // Later records must use the same slots.
        if !replay.slots().all(|(slot, peer)| reader.is_slot_of(slot, peer)) {
            return Err(ReadError::Damaged { offset: reader.offset(), what: "a peer has another slot" }.into());
        }
        // If last messages may not have been sent, the match is not over for their peers.
        if let Some(outcome) = over.or(replay.room().outcome())
            && (reader.state() == SegmentState::Closed || farewells.list.is_empty())
        {
            return Err(ResumeError::Over(outcome.words()));
        }
        if reader.version() != VERSION {
            return Err(ReadError::Version(reader.version()).into());
        }
        let last = opened.into_last().ok_or(ReadError::NotAJournal)?;
        Ok(Self {
            head,
            time: reader.time().max(replay.time()),
            next_peer: replay.next_peer(),
            peers: replay.peers().cloned().collect(),
            farewells: farewells.list.into_iter().map(|(_, farewell)| farewell).collect(),
            facts,
            torn: reader.torn(),
            end: reader.offset(),
            sum: reader.sum,
            replay,
            journal,
            segments: Segments { last, older },
        })
    }

    /// Continues the journal after the last complete record. The caller must then report which [`peers`](Self::peers)
    /// are still connected.
    pub fn resume(self, writing: &Writing) -> io::Result<Parts<E>> {
        let Segments { last, older } = self.segments;
        let Segment { path, file, place, status, length, positions, .. } = last;
        if place.number > 1 {
            // The server may have been killed before the name was on disk.
            writing.disk.sync_directory(path.parent().unwrap_or(Path::new("")))?;
        }
        // The system may never write back data that is not known to be on disk.
        rewrite(&*file, status.synced.clamp(RECORDS, self.end), self.end)?;
        if length > self.end {
            file.truncate(self.end)?;
        }
        let is_synced = status.synced >= self.end;
        // In both slots, so that neither can later reveal the previous end of the journal. The next sync includes them.
        let mut status = status;
        for _ in 0..2 {
            status = Status { sequence: status.sequence + 1, state: SegmentState::Open, end: 0, ..status };
            file.write_at(status.offset(), &status.to_bytes())?;
        }
        if !is_synced {
            file.sync()?;
        }
        let (room, mut from) = self.replay.into_parts();
        from.micros = from.micros.max(self.time.as_nanos() / 1_000);
        let segment = Current { file, path, number: place.number, positions, status };
        let (disk, position) = (Arc::clone(&writing.disk), positions.position(self.end));
        let head = self.head.with_base(None).with_facts(&self.facts);
        let start = Start { disk, journal: self.journal, head, segment, older, position, sum: self.sum };
        let parts = writing.attach(room, start, from);
        parts.0.note_resumed();
        Ok(parts)
    }

    /// Peers with an invalid address are treated as disconnected.
    pub fn returning(&self) -> Vec<(PeerId, Link, SocketAddr)> {
        self.peers.iter().map(|peer| (peer.peer, peer.link, address(peer))).collect()
    }

    pub fn last_words(&self) -> Vec<(SocketAddr, Vec<Bytes>)> {
        self.farewells.iter().map(|farewell| (address(&farewell.peer), farewell.frames.clone())).collect()
    }

    pub const fn room(&self) -> &netcore::EngineRoom<E> {
        self.replay.room()
    }
}

fn address(peer: &Peer) -> SocketAddr {
    peer.address.parse().unwrap_or(NOWHERE)
}

struct Survey {
    // Starts at a segment that is early enough. `newest` is the newest snapshot after that which is early enough too.
    reader: Reader<Source>,
    newest: Option<Snapshot>,
    facts: Facts,
    over: Option<Outcome>,
    broken: bool,
}

// Selects a start that is early enough for the replay to include all farewells.
fn survey(journal: &Journal) -> Result<Survey, ReadError> {
    let mut from = journal.segments().saturating_sub(1);
    loop {
        let mut reader = journal.reader_from(from)?;
        let begins = reader.head().base.as_ref().map_or(Time::ZERO, |base| base.mark.time);
        let (mut recent, mut over, mut broken) = (VecDeque::<Snapshot>::new(), None, false);
        let mut facts = reader.head().facts();
        let is_early = |time: Time, end: Time| time.plus(FAREWELLS) <= end;
        while let Some(entry) = reader.next()? {
            match entry {
                Entry::Note(Note::Snapshot(snapshot)) => recent.push_back(snapshot),
                Entry::Note(Note::Over(outcome)) => over = Some(outcome),
                Entry::Note(Note::Broken) => broken = true,
                Entry::Note(Note::Fact(fact)) => fact.apply_to(&mut facts),
                _ => {}
            }
            while recent.get(1).is_some_and(|second| is_early(second.mark.time, reader.time())) {
                recent.pop_front();
            }
        }
        let newest = recent.pop_front().filter(|snapshot| is_early(snapshot.mark.time, reader.time()));
        if newest.is_some() || from == 0 || is_early(begins, reader.time()) {
            return Ok(Survey { reader: journal.reader_from(from)?, newest, facts, over, broken });
        }
        from -= 1;
    }
}

#[derive(Debug, Default)]
struct Farewells {
    list: VecDeque<(Time, LastFrames)>,
}

impl Farewells {
    fn apply<E: Recorded>(
        &mut self,
        replay: &mut Replay<E>,
        arrival: &Arrival,
        out: &mut Outbox,
    ) -> Result<(), Divergence> {
        let peers = replay.apply(arrival, out)?;
        while self.list.front().is_some_and(|(time, _)| arrival.time.since(*time) > FAREWELLS) {
            self.list.pop_front();
        }
        if peers.is_empty() {
            out.drain().for_each(drop);
            return Ok(());
        }
        let outputs: Vec<Output> = out.drain().collect();
        for peer in peers.into_iter().filter(|peer| peer.link == Link::Datagram) {
            let frames = outputs.iter().filter_map(|output| match output {
                Output::Send { to: To::Peer(to), frame } if *to == peer.peer => Some(frame.clone()),
                Output::Send { to: To::Everyone, frame } => Some(frame.clone()),
                _ => None,
            });
            let frames = frames.collect();
            self.list.push_back((arrival.time, LastFrames { peer, frames }));
            if self.list.len() > MAX_FAREWELLS {
                self.list.pop_front();
            }
        }
        Ok(())
    }
}

// The journal at `path`, or the newest one of the game if `path` is a directory.
fn find<E: Recorded>(disk: &dyn Disk, path: &Path) -> Result<PathBuf, ResumeError> {
    if !disk.is_directory(path) {
        return Ok(segment::journal_of(disk, path)?);
    }
    let mut own = segment::list(disk, path)?;
    own.retain(|path| is_of(path, E::GAME));
    // By the last write, because the name contains the time of creation.
    own.sort_by_cached_key(|journal| {
        let segments = segment::segments(disk, journal, false).ok()?;
        segments.last()?.file.about().ok().map(|about| about.modified)
    });
    own.pop().ok_or(ResumeError::None(E::GAME))
}

/// By the name, so that journals of other games need not be read.
pub(crate) fn is_of(path: &Path, game: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_prefix(game)).is_some_and(|rest| rest.starts_with('-'))
}
