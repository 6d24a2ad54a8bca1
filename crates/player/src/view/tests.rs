use super::*;
use crate::advice::Advisor;
use blackjack::{Card, Dialect, Hand, Name};

const PLAYING: Scene<'static> = Scene { keys: true, advised: false, left: Some(24), ..Scene::LOOK };
const DEAL: &str = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, DECISION";

fn lines(buffer: &Buffer) -> Vec<String> {
    let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
    buffer.content.chunks(usize::from(buffer.area.width.max(1))).map(|cells| row(cells).trim_end().to_owned()).collect()
}

fn drawn(game: &Game, scene: &Scene<'_>, width: u16, height: u16) -> Vec<String> {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    View::new(Palette::MONO).render_scene(game, scene, buffer.area, &mut buffer);
    lines(&buffer)
}

fn has(lines: &[String], text: &str) -> bool {
    lines.iter().any(|line| line.contains(text))
}

#[test]
fn who_looks_on_sees_cards_odds_and_advice_and_no_keys() {
    assert_eq!(
        drawn(&Game::after(DEAL), &Scene::LOOK, 76, 17),
        [
            "Ann: 0 won, 0 pushed, 0 lost, 0 bust, mean +0.000",
            "",
            "Round 1. The dealer shows",
            "┌────┐┌────┐",
            "│  3♦││  ??│",
            "└────┘└────┘",
            "You have 16",
            "┌────┐┌────┐",
            "│ 10♣││  6♥│",
            "└────┘└────┘",
            "",
            "Hit    win  24.5 %  push   4.8 %  lose  70.6 %  reward -0.461",
            "Stand  win  37.5 %  push   0.0 %  lose  62.5 %  reward -0.250  <- best play",
            "",
            "",
            "",
            ""
        ]
    );
}

#[test]
fn advice_is_hidden_until_it_is_asked_for() {
    let asked = Game::after(DEAL);
    let hidden = drawn(&asked, &PLAYING, 80, 24);
    assert!(!has(&hidden, "the table"), "{hidden:#?}");
    assert_eq!(hidden[0], "Ann: 0 won, 0 pushed, 0 lost, 0 bust, mean +0.000                         ? keys");
    assert_eq!(hidden[23], "H hit   S stand   A advice   Q leave                         24 s left to answer");
    let shown = drawn(&asked, &Scene { advised: true, ..PLAYING }, 80, 24);
    assert!(has(&shown, "<- best play") && !has(&shown, "A advice"), "{shown:#?}");
}

#[test]
fn a_decision_is_graded_and_a_result_stands_out() {
    let after = Game::after(&format!("{DEAL}, HIT, CARD Ten of Spades, RESULT BUST"));
    let result = drawn(&after, &Scene { hold: Some(Hold::Until(Instant::now())), left: None, ..PLAYING }, 80, 24);
    for said in [
        "Round 1: you are bust with 26.",
        "Hit was wrong: standing is worth 0.21 more.",
        "Bankroll -1 after 1 round",
        "0 of 1 decision right; mistakes cost 0.21 a round.",
        "Enter go on   Q leave",
    ] {
        assert!(has(&result, said), "{said} is not in\n{result:#?}");
    }
    let view = View::new(Palette::COLOUR);
    assert_eq!(view.style(Some(Verdict::Bust)).fg, Some(Color::LightRed));
    assert_eq!(view.style(Some(Verdict::Win)).fg, Some(Color::LightGreen));
    // The next hand hides it.
    let next = Game::after(&format!("{DEAL}, STAND, RESULT WIN, {DEAL}"));
    assert!(!has(&drawn(&next, &PLAYING, 80, 24), "was right"));
}

#[test]
fn a_practice_dealer_shows_its_hand() {
    let mut after = Game::after(&format!("{DEAL}, STAND, RESULT LOOSE"));
    let mut dealer = Hand::new();
    for number in [30, 16] {
        dealer.push(Card::new(number).unwrap());
    }
    after.revealed = Some(dealer);
    let scene = Scene { hold: Some(Hold::Key), left: None, ..PLAYING };
    let lines = drawn(&after, &scene, 80, 24);
    assert!(
        has(&lines, "The dealer has 7") && has(&lines, "│  4♥││  3♦│") && has(&lines, "Enter next hand"),
        "{lines:#?}"
    );
}

#[test]
fn a_small_window_has_no_frames_and_a_smaller_one_says_so() {
    let small = drawn(&Game::after(DEAL), &Scene { advised: true, ..PLAYING }, 68, 10);
    assert_eq!([&small[3], &small[5]], ["  3♦  ??", "  10♣  6♥"]);
    assert!(has(&small, "reward -0.250") && small[9].starts_with("H hit"), "{small:#?}");
    assert!(drawn(&Game::after(DEAL), &PLAYING, 40, 9).concat().contains("needs 10"));
    let closing = Closing { reason: Some("x"), ranked: true, again: Again::Possible, ignores_keys: false };
    for (width, height) in [(0, 0), (1, 1), (68, 10), (69, 11), (80, 24), (120, 40), (300, 100)] {
        for closing in [None, Some(closing)] {
            drawn(&Game::after("BEGIN, CARD Ten of Clubs"), &Scene { closing, ..PLAYING }, width, height);
        }
    }
}

#[test]
fn a_large_window_has_large_cards_in_its_middle() {
    let lines = drawn(&Game::after(DEAL), &PLAYING, 200, 60);
    let top = lines.iter().position(|line| line.contains("Round 1. The dealer shows")).unwrap();
    assert!((12..30).contains(&top), "row {top}");
    assert_eq!(lines[top + 1].trim_start(), "┌─────────┐┌─────────┐");
    assert_eq!(lines[top + 1].find('┌'), Some(50));
}

#[test]
fn who_waits_for_a_seat_is_told_what_can_be_known() {
    let game = Game::new(Name::new(b"Ann").unwrap(), Dialect::Text, Advisor::best());
    let lines = drawn(&game, &Scene { left: None, waited: Some(12), ..PLAYING }, 80, 24);
    assert!(has(&lines, "12 s so far") && lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
    assert_eq!(lines[23], "Q leave");
}

#[test]
fn message_without_its_zero_byte_is_named_instead_of_the_queue() {
    let mut game = Game::new(Name::new(b"Ann").unwrap(), Dialect::Text, Advisor::best());
    game.session.receive(b"BEGINCARD Ten of Clubs").unwrap();
    let unended = game.session.unended().unwrap();
    let scene = Scene { left: None, waited: Some(12), unended: Some(&unended), ..PLAYING };
    let lines = drawn(&game, &scene, 80, 24);
    assert!(has(&lines, "Warning: the dealer sent 'BEGINCARD Ten of Clubs' and no zero byte"), "{lines:#?}");
    assert!(!has(&lines, "so far"), "{lines:#?}");
    game.session.receive(b"\0").unwrap_err();
}

#[test]
fn a_dealer_that_does_not_wait_is_spoken_of() {
    let scene = Scene { rushed: Some(Duration::from_millis(26)), ..PLAYING };
    let lines = drawn(&Game::after(DEAL), &scene, 80, 24);
    assert!(has(&lines, "The dealer does not wait for your answer: it goes on after 0.03 s."), "{lines:#?}");
}

#[test]
fn the_result_of_a_game_lies_over_the_cards() {
    let game = Game::after(&format!("{DEAL}, STAND, RESULT WIN, QUIT"));
    let closing = Closing { reason: None, ranked: true, again: Again::Possible, ignores_keys: false };
    let scene = |closing| Scene { left: None, closing: Some(closing), ..PLAYING };
    let lines = drawn(&game, &scene(closing), 80, 24);
    for said in [
        "┌ Game over ─",
        "> 1. Ann         1 won ★",
        "  2. the dealer  0 won",
        "Round 1: you win with 16. The hand was 10♣ 6♥ (16)",
        "3♦.",
        "Bankroll +1; 0 bust, 0 pushed.",
        "1 of 1 decision right; mistakes cost 0.00 a round.",
    ] {
        assert!(has(&lines, said), "{said} is not in\n{lines:#?}");
    }
    assert_eq!(lines[23], "Enter play again   Tab cards   Q leave");
    let cards = drawn(&game, &scene(Closing { ranked: false, ..closing }), 80, 24);
    assert!(!has(&cards, "Game over") && has(&cards, "│ 10♣││  6♥│") && cards[23].contains("Tab result"));
    assert_eq!(drawn(&game, &scene(Closing { ignores_keys: true, ..closing }), 80, 24)[23], "");
    assert!(drawn(&game, &scene(Closing { again: Again::Joining, ..closing }), 80, 24)[23].ends_with("joining"));
    let reason = Closing { reason: Some("you did not answer"), ..closing };
    assert!(has(&drawn(&game, &scene(reason), 80, 24), "You did not answer."));
}
