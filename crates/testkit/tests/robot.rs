//! A robots client played by a bot, and its server.

use std::time::Duration;

use bytes::Bytes;
use netcore::{Gone, Time, wire::ShortText};
use robots::{Bot, Client, Config, InputMessage, Malformed, Parameters, ServerMessage, server::Server};

/// A test's handler for the messages that a client receives.
pub(crate) trait Ear {
    /// Handles a message after the client. Returns whether the bot may answer it.
    fn hear(&mut self, message: ServerMessage, client: &Client) -> bool;
}

/// A client and its player.
#[derive(Debug)]
pub(crate) struct Robot<E> {
    pub(crate) client: Client,
    bot: Option<Bot>,
    pub(crate) ear: E,
    pub(crate) gone: Option<Gone>,
}

impl<E: Default> Robot<E> {
    /// Without a bot it only watches.
    pub(crate) fn new(number: u8, bot: bool) -> Self {
        let name = ShortText::try_from(format!("R{number}").as_str()).unwrap();
        let bot = bot.then(|| Bot::new(number.into()));
        Self { client: Client::new(name, None), bot, ear: E::default(), gone: None }
    }
}

impl<E: Ear> netcore::Client for Robot<E> {
    type Action = InputMessage;
    type Error = Malformed;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), Malformed> {
        self.client.feed(bytes);
        while let Some(event) = self.client.poll_event()? {
            let due = event.is_picture_due();
            let answers = self.ear.hear(event.message, &self.client);
            if let Some(bot) = self.bot.as_mut().filter(|_| due && answers)
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

/// A server for this many players, whose games have this many turns.
pub(crate) fn server(players_count: u8, game_length: u16, seed: u32) -> Server {
    let parameters = Parameters {
        server_name: ShortText::try_from("here").unwrap(),
        players_count,
        size_x: 9,
        size_y: 7,
        game_length,
        explosion_radius: 3,
        bomb_timer: 4,
    };
    let (turn_duration, initial_blocks, max_history) = (Duration::from_millis(100), 8, 1 << 20);
    Server::new(Config { parameters, turn_duration, initial_blocks, seed, max_history }).unwrap()
}
