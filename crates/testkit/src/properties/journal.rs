use std::{path::Path, sync::Arc};

use crc32fast::Hasher;
use journal_core::{Entry, Excerpt, Head, Reader, Replay, Resumable, Scribe, SyncPolicy, Writing};
use netcore::{DisconnectReason, Input, Leave, Link, Outbox, Recorded, Role, Room};

use super::assert_printable;
use crate::disk::SimulatedDisk;

const RECORDS: usize = 1_536;
const DEADLINES: usize = 3;

/// A file is read to its end or first error, records can be written again, and a resumable match can be resumed. The
/// same holds with corrected checksums, which a fuzzer cannot find. Digests are not corrected: a state with the
/// recorded digest is trusted, and so is one of earlier rules, whose digest cannot be compared.
pub fn journal(bytes: &[u8]) {
    play(bytes);
    play(&mended(bytes));
}

fn play(bytes: &[u8]) {
    let Some(head) = read(bytes) else { return };
    macro_rules! resume_any {
        (native { $($module:ident $name:ident $engine:ty;)* } turn_based { $($table:ident $rules:ty;)* }) => {
            $(resume::<$engine>(&head, bytes);)*
            $(resume::<games::turnbased::Table<$rules>>(&head, bytes);)*
        };
    }
    games::list!(resume_any);
}

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
                assert!(reader.offset() > before && reader.time() >= time, "the reader makes progress");
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

// Replays up to the first error, and resumes the match if possible.
fn resume<E: Recorded>(head: &Head, bytes: &[u8]) {
    if !head.has_rules_of::<E>() {
        return;
    }
    replay::<E>(head, bytes);
    let (disk, journal) = (SimulatedDisk::new(), Path::new("/games/fuzz.journal"));
    disk.put(journal, bytes.to_vec());
    let resumable = match Resumable::<E>::open(&disk, journal) {
        Ok(resumable) => resumable,
        Err(error) => return assert_printable(error.to_string().as_bytes()),
    };
    let (mut now, peers, next) = (resumable.time, resumable.peers.clone(), resumable.next_peer);
    let scribe = Scribe::by_hand();
    let writing = Writing {
        disk: Arc::new(disk.clone()),
        scribe: scribe.clone(),
        sync: SyncPolicy::Always,
        max: 1 << 30,
        copy: None,
    };
    let (mut room, _, end) = resumable.resume(&writing).expect("memory can be written");
    let mut out = Outbox::new();
    for peer in peers.iter().filter(|peer| peer.link != Link::Datagram) {
        room.input(now, Input::Disconnected { peer: peer.peer, why: DisconnectReason::Interrupted }, &mut out);
    }
    let newcomer = Input::Connected { peer: next, role: Role::Player, link: Link::Stream, address: "[::1]:1".into() };
    room.input(now, newcomer, &mut out);
    for _ in 0..DEADLINES {
        let Some(due) = room.deadline() else { break };
        now = now.max(due);
        room.input(now, Input::Elapsed, &mut out);
    }
    room.input(now, Input::Stop(Leave::Over), &mut out);
    out.drain().for_each(drop);
    end.close();
    while scribe.write() || scribe.keep() {}
    assert_whole(&disk.written(journal));
}

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

fn lengths(front: &[u8]) -> Option<(usize, usize)> {
    let (&first, rest) = front.split_first()?;
    match first {
        0..=250 => Some((1, usize::from(first))),
        251 => Some((3, usize::from(u16::from_le_bytes(*rest.first_chunk()?)))),
        252 => Some((5, usize::try_from(u32::from_le_bytes(*rest.first_chunk()?)).ok()?)),
        _ => None,
    }
}
