//! Resumes a match whose server was killed.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read, Seek},
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    path::{Path, PathBuf},
    time::Duration,
};

use bytes::Bytes;
use netcore::{Link, Outbox, Outcome, Output, PeerId, Recorded, Room, Time, To};
use thiserror::Error;
use tracing::warn;

use crate::{
    Arrival, Divergence, Entry, Head, HeadError, Note, Parts, Peer, ReadError, Reader, Replay, Snapshot, Writing,
    files,
    layout::{RECORDS, State, Status},
    sink::Start,
    spool::Spool,
};

/// Peers closed this long before the end receive their last messages again, which may not have been sent.
const FAREWELLS: Duration = Duration::from_secs(1);
/// The address of a peer whose recorded address cannot be parsed.
const NOWHERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
/// Limit on the number of farewells.
const MAX_FAREWELLS: usize = 256;

/// Why a match cannot be resumed.
#[derive(Debug, Error)]
pub enum ResumeError {
    /// The system could not read or write it.
    #[error("it cannot be opened")]
    Io(#[from] io::Error),
    /// Another server is writing it.
    #[error("another server is writing it; stop that one first")]
    InUse,
    /// It is not readable.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is of another game or version.
    #[error(transparent)]
    Head(#[from] HeadError),
    /// It is incomplete.
    #[error(
        "it was cut while the match went on, so the rest of the match is unknown; `journal replay` shows what it contains"
    )]
    Cut,
    /// The match has ended.
    #[error("the match is over ({0}); there is nothing to resume")]
    Over(&'static str),
    /// It ends with an arrival that made the server panic.
    #[error("its last arrival made the server panic, and would do so again; `journal verify` shows it")]
    Broken,
    /// Its replay diverges.
    #[error(transparent)]
    Diverges(#[from] Divergence),
    /// The directory has no journal of this game.
    #[error("there is no journal of {0} in it; a server of {0} with --journal writes one")]
    None(&'static str),
}

/// The last messages to a peer that was closed just before the end.
#[derive(Debug, Clone)]
pub struct Farewell {
    /// The peer.
    pub peer: Peer,
    /// The messages, in order.
    pub frames: Vec<Bytes>,
}

/// A match at the time when its server was killed.
#[derive(Debug)]
pub struct Resumable<E: Recorded> {
    /// The description of the match.
    pub head: Head,
    /// The time of the last arrival.
    pub time: Time,
    /// The number of the next peer.
    pub next_peer: PeerId,
    /// The connected peers.
    pub peers: Vec<Peer>,
    /// Peers that receive their last messages again.
    pub farewells: Vec<Farewell>,
    /// Lost bytes after the last complete record.
    pub torn: u64,
    /// The end of the records.
    end: u64,
    sum: u32,
    status: Status,
    replay: Replay<E>,
}

impl<E: Recorded> Resumable<E> {
    /// Reads a journal of `length` bytes.
    ///
    /// # Errors
    /// [`ResumeError`] when it cannot be resumed.
    pub fn read(mut source: impl Read + Seek, length: u64) -> Result<Self, ResumeError> {
        let (newest, over) = survey(&mut source, length)?;
        source.rewind()?;
        let mut reader = Reader::new(source, length)?;
        if reader.state() == State::Cut {
            return Err(ResumeError::Cut);
        }
        let head = reader.head().clone();
        let mut replay = match newest {
            Some(snapshot) => match Replay::restore(&head, &snapshot) {
                Ok(replay) => {
                    reader.go_to(&snapshot)?;
                    replay
                }
                Err(HeadError::Setup(error)) => {
                    warn!(error, "a snapshot is not usable; the whole match is replayed");
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
                Entry::Note(Note::Broken) => return Err(ResumeError::Broken),
                Entry::Note(_) => {}
            }
        }
        // The records that follow must use the same slots.
        if !replay.slots().all(|(slot, peer)| reader.is_slot_of(slot, peer)) {
            return Err(ReadError::Damaged { offset: reader.offset(), what: "a peer has another slot" }.into());
        }
        // If the last messages may not have been sent, the match is not over for those who wait for them.
        if let Some(outcome) = over.or(replay.room().outcome())
            && (reader.state() == State::Closed || farewells.is_empty())
        {
            return Err(ResumeError::Over(name(outcome)));
        }
        Ok(Self {
            head,
            time: reader.time().max(replay.time()),
            next_peer: replay.next_peer(),
            peers: replay.peers().cloned().collect(),
            farewells: farewells.into_list(),
            torn: reader.torn(),
            end: reader.offset(),
            sum: reader.sum(),
            status: reader.status(),
            replay,
        })
    }

    /// Resumes the match and continues its journal on `disk`, after the last complete record. The caller must report
    /// next what became of the [`peers`](Self::peers).
    ///
    /// # Errors
    /// When the incomplete record cannot be removed.
    pub fn resume(self, writing: &Writing, disk: impl crate::Disk + 'static, name: String) -> io::Result<Parts<E>> {
        self.resume_with(writing, disk, name, None)
    }

    /// Resumes the match and continues its journal in the file that [`find`] returned.
    ///
    /// # Errors
    /// When the incomplete record cannot be removed.
    pub fn resume_in(self, writing: &Writing, path: &Path, file: File) -> io::Result<Parts<E>> {
        let spool = writing.spool(&self.head, path, self.end);
        self.resume_with(writing, file, path.display().to_string(), spool)
    }

    fn resume_with(
        self,
        writing: &Writing,
        disk: impl crate::Disk + 'static,
        name: String,
        spool: Option<Spool>,
    ) -> io::Result<Parts<E>> {
        // What was not known to be on disk may never be written back by the system; see
        // [`Disk::rewrite`](crate::Disk::rewrite).
        disk.rewrite(self.status.synced.clamp(RECORDS, self.end), self.end)?;
        if self.torn > 0 {
            disk.truncate(self.end)?;
        }
        // In both slots, so that neither can later reveal the previous end of the journal. The next sync, which
        // precedes the next status, covers both.
        let mut status = self.status;
        for _ in 0..2 {
            status = Status { sequence: status.sequence + 1, state: State::Open, end: 0, ..status };
            disk.write_at(status.offset(), &status.to_bytes())?;
        }
        let (room, mut from) = self.replay.into_parts();
        from.micros = from.micros.max(self.time.as_nanos() / 1_000);
        let start = Start { offset: self.end, sum: self.sum, status, spool };
        let parts = writing.attach(Box::new(disk), name, room, start, from);
        parts.0.note_resumed();
        Ok(parts)
    }

    /// The peers as a host takes them. One with an address that cannot be parsed is treated as gone.
    pub fn returning(&self) -> Vec<(PeerId, Link, SocketAddr)> {
        self.peers.iter().map(|peer| (peer.peer, peer.link, address(peer))).collect()
    }

    /// The farewells as a host takes them.
    pub fn last_words(&self) -> Vec<(SocketAddr, Vec<Bytes>)> {
        self.farewells.iter().map(|farewell| (address(&farewell.peer), farewell.frames.clone())).collect()
    }

    /// The room.
    pub const fn room(&self) -> &netcore::Hosted<E> {
        self.replay.room()
    }
}

fn address(peer: &Peer) -> SocketAddr {
    peer.address.parse().unwrap_or(NOWHERE)
}

fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Finished => "it was played to its end",
        Outcome::Deserted => "everybody has left",
        Outcome::Stopped => "it was stopped",
    }
}

// Reads it once, and returns the newest snapshot and the outcome.
fn survey(source: impl Read, length: u64) -> Result<(Option<Snapshot>, Option<Outcome>), ReadError> {
    let mut reader = Reader::new(source, length)?;
    let (mut newest, mut over) = (None, None);
    while let Some(entry) = reader.next()? {
        match entry {
            Entry::Note(Note::Snapshot(snapshot)) => newest = Some(snapshot),
            Entry::Note(Note::Over(outcome)) => over = Some(outcome),
            _ => {}
        }
    }
    Ok((newest, over))
}

/// The last messages to peers that were closed in the last second.
#[derive(Debug, Default)]
struct Farewells {
    list: VecDeque<(Time, Farewell)>,
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
            self.list.push_back((arrival.time, Farewell { peer, frames }));
            if self.list.len() > MAX_FAREWELLS {
                self.list.pop_front();
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn into_list(self) -> Vec<Farewell> {
        self.list.into_iter().map(|(_, farewell)| farewell).collect()
    }
}

/// Opens and locks the journal at `path`, or the newest one of the game if that is a directory.
///
/// # Errors
/// [`ResumeError`] when there is none, or a server is writing it.
pub fn find<E: Recorded>(path: &Path) -> Result<(PathBuf, File), ResumeError> {
    let path = if path.is_dir() {
        let mut own = files::list(path)?;
        own.retain(|path| is_of(path, E::GAME));
        // By the time of the last write; the name has the time of its creation.
        own.sort_by_cached_key(|path| path.metadata().and_then(|file| file.modified()).ok());
        own.pop().ok_or(ResumeError::None(E::GAME))?
    } else {
        path.to_owned()
    };
    let mut file = files::open_to_resume(&path)?.ok_or(ResumeError::InUse)?;
    files::recover(&file)?;
    file.rewind()?;
    Ok((path, file))
}

// By its name, so that journals of other games need not be read.
fn is_of(path: &Path, game: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_prefix(game)).is_some_and(|rest| rest.starts_with('-'))
}
