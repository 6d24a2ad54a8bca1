use testkit::{
    TempDir,
    hostile::{MALFORMED, Malformed},
    peer::Peer,
};

use super::{HALL, Server, own_place};

/// What came to `peer` before the answer to a question that is asked now.
fn until_now(peer: &Peer) -> Vec<String> {
    peer.send("KEY ?");
    peer.receive_through("ERROR unknown keystroke").0
}

#[test]
fn nothing_malformed_moves_anybody() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL), "2"]);
    let (ann, bob, watcher, stranger) = (server.peer(), server.peer(), server.peer(), server.peer());
    ann.play("Ann");
    bob.play("Bob");
    let (_, _, before) = watcher.spectate();
    until_now(&ann);
    until_now(&bob);
    for Malformed { name, bytes } in MALFORMED {
        ann.send(bytes);
        stranger.send(bytes);
        watcher.send(bytes);
        for answer in until_now(&ann) {
            assert!(answer.starts_with("ERROR "), "{name}: {answer:?}");
        }
        assert_eq!(until_now(&bob), Vec::<String>::new(), "{name} reached somebody else");
        for answer in stranger.pending() {
            assert!(answer.starts_with(b"ERROR "), "{name}: {}", answer.escape_ascii());
        }
    }
    // The spectator asks for its picture again: all is as it was.
    watcher.send("SPECTATE");
    let (answers, after) = watcher.receive_through("DISPLAY\n");
    assert_eq!(after.strip_prefix("DISPLAY\n"), Some(before.as_str()));
    let allowed = |answer: &&String| ["ERROR ", "GRID ", "GOLD "].iter().any(|kind| answer.starts_with(kind));
    assert_eq!(answers.iter().find(|answer| !allowed(answer)), None);
    assert!(server.process.is_running());
    // And still everybody can move.
    let place = own_place(&before.replace('A', "@"));
    let key = if place.1 > 1 { "KEY h" } else { "KEY l" };
    ann.send(key);
    bob.expect("DISPLAY\n");
}

#[test]
fn the_answer_to_malformed_bytes_is_shorter_than_any_picture_and_plain() {
    let server = Server::start(&[]);
    let ann = server.peer();
    ann.play("Ann");
    for Malformed { name, bytes } in MALFORMED {
        ann.send(bytes);
        for answer in until_now(&ann) {
            assert!(answer.len() < 200 && !answer.contains('\n'), "{name}: {answer:?}");
            assert!(answer.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{name}: {answer:?}");
        }
    }
}

#[test]
fn keys_of_strangers_touch_nobody() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL), "2"]);
    let (ann, watcher, stranger) = (server.peer(), server.peer(), server.peer());
    ann.play("Ann");
    watcher.spectate();
    for key in "hjklyubnHJKLYUBNQ".chars() {
        stranger.send(format!("KEY {key}"));
    }
    // An answer to the stranger would have come before this one.
    stranger.send("PLAY ");
    assert_eq!(stranger.receive_through("QUIT Sorry").0, Vec::<String>::new());
    assert_eq!(until_now(&ann), Vec::<String>::new());
    watcher.send("SPECTATE");
    assert_eq!(watcher.receive_through("DISPLAY\n").0.len(), 2, "the spectator is still there");
}

#[test]
fn who_plays_cannot_join_twice_nor_look_on_as_well() {
    let server = Server::start(&[]);
    let ann = server.peer();
    let welcome = ann.play("Ann");
    // As long as no key came, the answer to her PLAY may have been lost.
    assert_eq!(ann.play("Ann"), welcome);
    assert_eq!(ann.play("Bella"), welcome);
    until_now(&ann);
    for message in ["PLAY Ann", "SPECTATE"] {
        ann.send(message);
        let answers = until_now(&ann);
        assert!(answers.len() == 1 && answers[0].starts_with("ERROR "), "{message}: {answers:?}");
    }
    let watcher = server.peer();
    let (_, _, display) = watcher.spectate();
    assert!(display.contains('A') && !display.contains('B'));
    watcher.send("PLAY Wat");
    assert!(watcher.expect("ERROR ").contains("watching"));
    assert_eq!(server.peer().play("Bob").letter, 'B');
}

#[test]
fn names_are_kept_as_the_rule_says() {
    let maps = TempDir::new();
    let corridor = super::CORRIDOR.replace("..........", &".".repeat(40));
    let corridor = corridor.replace("+----------+", &format!("+{}+", "-".repeat(40)));
    let server = Server::start(&[&maps.file("corridor.txt", corridor)]);
    let names =
        ["%s%n%d", "\x1b[31mred", "Zo\u{eb}", "  two  spaces", "tab\there", &"x".repeat(60), "../../etc", "a\0b"];
    let peers: Vec<Peer> = names
        .iter()
        .map(|name| {
            let peer = server.peer();
            peer.play(name);
            peer
        })
        .collect();
    for _ in 0..2 {
        peers[0].send("KEY H");
        peers[0].send("KEY L");
    }
    let table = peers[1].expect("QUIT GAME OVER:\n");
    let kept: Vec<&str> = table.lines().skip(1).map(|row| &row[13..]).collect();
    let cut = "x".repeat(50);
    assert_eq!(kept, ["%s%n%d", "_[31mred", "Zo__", "  two  spaces", "tab\there", cut.as_str(), "../../etc", "a_b"]);
    assert_eq!(server.process.wait().code, Some(0));
}

#[test]
fn whoever_is_gone_or_never_reads_costs_the_others_nothing() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL), "2"]);
    let (gone, mute, ann) = (server.peer(), server.peer(), server.peer());
    gone.play("Gone");
    mute.play("Mute");
    let mut column = own_place(&ann.play("Ann").display).1;
    drop(gone);
    for _ in 0..2_000 {
        let key = if column > 1 { 'h' } else { 'l' };
        ann.send(format!("KEY {key}"));
        let display = ann.expect("DISPLAY\n");
        let now = own_place(display.strip_prefix("DISPLAY\n").unwrap()).1;
        assert_ne!(now, column, "every step is possible and seen");
        column = now;
    }
    assert!(server.process.is_running());
    // The mute one has lost pictures at most, not its seat.
    mute.pending();
    mute.ask("KEY ?", "ERROR unknown keystroke");
}

#[test]
fn a_gone_spectator_can_be_replaced() {
    let server = Server::start(&[]);
    let (gone, ann, next) = (server.peer(), server.peer(), server.peer());
    gone.spectate();
    drop(gone);
    ann.play("Ann");
    next.spectate();
    ann.ask("KEY ?", "ERROR unknown keystroke");
}

#[test]
fn the_largest_map_is_played_and_looked_on_at() {
    let map = crate::programs::workspace().join("maps/continent.txt");
    let server = Server::start(&[map.to_str().unwrap(), "1"]);
    let (ann, watcher) = (server.peer(), server.peer());
    let welcome = ann.play("Ann");
    assert_eq!(welcome.display.len(), welcome.size.0 * (welcome.size.1 + 1));
    assert!(welcome.display.len() + 8 > 60_000);
    let (_, _, display) = watcher.spectate();
    assert_eq!(display.matches('A').count(), 1);
    ann.ask("KEY ?", "ERROR unknown keystroke");
}
