use std::{mem, path::Path, sync::Arc, time::Duration};

use bytes::BytesMut;
use games::turnbased::Table;
use journal_core::{Entry, MAX_SIZE, Note, Reader, Replay, encode_state};
use netcore::{
    DisconnectReason, EngineRoom, Input, Link, Outbox, Output, PeerId, Progress, Recorded, Role, Room, Split,
};

use super::robots::parameters;
use crate::{by_hand::Match, disk::SimulatedDisk};

/// Peers connected at the same time.
const PEERS: usize = 4;
const GRID: &str = include_str!("../../../../maps/shaft.txt");

/// Runs the peers of a room according to `script`. Its first byte chooses the game and its rules. Each step is a byte
/// for the action, sometimes followed by bytes to send (`step` has the table).
///
/// - The decision of a room about a message does not depend on the bytes after it.
/// - Splitting a message off has no side effects.
/// - A replay of the journal, although restored from its own state several times, has the outputs of the room, and its
///   state at every mark and at the end.
pub fn room(script: &[u8]) {
    let Some((&game, script)) = script.split_first() else { return };
    let second = Duration::from_secs(1);
    let other = game & 4 != 0;
    macro_rules! tables {
        (native $native:tt turn_based { $($table:ident $rules:ty;)* }) => {
            [$(|script| play(Table::<$rules>::new(Default::default(), 1).expect("rules"), script),)*]
        };
    }
    // Turn-based games have the numbers after the other games.
    let tables: &[fn(&[u8])] = &games::list!(tables);
    if let Some(play) = usize::from(game >> 3).checked_sub(1).and_then(|number| tables.get(number)) {
        return play(script);
    }
    match game % 4 {
        0 => {
            let grid = nuggets::Grid::parse(GRID.as_bytes()).expect("a map").0;
            let config = nuggets::Config { rematch: true, ..Default::default() };
            let config = if other { extras(config) } else { config };
            play(nuggets::Server::new(Arc::new(grid), config).expect("rules"), script);
        }
        1 => play(blackjack::Server::new(dealer(other)).expect("rules"), script),
        2 => {
            let (parameters, turn_duration, max_history) = (parameters(), second, if other { 150 } else { 100_000 });
            let config = robots::Config { parameters, turn_duration, initial_blocks: 2, seed: 1, max_history };
            play(robots::Server::new(config).expect("rules"), script);
        }
        _ => {
            let mode = if other { mastermind::Mode::Race(3) } else { mastermind::Mode::Solo };
            let config = mastermind::Config { mode, ..mastermind::Config::new(4, false, 1) };
            play(mastermind::Server::new(config).expect("rules"), script);
        }
    }
}

// All options that delay or hide something.
fn extras(config: nuggets::Config) -> nuggets::Config {
    let vision = nuggets::visibility::Vision { radius: Some(5) };
    let rules = nuggets::Rules { steal_percent: 20, drop_on_quit: true, vision, ..config.rules };
    let (idle_timeout, countdown) = (Some(Duration::from_secs(1)), Some(Duration::from_millis(250)));
    nuggets::Config { rules, idle_timeout, wait_for: 2, countdown, ..config }
}

fn dealer(paced: bool) -> blackjack::Config {
    let config = blackjack::Config::new(2, blackjack::Seed::from_number(17));
    let delay = Duration::from_millis(if paced { 50 } else { 0 });
    blackjack::Config { tables: 2, players: 1 + usize::from(paced), forever: paced, trace: paced, delay, ..config }
}

/// Arrivals after which a replay is restored from its own state.
const RESTORED: u64 = 5;

#[derive(Debug)]
struct TestPeer {
    peer: PeerId,
    unread: BytesMut,
}

struct Play<E: Recorded> {
    game: Match<E>,
    peers: [Option<TestPeer>; PEERS],
    next_peer: u64,
    outputs: Vec<Output>,
}

fn play<E: Recorded>(engine: E, script: &[u8])
where
    EngineRoom<E>: Clone,
{
    let disk = SimulatedDisk::new();
    let game = Match::begin(Arc::new(disk.clone()), Path::new("/games"), engine, MAX_SIZE);
    let mut play = Play { game, peers: [const { None }; PEERS], next_peer: 0, outputs: vec![] };
    let mut rest = script;
    while let Some((&step, more)) = rest.split_first() {
        rest = play.step(step, more);
    }
    play.game.end.close();
    play.game.settle();
    let written = disk.written(&play.game.path);
    let mut reader = Reader::new(&written[..], written.len() as u64).expect("a journal");
    let head = reader.head().clone();
    let mut replay = Replay::<E>::start(&head).expect("a match that was played");
    let (mut out, mut outputs) = (Outbox::new(), play.outputs.into_iter());
    while let Some(entry) = reader.next().expect("a journal") {
        match entry {
            Entry::Arrival(arrival) => {
                replay.apply(&arrival, &mut out).unwrap_or_else(|why| panic!("{why}: {arrival:?}"));
                out.drain().for_each(|output| assert_eq!(Some(output), outputs.next(), "{arrival:?}"));
                if replay.arrivals().is_multiple_of(RESTORED) {
                    replay = Replay::restore(&head, &replay.snapshot()).expect("a state that was written");
                }
            }
            Entry::Note(Note::Mark(mark)) => replay.check(&mark).expect("the state at a mark"),
            Entry::Note(_) => {}
        }
    }
    assert_eq!(outputs.next(), None, "the replay sends less");
    assert_eq!(encode_state(replay.room()), encode_state(play.game.room.room()), "the replay ends in another state");
}

impl<E: Recorded> Play<E>
where
    EngineRoom<E>: Clone,
{
    // Bits 0 and 1 of a step are the peer, the next three the action:
    //
    // | bits 2 to 4 | action |
    // | 0 | connects, if not there: bits 5 and 6 are the link, bit 7 whether it only observes |
    // | 1 to 4 | sends bytes; the next byte is their number |
    // | 5 | time passes, with bit 5 until the deadline of the room |
    // | 6 | disconnects; bits 5 and 6 are the reason |
    // | 7 | requests its whole state again |
    fn step<'a>(&mut self, step: u8, rest: &'a [u8]) -> &'a [u8] {
        let peer_index = usize::from(step % 4);
        match (step >> 2 & 7, &mut self.peers[peer_index]) {
            (0, place @ None) => {
                let (peer, link) = (PeerId(self.next_peer), links(step));
                self.next_peer += 1;
                *place = Some(TestPeer { peer, unread: BytesMut::new() });
                let role = if step & 0x80 == 0 { Role::Player } else { Role::Watcher };
                let address = format!("10.0.0.{}:{}", peer_index + 1, 5_000 + peer.0).into();
                self.input_alone(&Input::Connected { peer, role, link, address });
            }
            (1..=4, _) => {
                let Some((&length, rest)) = rest.split_first() else { return rest };
                let (sent, rest) = rest.split_at(rest.len().min(length.into()));
                self.receive(peer_index, sent);
                return rest;
            }
            (5, _) => {
                self.game.now = self.game.now.plus(Duration::from_millis(u64::from(step)));
                match self.game.room.deadline() {
                    Some(due) if step & 0x20 != 0 || due <= self.game.now => {
                        self.game.now = self.game.now.max(due);
                        self.input_alone(&Input::Elapsed);
                    }
                    _ => {}
                }
            }
            (6, Some(TestPeer { peer, .. })) => {
                let reasons = [
                    DisconnectReason::Left,
                    DisconnectReason::Broken,
                    DisconnectReason::Lagging,
                    DisconnectReason::Interrupted,
                ];
                let (peer, why) = (*peer, reasons[usize::from(step >> 5 & 3)]);
                self.input_alone(&Input::Disconnected { peer, why });
                self.peers[peer_index] = None;
            }
            (7, Some(TestPeer { peer, .. })) => {
                let peer = *peer;
                self.input_alone(&Input::Refresh { peer });
            }
            _ => {}
        }
        rest
    }

    fn receive(&mut self, place: usize, sent: &[u8]) {
        let Some(TestPeer { peer, unread, .. }) = &mut self.peers[place] else { return };
        let (peer, mut unread) = (*peer, mem::take(unread));
        unread.extend_from_slice(sent);
        loop {
            let before = self.game.room.room().clone();
            let split = self.game.room.split(peer, &unread);
            assert_eq!(
                encode_state(self.game.room.room()),
                encode_state(&before),
                "to split a message off is no input"
            );
            let progress = match split {
                Split::Incomplete => break,
                Split::Ignored => Progress::Ignored,
                Split::Malformed(why) => self.input(&Input::Malformed { peer, why }, before),
                Split::Message(length) => {
                    let message = unread.split_to(length);
                    let mut alone = before;
                    assert_eq!(alone.split(peer, &message), Split::Message(length), "what lies behind matters");
                    self.input(&Input::Message { peer, message: &message }, alone)
                }
            };
            if progress != Progress::Decoded {
                // A shell discards the bytes after an invalid message.
                unread.clear();
            }
            if unread.is_empty() {
                break;
            }
        }
        if let Some(entry) = self.peers[place].as_mut().filter(|entry| entry.peer == peer) {
            entry.unread = unread;
        }
    }

    fn input_alone(&mut self, input: &Input<'_, &[u8]>) {
        let copy = self.game.room.room().clone();
        self.input(input, copy);
    }

    // The copy does not see the bytes after the input.
    fn input(&mut self, input: &Input<'_, &[u8]>, mut copy: EngineRoom<E>) -> Progress {
        let (mut out, mut copied) = (Outbox::new(), Outbox::new());
        let progress = self.game.room.input(self.game.now, input.borrowed(), &mut out);
        let after = encode_state(self.game.room.room());
        let again = copy.input(self.game.now, input.borrowed(), &mut copied);
        assert_eq!(again, progress, "what lies behind matters: {input:?}");
        assert_eq!(copied.outputs().len(), out.outputs().len(), "what lies behind matters: {input:?}");
        assert_eq!(encode_state(&copy), after, "what lies behind matters: {input:?}");
        for output in out.drain() {
            if let Output::Close { peer } = output {
                self.peers.iter_mut().for_each(|place| drop(place.take_if(|entry| entry.peer == peer)));
            }
            self.outputs.push(output);
        }
        progress
    }
}

fn links(step: u8) -> Link {
    [Link::Stream, Link::Message, Link::Datagram, Link::Stream][usize::from(step >> 5 & 3)]
}
