//! Sequences of pictures: games end, the next one starts, and the key hints stay correct.

use robots::{DrawMessage, GamePicture};

use super::{
    tests::{contact, drawn, lobby, screen, view},
    *,
};
use crate::{
    sender::{Contact, Server},
    testing::{bomb, game, lines},
};

const NOBODY: &[&str] = &[];

// Ann and Bob on 6 x 4 fields. In turn 2, a bomb of Bob destroys Ann.
fn turn(turn: u16) -> GamePicture {
    let mut game = game(6, 4, &[("Ann", 0, 0), ("Bob", 1, 0)]);
    (game.turn, game.game_length) = (turn, 4);
    if turn >= 2 {
        game.scores.insert(PlayerId(0), 1);
    }
    game
}

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

fn last_line(view: &mut View, contact: &Contact, width: u16) -> String {
    lines(&drawn(view, contact, width, 24)).pop().unwrap()
}

fn ended(role: UserRole) -> View {
    let mut view = View::new(Palette::MONO, Follow::Id(PlayerId(0))).taking_part(role);
    assert!(!view.show(at(0), lobby(&["Ann"], 2)));
    for number in 0..4 {
        assert!(!view.show(at(100), DrawMessage::Game(turn(number))), "{number}");
    }
    assert!(view.show(at(200), DrawMessage::Game(turn(4))));
    assert!(!view.show(at(200), DrawMessage::Game(turn(4))), "a datagram may come twice");
    assert!(!view.show(at(200), lobby(NOBODY, 2)), "it has ended already");
    view.prepare(at(200), Size::new(80, 24));
    view
}

#[test]
fn first_screen_has_the_common_header_and_footer() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut view = View::new(Palette::MONO, Follow::Id(PlayerId(0))).taking_part(UserRole::Player);
        for (shows, state) in [("nothing", "waiting"), ("a lobby", "online")] {
            if shows == "a lobby" {
                view.show(at(0), lobby(&["Ann"], 2));
            }
            let shown = screen(&mut view, width, height);
            assert!(shown[0].starts_with(" ROBOTS   ") && shown[0].ends_with(state), "{shows}: {shown:#?}");
            assert!(shown[usize::from(height) - 1].contains("? keys   Q leave"), "{shows}: {shown:#?}");
        }
    }
}

#[test]
fn result_shows_the_final_board_and_marks_winner_and_user() {
    let mut view = ended(UserRole::Player);
    assert_eq!(view.content(), Content::Result);
    let shown = screen(&mut view, 80, 24);
    assert!(shown[0].starts_with(" ROBOTS   Turn 4 of 4  [####################]"), "{shown:#?}");
    for expected in [
        "┌ Bob wins ──",
        "│   1. B Bob  0 deaths ★ │",
        "│ > 2. A Ann  1 death    │",
        "Enter again   L lobby   Tab board   Q leave",
    ] {
        assert!(shown.iter().any(|line| line.contains(expected)), "{expected}: {shown:#?}");
    }
    view.toggle_table();
    let shown = screen(&mut view, 80, 24);
    assert!(!shown.concat().contains("Bob wins"), "{shown:#?}");
    assert_eq!(shown[23], "Enter again   L lobby   Tab table   Q leave");
    view.toggle_table();
    let ignored = Contact { keys_ignored: true, ..contact() };
    let shown = lines(&drawn(&mut view, &ignored, 80, 24)).concat();
    assert!(shown.contains("Keys work again in a moment.") && !shown.contains("Enter"), "{shown}");
}

#[test]
fn the_last_scores_stay_in_the_lobby() {
    let mut view = ended(UserRole::Player);
    assert!(view.proceed(), "a lobby, in which one can join");
    assert_eq!(view.content(), Content::Game);
    for (width, height) in [(80, 24), (120, 40), (200, 60), (40, 14)] {
        let shown = screen(&mut view, width, height);
        for expected in ["Lobby of here", "Last game: Bob wins", "  1. B Bob  0 deaths ★", "> 2. A Ann  1 death"] {
            assert!(shown.iter().any(|line| line.contains(expected)), "{expected}: {shown:#?}");
        }
    }
    assert_eq!(view.result_text().unwrap(), "Bob wins\n    1. 0 deaths  B Bob\n>   2. 1 death   A Ann");
}

#[test]
fn a_long_name_is_cut_in_the_lobby_and_its_score_is_not() {
    let long = "n".repeat(200);
    let mut view = View::new(Palette::MONO, Follow::Id(PlayerId(0))).taking_part(UserRole::Player);
    for number in 3..=4 {
        let mut game = game(6, 4, &[("Ann", 0, 0), (&long, 1, 0)]);
        (game.turn, game.game_length) = (number, 4);
        game.scores.insert(PlayerId(0), 1);
        view.show(at(100), DrawMessage::Game(game));
    }
    view.show(at(200), lobby(NOBODY, 2));
    assert!(view.proceed(), "a lobby, in which one can join");
    let shown = screen(&mut view, 80, 24);
    for score in ["0 deaths ★", "1 death"] {
        assert!(shown.iter().any(|line| line.contains(score)), "{score}: {shown:#?}");
    }
}

#[test]
fn result_is_shown_for_five_seconds_before_the_next_game() {
    let mut view = ended(UserRole::Observer);
    view.show(at(300), DrawMessage::Game(turn(0)));
    assert_eq!(view.content(), Content::Result);
    assert!(screen(&mut view, 80, 24).concat().contains("The next game has started."));
    view.show(at(5_199), DrawMessage::Game(turn(1)));
    assert_eq!(view.content(), Content::Result);
    view.show(at(5_200), DrawMessage::Game(turn(2)));
    assert_eq!(view.content(), Content::Game);
    let mut view = ended(UserRole::Player);
    view.show(at(300), DrawMessage::Game(turn(0)));
    assert!(!view.proceed(), "there is no lobby to join in");
}

#[test]
fn game_without_its_last_turn_is_incomplete() {
    let mut view = View::new(Palette::MONO, Follow::Nobody).taking_part(UserRole::Remote);
    view.show(at(0), DrawMessage::Game(turn(3)));
    assert!(view.show(at(1), lobby(NOBODY, 2)));
    assert!(screen(&mut view, 80, 24).concat().contains("The game was cancelled in turn 3 of 4"));
    // A game that loses its server is incomplete, too.
    let mut view = View::new(Palette::MONO, Follow::Nobody).taking_part(UserRole::Player);
    assert!(!view.server_gone(at(0)));
    view.show(at(0), DrawMessage::Game(turn(2)));
    assert!(view.server_gone(at(1)));
    let gone = Contact { server: Server::Gone, ..contact() };
    let shown = lines(&drawn(&mut view, &gone, 80, 24)).concat();
    assert!(shown.contains("in turn 2 of 4") && shown.contains("The connection is closed."), "{shown}");
    assert!(!shown.contains("Enter"), "{shown}");
    let mut view = View::new(Palette::MONO, Follow::Nobody);
    assert!(!view.show(at(0), DrawMessage::Game(turn(4))) && !view.show(at(0), lobby(NOBODY, 2)));
}

#[test]
fn bomb_owner_replaces_the_key_hints_for_a_while() {
    let mut view = View::new(Palette::MONO, Follow::Id(PlayerId(0))).taking_part(UserRole::Player);
    let with_bomb = |number: u16, timer: u16| {
        let mut game = turn(number);
        game.bombs = vec![bomb(1, 0, timer)];
        game
    };
    // Bombs have a timer of 5 here, so the view receives every turn from 0.
    let mut pictures: Vec<GamePicture> = vec![turn(0)];
    pictures.extend((1..=5).map(|number| with_bomb(number, 6 - number)));
    pictures.push(turn(6));
    view.show(at(0), lobby(&["Ann", "Bob"], 2));
    for (number, mut picture) in (0..).zip(pictures) {
        picture.game_length = 300;
        picture.scores.insert(PlayerId(0), u32::from(number == 6));
        view.show(at(number), DrawMessage::Game(picture));
    }
    assert!(last_line(&mut view, &contact(), 80).starts_with("Bob's bomb got you   WASD move"));
    assert!(view.is_moving(at(100)));
    view.prepare(at(3_006), Size::new(80, 24));
    assert!(last_line(&mut view, &contact(), 80).starts_with("You are A.   WASD move"));
}

#[test]
fn last_picture_marks_the_user_after_the_client_has_reset_its_number() {
    let (tell, told) = watch::channel(Some(PlayerId(0)));
    let mut view = View::new(Palette::MONO, Follow::Client(told)).taking_part(UserRole::Player);
    view.show(at(0), DrawMessage::Game(turn(0)));
    tell.send(None).unwrap();
    view.show(at(0), DrawMessage::Game(turn(4)));
    assert!(screen(&mut view, 80, 24).concat().contains("> 2. A Ann"));
    view.show(at(0), lobby(&["Ann"], 2));
    view.proceed();
    assert!(screen(&mut view, 80, 24)[23].starts_with("Space join"));
}

#[test]
fn key_hints_match_the_actions_of_keys() {
    let told = |role, own: Option<u8>| {
        let (_, told) = watch::channel(own.map(PlayerId));
        View::new(Palette::MONO, Follow::Client(told)).taking_part(role)
    };
    let in_lobby = |role, own: Option<u8>, sent: bool| {
        let mut view = told(role, own);
        view.show(at(0), lobby(&["Ann"], 2));
        if sent {
            view.sent();
        }
        last_line(&mut view, &contact(), 80)
    };
    for (role, own, sent, said) in [
        (UserRole::Player, None, false, "Space join   ? keys   Q leave"),
        (UserRole::Player, None, true, "You requested to join.   ? keys   Q leave"),
        (UserRole::Player, Some(0), true, "You have joined. Waiting for other players.   ? keys   Q leave"),
        (UserRole::Remote, None, false, "Space join   ? keys   Q leave"),
        (UserRole::Remote, None, true, "You requested to join.   ? keys   Q leave"),
        (UserRole::Observer, None, false, "You are only watching.   ? keys   Q leave"),
        (UserRole::Bot, None, false, "The bot joins automatically.   ? keys   Q leave"),
        (UserRole::Bot, Some(0), false, "The bot has joined.   ? keys   Q leave"),
    ] {
        assert_eq!(in_lobby(role, own, sent), said);
    }
    let in_game = |role, own: Option<u8>, turn_duration| {
        let mut view = told(role, own);
        view.show(at(0), DrawMessage::Game(turn(1)));
        last_line(&mut view, &Contact { turn_duration, ..contact() }, 100)
    };
    let second = Some(Duration::from_secs(1));
    let steering = "WASD move   Space bomb   K block   B blasts   ? keys   Q leave";
    let looking = "Tab next robot   Shift+arrow look around   B blasts   ? keys   Q leave";
    for (role, own, turn, said) in [
        (UserRole::Player, Some(0), None, format!("You are A.   {steering}")),
        (UserRole::Remote, Some(1), None, format!("You are B.   {steering}")),
        (UserRole::Remote, None, None, steering.to_owned()),
        (UserRole::Player, None, None, format!("Watching; join in 3 turns.   {looking}")),
        (
            UserRole::Player,
            None,
            second,
            "Watching; join in about 3 s.   Tab next robot   Shift+arrow look around   ? keys   Q leave".into(),
        ),
        (UserRole::Observer, None, None, format!("Watching.   {looking}")),
        (UserRole::Bot, Some(1), None, format!("The bot plays B.   {looking}")),
        (UserRole::Bot, None, None, format!("The bot waits.   {looking}")),
    ] {
        assert_eq!(in_game(role, own, turn), said);
    }
    // A separate GUI can infer that the user has not requested to join.
    let mut late = view(Follow::Nobody);
    late.show(at(0), lobby(NOBODY, 2));
    late.show(at(0), DrawMessage::Game(turn(1)));
    assert!(last_line(&mut late, &contact(), 100).starts_with("Watching; join in"));
    let mut replay = View::new(Palette::MONO, Follow::Nobody);
    replay.show(at(0), DrawMessage::Game(turn(1)));
    assert_eq!(last_line(&mut replay, &contact(), 100), "");
}

#[test]
fn key_hints_fit_narrow_windows() {
    for role in [UserRole::Remote, UserRole::Player, UserRole::Observer, UserRole::Bot] {
        for width in [12, 20, 30, 36, 44, 60, 79] {
            let mut view = View::new(Palette::MONO, Follow::Nobody).taking_part(role);
            view.show(at(0), lobby(NOBODY, 2));
            let footers = [last_line(&mut view, &contact(), width), {
                view.show(at(0), DrawMessage::Game(turn(1)));
                last_line(&mut view, &contact(), width)
            }];
            for footer in footers {
                assert!(width < 17 || footer.ends_with("Q leave"), "{role:?} {width} {footer}");
            }
        }
    }
}
