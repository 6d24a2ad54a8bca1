//! A robots client played by a bot.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use netcore::{Gone, Time, wire::ShortText};
use robots::{
    Bot, Client, Config, Game, GameView, InputMessage, Malformed, Parameters, Position, ServerMessage, server::Server,
};

/// The number of players of each game.
pub(crate) const PLAYERS: u8 = 3;

/// A server of games of this many turns.
pub(crate) fn server(turns: u16, seed: u32) -> Server {
    let parameters = Parameters {
        server_name: ShortText::try_from("here").unwrap(),
        players_count: PLAYERS,
        size_x: 9,
        size_y: 7,
        game_length: turns,
        explosion_radius: 3,
        bomb_timer: 4,
    };
    let turn_duration = Duration::from_millis(100);
    Server::new(Config { parameters, turn_duration, initial_blocks: 8, seed, max_history: 1 << 20 }).unwrap()
}

/// A client and its player.
#[derive(Debug)]
pub(crate) struct Robot {
    pub(crate) client: Client,
    bot: Option<Bot>,
    /// Whether its bot stays away from further games.
    pub(crate) once: bool,
    /// Messages of the newest game.
    pub(crate) game: Vec<ServerMessage>,
    /// How many of these were compared with what others were told.
    pub(crate) checked: usize,
    said_hello: bool,
    turn: Option<u16>,
    /// How its connection ended.
    pub(crate) gone: Option<Gone>,
}

impl Robot {
    /// A player, or without a bot a client that looks on.
    pub(crate) fn new(number: u8, bot: bool) -> Self {
        let name = ShortText::try_from(format!("R{number}").as_str()).unwrap();
        let bot = bot.then(|| Bot::new(number.into()));
        let client = Client::new(name, None);
        Self { client, bot, once: false, game: vec![], checked: 0, said_hello: false, turn: None, gone: None }
    }

    /// Whether the newest game has ended.
    pub(crate) fn is_ended(&self) -> bool {
        matches!(self.game.last(), Some(ServerMessage::GameEnded { .. }))
    }

    fn hear(&mut self, message: &ServerMessage) {
        match message {
            ServerMessage::Hello(_) => {
                assert!(!self.said_hello, "two hellos");
                self.said_hello = true;
            }
            ServerMessage::GameStarted { .. } => {
                assert!(self.game.is_empty(), "a game starts during another");
                self.game.push(message.clone());
            }
            ServerMessage::Turn { turn, .. } => {
                assert!(!self.game.is_empty(), "a turn without a game");
                assert_eq!(*turn, self.turn.map_or(0, |before| before + 1), "a turn out of order");
                self.turn = Some(*turn);
                self.game.push(message.clone());
            }
            ServerMessage::GameEnded { .. } => {
                let length = self.client.parameters().map(|parameters| parameters.game_length);
                assert_eq!(self.turn, length, "a game ends too early");
                self.game.push(message.clone());
                self.turn = None;
            }
            ServerMessage::AcceptedPlayer { .. } => assert!(self.turn.is_none(), "somebody joins a running game"),
        }
        assert!(self.said_hello, "{message:?} comes before the hello");
    }
}

impl netcore::Client for Robot {
    type Action = InputMessage;
    type Error = Malformed;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), Malformed> {
        self.client.feed(bytes);
        while let Some(event) = self.client.poll_event()? {
            if self.is_ended() {
                (self.game, self.checked) = (vec![], 0);
            }
            self.hear(&event.message);
            let plays = event.is_picture_due() && !(self.once && self.is_ended());
            if let Some(bot) = self.bot.as_mut().filter(|_| plays)
                && let Some(input) = bot.next_input(&self.client)
            {
                self.client.act(now, input);
            }
        }
        Ok(())
    }

    fn act(&mut self, now: Time, action: InputMessage) {
        self.client.act(now, action);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.client.take_outgoing()
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        self.client.deadline(now)
    }

    fn elapsed(&mut self, now: Time) {
        self.client.elapsed(now);
    }

    fn disconnected(&mut self, now: Time, why: Gone) {
        self.gone = Some(why);
        self.client.disconnected(now, why);
    }

    fn is_over(&self) -> bool {
        self.client.is_over()
    }
}

/// Checks what a client knows after the turn that the server is at.
pub(crate) fn check_known(known: &GameView, truth: &Game, who: &str) {
    let positions: Vec<Position> = known.positions().values().copied().collect();
    let scores: Vec<u32> = known.scores().values().copied().collect();
    let blocks: BTreeSet<Position> = known.board().blocks().collect();
    assert!(truth.robots().iter().map(|robot| robot.position).eq(positions), "{who}");
    assert!(truth.robots().iter().map(|robot| robot.score).eq(scores), "{who}");
    assert_eq!(truth.board().blocks().collect::<BTreeSet<_>>(), blocks, "{who}");
    assert_eq!(truth.bombs().len(), known.bombs().len(), "{who}");
}
