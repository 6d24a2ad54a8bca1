use ratatui::{buffer::Buffer, layout::Rect, style::Modifier, widgets::Widget};
use robots::{DrawMessage, Parameters};

use super::*;
use crate::{
    sender::{Contact, Server},
    testing::{at, bomb, game, lines, parameters, player},
};

pub(super) fn view(follow: Follow) -> View {
    View::new(Palette::MONO, follow).taking_part(UserRole::Remote)
}

pub(super) fn contact() -> Contact {
    Contact { client: "localhost:2023".into(), port: 2024, ..Contact::default() }
}

pub(super) fn drawn(view: &mut View, contact: &Contact, width: u16, height: u16) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    view.prepare(view.now, buffer.area.as_size());
    view.picture(contact).render(buffer.area, &mut buffer);
    buffer
}

pub(super) fn screen(view: &mut View, width: u16, height: u16) -> Vec<String> {
    lines(&drawn(view, &contact(), width, height))
}

pub(super) fn showing(picture: DrawMessage, follow: Follow) -> View {
    let mut view = view(follow);
    view.show(Time::ZERO, picture);
    view
}

pub(super) fn lobby(names: &[&str], players_count: u8) -> DrawMessage {
    let players = (0..).map(PlayerId).zip(names).map(|(id, name)| (id, player(name))).collect();
    let parameters = Parameters { players_count, ..parameters() };
    DrawMessage::Lobby { parameters, players }
}

fn small() -> DrawMessage {
    let mut game = game(6, 4, &[("Ann", 0, 0), ("Bob", 5, 3), ("Cid", 2, 1)]);
    game.blocks = vec![at(1, 0), at(1, 1)];
    game.bombs = vec![bomb(3, 3, 5), bomb(0, 0, 12)];
    game.explosions = vec![at(5, 1), at(5, 2)];
    game.scores = [(PlayerId(0), 2), (PlayerId(1), 0), (PlayerId(2), 2)].into();
    DrawMessage::Game(game)
}

pub(super) fn id(number: u8) -> Follow {
    Follow::Id(PlayerId(number))
}

#[test]
fn a_lobby_has_the_parameters_the_players_and_what_is_missing() {
    assert_eq!(
        screen(&mut showing(lobby(&["Ann", "Bob"], 4), Follow::Nobody), 60, 14),
        [
            " ROBOTS   Lobby of here                               online",
            "Players           2 of 4, waiting for 2 more",
            "Board             10 x 8",
            "Length            300 turns",
            "Explosion radius  4",
            "Bomb timer        5 turns",
            "",
            "    id name",
            " A   0 Ann",
            " B   1 Bob",
            "",
            "",
            "",
            "Space join   ? keys   Q leave"
        ]
    );
}

#[test]
fn equal_names_are_distinguished_by_address() {
    let mut view = showing(lobby(&["Ann", "Bob", "Ann"], 4), Follow::Nobody);
    assert_eq!(
        screen(&mut view, 60, 14)[7..11],
        ["    id name   address", " A   0 Ann    127.0.0.1:4000", " B   1 Bob", " C   2 Ann    127.0.0.1:4000"]
    );
    let buffer = drawn(&mut view, &contact(), 60, 14);
    let dim = |column| buffer[(column, 8)].modifier.contains(Modifier::DIM);
    assert!(dim(14) && !dim(8), "the address is secondary");
    // The first text omitted where there is no room.
    assert_eq!(screen(&mut view, 20, 14)[8], " A   0 Ann");
}

#[test]
fn a_low_window_has_a_lobby_in_few_lines() {
    assert_eq!(
        screen(&mut showing(lobby(&["Ann", "Bob", "Cid"], 4), id(1)), 36, 7),
        [
            " ROBOTS   Lobby of here       online",
            "Players 3 of 4, waiting for 1 more",
            "10 x 8, 300 turns, radius 4, bombs 5",
            "    id name",
            ">B   1 Bob",
            " and 2 more",
            "Joined.   ? keys   Q leave"
        ]
    );
    let lowest = screen(&mut showing(lobby(&["Ann"], 4), Follow::Nobody), 20, 3);
    assert_eq!(lowest, ["Lobby of here", "Players 1 of 4, wait", " A   0 Ann"]);
}

#[test]
fn a_game_has_its_turn_its_board_with_y_upwards_and_sorted_scores() {
    assert_eq!(
        screen(&mut showing(small(), id(0)), 66, 8),
        [
            " ROBOTS   Turn 12 of 300  [....................]  here      online",
            "   ┌────────────┐     id name                           deaths",
            "   │. . .  5. B │  B   1 Bob                                 0",
            "   │. . . . . **│ >A   0 Ann                                 2",
            "   │. ██C . . **│  C   2 Cid                                 2",
            "   │A+██. . . . │",
            "   └────────────┘",
            "You are A.   WASD move   Space bomb   K block   ? keys   Q leave"
        ]
    );
}

#[test]
fn small_window_omits_field_width_then_scores_then_rows() {
    assert_eq!(
        screen(&mut showing(small(), Follow::Nobody), 36, 8),
        [
            " ROBOTS   12/300  here        online",
            "┌────────────┐     id name    deaths",
            "│. . .  5. B │  B   1 Bob          0",
            "│. . . . . **│  A   0 Ann          2",
            "│. ██C . . **│  C   2 Cid          2",
            "│A+██. . . . │",
            "└────────────┘",
            "WASD move   ? keys   Q leave"
        ]
    );
    assert_eq!(
        screen(&mut showing(small(), id(0)), 18, 5),
        [" ROBOTS   12/300", "   . . .  5. B", "   . . . . . **", "   . ██C . . **", "   A+██. . . ."]
    );
    assert_eq!(screen(&mut showing(small(), id(0)), 12, 3), ["12/300     ^", ". ██C . . **", "A+██. . . ."]);
}

#[test]
fn too_small_window_shows_a_message_and_sends_no_keys() {
    let mut view = showing(small(), Follow::Nobody);
    for (width, height) in [(11, 3), (12, 2), (1, 1), (0, 0)] {
        assert!(!screen(&mut view, width, height).concat().contains("here"), "{width} {height}");
        assert_eq!(view.content(), Content::TooSmall);
    }
    assert_eq!(screen(&mut view, 40, 2)[0], "Needs 3 rows, 12 cols; has 2, 40");
    screen(&mut view, 12, 3);
    assert_eq!(view.content(), Content::Game);
}

#[test]
fn huge_board_follows_a_robot_and_marks_hidden_sides() {
    let mut game = game(65_535, 65_535, &[("Ann", 65_534, 0), ("Bob", 30_000, 40_000)]);
    game.blocks = vec![at(65_533, 0), at(29_999, 40_001)];
    let mut view = showing(DrawMessage::Game(game), id(0));
    assert_eq!(
        screen(&mut view, 16, 5),
        ["12/300  here  <^", ". . . . . . . .", ". . . . . . . .", ". . . . . . . .", ". . . . . . ██A"]
    );
    view.follow_next();
    let shown = screen(&mut view, 16, 5);
    let row = shown.iter().position(|row| row.contains('B')).unwrap();
    assert!(shown[row - 1].contains("██. ") && !shown.concat().contains('A'), "{shown:#?}");
    view.follow_next();
    assert!(screen(&mut view, 16, 5)[4].ends_with('A'));
}

#[test]
fn free_view_returns_to_a_player_with_tab() {
    let mut game = game(40, 40, &[("Ann", 0, 39), ("Bob", 39, 0)]);
    game.blocks = vec![at(39, 39)];
    let mut view = showing(DrawMessage::Game(game), Follow::Name("Bob".try_into().unwrap()));
    assert!(screen(&mut view, 30, 9)[7].ends_with('B'));
    for _ in 0..10 {
        view.scroll(Direction::Up);
    }
    let shown = screen(&mut view, 30, 9);
    assert!(shown[1].ends_with("██") && !shown[1..8].concat().contains('B'), "{shown:#?}");
    view.follow_next();
    assert!(screen(&mut view, 30, 9)[7].ends_with('B'));
    view.follow_next();
    assert!(screen(&mut view, 30, 9)[1].starts_with('A'));
}

#[test]
fn player_named_by_the_client_is_followed() {
    let (tell, told) = watch::channel(None);
    let mut view = showing(small(), Follow::Client(told));
    assert!(!screen(&mut view, 66, 8)[7].starts_with("You are"));
    tell.send(Some(PlayerId(2))).unwrap();
    assert!(screen(&mut view, 66, 8)[7].starts_with("You are C."));
    tell.send(Some(PlayerId(7))).unwrap();
    assert!(!screen(&mut view, 66, 8)[7].starts_with("You are"));
}

#[test]
fn many_players_are_counted_and_names_cannot_break_the_screen() {
    let names: Vec<(String, u16, u16)> = (0..=254).map(|number| (format!("日本\x1b[2J\n{number}"), 0, 0)).collect();
    let robots: Vec<(&str, u16, u16)> = names.iter().map(|(name, x, y)| (&**name, *x, *y)).collect();
    let mut game = game(3, 3, &robots);
    game.server_name = "日本\r\x07\u{202e}".try_into().unwrap();
    game.scores.insert(PlayerId(9), 1);
    game.scores.remove(&PlayerId(8));
    let mut view = showing(DrawMessage::Game(game), id(9));
    let shown = screen(&mut view, 100, 9);
    assert!(shown[0].contains("[....................]  日 本 \\r\\u{7}\\u{202e}  "), "{}", shown[0]);
    let shown = screen(&mut view, 60, 9);
    assert_eq!(shown[2], "  │.  .  .  │  A    0 日 本 \\u{1b}[2J\\n0                   0");
    assert_eq!(shown[5], "  │J& .  .  │  D    3 日 本 \\u{1b}[2J\\n3                   0");
    assert_eq!(shown[6], "  │▀▀▀      │ >J    9 日 本 \\u{1b}[2J\\n9                   1");
    assert_eq!(shown[7], "  └─────────┘  and 250 more");
    let high = screen(&mut view, 100, 280);
    let last = high.iter().rev().find(|row| row.contains("日")).unwrap();
    assert!(last.contains("I    8 日 本 \\u{1b}[2J\\n8 ") && last.ends_with('-'), "without a score, last: {last}");
}

#[test]
fn a_board_without_fields_and_a_game_without_turns_are_shown() {
    for (x, y) in [(0, 0), (0, 9), (9, 0)] {
        let mut game = game(x, y, &[("Ann", 0, 0)]);
        (game.game_length, game.turn) = (0, 65_535);
        for (width, height) in [(12, 3), (60, 12), (200, 60)] {
            let shown = screen(&mut showing(DrawMessage::Game(game.clone()), id(0)), width, height);
            assert!(shown[0].contains("65535"), "{shown:#?}");
        }
    }
}

#[test]
fn the_bar_grows_with_the_turns() {
    let bar = |turn, game_length| {
        let game = GamePicture { turn, game_length, ..game(3, 3, &[]) };
        let mut view = showing(DrawMessage::Game(game), Follow::Nobody);
        assert!(screen(&mut view, 40, 5)[0].len() < screen(&mut view, 60, 5)[0].len());
        // Hides the result of a game that is over.
        view.proceed();
        screen(&mut view, 70, 5).swap_remove(0).trim_end_matches("online").trim_end().to_owned()
    };
    assert_eq!(bar(0, 300), " ROBOTS   Turn 0 of 300  [....................]  here");
    assert_eq!(bar(150, 300), " ROBOTS   Turn 150 of 300  [##########..........]  here");
    assert_eq!(bar(300, 300), " ROBOTS   Turn 300 of 300  [####################]  here");
    assert_eq!(bar(65_535, 1), " ROBOTS   Turn 65535 of 1  [####################]  here");
}

#[test]
fn client_errors_are_shown_on_every_screen() {
    let mut waiting = view(Follow::Nobody);
    assert_eq!(
        screen(&mut waiting, 60, 4),
        [
            " ROBOTS                                              waiting",
            "Waiting for pictures on UDP port 2024.",
            "Keys go to the client at localhost:2023.",
            "? shows the keys, Q leaves."
        ]
    );
    let silent = Contact { silence: Some(Duration::from_millis(7_900)), ..contact() };
    let refused = Contact { refused: true, unreadable: 3, ..silent.clone() };
    let said = |view: &mut View, contact: &Contact, height| lines(&drawn(view, contact, 90, height)).concat();
    let mut game = showing(small(), id(0));
    let mut lobby = showing(lobby(&["Ann"], 2), Follow::Nobody);
    let lost = Contact { server: Server::Lost, ..refused.clone() };
    for height in [4, 5, 12] {
        for view in [&mut waiting, &mut game, &mut lobby] {
            let shown = said(view, &lost, height);
            assert!(shown.contains("No connection to the server; reconnecting"), "{shown}");
        }
        let shown = said(&mut waiting, &silent, 12);
        assert!(shown.contains("Press Space to show the lobby of a waiting client, or start"), "{shown}");
        assert!(shown.contains("`robots-client -s SERVER -d localhost:2024`."), "{shown}");
        let shown = said(&mut game, &silent, height);
        assert!(shown.contains("No picture for 7 s: is the client running at localhost:2023?"), "{shown}");
        assert!(said(&mut lobby, &silent, height).contains("No picture for 7 s; the lobby sends one when"));
        for view in [&mut waiting, &mut game, &mut lobby] {
            let shown = said(view, &refused, height);
            assert!(shown.contains("No client listens at localhost:2023: is it running there?"), "{shown}");
        }
    }
    assert!(said(&mut game, &refused, 12).ends_with("3 unreadable"));
    let unreadable = Contact { unreadable: 3, ..contact() };
    assert!(said(&mut game, &unreadable, 12).contains("You are A.   WASD move"));
    assert!(said(&mut game, &unreadable, 12).ends_with("3 unreadable"));
}

#[test]
fn help_covers_the_game_until_it_is_closed() {
    let mut view = showing(small(), id(0));
    view.help = !view.help;
    let shown = screen(&mut view, 80, 24);
    assert!(shown.iter().any(|row| row.contains("┌ Robots ─")), "{shown:#?}");
    assert!(shown.iter().any(|row| row.contains("Space J Z    place a bomb")), "{shown:#?}");
    assert!(shown.iter().any(|row| row.contains("The game continues. Press any key to return.")), "{shown:#?}");
    assert_eq!(view.content(), Content::Help);
    view.help = !view.help;
    assert!(!screen(&mut view, 80, 24).concat().contains("place a"));
}
