//! What nobody may see: random games over every link, and every byte that was sent.
//!
//! The journal of a room determines what its engine gave out, and what was true at each moment. So each connection must have got what
//! the engine gave out for it and nothing else, and none of that may show what was hidden from its role just then.

mod party;

use std::collections::{BTreeMap, BTreeSet};

use blackjack::{Card, DealerMessage, Deck, Dialect, protocol::DealerDecoder};
use netcore::{GameEvent, Input, Output, PeerId, Role, To};
use nuggets::visibility::{Sighter, Vision};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::json;

use party::{Party, judge};

/// What a connection was told, line by line.
fn lines(heard: &[Vec<u8>]) -> BTreeSet<String> {
    let texts = heard.iter().map(|frame| String::from_utf8_lossy(frame).into_owned());
    texts.flat_map(|text| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()).collect()
}

#[test]
fn nobody_sees_more_of_a_map_of_nuggets_than_its_role_does() {
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
            // Single steps, so that everything that was seen was seen between two arrivals.
            party.say(player, &[b"KEY ", &[*direction][..]].concat());
        }
    }
    drawn.until(|_, row| row.as_str().is_some_and(|row| row.contains('A')));
    for player in [players[0], players[2]] {
        party.say(player, b"KEY ~");
        party.until(|number, bytes| number == player && bytes.starts_with(b"ERROR"));
    }
    let (path, heard) = party.end();
    // Pictures show what a watcher is told, and nothing else.
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

#[test]
fn nobody_learns_what_others_chose_for_a_turn_of_robots() {
    let options = json!({ "game": "robots", "players": 2, "columns": 8, "rows": 8, "turns": 60, "turn_duration": 30 });
    let mut party = Party::new(&options);
    let players = [party.browser(), party.stream()];
    party.watcher();
    party.stream();
    for (player, name) in players.into_iter().zip([&b"\0\x03Ann"[..], b"\0\x03Bob"]) {
        party.say(player, name);
    }
    let mut chance = Pcg64::seed_from_u64(2);
    // As often as something is heard, so in every turn.
    loop {
        let (number, bytes) = party.next();
        if number == players[0] && bytes[0] == 4 {
            break;
        }
        let action: &[u8] = match chance.random_range(0..4) {
            0 => &[1],
            1 => &[2],
            _ => &[3, chance.random_range(0..4)],
        };
        if number == players[0] {
            for player in players {
                party.say(player, action);
            }
        }
    }
    let (path, heard) = party.end();
    let mut actions = 0;
    judge::<robots::Server>(path, heard, |replay, arrival, outputs| {
        if matches!(arrival, Input::Message { .. }) && replay.room().engine().game().is_some() {
            let sent = outputs.iter().any(|output| matches!(output, Output::Send { .. } | Output::Replay { .. }));
            // The last one to join has the game announced.
            let begins = outputs.iter().any(|output| matches!(output, Output::Event(GameEvent::Started { .. })));
            assert!(!sent || begins, "an action tells something before its turn is over: {outputs:?}");
            actions += 1;
        }
    });
    assert!(actions > 50, "{actions} actions");
}

/// The order of the deck in a round of a table, counted from 1, by the same shuffles.
fn deck(seed: blackjack::Seed, table: u32, round: u32) -> Vec<Card> {
    let mut chance = seed.generator(table);
    let mut deck = Deck::new();
    (0..round).for_each(|_| deck.shuffle(&mut chance));
    std::iter::from_fn(|| deck.deal().ok()).collect()
}

fn card_of(frame: &[u8]) -> Option<Card> {
    match DealerDecoder::new(Dialect::Text).decode_whole(frame) {
        Ok(DealerMessage::Card(card) | DealerMessage::Upcard(card)) => Some(card),
        _ => None,
    }
}

#[test]
fn nobody_sees_the_hole_card_or_the_deck_of_blackjack() {
    let mut party = Party::new(&json!({ "game": "blackjack", "players": 2, "rounds": 8 }));
    let (watcher, mut drawn) = party.watcher();
    let players = [party.browser(), party.stream()];
    party.say(players[0], b"JOIN Ann");
    party.say(players[1], b"JOIN Bob\0");
    let mut chance = Pcg64::seed_from_u64(3);
    let mut decisions = 0;
    loop {
        let (number, bytes) = party.next();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.contains("DECISION") {
            if decisions == 4 {
                drawn.until(|_, table| table.as_str().is_some_and(|table| table.contains("\nDEALER ")));
            }
            decisions += 1;
            let action = if chance.random() { "HIT" } else { "STAND" };
            let end = if number == players[1] { "\0" } else { "" };
            party.say(number, format!("{action}{end}").as_bytes());
        } else if text.contains("QUIT") && number == players[0] {
            break;
        }
    }
    let (path, heard) = party.end();
    let told: Vec<String> = heard[&watcher].iter().map(|frame| String::from_utf8_lossy(frame).into_owned()).collect();
    let drawn = drawn.end();
    for (_, table) in &drawn {
        assert!(told.iter().any(|told| told.contains(table.as_str().unwrap())), "{table} is shown to nobody else");
    }
    assert!(!drawn.is_empty());
    let mut watchers = BTreeSet::new();
    let mut cards = [0; 2];
    judge::<blackjack::Server>(path, heard, |replay, arrival, outputs| {
        if let Input::Connected { peer, role: Role::Watcher, .. } = arrival {
            watchers.insert(*peer);
        }
        let engine = replay.room().engine();
        let (mut hidden, mut told) = (BTreeMap::new(), vec![]);
        for table in engine.tables() {
            let game = table.game();
            let Some(round) = game.round() else { continue };
            let order = deck(engine.config().seed, table.number(), game.played() + 1);
            // A card to each seat, the hole card, another to each seat, the upcard.
            let dealt = (0..6).filter(|&seat| round.shown(seat).is_some()).count();
            assert_eq!(round.upcard(), order[2 * dealt + 1]);
            let shown: Vec<Card> =
                (0..6).filter_map(|seat| round.shown(seat)).flat_map(|(hand, _)| hand.cards().to_vec()).collect();
            let unseen: Vec<Card> =
                order.into_iter().filter(|card| *card != round.upcard() && !shown.contains(card)).collect();
            hidden.insert(table.number(), unseen);
            told.extend(shown);
            told.push(round.upcard());
            if game.played() > 0
                && let Some(dealer) = game.revealed()
            {
                let last = deck(engine.config().seed, table.number(), game.played());
                told.extend(last.into_iter().filter(|card| !dealer.cards().contains(card)));
                told.extend(dealer.cards().get(1));
            }
        }
        for output in outputs {
            let Output::Send { to: To::Peer(peer), frame } = output else { continue };
            if watchers.contains(peer) {
                let picture = String::from_utf8_lossy(frame).into_owned();
                let mut number = 0;
                for line in picture.trim_end_matches('\0').lines() {
                    if let Some(rest) = line.strip_prefix("TABLE ") {
                        number = rest.split(' ').next().unwrap().parse().unwrap();
                    }
                    let Some(hidden) = hidden.get(&number).filter(|_| !line.starts_with("REVEALED ")) else { continue };
                    assert!(hidden.iter().all(|card| !line.contains(card.name())), "{picture}");
                    cards[0] += usize::from(line.starts_with("HAND "));
                }
            } else if let Some(card) = card_of(frame).filter(|_| !hidden.is_empty()) {
                assert!(told.contains(&card), "{peer} is told of the {card}");
                cards[1] += 1;
            }
        }
    });
    assert!(cards[0] > 10 && cards[1] > 30, "{cards:?}");
}

#[test]
fn nobody_is_told_a_code_of_mastermind_that_is_still_looked_for() {
    let mut party = Party::new(&json!({ "game": "mastermind", "mode": "race", "players": 2, "minutes": 9 }));
    let (watcher, mut drawn) = party.watcher();
    let players = [party.browser(), party.stream()];
    party.say(players[0], b"PLAY Ann");
    party.say(players[1], b"PLAY Bob\n");
    let mut chance = Pcg64::seed_from_u64(4);
    let mut over = 0;
    let mut guesses = BTreeMap::new();
    let mut looked = false;
    while over < 2 {
        let (number, bytes) = party.next();
        for line in String::from_utf8_lossy(&bytes).lines().filter(|_| number != 0) {
            if line.starts_with("TURN ") {
                let guess: String = (0..4).map(|_| char::from(chance.random_range(b'1'..=b'8'))).collect();
                let end = if number == players[1] { "\n" } else { "" };
                party.say(number, format!("GUESS {guess}{end}").as_bytes());
                *guesses.entry(number).or_insert(0) += 1;
                // In the middle of the race. Both have rows, so whichever board is drawn has some.
                if !looked && players.iter().all(|player| guesses.get(player).is_some_and(|count| *count >= 2)) {
                    looked = true;
                    drawn.until(|name, rows| name == "rows" && rows.as_array().is_some_and(|rows| !rows.is_empty()));
                }
            } else if line.starts_with("OVER ") && number == players[0] {
                over += 1;
            }
        }
    }
    let (path, heard) = party.end();
    let told = lines(&heard[&watcher]);
    let answers: BTreeSet<&str> = told.iter().filter_map(|line| line.splitn(4, ' ').nth(3)).collect();
    let drawn = drawn.end();
    let rows = drawn.iter().filter(|(name, _)| name == "rows").flat_map(|(_, rows)| rows.as_array().unwrap());
    let mut shown = 0;
    for row in rows.filter(|row| row[0].is_string()) {
        let row = format!("{} {} {}", row[0].as_str().unwrap(), row[1], row[2]);
        assert!(answers.contains(row.as_str()), "{row} is shown to nobody else: {answers:?}");
        shown += 1;
    }
    assert!(shown > 0);
    // In the order of sending, with the number of the arrival.
    let mut told: Vec<(usize, PeerId, Vec<String>)> = vec![];
    let mut arrival = 0;
    judge::<mastermind::Server>(path, heard, |replay, _, outputs| {
        arrival += 1;
        let everyone: Vec<PeerId> = replay.peers().map(|peer| peer.peer).collect();
        for output in outputs {
            let (to, frame) = match output {
                Output::Send { to: To::Peer(peer), frame } => (vec![*peer], frame),
                Output::Send { to: To::Everyone, frame } => (everyone.clone(), frame),
                _ => continue,
            };
            let words: Vec<String> = String::from_utf8_lossy(frame).split_whitespace().map(str::to_owned).collect();
            told.extend(to.into_iter().map(|peer| (arrival, peer, words.clone())));
        }
    });
    let is_code = |word: &&String| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let code = told.iter().filter(|(.., words)| words[0] == "OVER").find_map(|(.., words)| words.iter().find(is_code));
    let code = code.expect("the code is shown at the end").clone();
    let peers: BTreeSet<PeerId> = told.iter().map(|(_, peer, _)| *peer).collect();
    let mut hidden = 0;
    for peer in peers {
        let own = || told.iter().filter(move |(_, to, _)| *to == peer);
        // Up to where it is over for this peer; the code that it found itself is no news.
        let before: Vec<_> =
            own().map(|(.., words)| words).take_while(|words| words[0] != "OVER" || !words.contains(&code)).collect();
        assert!(before.len() > 10, "{before:?}");
        assert!(before.iter().all(|words| words[0] == "ROW" || !words.contains(&code)), "{peer}: {code} in {before:?}");
        // Whoever races sees the answers of the others and not their guesses, until all is shown.
        let seat = before.iter().find(|words| words[0] == "OK").map(|words| words[1].clone());
        let end = own().find(|(.., words)| words[0] == "OVER" && words.contains(&code)).expect("it is shown to all").0;
        for (.., words) in
            own().filter(|(at, _, words)| *at < end && words[0] == "ROW" && seat.as_ref() != words.get(1))
        {
            assert!(words[3].bytes().all(|byte| !byte.is_ascii_digit()), "{peer}: {words:?}");
            hidden += 1;
        }
    }
    assert!(hidden > 10, "{hidden} rows of others");
}
