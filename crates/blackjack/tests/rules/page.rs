//! Vectors for the page's copy of these rules.

#[path = "../../../arcade/web/test/vectors/check.rs"]
mod vectors;

use blackjack::{
    Card, DealerMessage, Dialect, Hand, Name, PlayerMessage, Score, StateSpace, Verdict,
    config::TIMEOUT,
    view::{LobbyView, SeatView, Stage, TableView},
};
use netcore::Phase;
use serde_json::{Value, json};

#[test]
fn the_page_has_the_same_rules() {
    let all = json!({
        "dealer": dealer(),
        "player": player(),
        "views": views(),
        "hands": hands(),
        "seconds": TIMEOUT.as_secs(),
        "states": { "coarse": states(StateSpace::Coarse), "soft": states(StateSpace::Soft) },
    });
    vectors::check("blackjack", &all);
}

fn card(name: &str) -> Card {
    Card::from_name(name.as_bytes()).unwrap()
}

fn card_json(card: Card) -> Value {
    json!({ "rank": card.rank(), "suit": card.name().rsplit(' ').next() })
}

fn frame(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes.strip_suffix(b"\0").unwrap()).unwrap()
}

fn dealer() -> Value {
    let mut messages = vec![DealerMessage::Begin, DealerMessage::Decision, DealerMessage::Quit];
    messages.extend([Verdict::Win, Verdict::Push, Verdict::Lose, Verdict::Bust].map(DealerMessage::Result));
    messages.extend(Card::all().map(DealerMessage::Card));
    messages.extend(["Ace of Spades", "Ten of Clubs"].map(|name| DealerMessage::Upcard(card(name))));
    let mut valid = vec![];
    for message in messages {
        let bytes = message.to_bytes(Dialect::Text);
        assert_eq!(DealerMessage::parse_text(frame(&bytes).as_bytes()), Ok(message));
        valid.push(json!({ "text": frame(&bytes), "message": message_json(message) }));
    }
    assert_eq!(DealerMessage::parse_text(b"RESULT LOSE"), Ok(DealerMessage::Result(Verdict::Lose)));
    valid.push(json!({ "text": "RESULT LOSE", "message": message_json(DealerMessage::Result(Verdict::Lose)) }));
    let invalid = [
        "",
        "begin",
        "BEGIN ",
        "BEGIN now",
        "CARD",
        "CARD Ace",
        "CARD ace of Spades",
        "CARD Ace of Spades ",
        "CARD Ace  of Spades",
        "CARD Eleven of Clubs",
        "DEALER",
        "DEALER Ace of Swords",
        "RESULT",
        "RESULT DRAW",
        "RESULT toString",
        "HIT",
        "__proto__",
    ];
    for text in invalid {
        assert!(DealerMessage::parse_text(text.as_bytes()).is_err(), "{text}");
    }
    json!({ "valid": valid, "invalid": invalid })
}

fn message_json(message: DealerMessage) -> Value {
    match message {
        DealerMessage::Begin => json!({ "kind": "begin" }),
        DealerMessage::Card(card) => json!({ "kind": "card", "card": card_json(card) }),
        DealerMessage::Upcard(card) => json!({ "kind": "dealer", "card": card_json(card) }),
        DealerMessage::Decision => json!({ "kind": "decision" }),
        DealerMessage::Result(verdict) => {
            let verdict = match verdict {
                Verdict::Win => "win",
                Verdict::Push => "push",
                Verdict::Lose => "loss",
                Verdict::Bust => "bust",
            };
            json!({ "kind": "result", "verdict": verdict })
        }
        DealerMessage::Quit => json!({ "kind": "quit" }),
    }
}

fn player() -> Value {
    let encoded = |message: PlayerMessage| {
        let bytes = message.to_bytes(Dialect::Text);
        assert_eq!(PlayerMessage::parse_text(frame(&bytes).as_bytes()), Ok(message));
        frame(&bytes).to_owned()
    };
    let join = encoded(PlayerMessage::Join(Name::new(b"Ann").unwrap()));
    json!({ "join": { "Ann": join }, "hit": encoded(PlayerMessage::Hit), "stand": encoded(PlayerMessage::Stand) })
}

fn hand(names: &[&str]) -> Hand {
    let mut hand = Hand::new();
    for name in names {
        assert!(hand.push(card(name)));
    }
    hand
}

fn views() -> Value {
    let seat = |name: &str, hand: Option<(Hand, Stage)>, decides| SeatView {
        name: Name::new(name.as_bytes()).unwrap(),
        score: Score { wins: 1, pushes: 2, losses: 3, busts: 40 },
        forfeits: 5,
        hand,
        decides,
    };
    let waiting = TableView {
        number: 1,
        phase: Phase::Lobby,
        played: 0,
        rounds: 100,
        upcard: None,
        revealed: None,
        seats: vec![None, None],
    };
    let (ten, bust) =
        (hand(&["Ten of Clubs", "Ace of Hearts"]), hand(&["King of Clubs", "Six of Spades", "Queen of Hearts"]));
    let playing = TableView {
        number: 7,
        phase: Phase::Playing,
        played: 12,
        rounds: 100,
        upcard: Some(card("Six of Diamonds")),
        revealed: None,
        seats: vec![
            Some(seat("Ann", Some((ten, Stage::Playing)), true)),
            Some(seat("Bob", Some((ten, Stage::Playing)), false)),
            Some(seat("Cy", Some((ten, Stage::Stood)), false)),
            Some(seat("Di", Some((bust, Stage::Bust)), false)),
            Some(seat("Ed", None, false)),
            None,
        ],
    };
    let between =
        TableView { upcard: None, revealed: Some(ten), phase: Phase::Over, seats: vec![None], ..playing.clone() };
    let lobby = |shown| LobbyView { playing: 2, tables: 9, waiting: 3, rounds: 400, shown };
    let all = [
        (waiting.to_string(), vec![&waiting]),
        (playing.to_string(), vec![&playing]),
        (lobby(vec![]).to_string(), vec![]),
        (lobby(vec![playing.clone(), between.clone()]).to_string(), vec![&playing, &between]),
    ];
    all.map(|(text, tables)| json!({ "text": text, "tables": tables.into_iter().map(table).collect::<Vec<_>>() }))
        .to_vec()
        .into()
}

fn cards(hand: &Hand) -> Vec<Value> {
    hand.cards().iter().map(|&card| card_json(card)).collect()
}

fn table(table: &TableView) -> Value {
    let seat = |seat: &SeatView| {
        let stage = match seat.hand {
            None => "out",
            Some((_, Stage::Playing)) if seat.decides => "decides",
            Some((_, Stage::Playing)) => "waits",
            Some((_, Stage::Stood)) => "stands",
            Some(_) => "bust",
        };
        let Score { wins, pushes, losses, busts } = seat.score;
        json!({
            "name": seat.name.as_str(),
            "stage": stage,
            "score": [wins, pushes, losses, busts, seat.forfeits],
            "hand": seat.hand.as_ref().map_or(vec![], |(hand, _)| cards(hand)),
        })
    };
    json!({
        "number": table.number,
        "phase": format!("{:?}", table.phase).to_uppercase(),
        "played": table.played,
        "rounds": table.rounds,
        "upcard": table.upcard.map(card_json),
        "revealed": table.revealed.as_ref().map(cards),
        "seats": table.seats.iter().map(|one| one.as_ref().map(seat)).collect::<Vec<_>>(),
    })
}

fn hands() -> Value {
    let mut all = vec![];
    let mut add = |ranks: &[u8]| {
        let mut hand = Hand::new();
        if ranks.iter().all(|&rank| hand.push(Card::new(rank).unwrap())) {
            let points = hand.points();
            let ranks: Vec<_> = ranks.iter().map(u8::to_string).collect();
            all.push(json!([ranks.join(" "), points.total(), points.is_soft()]));
        }
    };
    add(&[]);
    for one in 1..=13 {
        for other in one..=13 {
            add(&[one, other]);
        }
    }
    let mut below = vectors::numbers(3);
    for length in 3..=9 {
        for _ in 0..30 {
            let ranks: Vec<u8> =
                (0..length).map(|_| u8::try_from(1 + below(if length > 4 { 4 } else { 13 })).unwrap()).collect();
            add(&ranks);
        }
    }
    all.into()
}

// `total/upcard` of each state in order, with soft states marked.
fn states(space: StateSpace) -> Value {
    let state = |state: blackjack::State| {
        format!("{}{}/{}", if state.is_soft() { "soft " } else { "" }, state.total(), state.upcard())
    };
    space.states().map(state).collect::<Vec<_>>().join(" ").into()
}
