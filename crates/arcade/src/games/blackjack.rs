use std::ops::RangeInclusive;

use blackjack::{
    Config, Dialect, Hand, Name, Seed, Server, Table,
    protocol::{DealerDecoder, PlayerMessage, Request},
    server::{FinishedRound, seat_label},
};
use bytes::Bytes;
use clientkit::{Ended, blackjack_bot, run};
use netcore::Rate;
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use servekit::Wire;
use tokio::task::spawn_blocking;

use super::{
    kind::{Bot, Connect, Field, Frames, GameKind, within},
    ladder::{First, LadderGame, MessageParser, ProgramEvent},
    page_state::{CardRound, PageState, Painter, Picture, Show},
    replayable::{Change, Relevance, Replayable},
};

/// Bytes of one connection.
const READ_RATE: Rate = Rate { per_second: 1 << 20, burst: 64 << 10 };
const TABLE: RangeInclusive<u8> = 1..=6;
const ROUNDS: RangeInclusive<u32> = 1..=10_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Options {
    players: u8,
    rounds: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { players: 2, rounds: 20 }
    }
}

impl GameKind for Options {
    type Engine = Server;
    type Painter = Felt;

    const NAME: &str = "blackjack";
    const TITLE: &str = "Blackjack";
    const COLOUR: [u8; 3] = [111, 240, 150];
    const WIRE: Wire = Wire::Tcp(READ_RATE);
    const FRAMES: Frames = Frames::ZeroEndedText;
    const JOIN: Option<&str> = Some(JOIN);

    fn duel() -> Self {
        Self { rounds: 10, ..Self::default() }
    }

    fn title(&self) -> String {
        match self {
            Self { players: 1, rounds } => format!("a table for one, {rounds} rounds"),
            Self { players, rounds } => format!("a table for {players}, {rounds} rounds"),
        }
    }

    fn engine(&self) -> anyhow::Result<Server> {
        let &Self { players, rounds } = self;
        within("players", players, &TABLE)?;
        within("rounds", rounds, &ROUNDS)?;
        let mut key = [0; 32];
        SysRng.try_fill_bytes(&mut key)?;
        let mut config = Config::new(rounds, Seed::new(key));
        config.players = players.into();
        config.forever = true;
        Ok(Server::new(config)?)
    }

    fn fields() -> Vec<Field> {
        vec![
            Field::integer("players", &TABLE, "Seats at the table, which begins when all are taken."),
            Field::integer("rounds", &ROUNDS, "Rounds of a game."),
        ]
    }

    // Names have no spaces.
    fn bot_name(name: &str) -> String {
        format!("Bot-{name}")
    }

    fn score(score: i64) -> String {
        if score == 1 { "1 round won".into() } else { format!("{score} rounds won") }
    }

    async fn play<'a>(
        bot: Bot,
        connect: impl Connect<'a>,
        left: impl Future<Output = ()> + Send,
    ) -> anyhow::Result<Ended> {
        let Bot { name, level, brisk, .. } = bot;
        let name = Name::new(name.as_bytes())?;
        // Computing the best table takes a moment.
        let (mut client, mut pilot) = spawn_blocking(move || blackjack_bot(name, level, brisk)).await?;
        let (wire, _) = connect.await?;
        Ok(run(wire, &mut client, &mut pilot, left).await)
    }
}

impl Replayable for Server {
    // The finished rounds of each table.
    type Probe = Vec<(u32, u32)>;

    const HAS_ROUNDS: bool = true;

    fn probe(&self, _: impl Fn(&str) -> String) -> Self::Probe {
        let rounds = |table: &Table| (table.number(), table.game().played());
        self.tables().map(rounds).collect()
    }

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<Change> {
        let is_over = |(table, rounds): &&(u32, u32)| before.iter().any(|(other, had)| other == table && had < rounds);
        after
            .iter()
            .filter(is_over)
            .map(|(_, rounds)| Change::new("round", format!("round {rounds} is over")))
            .collect()
    }

    fn relevance(frame: &Bytes) -> Relevance {
        if frame.starts_with(b"BEGIN") {
            Relevance::RoundStart
        } else if frame.starts_with(b"RESULT") {
            Relevance::Match
        } else {
            Relevance::Round
        }
    }

    fn is_request(frame: &Bytes) -> bool {
        frame.starts_with(b"DECISION")
    }

    fn frame(bytes: &Bytes) -> Bytes {
        // A binary message begins with its length, whose first byte is zero; no text does.
        if bytes.first() != Some(&0) {
            return bytes.clone();
        }
        let decoded = DealerDecoder::new(Dialect::Binary).decode_whole(bytes);
        decoded.map_or_else(|_| bytes.clone(), |message| message.to_bytes(Dialect::Text))
    }
}

impl PageState for Server {
    fn name_in(request: &Request) -> Option<&str> {
        let PlayerMessage::Join(name) = &request.message else { return None };
        Some(name.as_str())
    }

    fn version(&self) -> u64 {
        let begun = |table: &Table| 1 + u64::from(table.game().played());
        self.tables().fold(0, |version: u64, table| {
            version.wrapping_mul(1_000_003).wrapping_add(u64::from(table.number())).wrapping_mul(1_000_003)
                ^ begun(table)
        })
    }

    fn show(&self) -> Show {
        let mut show = Show::default();
        for (table, game) in self.tables().map(|table| (table, table.game())) {
            for row in game.standings(table.number()).rows {
                let wins = i64::try_from(row.score.wins).unwrap_or(i64::MAX);
                show.scores.insert(seat_label(table.number(), row.seat), wins);
            }
        }
        let names = |hand: &Hand| hand.cards().iter().map(|card| card.name()).collect();
        for FinishedRound { table, round, dealer, hands } in self.finished_rounds() {
            let hands =
                hands.iter().zip(1..).filter_map(|(hand, seat)| Some((seat_label(table, seat), names(hand.as_ref()?))));
            show.rounds.push(CardRound { table, round, dealer: names(&dealer), hands: hands.collect() });
        }
        show
    }
}

#[derive(Debug, Default)]
pub(crate) struct Felt(String);

impl Painter for Felt {
    fn receive(&mut self, message: &[u8]) {
        let text = String::from_utf8_lossy(message);
        let mut lines = text.trim_end_matches('\0').split('\n').skip_while(|line| !line.starts_with("TABLE "));
        let Some(first) = lines.next() else { return };
        self.0.clear();
        self.0.push_str(first);
        for line in lines.take_while(|line| !line.starts_with("TABLE ")) {
            self.0.push('\n');
            self.0.push_str(line);
        }
    }

    fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        if !self.0.is_empty() {
            picture.insert("table".to_owned(), self.0.as_str().into());
        }
        picture
    }
}

const JOIN: &str = "JOIN ";

impl LadderGame for Options {
    const REQUESTS_MOVES: bool = true;

    fn of_the_ladder() -> Self {
        Self::default()
    }

    fn first(bytes: &[u8]) -> First {
        let wrong = First::Wrong("the first message is JOIN with a name, as text with a zero byte at its end");
        // The keywords are in capitals.
        let is_join = bytes.starts_with(&JOIN.as_bytes()[..bytes.len().min(JOIN.len())]);
        First::text(bytes, JOIN, 0).filter(|_| is_join).unwrap_or(wrong)
    }

    fn join(name: &str) -> Bytes {
        format!("JOIN {name}\0").into()
    }

    fn state_start() -> Bytes {
        Bytes::from_static(b"BEGIN\0")
    }

    fn parse_events(parser: &mut MessageParser, bytes: &[u8]) -> Vec<ProgramEvent> {
        let event = |text: String| match text.as_str() {
            "DECISION" => Some(ProgramEvent::Requested),
            "QUIT" => Some(ProgramEvent::Finished),
            _ => None,
        };
        parser.texts(bytes, 0).into_iter().filter_map(event).collect()
    }
}
