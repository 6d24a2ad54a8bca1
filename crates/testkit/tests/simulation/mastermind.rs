//! Codebreakers over streams, who take a new seat after a restart, and a watcher.

use std::{collections::BTreeMap, time::Duration};

use mastermind::{
    Client, ClientMessage, Code, Config, Feedback, Lifeline, Mode, Name, Rules, Server,
    view::{Board, MaskedCode, TurnRecord},
};
use netcore::{Client as _, Link, Role, Time};
use testkit::{net::Net, simulation::Game};

use super::{Bot, Seats, Strategy, address};

const PAUSE: Duration = Duration::from_millis(150);
const AWAY: Duration = Duration::from_millis(250);
const PLAYERS: u8 = 3;
const SEATS: u8 = 4;
/// The pause between invalid lines, which make the journal grow.
const NONSENSE: Duration = Duration::from_millis(200);

/// Guesses a code that is still possible, requests a lifeline or a hint now and then, and continues with further games.
#[derive(Debug)]
pub(super) struct Codebreaker {
    // Where the search for a code starts.
    number: usize,
    codes: Vec<Code>,
}

pub(super) type Breaker = Bot<Client, Codebreaker>;

impl Strategy<Client> for Codebreaker {
    fn next_action(&mut self, client: &Client) -> Option<ClientMessage> {
        let board = client.board()?;
        if board.over.is_some() {
            return Some(ClientMessage::New(None));
        }
        let turn = client.turn()?;
        match (self.number + turn.turn) % 7 {
            3 if turn.turn == 3 => return Some(ClientMessage::Lifeline(Lifeline::Place)),
            5 if client.advice().is_none() => return Some(ClientMessage::Hint),
            _ => {}
        }
        let fits = |code: &&Code| {
            board.lines.iter().all(|line| match line {
                TurnRecord::Row { guess: MaskedCode::Code(guess), feedback, .. } => {
                    Feedback::of(*guess, **code) == *feedback
                }
                _ => true,
            })
        };
        let from = self.number * 97 % self.codes.len();
        let mut codes = self.codes[from..].iter().chain(&self.codes[..from]);
        codes.find(fits).map(|code| ClientMessage::Guess(*code))
    }
}

/// The games that any client has received, by number and seat.
#[derive(Debug, Default)]
struct Games(BTreeMap<(u32, u8), Board>);

impl Games {
    /// Compares the client's games with those of the others, and adds them.
    fn check(&mut self, client: &Client, who: &str) {
        for (&seat, place) in client.places() {
            let Some(board) = &place.board else { continue };
            let known = self.0.entry((board.number, seat)).or_insert_with(|| Board {
                lines: vec![],
                over: None,
                ..board.clone()
            });
            assert_eq!(known.rules, board.rules, "{who}, game {}", board.number);
            for (at, line) in board.lines.iter().enumerate() {
                match known.lines.get_mut(at) {
                    None => known.lines.push(*line),
                    Some(before) => {
                        assert!(agree(before, line), "{who}, game {}: {before:?} and {line:?}", board.number);
                        if let TurnRecord::Row { guess: MaskedCode::Code(_), .. } = line {
                            *before = *line;
                        }
                    }
                }
            }
            if let (Some(before), Some(now)) = (known.over, board.over) {
                assert_eq!((before.how, before.turns), (now.how, now.turns), "{who}, game {}", board.number);
            }
            known.over = known.over.or(board.over);
        }
    }
}

// Whether two records agree in the parts that both show.
fn agree(one: &TurnRecord, other: &TurnRecord) -> bool {
    match (one, other) {
        (TurnRecord::Row { turn, guess, feedback }, TurnRecord::Row { turn: at, guess: digits, feedback: answer }) => {
            let same = match (guess, digits) {
                (MaskedCode::Code(one), MaskedCode::Code(other)) => one == other,
                _ => guess.len() == digits.len(),
            };
            same && turn == at && feedback == answer
        }
        (
            TurnRecord::Lifeline { turn, lifeline, revealed },
            TurnRecord::Lifeline { turn: at, lifeline: which, revealed: fact },
        ) => turn == at && lifeline == which && (revealed.is_none() || fact.is_none() || revealed == fact),
        _ => false,
    }
}

pub(super) struct Mastermind {
    seats: Seats,
    nonsense_at: Option<Time>,
    games: Games,
    // Clients that received output that the server has lost.
    stale: Vec<u8>,
}

impl Game for Mastermind {
    type Server = Server;
    type Client = Breaker;

    fn begin(seed: u64) -> (Self, Server) {
        let mode = if seed.is_multiple_of(3) { Mode::Race(3) } else { Mode::Solo };
        let nonsense_at = seed.is_multiple_of(4).then_some(Time::ZERO.plus(NONSENSE));
        let game = Self { seats: Seats::new(SEATS, AWAY), nonsense_at, games: Games::default(), stale: vec![] };
        (game, Server::new(Config { mode, ..Config::new(4, false, seed) }).unwrap())
    }

    fn enter(&mut self, net: &mut Net<Server, Breaker>) {
        for (number, seat) in self.seats.numbers().zip(0..) {
            enter(net, seat, number);
        }
    }

    fn step(&mut self, net: &mut Net<Server, Breaker>) {
        let now = net.now();
        for number in self.seats.numbers().filter(|number| !self.stale.contains(number)) {
            self.games.check(&net.client(address(number)).client, &format!("client {number}"));
        }
        for reconnect in self.seats.reconnecting(now, |number| net.client(address(number)).gone) {
            net.remove(address(reconnect.before));
            self.stale.retain(|&stale| stale != reconnect.number);
            enter(net, reconnect.seat, reconnect.number);
        }
        if self.nonsense_at.is_some_and(|at| at <= now) {
            self.nonsense_at = Some(now.plus(NONSENSE));
            net.write(address(self.seats.number(0)), &b"GUESS what the code may be\n".repeat(40));
        }
    }

    fn wake(&self) -> Option<Time> {
        self.seats.times().chain(self.nonsense_at).min()
    }

    fn resumed(&mut self, _: &mut Net<Server, Breaker>, forked: bool) {
        if forked {
            self.games.0.clear();
            self.stale = self.seats.numbers().collect();
        }
    }

    fn is_current(&self, net: &Net<Server, Breaker>, Breaker { client, .. }: &Breaker) -> bool {
        let engine = net.engine();
        let boards = engine.boards().filter_map(|(_, board)| board);
        let known = client.places().values().filter_map(|place| place.board.as_ref());
        let state = |board: &Board| (board.number, board.lines.len(), board.over.is_some());
        client.is_over() || known.map(state).eq(boards.map(|board| state(&board)))
    }
}

fn enter(net: &mut Net<Server, Breaker>, seat: u8, number: u8) {
    let plays = seat < PLAYERS;
    let name = format!("P{number}");
    let codes = Rules::new(4, 8, false).expect("these rules are possible").all();
    let client = Client::new(Link::Stream, Name::new(name.as_bytes()).ok().filter(|_| plays));
    let breaker = Bot::new(client, plays, Codebreaker { number: number.into(), codes }, net.now(), PAUSE);
    let role = if plays { Role::Player } else { Role::Watcher };
    net.add_stream(address(number), role, breaker);
}
