//! Hidden information: random games over every link, with a check of every byte that was sent.
//!
//! The journal of a room determines the outputs of its engine and the state at each moment. Each connection must have received
//! only the outputs for it, and these must not reveal information that was hidden from its role at that moment.

mod party;

use std::collections::{BTreeMap, BTreeSet};

use netcore::{GameEvent, Output, PeerId, To};
use nuggets::visibility::{Sighter, Vision};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::json;

use party::{Party, judge};

fn lines(heard: &[Vec<u8>]) -> BTreeSet<String> {
    let texts = heard.iter().map(|frame| String::from_utf8_lossy(frame).into_owned());
    texts.flat_map(|text| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()).collect()
}

#[test]
fn each_connection_receives_what_the_engine_sends_to_its_role() {
    let mut party = Party::new(&json!({ "game": "nuggets", "map": "donuts", "countdown": 0 }));
    let players = [party.browser(), party.datagrams(), party.browser()];
    let (watcher, mut drawn) = party.watcher();
    drawn.until(|name, _| name == "size");
    let spectator = party.datagrams();
    party.say(spectator, b"SPECTATE");
    for (player, name) in players.into_iter().zip(["Ann", "Bob", "Eve"]) {
        party.say(player, format!("PLAY {name}").as_bytes());
        party.until(|number, bytes| number == player && bytes.starts_with(b"OK "));
    }
    let mut chance = Pcg64::seed_from_u64(1);
    let mut directions = [b'h'; 3];
    for _ in 0..150 {
        for (player, direction) in players.into_iter().zip(&mut directions) {
            if chance.random_range(0..4) == 0 {
                *direction = b"hjklyubn"[chance.random_range(0..8)];
            }
            // Single steps, so that each position from which a player sees cells is a state after an arrival.
            party.say(player, &[b"KEY ", &[*direction][..]].concat());
        }
    }
    drawn.until(|_, row| row.as_str().is_some_and(|row| row.contains('A')));
    for player in [players[0], players[2]] {
        party.say(player, b"KEY ~");
        party.until(|number, bytes| number == player && bytes.starts_with(b"ERROR"));
    }
    let (path, heard) = party.end();
    // Pictures show only rows that a watcher also receives.
    let (drawn, told) = (drawn.end(), lines(&heard[&watcher]));
    let rows: Vec<&str> = drawn.iter().filter_map(|(_, part)| part.as_str()).collect();
    let secret: Vec<&&str> = rows.iter().filter(|row| !told.contains(**row)).collect();
    assert!(rows.len() > 24 && secret.is_empty(), "{secret:#?} of {} rows", rows.len());
    let mut letters: BTreeMap<PeerId, u8> = BTreeMap::new();
    let mut seen: BTreeMap<u8, BTreeSet<usize>> = BTreeMap::new();
    let mut sighter = Sighter::default();
    let mut displays = 0;
    judge::<nuggets::Server>(path, heard, |replay, _, outputs| {
        let game = replay.room().engine().game();
        let grid = game.grid();
        let cells: Vec<_> = (0..grid.rows())
            .flat_map(|row| (0..grid.cols()).map(move |col| nuggets::Position::new(row, col)))
            .filter_map(|position| grid.cell(position))
            .collect();
        let mut sights = BTreeMap::new();
        for (_, player) in game.active() {
            let Some(from) = player.cell else { continue };
            let sight = sighter.sight((&**grid).into(), from, Vision::default());
            let visible: BTreeSet<usize> =
                cells.iter().filter(|cell| sight.contains(**cell)).map(|cell| cell.index()).collect();
            seen.entry(player.letter.byte()).or_default().extend(&visible);
            sights.insert(player.letter.byte(), visible);
        }
        for output in outputs {
            match output {
                Output::Event(GameEvent::Joined { peer, name, seat }) if !name.is_empty() => {
                    letters.insert(*peer, seat.as_bytes()[0]);
                }
                Output::Send { to: To::Peer(peer), frame } => {
                    // Spectators and watchers see everything.
                    let Some(&letter) = letters.get(peer) else { continue };
                    if let Some(picture) = frame.strip_prefix(b"DISPLAY\n") {
                        displays += 1;
                        for cell in &cells {
                            let shown = picture[cell.index()];
                            let may = match (
                                sights[&letter].contains(&cell.index()),
                                seen[&letter].contains(&cell.index()),
                            ) {
                                (true, _) if game.content(*cell) == letter => b'@',
                                (true, _) => game.content(*cell),
                                (false, true) => grid.at(*cell),
                                (false, false) => b' ',
                            };
                            assert_eq!(char::from(shown), char::from(may), "{} at {cell:?}", char::from(letter));
                        }
                    } else if let Some(gold) = frame.strip_prefix(b"GOLD ") {
                        let purse = game.players().iter().find(|player| player.letter.byte() == letter).unwrap().purse;
                        let told: Vec<u32> =
                            String::from_utf8_lossy(gold).split(' ').map(|number| number.parse().unwrap()).collect();
                        assert_eq!((told[1], told[2]), (purse, game.remaining()));
                    }
                }
                _ => {}
            }
        }
    });
    assert!(displays > 300, "{displays} pictures");
}
