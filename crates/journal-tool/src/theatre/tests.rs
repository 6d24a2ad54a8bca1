use std::{
    path::Path,
    time::{Duration, Instant},
};

use netcore::Time;
use ratatui::{Terminal, backend::TestBackend, buffer::Cell};
use termkit::{Key, Pad, Palette};
use testkit::TempDir;

use super::{Reaction, Theatre};
use crate::{
    film::{Film, Goal},
    games::Game,
    matches,
};

fn theatre<E: Game>(path: &Path, seat: Option<&str>) -> Theatre<E> {
    Theatre::new(Film::open(path, seat).unwrap(), Palette::MONO, 2)
}

// Works until nothing is left to be done.
fn settled<E: Game>(theatre: &mut Theatre<E>) {
    while theatre.is_busy() {
        theatre.elapse(Duration::ZERO, Instant::now() + Duration::from_secs(9));
    }
}

fn goes<E: Game>(theatre: &mut Theatre<E>, goal: Goal) {
    theatre.go_to(goal);
    settled(theatre);
}

fn types<E: Game>(theatre: &mut Theatre<E>, text: &str) {
    for byte in text.bytes() {
        assert_eq!(theatre.key(Key::Byte(byte)), Reaction::Nothing);
        settled(theatre);
    }
}

fn screen<E: Game>(theatre: &mut Theatre<E>, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| theatre.draw(frame.area(), frame.buffer_mut())).unwrap();
    let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned();
    let rows: Vec<String> = terminal.backend().buffer().content.chunks(usize::from(width)).map(row).collect();
    println!("{}\n", rows.join("\n"));
    rows
}

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (200, 60)];

#[test]
fn nuggets_is_seen_by_a_spectator_and_from_a_seat() {
    let folder = TempDir::new();
    let path = matches::nuggets(folder.path(), 60, true);
    let mut spectator = theatre::<nuggets::Server>(&path, None);
    let mut ann = theatre::<nuggets::Server>(&path, Some("Ann"));
    assert!(screen(&mut ann, 80, 24)[0].contains("Nobody has taken this seat yet."));
    for theatre in [&mut spectator, &mut ann] {
        goes(theatre, Goal::Time(Time::from_millis(15_000)));
    }
    for (width, height) in SIZES {
        let (shown, seat) = (screen(&mut spectator, width, height), screen(&mut ann, width, height));
        assert!(shown[0].starts_with("Spectator: ") && seat[0].starts_with("Player A has "), "{width}");
        assert!(shown[1].starts_with("+--------+      +--------+"));
        let map = shown[1..6].concat();
        assert!(map.contains('A') && map.contains('B'));
        assert!(seat.concat().contains('@') && !seat[1..6].concat().contains('A'));
        let below = usize::from(height) - 2;
        assert!(shown[below].starts_with("0:1") && shown[below].contains(": "), "{}", shown[below]);
        assert!(shown[below + 1].starts_with(">  1x 0:15 / 0:26 [#"), "{}", shown[below + 1]);
    }
    assert!(screen(&mut spectator, 80, 24)[23].ends_with("arrival 39 of 69  ? keys"));
}

#[test]
fn robots_are_seen_turn_by_turn_and_from_a_seat_one_is_kept_in_view() {
    let folder = TempDir::new();
    let path = matches::robots(folder.path());
    let mut theatre = theatre::<robots::Server>(&path, Some("1"));
    assert!(screen(&mut theatre, 80, 24)[0].contains("Lobby of here"));
    types(&mut theatre, "g4\n");
    let shown = screen(&mut theatre, 80, 24);
    assert!(shown[0].contains("Turn 4 of 10") && shown[23].ends_with("turn 4  ? keys"), "{shown:#?}");
    assert!(!shown.concat().contains("WASD"), "keys of the game do nothing here");
    assert!(shown.iter().any(|row| row.contains(">B")), "Bob is in view: {shown:#?}");
    assert!(shown[22].contains("turn 4: Bob"), "{}", shown[22]);
    types(&mut theatre, "...");
    assert!(screen(&mut theatre, 40, 12)[0].starts_with("Turn 7") || screen(&mut theatre, 40, 12)[0].contains("7/10"));
    theatre.key(Key::Pad { key: Pad::Left, shift: false });
    settled(&mut theatre);
    assert_eq!(theatre.film().turn(), Some(6));
    // A turn that is over is found again; the game stays the same.
    types(&mut theatre, "g2\n");
    assert_eq!((theatre.film().turn(), theatre.film().game()), (Some(2), 1));
    goes(&mut theatre, Goal::Time(Time::from_millis(9_000)));
    assert_eq!(theatre.film().game(), 2);
    let last = screen(&mut theatre, 200, 60);
    assert!(last[59].contains("game 2 turn"), "{}", last[59]);
    types(&mut theatre, "g1\n");
    assert_eq!((theatre.film().turn(), theatre.film().game()), (Some(1), 2));
}

#[test]
fn blackjack_is_seen_as_text_and_from_a_seat_as_its_player_saw_it() {
    let folder = TempDir::new();
    let path = matches::blackjack(folder.path());
    let mut lobby = theatre::<blackjack::Server>(&path, None);
    let mut ann = theatre::<blackjack::Server>(&path, Some("1:1"));
    let mut bob = theatre::<blackjack::Server>(&path, Some("Bob"));
    for theatre in [&mut lobby, &mut ann, &mut bob] {
        goes(theatre, Goal::Time(Time::from_millis(1_300)));
    }
    for (width, height) in SIZES {
        let shown = screen(&mut lobby, width, height);
        assert!(shown[0].starts_with("LOBBY 1 1 0 0") && shown[1].starts_with("TABLE 1 PLAYING"), "{shown:#?}");
        screen(&mut ann, width, height);
        screen(&mut bob, width, height);
    }
    assert!(screen(&mut ann, 80, 24)[0].starts_with("Ann: "));
    assert!(screen(&mut bob, 80, 24).concat().contains("You have"));
    let shown = screen(&mut ann, 80, 24);
    assert!(shown[1].starts_with("Round 1: nobody wins") && shown[2].starts_with("Round 2."), "{shown:#?}");
    goes(&mut ann, Goal::End);
    assert!(screen(&mut ann, 80, 24).concat().contains("Round 3: "));
    // The advice is that of the moment, wherever it was come from.
    goes(&mut ann, Goal::Time(Time::from_millis(1_300)));
    assert!(!screen(&mut ann, 80, 24)[0].contains("Round 3"));
}

#[test]
fn wherever_it_was_wound_to_the_picture_is_the_same() {
    let folder = TempDir::new();
    let path = matches::nuggets(folder.path(), 900, true);
    let mut there = theatre::<nuggets::Server>(&path, None);
    let mut back = theatre::<nuggets::Server>(&path, None);
    goes(&mut back, Goal::End);
    let end = back.film().end().arrivals;
    for arrivals in [end, end - 1, 700, 300, 257, 256, 255, 40, 1, 0] {
        goes(&mut back, Goal::Arrivals(arrivals));
        there = theatre(&path, None);
        goes(&mut there, Goal::Arrivals(arrivals));
        assert_eq!(back.film().arrivals(), arrivals);
        assert_eq!(screen(&mut back, 80, 24)[..22], screen(&mut there, 80, 24)[..22], "{arrivals}");
    }
    // One step on from where it was wound back to, though there are copies of what comes later.
    goes(&mut back, Goal::End);
    goes(&mut back, Goal::Arrivals(10));
    types(&mut back, ".");
    assert_eq!(back.film().arrivals(), 11);
    // One step back and one on.
    goes(&mut there, Goal::Arrivals(500));
    there.key(Key::Pad { key: Pad::Left, shift: false });
    settled(&mut there);
    assert_eq!(there.film().arrivals(), 499);
    types(&mut there, ".");
    assert_eq!(there.film().arrivals(), 500);
}

#[test]
fn time_passes_at_the_speed_that_was_chosen_and_stops_at_the_end() {
    let folder = TempDir::new();
    let mut theatre = theatre::<nuggets::Server>(&matches::nuggets(folder.path(), 60, true), None);
    let far = || Instant::now() + Duration::from_secs(9);
    theatre.elapse(Duration::from_secs(4), far());
    assert!(screen(&mut theatre, 80, 24)[23].starts_with(">  1x 0:04 / 0:26"));
    types(&mut theatre, "+++");
    theatre.elapse(Duration::from_secs(1), far());
    assert!(screen(&mut theatre, 80, 24)[23].starts_with(">  8x 0:12 / 0:26"));
    types(&mut theatre, " ");
    assert!(!theatre.elapse(Duration::from_secs(1), far()) && !theatre.is_moving());
    assert!(screen(&mut theatre, 80, 24)[23].starts_with("|| 8x 0:12 / 0:26"));
    types(&mut theatre, "-----------");
    assert!(screen(&mut theatre, 80, 24)[23].starts_with("|| 0.25x 0:12"));
    types(&mut theatre, "++++++++++++ ");
    theatre.elapse(Duration::from_secs(1), far());
    let end = screen(&mut theatre, 80, 24);
    assert!(end[23].starts_with("[] 64x 0:26 / 0:26 [######") && !theatre.is_moving(), "{}", end[23]);
    // On from the beginning.
    types(&mut theatre, " ");
    assert!(theatre.is_moving() && screen(&mut theatre, 80, 24)[23].starts_with(">  64x 0:00"));
}

#[test]
fn what_is_typed_of_a_place_is_seen_and_what_is_none_is_said() {
    let folder = TempDir::new();
    let mut theatre = theatre::<nuggets::Server>(&matches::nuggets(folder.path(), 60, true), None);
    types(&mut theatre, "g0:1x0");
    assert!(screen(&mut theatre, 80, 24)[22].starts_with("Go to an arrival up to 69, or mm:ss: 0:10_"));
    types(&mut theatre, "\n");
    assert!(screen(&mut theatre, 80, 24)[23].contains("0:10 / 0:26"));
    types(&mut theatre, "g1:99\n");
    assert_eq!(screen(&mut theatre, 80, 24)[22], "'1:99' is no place; type an arrival or mm:ss");
    types(&mut theatre, "g7\x1b");
    assert_ne!(theatre.film().arrivals(), 7);
    types(&mut theatre, "g7\n");
    assert_eq!(theatre.film().arrivals(), 7);
    types(&mut theatre, "?");
    assert!(screen(&mut theatre, 80, 24).concat().contains("go to a turn, an arrival or a time"));
    screen(&mut theatre, 40, 12);
    types(&mut theatre, "x");
    assert!(!screen(&mut theatre, 80, 24).concat().contains("Any key goes back"));
    assert_eq!(theatre.key(Key::Byte(b'q')), Reaction::Leave);
}

#[test]
fn a_small_window_says_so_and_none_panics() {
    let folder = TempDir::new();
    let mut nuggets = theatre::<nuggets::Server>(&matches::nuggets(folder.path(), 9, true), Some("A"));
    let mut robots = theatre::<robots::Server>(&matches::robots(folder.path()), None);
    let mut blackjack = theatre::<blackjack::Server>(&matches::blackjack(folder.path()), Some("Ann"));
    goes(&mut nuggets, Goal::End);
    types(&mut robots, "g5\n");
    goes(&mut blackjack, Goal::Arrivals(9));
    for (width, height) in [(1, 1), (2, 30), (23, 9), (24, 7), (25, 8), (40, 7), (300, 8), (30, 100)] {
        screen(&mut nuggets, width, height);
        screen(&mut robots, width, height);
        screen(&mut blackjack, width, height);
    }
    assert!(screen(&mut robots, 23, 9).concat().contains("too small"));
}
