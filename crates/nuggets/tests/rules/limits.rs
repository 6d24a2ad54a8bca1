//! Limits on the traffic to an address until a KEY shows that it is not forged.

use std::time::Duration;

use bytes::Bytes;
use nuggets::{
    Config, Rules,
    protocol::MAX_DATAGRAM,
    server::{CATCH_UP, SHOWN, SPECTATES, UNPROVEN, WELCOMES},
};

use crate::{
    room::large,
    table::{Effect, NAMES, Table, datagrams, frames, last_display, plain, rows},
};

/// Of the map [`large`], nearly a full datagram, in bytes.
const DISPLAY: u32 = 8 + 175 * 373;

fn displays(effects: &[Effect], who: &str) -> u32 {
    u32::try_from(frames(effects, who).filter(|frame| frame.starts_with(b"DISPLAY\n")).count()).unwrap()
}

fn bytes_to(effects: &[Effect], who: &str) -> usize {
    frames(effects, who).map(Bytes::len).sum()
}

#[test]
fn rates_match_the_documentation() {
    assert_eq!((UNPROVEN.per_second, UNPROVEN.burst), (256 << 10, 256 << 10));
    assert_eq!((WELCOMES.per_second, WELCOMES.burst), (1, 2));
    assert_eq!((SHOWN.per_second, SHOWN.burst, CATCH_UP), (200, 10_000, Duration::from_millis(5)));
    assert_eq!((SPECTATES.per_second, SPECTATES.burst), (2, 8));
    assert!(DISPLAY as usize <= MAX_DATAGRAM);
}

#[test]
fn twenty_six_players_join_at_once() {
    let mut table = Table::new(&large(), Config::default());
    table.send("Sam", "SPECTATE");
    for (name, letter) in NAMES.iter().zip('A'..) {
        let effects = table.send(name, format!("PLAY {name}"));
        let datagrams: Vec<&[u8]> = frames(&effects, name).map(|frame| &frame[..frame.len().min(8)]).collect();
        assert_eq!(datagrams, [format!("OK {letter}").as_bytes(), b"GRID 175", b"GOLD 0 0", b"DISPLAY\n"]);
    }
    assert_eq!(table.game().active().count(), 26);
    let refused = "QUIT Game is full: no more players can join.";
    assert_eq!(datagrams(&table.send("Mallory", "PLAY Mallory"), "Mallory"), [refused]);
}

#[test]
fn unproven_displays_keep_the_budget_and_the_newest_is_sent() {
    let mut table = Table::new(&large(), Config::default());
    // Bob's arrival sends Alice one more picture.
    let mut sent = displays(&table.send("Alice", "PLAY Alice"), "Alice");
    sent += displays(&table.send("Bob", "PLAY Bob"), "Alice");
    let (mut millis, mut shown) = (0, None);
    for turn in 0..600 {
        let effects = table.send("Bob", ["KEY H", "KEY L"][turn % 2]);
        sent += displays(&effects, "Alice");
        assert_eq!(displays(&effects, "Bob"), 1, "who has sent a key gets every picture");
        shown = last_display(&effects, "Alice").or(shown);
        let effects = table.wait(Duration::from_millis(10));
        millis += 10;
        sent += displays(&effects, "Alice");
        shown = last_display(&effects, "Alice").or(shown);
        assert!(sent * DISPLAY <= UNPROVEN.burst + UNPROVEN.per_second / 1_000 * millis + millis);
    }
    // Six seconds: a burst of four pictures, then four per second.
    assert_eq!(sent, (UNPROVEN.burst + 6 * UNPROVEN.per_second) / DISPLAY);
    table.send("Bob", "KEY j");
    let effects = table.wait(Duration::from_secs(1));
    assert_eq!(displays(&effects, "Alice"), 1, "what was held back comes later, once");
    let newest = last_display(&effects, "Alice").unwrap();
    assert_ne!(Some(&newest), shown.as_ref());
    let stands = table.game().players()[1].cell.unwrap();
    let shown: Vec<usize> = rows(&newest).match_indices('B').map(|(at, _)| at).collect();
    assert_eq!(shown, [stands.index()], "as it is now");
    assert_eq!(table.wait(Duration::from_secs(1_000)), [], "and then there is nothing to tell");
}

/// Alice has sent no key, and Bob's runs have used up her budget.
fn alice_is_owed() -> Table {
    let mut table = Table::new(&large(), Config::default());
    table.join(&["Alice", "Bob"]);
    table.keys("Bob", &"HL".repeat(10));
    table
}

#[test]
fn deadline_is_when_the_budget_allows_the_next_display() {
    let mut table = alice_is_owed();
    let spent = UNPROVEN.burst / DISPLAY * DISPLAY;
    let missing = u64::from(DISPLAY - (UNPROVEN.burst - spent));
    let nanos = (missing * 1_000_000_000).div_ceil(u64::from(UNPROVEN.per_second));
    assert_eq!(netcore::Engine::deadline(table.server()), Some(netcore::Time::from_nanos(nanos)));
    let mut early = table.clone();
    assert_eq!(early.wait(Duration::from_nanos(nanos - 1)), []);
    assert_eq!(displays(&table.wait(Duration::from_nanos(nanos)), "Alice"), 1);
    assert_eq!(netcore::Engine::deadline(table.server()), None);
}

#[test]
fn gold_is_sent_to_unproven_clients_despite_their_budget() {
    // Without them a client shows a wrong status.
    let rules = Rules { gold: 30, min_piles: 30, max_piles: 30, ..Rules::default() };
    let mut table = Table::new(&large(), Config { rules, seed: 5, ..Config::default() });
    table.join(&["Alice", "Bob"]);
    let (mut before, mut golds) = (30, 0);
    for row in 0..175 {
        let effects = table.send("Bob", ["KEY L", "KEY H"][row % 2]);
        let gold: Vec<String> =
            datagrams(&effects, "Alice").into_iter().filter(|text| text.starts_with("GOLD")).collect();
        let remaining = table.game().remaining();
        if remaining < before {
            assert_eq!(gold, [format!("GOLD 0 0 {remaining}")]);
            golds += 1;
        }
        before = remaining;
        table.keys("Bob", "j");
    }
    assert!(golds > 3, "{golds} times is too rare to show anything");
}

#[test]
fn repeated_joining_messages_are_sent_once_a_second() {
    let mut table = plain("A.3");
    let answers = |table: &mut Table| {
        (0..100).map(|_| table.send("Alice", "PLAY Alice")).filter(|effects| displays(effects, "Alice") == 1).count()
    };
    assert_eq!(answers(&mut table), 2, "an answer that was lost is mended at once");
    assert_eq!(answers(&mut table), 0, "then there is silence");
    for _ in 0..5 {
        table.wait(Duration::from_secs(1));
        assert_eq!(answers(&mut table), 1);
    }
    let effects = table.send("Alice", "KEY ?");
    assert_eq!(datagrams(&effects, "Alice"), ["ERROR unknown keystroke"], "a key is always answered");
}

#[test]
fn repeated_joining_messages_count_against_the_budget() {
    let mut table = alice_is_owed();
    assert_eq!(displays(&table.send("Alice", "PLAY Alice"), "Alice"), 0, "a picture of hers is due before long");
}

/// Bob has used up the burst of individually shown moves. Also returns the number of pictures sent to Alice.
fn bob_runs_fast() -> (Table, u32) {
    let mut table = plain("A.3..B....");
    table.keys("Alice", "?");
    let effects = table.keys("Bob", &"lh".repeat(SHOWN.burst as usize / 2));
    (table, displays(&effects, "Alice"))
}

#[test]
fn fast_moves_are_shown_at_a_bounded_rate() {
    let (mut table, seen) = bob_runs_fast();
    assert_eq!(seen, SHOWN.burst, "each move at first");
    for _ in 0..10 {
        for key in ["KEY l", "KEY h", "KEY l"] {
            let effects = table.send("Bob", key);
            assert_eq!(
                (displays(&effects, "Bob"), displays(&effects, "Alice")),
                (1, 0),
                "the mover is always answered"
            );
        }
        let effects = table.wait(CATCH_UP);
        assert_eq!((displays(&effects, "Bob"), displays(&effects, "Alice")), (0, 1));
        assert!(datagrams(&effects, "Alice")[0].contains(".B..."), "where he is by then: {effects:?}");
        assert_eq!(displays(&table.send("Bob", "KEY h"), "Alice"), 1, "one more every five milliseconds");
    }
    assert_eq!(table.wait(Duration::from_secs(1)), [], "and then there is nothing to tell");
}

#[test]
fn fast_player_does_not_delay_moves_of_others() {
    let (mut table, _) = bob_runs_fast();
    assert_eq!(displays(&table.send("Bob", "KEY l"), "Alice"), 0);
    let effects = table.send("Alice", "KEY l");
    assert_eq!((displays(&effects, "Bob"), displays(&effects, "Alice")), (1, 1));
    assert_eq!(table.wait(Duration::from_secs(1)), [], "that move has shown the other one too");
}

#[test]
fn gold_and_the_end_are_shown_immediately() {
    let (mut table, _) = bob_runs_fast();
    let effects = table.send("Bob", "KEY H");
    let received: Vec<String> = datagrams(&effects, "Alice").iter().map(|text| text[..4].to_owned()).collect();
    assert_eq!(received, ["GOLD", "DISP", "QUIT"]);
}

#[test]
fn errors_count_against_the_budget() {
    let mut table = plain("A.3");
    let sent: usize = (0..50_000).map(|_| bytes_to(&table.send("Alice", "nonsense"), "Alice")).sum();
    let burst = UNPROVEN.burst as usize;
    assert!(sent <= burst && sent > burst - 200, "{sent} of {burst} bytes");
    table.wait(Duration::from_secs(1));
    let sent: usize = (0..50_000).map(|_| bytes_to(&table.send("Alice", "nonsense"), "Alice")).sum();
    let second = UNPROVEN.per_second as usize;
    assert!(sent <= second + 200 && sent > second - 200, "{sent} of {second} bytes");
}

#[test]
fn rate_of_spectators_is_limited() {
    let mut table = plain("A.3");
    let first_answer = |table: &mut Table, who: &str| datagrams(&table.send(who, "SPECTATE"), who)[0].clone();
    for turn in 0..8 {
        assert_eq!(first_answer(&mut table, &format!("Sam {turn}")), "GRID 1 3");
    }
    let busy = "ERROR too many spectators just now; try again in a second";
    assert_eq!(first_answer(&mut table, "Tess"), busy);
    assert_eq!(table.peers().collect::<Vec<_>>(), ["Alice", "Sam 7"], "the one who watches is left alone");
    table.wait(Duration::from_millis(499));
    assert_eq!(first_answer(&mut table, "Tess"), busy);
    table.wait(Duration::from_millis(1));
    assert_eq!(first_answer(&mut table, "Tess"), "GRID 1 3");
    assert_eq!(first_answer(&mut table, "Uma"), busy);
    let mut seated = 0;
    for turn in 0..1_000 {
        table.wait(Duration::from_millis(10));
        seated += u32::from(first_answer(&mut table, &format!("Uma {}", turn % 7)) == "GRID 1 3");
    }
    assert_eq!(seated, 20);
}

#[test]
fn repeated_spectate_counts_toward_the_limit() {
    let mut table = plain("A.3");
    for _ in 0..8 {
        assert_eq!(datagrams(&table.send("Sam", "SPECTATE"), "Sam").len(), 3);
    }
    table.check(
        "
        Sam > SPECTATE
            Sam < ERROR too many spectators just now; try again in a second
        Alice > KEY l
            Alice < DISPLAY [.@*]
            Sam < DISPLAY [.A*]
        ",
    );
}
