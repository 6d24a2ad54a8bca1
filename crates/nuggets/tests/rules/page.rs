//! Test vectors for the page's copy of these rules: the messages both ways, sight, and the state after some messages.

#[path = "../../../arcade/web/test/vectors/check.rs"]
mod vectors;

use netcore::{Client as _, Link, Time};
use nuggets::{
    BUILT_IN_MAP, Cell, Client, ClientMessage, Direction, Grid, Letter, Name, Participant, ServerMessage,
    visibility::{Field, Sighter, Vision},
};
use serde_json::{Value, json};

#[test]
fn the_page_has_the_same_rules() {
    let all = json!({ "server": server(), "client": client(), "sight": sight(), "stories": stories() });
    vectors::check("nuggets", &all);
}

fn letter(letter: u8) -> Letter {
    Letter::from_byte(letter).unwrap()
}

fn server() -> Value {
    let table = b"GAME OVER:\nA         12 Ann\nB        238 Bob B";
    let valid = [
        ServerMessage::Ok(letter(b'A')),
        ServerMessage::Ok(letter(b'Z')),
        ServerMessage::Grid { rows: 1, cols: 1 },
        ServerMessage::Grid { rows: 21, cols: 79 },
        ServerMessage::Gold { collected: 0, purse: 0, remaining: 250 },
        ServerMessage::Gold { collected: 12, purse: 112, remaining: 3 },
        ServerMessage::Display(b"+---+\n|@.*|\n+---+\n"),
        ServerMessage::Display(b"     \n A#@ \n"),
        ServerMessage::Quit(b"Thanks for playing!"),
        ServerMessage::Quit(table),
        ServerMessage::Error(b"usage: unknown keystroke"),
    ];
    let valid = valid.map(|message| {
        let bytes = message.to_bytes();
        assert_eq!(ServerMessage::parse(&bytes).unwrap().to_bytes(), bytes);
        json!({ "text": text(&bytes), "message": message_json(&message) })
    });
    let invalid = "/OK/OK a/OK 1/OK AB/OKAY A/ok A/GRID 0 5/GRID 3/GRID 3 4 5/GRID x y/GOLD 1 2/GOLD -1 2 3/\
                   GOLD 1 2 3.5/DISPLAY/DISPLAY +-+\n/HELLO";
    let invalid: Vec<&str> = invalid.split('/').collect();
    for text in &invalid {
        assert!(ServerMessage::parse(text.as_bytes()).is_err(), "{text}");
    }
    json!({ "valid": valid, "invalid": invalid })
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn message_json(message: &ServerMessage<'_>) -> Value {
    match message {
        ServerMessage::Ok(letter) => json!({ "kind": "ok", "letter": letter.to_string() }),
        ServerMessage::Grid { rows, cols } => json!({ "kind": "grid", "rows": rows, "columns": cols }),
        ServerMessage::Gold { collected, purse, remaining } => {
            json!({ "kind": "gold", "collected": collected, "purse": purse, "remaining": remaining })
        }
        ServerMessage::Display(rows) => json!({ "kind": "display", "rows": text(rows).lines().collect::<Vec<_>>() }),
        ServerMessage::Quit(words) => json!({ "kind": "quit", "text": text(words) }),
        ServerMessage::Error(words) => json!({ "kind": "error", "text": text(words) }),
    }
}

fn client() -> Value {
    let encoded = |message: ClientMessage| {
        let bytes = message.to_bytes();
        assert_eq!(ClientMessage::parse(&bytes).unwrap(), message);
        text(&bytes).to_owned()
    };
    let play = |name: &str| encoded(ClientMessage::Play(Name::new(name.as_bytes()).ok()));
    let keys =
        "hjklyubnHJKLYUBNQ".bytes().map(|key| (char::from(key).to_string(), encoded(ClientMessage::Key(key)).into()));
    // Many more columns than the rows or columns of one step.
    let (cols, origin) = (99, 50 * 100 + 50);
    let steps = "hjklyubn".bytes().map(|key| {
        let at = origin + Direction::from_key(key).unwrap().offset(cols);
        json!([char::from(key), at / 100 - 50, at % 100 - 50])
    });
    json!({
        "play": { "Ann": play("Ann"), "Bob the 3rd": play("Bob the 3rd") },
        "spectate": encoded(ClientMessage::Spectate),
        "keys": Value::Object(keys.collect()),
        "steps": steps.collect::<Vec<_>>(),
    })
}

fn sight() -> Value {
    let mut below = vectors::numbers(7);
    let mut all = vec![];
    for _ in 0..40 {
        let (rows, cols) = (1 + below(9), 1 + below(14));
        let rooms = 1 + below(6);
        let mut field = String::new();
        for _ in 0..rows {
            field.extend((0..cols).map(|_| if below(10) < rooms { "#|-* ".as_bytes()[below(5)].into() } else { '.' }));
            field.push('\n');
        }
        for _ in 0..3 {
            all.push(sight_json(&field, below(rows), below(cols)));
        }
    }
    let (grid, _) = Grid::parse(BUILT_IN_MAP).unwrap();
    let spots = grid.room_spots();
    for _ in 0..8 {
        let at = spots[below(spots.len())].index();
        let width = usize::from(grid.cols()) + 1;
        all.push(sight_json(text(grid.text()), at / width, at % width));
    }
    all.into()
}

fn sight_json(field: &str, row: usize, col: usize) -> Value {
    let (rows, width) = (field.lines().count(), field.find('\n').unwrap() + 1);
    let size = |length: usize| u16::try_from(length).unwrap();
    let shape = Field::new(field.as_bytes(), size(rows), size(width - 1)).unwrap();
    let sight = Sighter::default().sight(shape, Cell(size(row * width + col)), Vision::default());
    let line = |row: usize| -> String {
        (0..width - 1).map(|col| if sight.contains(Cell(size(row * width + col))) { 'x' } else { '.' }).collect()
    };
    json!({
        "map": field.lines().collect::<Vec<_>>(),
        "from": [row, col],
        "seen": (0..rows).map(line).collect::<Vec<_>>(),
    })
}

fn stories() -> Value {
    let over = "QUIT GAME OVER:\nA         15 Ann\nB        235 Bob B\n";
    let player = Participant::Player(Name::new(b"Ann").unwrap());
    let stories: [(&str, Participant, &[&str]); 4] = [
        (
            "a player who finds gold",
            player.clone(),
            &[
                "OK C",
                "GRID 3 8",
                "GOLD 0 0 250",
                "DISPLAY\n+---+   \n|@.*### \n+---+   \n",
                "GOLD 15 15 235",
                "DISPLAY\n+---+   \n|..@##B \n+---+   \n",
            ],
        ),
        (
            "displays of another shape change nothing",
            player.clone(),
            &[
                "OK A",
                "GRID 2 3",
                "GOLD 0 0 9",
                "DISPLAY\n.@.\n...\n",
                "DISPLAY\n@.\n.\n.\n.\n.\n",
                "DISPLAY\n@.....\n......\n",
            ],
        ),
        ("a game that is over", player, &["OK A", "GRID 1 3", "GOLD 0 15 235", "DISPLAY\n.@.\n", over]),
        ("a spectator", Participant::Spectator, &["GRID 1 5", "GOLD 0 0 250", "DISPLAY\n.A*.B\n", "GOLD 0 0 200"]),
    ];
    stories.map(|(name, part, messages)| story(name, part, messages)).to_vec().into()
}

fn story(name: &str, part: Participant, messages: &[&str]) -> Value {
    let mut client = Client::with_link(Link::Message, part, Time::ZERO);
    for message in messages {
        client.receive(Time::ZERO, message.as_bytes()).unwrap();
    }
    let place = client.position().map(|place| json!({ "row": place.row, "column": place.col }));
    let rows = client.scores().map(|scores| {
        let row =
            |row: &nuggets::Score| json!({ "letter": row.letter.to_string(), "purse": row.purse, "name": row.name });
        scores.rows.iter().map(row).collect::<Vec<_>>()
    });
    let is_over = client.end().is_some();
    json!({
        "name": name,
        "messages": messages,
        "known": {
            "letter": client.letter().map(|letter| letter.to_string()),
            "place": place,
            "remaining": client.remaining(),
            "display": text(client.display()).lines().collect::<Vec<_>>(),
            "status": (!is_over).then(|| client.status(Time::ZERO).split("  ").next().map(str::to_owned)),
            "over": is_over,
            "table": rows,
        },
    })
}
