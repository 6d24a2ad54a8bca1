//! What holds for any file that somebody calls a journal.

use std::{
    io::{self, Cursor},
    sync::{Arc, Mutex, PoisonError},
};

use crc32fast::Hasher;
use journal::{Disk, Entry, Excerpt, Head, Reader, Replay, Resumable, Scribe, SyncPolicy, Writing};
use netcore::{Gone, Leave, Link, Outbox, Recorded, Role, Room, RoomInput};

use super::assert_printable;

/// Where the records of a journal begin.
const RECORDS: usize = 1_536;
/// How often a room that goes on has its deadline.
const DEADLINES: usize = 3;

/// What is made of a journal: it is read to its end or to what is wrong with it, what was read can be written, and a match that can
/// be gone on with does go on. A fuzzer does not find checksums, so the same holds for the file with these put right.
pub fn journal(bytes: &[u8]) {
    play(bytes);
    play(&mended(bytes));
}

fn play(bytes: &[u8]) {
    let Some(head) = read(bytes) else { return };
    match &*head.game {
        "blackjack" => go_on::<blackjack::Server>(&head, bytes),
        "nuggets" => go_on::<nuggets::Server>(&head, bytes),
        "robots" => go_on::<robots::Server>(&head, bytes),
        _ => {}
    }
}

// Reads all records, and writes them anew; gives what is said of the match.
fn read(bytes: &[u8]) -> Option<Head> {
    let length = bytes.len() as u64;
    let mut reader = match Reader::new(bytes, length) {
        Ok(reader) => reader,
        Err(error) => {
            assert_printable(error.to_string().as_bytes());
            return None;
        }
    };
    let head = reader.head().clone();
    let mut excerpt = Excerpt::new(&head);
    let mut time = reader.time();
    loop {
        let before = reader.offset();
        match reader.next() {
            Ok(Some(entry)) => {
                assert!(reader.offset() > before && reader.time() >= time, "it gets on");
                time = reader.time();
                excerpt.push(&entry);
            }
            Ok(None) => {
                assert!(reader.offset() + reader.torn() <= length.max(reader.offset()));
                assert!(matches!(reader.next(), Ok(None)), "the end stays the end");
                break;
            }
            Err(error) => {
                assert_printable(error.to_string().as_bytes());
                break;
            }
        }
    }
    let excerpt = excerpt.into_bytes();
    assert_whole(&excerpt);
    Some(head)
}

fn assert_whole(bytes: &[u8]) {
    let mut reader = Reader::new(bytes, bytes.len() as u64).expect("what was written can be read");
    while reader.next().expect("what was written can be read").is_some() {}
    assert_eq!(reader.torn(), 0, "what was written is whole");
}

// Replays it as far as that goes, and goes on with it if that is possible.
fn go_on<E: Recorded>(head: &Head, bytes: &[u8]) {
    replay::<E>(head, bytes);
    let resumable = match Resumable::<E>::read(Cursor::new(bytes), bytes.len() as u64) {
        Ok(resumable) => resumable,
        Err(error) => return assert_printable(error.to_string().as_bytes()),
    };
    let (mut now, peers, next) = (resumable.time, resumable.peers.clone(), resumable.next_peer);
    let disk = Memory(Arc::new(Mutex::new(bytes.to_vec())));
    let scribe = Scribe::by_hand();
    let writing = Writing { scribe: scribe.clone(), sync: SyncPolicy::Always, max: 1 << 30 };
    let (mut room, _, end) = resumable.go_on(&writing, disk.clone(), "fuzz".to_owned()).expect("memory can be written");
    let mut out = Outbox::new();
    for peer in peers.iter().filter(|peer| peer.link != Link::Datagram) {
        room.input(now, RoomInput::Disconnected { peer: peer.peer, why: Gone::Interrupted }, &mut out);
    }
    let newcomer = RoomInput::Connected { peer: next, role: Role::Player, link: Link::Stream, address: "[::1]:1" };
    room.input(now, newcomer, &mut out);
    for _ in 0..DEADLINES {
        let Some(due) = room.deadline() else { break };
        now = now.max(due);
        room.input(now, RoomInput::Elapsed, &mut out);
    }
    room.input(now, RoomInput::Stop(Leave::Over), &mut out);
    out.drain().for_each(drop);
    end.close();
    while scribe.write() || scribe.keep() {}
    assert_whole(&disk.bytes());
}

// The records one by one, which does not ask whether the match can be gone on with.
fn replay<E: Recorded>(head: &Head, bytes: &[u8]) {
    let (Ok(mut replay), Ok(mut reader)) = (Replay::<E>::start(head), Reader::new(bytes, bytes.len() as u64)) else {
        return;
    };
    let mut out = Outbox::new();
    while let Ok(Some(entry)) = reader.next() {
        if let Entry::Arrival(arrival) = entry
            && replay.apply(&arrival, &mut out).is_err()
        {
            return;
        }
        out.drain().for_each(drop);
    }
}

// The same with the checksums that fit.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let (mut at, mut sum) = (RECORDS, 0);
    while let Some((prefix, length)) = bytes.get(at..).and_then(lengths) {
        let body = at + prefix + 4;
        let Some(end) = body.checked_add(length).filter(|&end| end <= bytes.len()) else { break };
        let mut hasher = Hasher::new_with_initial(sum);
        hasher.update(&bytes[at..at + prefix]);
        hasher.update(&bytes[body..end]);
        sum = hasher.finalize();
        bytes[at + prefix..body].copy_from_slice(&sum.to_le_bytes());
        at = end;
    }
    bytes
}

// How long the length of a record is, and the length.
fn lengths(front: &[u8]) -> Option<(usize, usize)> {
    let (&first, rest) = front.split_first()?;
    match first {
        0..=250 => Some((1, usize::from(first))),
        251 => Some((3, usize::from(u16::from_le_bytes(*rest.first_chunk()?)))),
        252 => Some((5, usize::try_from(u32::from_le_bytes(*rest.first_chunk()?)).ok()?)),
        _ => None,
    }
}

/// A disk in memory.
#[derive(Clone)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Disk for Memory {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let end = file.len().max(start + bytes.len());
        file.resize(end, 0);
        file[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(io::Error::other)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).resize(length, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
