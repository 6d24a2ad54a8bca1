//! Vectors for the page's copy of these rules.

#[path = "../../../arcade/web/test/vectors/check.rs"]
mod vectors;

use mastermind::{
    Client, ClientMessage, Day, Feedback, Game, Lifeline, ServerMessage, Style,
    client::SeatView,
    game::{Action, Outcome},
    share,
    view::{Board, GameOutcome, TurnRecord, Visibility},
};
use netcore::{Client as _, Framing, Link, Time};
use serde_json::{Value, json};

use crate::{code, rng, rules};

#[test]
fn the_page_has_the_same_rules() {
    let all = json!({
        "server": server(),
        "client": client(),
        "possible": possible(),
        "answers": answers(),
        "prices": Lifeline::ALL.map(|lifeline| lifeline.cost(Style::Panel)),
        "shared": shared(),
        "stories": stories(),
    });
    vectors::check("mastermind", &all);
}

fn server() -> Value {
    let valid = [
        "ROOM solo 4 8 no",
        "ROOM race 6 8 yes 2",
        "ROOM daily 4 8 yes 2026-01-13",
        "OK 1",
        "SEAT 64 <b> & so on",
        "LEFT 2",
        "WAIT 3",
        "GAME 1 7 8 yes",
        "ROW 1 10 1234 2 1",
        "ROW 2 1 ****** 0 0",
        "LIFELINE 1 4 1 * 5",
        "LIFELINE 1 4 2 3 5",
        "LIFELINE 1 4 2 * *",
        "TURN 5 available blocked 2",
        "HINT 5 504 2356 3.06 77.0 134 yes",
        "POSSIBLE 4367 4376",
        "OVER 1 won 5 0 4367",
        "OVER 2 late 10 1 ****",
        "NO you have no seat; say PLAY and your name",
        "BYE thanks for playing",
    ];
    for text in valid {
        let message = ServerMessage::parse(text.as_bytes()).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(message.to_frame(Framing::Whole), text);
    }
    let invalid = [
        "",
        "ROOM",
        "ROOM solo 3 8 no",
        "ROOM solo 4 8 maybe",
        "ROOM race 4 8 no",
        "OK 256",
        "OK 01",
        "OK one",
        "SEAT 1",
        "GAME 1 7 9 yes",
        "ROW 1 11 1234 0 0",
        "ROW 1 1 1234 3 1",
        "ROW 1 1 123 0 0",
        "ROW 1 1 1294 0 0",
        "LIFELINE 1 4 3 * 5",
        "LIFELINE 1 4 2 9 5",
        "TURN 5 maybe used 0",
        "HINT 5 504 2356 3.063 77.0 134 yes",
        "HINT 5 504 2356 3.06 77 134 yes",
        "OVER 1 drawn 5 0 4367",
        "OVER 1 won 11 0 4367",
        "row 1 1 1234 0 0",
        "__proto__ 1",
        "NO",
    ];
    for text in invalid {
        assert!(ServerMessage::parse(text.as_bytes()).is_err(), "{text}");
    }
    json!({ "valid": valid, "invalid": invalid })
}

fn client() -> Value {
    let valid = [
        "PLAY Ann",
        "GUESS 1234",
        "LIFELINE 1",
        "LIFELINE 2",
        "HINT",
        "NEW",
        "NEW 5 yes",
        "NEW 8 no",
        "RESIGN",
        "QUIT",
    ];
    for text in valid {
        assert_eq!(ClientMessage::parse(text.as_bytes()).unwrap().to_frame(Framing::Whole), text);
    }
    json!({ "valid": valid })
}

// All answers, as `red white`, by the number of pegs.
fn possible() -> Value {
    let answers =
        |length| Feedback::all(length).map(|Feedback { red, white }| format!("{red} {white}")).collect::<Vec<_>>();
    Value::Object((4..=8).map(|length| (length.to_string(), answers(length).into())).collect())
}

fn answers() -> Value {
    let mut below = vectors::numbers(13);
    let mut all = vec![];
    for length in 4..=8 {
        for colours in [2, 4, 8] {
            for _ in 0..6 {
                let mut digits = || (0..length).map(|_| (below(colours) + 1).to_string()).collect::<String>();
                let [guess, secret] = [digits(), digits()];
                let Feedback { red, white } = Feedback::of(code(&guess), code(&secret));
                all.push(json!([guess, secret, red, white]));
            }
        }
    }
    all.into()
}

// Finished games: the messages for their player, and the result to paste.
fn shared() -> Value {
    let guess = |text: &str| Action::Guess(code(text));
    // 2026-01-13.
    let day = Some(Day(20_466));
    let of_day = vec![guess("1234"), Action::Lifeline(Lifeline::Place), guess("3451")];
    let games = [
        (rules(4, 8, true), "3451", of_day, 1, day, true),
        (rules(5, 8, false), "12345", vec![guess("12345")], 0, None, false),
        (rules(8, 8, true), "11223344", vec![Action::Lifeline(Lifeline::Colour); 1], 0, None, false),
        (rules(4, 8, true), "8888", vec![guess("1111"); 10], 2, day, false),
    ];
    let mut all = vec![];
    for (rules, secret, actions, hints, day, again) in games {
        let mut game = Game::with_code(rules, Style::Panel, code(secret)).unwrap();
        let mut rng = rng(1);
        for action in actions {
            game.apply(action, &mut rng).unwrap();
        }
        while game.outcome().is_none() {
            game.apply(guess(&"1".repeat(rules.length())), &mut rng).unwrap();
        }
        for _ in 0..hints {
            game.request_hint();
        }
        let won = matches!(game.outcome(), Some(Outcome::Won(_)));
        let how = if won { GameOutcome::Won } else { GameOutcome::Lost };
        let Board { number, rules, lines, over } = game.view(3, Some(how), Visibility::All);
        let mut messages = vec![ServerMessage::Game { seat: 1, number, rules }];
        messages.extend(lines.into_iter().map(|line| ServerMessage::Line(1, line)));
        messages.extend(over.map(|over| ServerMessage::Over(1, over)));
        let mut messages_text = vec!["OK 1".to_owned(), "SEAT 1 Ann".to_owned()];
        messages_text
            .extend(messages.iter().map(|message| String::from_utf8(message.to_frame(Framing::Whole).into()).unwrap()));
        all.push(json!({
            "messages": messages_text,
            "date": day.map(|day| day.to_string()),
            "again": again,
            "text": share(&game, day, again),
        }));
    }
    all.into()
}

fn stories() -> Value {
    let stories: [(&str, &[&str]); 4] = [
        (
            "a player in the middle of a game",
            &[
                "ROOM solo 4 8 no",
                "SEAT 2 Bob",
                "OK 1",
                "SEAT 1 Ann",
                "GAME 1 3 4 no",
                "TURN 1 available available 0",
                "ROW 1 1 1234 0 2",
                "TURN 2 available available 0",
                "LIFELINE 1 2 2 1 4",
                "TURN 4 used used 0",
                "TURN 4 used used 1",
                "HINT 4 12 4367 2.92 1.5 3 yes",
                "POSSIBLE 4367 4376",
            ],
        ),
        (
            "a race that is over is told again without stars",
            &[
                "ROOM race 4 8 no 2",
                "SEAT 1 Ann",
                "WAIT 1",
                "SEAT 2 Bob",
                "GAME 1 1 4 no",
                "GAME 2 1 4 no",
                "ROW 1 1 **** 0 2",
                "LIFELINE 2 1 1 * *",
                "ROW 1 2 **** 4 0",
                "OVER 1 won 2 0 ****",
                "OVER 2 resigned 1 0 ****",
                "ROW 1 1 1234 0 2",
                "ROW 1 2 4367 4 0",
                "OVER 1 won 2 0 4367",
                "LIFELINE 2 1 1 * 7",
                "OVER 2 resigned 1 0 4367",
            ],
        ),
        (
            "told anew after a reload, and somebody has left",
            &[
                "ROOM race 4 8 no 2",
                "OK 1",
                "SEAT 1 Ann",
                "SEAT 2 Bob",
                "GAME 1 1 4 no",
                "GAME 2 1 4 no",
                "TURN 1 available available 0",
                "LEFT 2",
                "OVER 1 resigned 0 0 4367",
                "ROOM race 4 8 no 2",
                "OK 1",
                "SEAT 1 Ann",
                "GAME 1 1 4 no",
                "OVER 1 resigned 0 0 4367",
                "WAIT 2",
            ],
        ),
        (
            "what does not fit is ignored",
            &[
                "ROOM solo 4 8 no",
                "ROW 9 1 1234 0 2",
                "OVER 9 won 1 0 1234",
                "SEAT 1 Ann",
                "GAME 1 1 4 no",
                "ROW 1 1 12345 0 2",
                "LEFT 9",
            ],
        ),
    ];
    stories
        .map(|(name, messages)| json!({ "name": name, "messages": messages, "known": client_json(messages) }))
        .to_vec()
        .into()
}

fn client_json(messages: &[&str]) -> Value {
    let mut client = Client::new(Link::Message, None);
    for message in messages {
        client.receive(Time::ZERO, message.as_bytes()).unwrap();
    }
    let line = |line: &TurnRecord| match line {
        TurnRecord::Row { turn, guess, feedback } => {
            json!({ "turn": turn, "guess": guess.to_string(), "red": feedback.red, "white": feedback.white })
        }
        TurnRecord::Lifeline { turn, lifeline, revealed } => {
            json!({ "turn": turn, "lifeline": lifeline.number(), "shown": revealed.is_some() })
        }
    };
    let place = |(seat, place): (&u8, &SeatView)| {
        let board = place.board.as_ref();
        json!({
            "seat": seat,
            "name": place.name.as_str(),
            "game": board.map(|board| board.number),
            "lines": board.map_or(vec![], |board| board.lines.iter().map(line).collect()),
            "over": board.and_then(|board| board.over).map(|over| over.how.word()),
        })
    };
    json!({
        "seat": client.seat(),
        "missing": client.missing(),
        "turn": client.turn().map(|turn| turn.turn),
        "hint": client.advice().map(|(advice, _)| advice.guess.to_string()),
        "possible": client.advice().map_or(0, |(_, possible)| possible.len()),
        "places": client.places().iter().map(place).collect::<Vec<_>>(),
    })
}
