use std::{
    path::Path,
    time::{Duration, Instant},
};

use netcore::Time;
use ratatui::{Terminal, backend::TestBackend, buffer::Cell};
use termkit::{Key, Pad, Palette};
use testkit::TempDir;

use super::{Reaction, ReplayScreen};
use crate::{
    games::Game,
    matches,
    playback::{Goal, Playback},
};

fn opened<E: Game>(path: &Path, seat: Option<&str>) -> ReplayScreen<E> {
    ReplayScreen::new(Playback::open(path, seat).unwrap(), Palette::MONO, 2)
}

fn settled<E: Game>(screen: &mut ReplayScreen<E>) {
    while screen.is_busy() {
        screen.elapse(Duration::ZERO, Instant::now() + Duration::from_secs(9));
    }
}

fn goes<E: Game>(screen: &mut ReplayScreen<E>, goal: Goal) {
    screen.go_to(goal);
    settled(screen);
}

fn types<E: Game>(screen: &mut ReplayScreen<E>, text: &str) {
    for byte in text.bytes() {
        assert_eq!(screen.key(Key::Byte(byte)), Reaction::Nothing);
        settled(screen);
    }
}

fn rows<E: Game>(screen: &mut ReplayScreen<E>, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| screen.draw(frame.area(), frame.buffer_mut())).unwrap();
    let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned();
    let rows: Vec<String> = terminal.backend().buffer().content.chunks(usize::from(width)).map(row).collect();
    println!("{}\n", rows.join("\n"));
    rows
}

const SIZES: [(u16, u16); 4] = [(40, 12), (80, 24), (120, 40), (200, 60)];

#[test]
fn nuggets_is_displayed_for_a_spectator_and_from_a_seat() {
    let folder = TempDir::new();
    let path = matches::nuggets(folder.path(), 60, true);
    let mut spectator = opened::<nuggets::Server>(&path, None);
    let mut ann = opened::<nuggets::Server>(&path, Some("Ann"));
    assert!(rows(&mut ann, 80, 24)[0].contains("This seat has not been taken."));
    for screen in [&mut spectator, &mut ann] {
        goes(screen, Goal::Time(Time::from_millis(15_000)));
    }
    for (width, height) in SIZES {
        let (shown, seat) = (rows(&mut spectator, width, height), rows(&mut ann, width, height));
        // In a narrow window the status line is shorter, and in a large window the map is centred.
        let status = if width < 80 { "A " } else { "Player A has " };
        assert!(shown[0].starts_with("Spectator: ") && seat[0].starts_with(status), "{width}: {}", seat[0]);
        let top = shown.iter().position(|row| row.trim_start().starts_with("+--------+      +--------+")).unwrap();
        let map = shown[top..top + 5].concat();
        assert!(map.contains('A') && map.contains('B'));
        assert!(seat.concat().contains('@') && !seat[top..top + 5].concat().contains('A'));
        let below = usize::from(height) - 2;
        assert!(shown[below].starts_with("0:1") && shown[below].contains(": "), "{}", shown[below]);
        assert!(shown[below + 1].starts_with(">  1x 0:15 / 0:26 [#"), "{}", shown[below + 1]);
    }
    let last = &rows(&mut spectator, 80, 24)[23];
    assert!(last.ends_with("arrival 39 of 69  ? keys"), "{last}");
}

#[test]
fn robots_is_displayed_turn_by_turn_and_from_a_seat() {
    let folder = TempDir::new();
    let path = matches::robots(folder.path());
    let mut screen = opened::<robots::Server>(&path, Some("1"));
    assert!(rows(&mut screen, 80, 24)[0].contains("Lobby of here"));
    types(&mut screen, "g4\n");
    let shown = rows(&mut screen, 80, 24);
    assert!(shown[0].contains("Turn 4 of 10") && shown[23].ends_with("turn 4  ? keys"), "{shown:#?}");
    assert!(!shown.concat().contains("WASD"), "keys of the game do nothing here");
    assert!(shown.iter().any(|row| row.contains(">B")), "Bob is in view: {shown:#?}");
    assert!(shown[22].contains("turn 4: Bob"), "{}", shown[22]);
    types(&mut screen, "...");
    assert!(rows(&mut screen, 40, 12)[0].contains("Turn 7") || rows(&mut screen, 40, 12)[0].contains("7/10"));
    screen.key(Key::Pad { key: Pad::Left, shift: false });
    settled(&mut screen);
    assert_eq!(screen.playback().turn(), Some(6));
    types(&mut screen, "g2\n");
    assert_eq!((screen.playback().turn(), screen.playback().game()), (Some(2), 1));
    goes(&mut screen, Goal::Time(Time::from_millis(9_000)));
    assert_eq!(screen.playback().game(), 2);
    let last = rows(&mut screen, 200, 60);
    assert!(last[59].contains("game 2 turn"), "{}", last[59]);
    types(&mut screen, "g1\n");
    assert_eq!((screen.playback().turn(), screen.playback().game()), (Some(1), 2));
}

#[test]
fn mastermind_is_displayed_without_codes_and_from_a_seat() {
    let folder = TempDir::new();
    let path = matches::mastermind(folder.path());
    let mut spectator = opened::<mastermind::Server>(&path, None);
    let mut ann = opened::<mastermind::Server>(&path, Some("1"));
    let mut bob = opened::<mastermind::Server>(&path, Some("Bob"));
    assert!(rows(&mut bob, 80, 24)[0].contains("This seat has not been taken."));
    // In the middle of Bob's first game, after Ann's.
    for screen in [&mut spectator, &mut ann, &mut bob] {
        goes(screen, Goal::Time(Time::from_millis(6_600)));
    }
    for (width, height) in SIZES {
        let shown = rows(&mut spectator, width, height).concat();
        assert!(shown.contains("Ann, game 1: 4 pegs, 8 colours") && shown.contains("  1  ****  "), "{shown}");
        let own = rows(&mut ann, width, height);
        assert!(own[0].starts_with("Ann, game 1") && own[1].starts_with("  1  1122  "), "{own:#?}");
        assert!(own[2].starts_with("  2  the code has a ") && own[3].starts_with("  3  3344  "), "{own:#?}");
        assert!(own[4].starts_with("     resigned in 3 turns, code "), "{own:#?}");
        let other = rows(&mut bob, width, height);
        assert!(other[0].starts_with("Bob, game 2") && other[1].starts_with("  1  5566  "), "{other:#?}");
    }
    goes(&mut ann, Goal::Time(Time::from_millis(1_600)));
    assert!(rows(&mut ann, 80, 24)[2].is_empty());
    goes(&mut spectator, Goal::Time(Time::from_millis(11_000)));
    assert!(!rows(&mut spectator, 80, 24).concat().contains("Bob, game"));
}

#[test]
fn blackjack_is_displayed_as_text_and_from_a_seat() {
    let folder = TempDir::new();
    let path = matches::blackjack(folder.path());
    let mut lobby = opened::<blackjack::Server>(&path, None);
    let mut ann = opened::<blackjack::Server>(&path, Some("1:1"));
    let mut bob = opened::<blackjack::Server>(&path, Some("Bob"));
    for screen in [&mut lobby, &mut ann, &mut bob] {
        goes(screen, Goal::Time(Time::from_millis(1_300)));
    }
    for (width, height) in SIZES {
        let shown = rows(&mut lobby, width, height);
        assert!(shown[0].starts_with("LOBBY 1 1 0 0") && shown[1].starts_with("TABLE 1 PLAYING"), "{shown:#?}");
        rows(&mut ann, width, height);
        rows(&mut bob, width, height);
    }
    assert!(rows(&mut ann, 80, 24)[0].starts_with("Ann: "));
    assert!(rows(&mut bob, 80, 24).concat().contains("You have"));
    let shown = rows(&mut ann, 80, 24);
    assert!(shown[1].trim_start().starts_with("Round 1: push"), "{shown:#?}");
    assert!(shown[2].trim_start().starts_with("Round 2."), "{shown:#?}");
    goes(&mut ann, Goal::End);
    assert!(rows(&mut ann, 80, 24).concat().contains("Round 3: "));
    // The advice belongs to the position, regardless of how it was reached.
    goes(&mut ann, Goal::Time(Time::from_millis(1_300)));
    assert!(!rows(&mut ann, 80, 24)[0].contains("Round 3"));
}

#[test]
fn a_position_has_the_same_display_however_it_was_reached() {
    let folder = TempDir::new();
    let path = matches::nuggets(folder.path(), 900, true);
    let mut there = opened::<nuggets::Server>(&path, None);
    let mut back = opened::<nuggets::Server>(&path, None);
    goes(&mut back, Goal::End);
    let end = back.playback().end.arrivals;
    for arrivals in [end, end - 1, 700, 300, 257, 256, 255, 40, 1, 0] {
        goes(&mut back, Goal::Arrivals(arrivals));
        there = opened(&path, None);
        goes(&mut there, Goal::Arrivals(arrivals));
        assert_eq!(back.playback().arrivals(), arrivals);
        assert_eq!(rows(&mut back, 80, 24)[..22], rows(&mut there, 80, 24)[..22], "{arrivals}");
    }
    goes(&mut back, Goal::End);
    goes(&mut back, Goal::Arrivals(10));
    types(&mut back, ".");
    assert_eq!(back.playback().arrivals(), 11);
    goes(&mut there, Goal::Arrivals(500));
    there.key(Key::Pad { key: Pad::Left, shift: false });
    settled(&mut there);
    assert_eq!(there.playback().arrivals(), 499);
    types(&mut there, ".");
    assert_eq!(there.playback().arrivals(), 500);
}

#[test]
fn playback_has_the_chosen_speed_and_stops_at_the_end() {
    let folder = TempDir::new();
    let mut screen = opened::<nuggets::Server>(&matches::nuggets(folder.path(), 60, true), None);
    let far = || Instant::now() + Duration::from_secs(9);
    screen.elapse(Duration::from_secs(4), far());
    assert!(rows(&mut screen, 80, 24)[23].starts_with(">  1x 0:04 / 0:26"));
    types(&mut screen, "+++");
    screen.elapse(Duration::from_secs(1), far());
    assert!(rows(&mut screen, 80, 24)[23].starts_with(">  8x 0:12 / 0:26"));
    types(&mut screen, " ");
    assert!(!screen.elapse(Duration::from_secs(1), far()) && !screen.is_moving());
    assert!(rows(&mut screen, 80, 24)[23].starts_with("|| 8x 0:12 / 0:26"));
    types(&mut screen, "-----------");
    assert!(rows(&mut screen, 80, 24)[23].starts_with("|| 0.25x 0:12"));
    types(&mut screen, "++++++++++++ ");
    screen.elapse(Duration::from_secs(1), far());
    let end = rows(&mut screen, 80, 24);
    assert!(end[23].starts_with("[] 64x 0:26 / 0:26 [######") && !screen.is_moving(), "{}", end[23]);
    types(&mut screen, " ");
    assert!(screen.is_moving() && rows(&mut screen, 80, 24)[23].starts_with(">  64x 0:00"));
}

#[test]
fn a_typed_position_is_shown_and_an_invalid_one_is_reported() {
    let folder = TempDir::new();
    let mut screen = opened::<nuggets::Server>(&matches::nuggets(folder.path(), 60, true), None);
    types(&mut screen, "g0:1x0");
    let asked = &rows(&mut screen, 80, 24)[22];
    assert!(asked.starts_with("Go to an arrival up to 69, or mm:ss: 0:10_"), "{asked}");
    types(&mut screen, "\n");
    assert!(rows(&mut screen, 80, 24)[23].contains("0:10 / 0:26"));
    types(&mut screen, "g1:99\n");
    assert_eq!(rows(&mut screen, 80, 24)[22], "'1:99' is not a position; type an arrival or mm:ss");
    types(&mut screen, "g7\x1b");
    assert_ne!(screen.playback().arrivals(), 7);
    types(&mut screen, "g7\n");
    assert_eq!(screen.playback().arrivals(), 7);
    types(&mut screen, "?");
    assert!(rows(&mut screen, 80, 24).concat().contains("go to a turn, an arrival or a time"));
    rows(&mut screen, 40, 12);
    types(&mut screen, "x");
    assert!(!rows(&mut screen, 80, 24).concat().contains("Any key closes the help"));
    assert_eq!(screen.key(Key::Byte(b'q')), Reaction::Leave);
}

#[test]
fn a_window_of_any_size_is_drawn() {
    let folder = TempDir::new();
    let mut nuggets = opened::<nuggets::Server>(&matches::nuggets(folder.path(), 9, true), Some("A"));
    let mut robots = opened::<robots::Server>(&matches::robots(folder.path()), None);
    let mut blackjack = opened::<blackjack::Server>(&matches::blackjack(folder.path()), Some("Ann"));
    goes(&mut nuggets, Goal::End);
    types(&mut robots, "g5\n");
    goes(&mut blackjack, Goal::Arrivals(9));
    for (width, height) in [(1, 1), (2, 30), (23, 9), (24, 7), (25, 8), (40, 7), (300, 8), (30, 100)] {
        rows(&mut nuggets, width, height);
        rows(&mut robots, width, height);
        rows(&mut blackjack, width, height);
    }
    assert!(rows(&mut robots, 23, 9).concat().contains("too small"));
}
