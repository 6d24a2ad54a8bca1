use std::{ops::RangeInclusive, time::Duration};

use bytes::{Bytes, BytesMut};
use clientkit::{Ended, robots_bot, run};
use netcore::{Client as _, Standing, Time, wire::ShortText};
use rand::{TryRng as _, rngs::SysRng};
use robots::{
    Client, ClientMessage, Config, HitCounter, Incoming, Parameters, PlayerId, Position, READ_RATE, Server,
    ServerMessage, protocol::encode,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use servekit::Wire;

use super::{
    challenge::{BOTS, Tally},
    counts::Casual,
    kind::{Bot, Connect, Field, Frames, GameKind, STANDARD, within},
    ladder::{First, LadderGame},
    page_state::{PageState, Painter, Picture},
    replayable::{Change, Replayable},
};

/// The class of its matches.
const ARENA: &str = "arena";
const ROBOTS: RangeInclusive<u8> = 1..=25;
const BOARD: RangeInclusive<u16> = 4..=100;
const TURNS: RangeInclusive<u16> = 1..=10_000;
/// In milliseconds.
const TURN_DURATION: RangeInclusive<u64> = 20..=10_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Options {
    players: u8,
    columns: u16,
    rows: u16,
    turns: u16,
    /// In milliseconds.
    turn_duration: u64,
    seed: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        let Config { parameters, turn_duration, .. } = Config::arena(0);
        Self {
            players: parameters.players_count,
            columns: parameters.size_x,
            rows: parameters.size_y,
            turns: parameters.game_length,
            turn_duration: u64::try_from(turn_duration.as_millis()).unwrap_or_default(),
            seed: None,
        }
    }
}

impl Options {
    /// Fifteen seconds on a small board, so that robots meet.
    pub(super) fn short() -> Self {
        Self { players: 2, columns: 12, rows: 10, turns: 150, turn_duration: 100, seed: None }
    }
}

impl GameKind for Options {
    type Engine = Server;
    type Painter = BoardPainter;

    const NAME: &str = "robots";
    const TITLE: &str = "Robots";
    const COLOUR: [u8; 3] = [127, 209, 255];
    const WIRE: Wire = Wire::Tcp(READ_RATE);
    const FRAMES: Frames = Frames::Binary;
    const IS_TIMED: bool = true;

    fn title(&self) -> String {
        let Self { players, columns, rows, turns, .. } = self;
        let robots = if *players == 1 { "1 robot".into() } else { format!("{players} robots") };
        format!("{robots} on {columns} x {rows}, {turns} turns")
    }

    fn engine(&self) -> anyhow::Result<Server> {
        let &Self { players, columns, rows, turns, turn_duration, seed } = self;
        within("players", players, &ROBOTS)?;
        within("columns", columns, &BOARD)?;
        within("rows", rows, &BOARD)?;
        within("turns", turns, &TURNS)?;
        within("turn_duration", turn_duration, &TURN_DURATION)?;
        let mut config = Config::arena(seed.map_or_else(|| SysRng.try_next_u32(), Ok)?);
        let parameters = &mut config.parameters;
        let fields = |Parameters { size_x, size_y, .. }: &Parameters| u32::from(*size_x) * u32::from(*size_y);
        let usual = fields(parameters);
        parameters.server_name = ShortText::try_from("Arcade").unwrap_or_default();
        (parameters.players_count, parameters.game_length) = (players, turns);
        (parameters.size_x, parameters.size_y) = (columns, rows);
        let blocks = u32::from(config.initial_blocks) * fields(parameters) / usual;
        config.initial_blocks = u16::try_from(blocks).unwrap_or(u16::MAX);
        config.turn_duration = Duration::from_millis(turn_duration);
        Ok(Server::new(config)?)
    }

    fn fields() -> Vec<Field> {
        vec![
            Field::integer("players", &ROBOTS, "Robots in a match, which begins when all are taken."),
            Field::integer("columns", &BOARD, "Width of the board in fields."),
            Field::integer("rows", &BOARD, "Height of the board in fields."),
            Field::integer("turns", &TURNS, "Turns of a game."),
            Field::integer("turn_duration", &TURN_DURATION, "Duration of a turn in milliseconds."),
            Field::seed(u32::MAX.into()),
        ]
    }

    fn duel() -> Self {
        Self { players: 2, columns: 12, rows: 10, turns: 200, ..Self::default() }
    }

    fn class(&self) -> String {
        ARENA.to_owned()
    }

    /// The board of the larger arena of earlier versions is the last.
    fn classes() -> Vec<String> {
        [ARENA, STANDARD].map(str::to_owned).into()
    }

    fn casual(&self) -> Option<Casual> {
        let standard = self.clone().without_seed() == Self::default();
        self.seed.map(|_| Casual::Seed).or((!standard).then_some(Casual::Options))
    }

    fn challenge(_day: u32) -> Option<Self> {
        Some(Self { players: BOTS + 1, ..Self::default() })
    }

    fn seeded(self, seed: [u8; 32]) -> Self {
        Self { seed: seed.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)), ..self }
    }

    fn tally() -> Box<dyn Tally> {
        Box::<HitTally>::default()
    }

    fn without_seed(self) -> Self {
        Self { seed: None, ..self }
    }

    fn score(score: i64) -> String {
        if score == 1 { "1 death".into() } else { format!("{score} deaths") }
    }

    async fn play<'a>(
        bot: Bot,
        connect: impl Connect<'a>,
        left: impl Future<Output = ()> + Send,
    ) -> anyhow::Result<Ended> {
        let name = ShortText::try_from(&*bot.name)?;
        let (wire, own) = connect.await?;
        let seed = u32::try_from(bot.seed >> 32).unwrap_or_default();
        let (mut client, mut pilot) = robots_bot(name, Some(own), bot.level, seed);
        Ok(run(wire, &mut client, &mut pilot, left).await)
    }
}

/// Hits less own destructions.
#[derive(Debug, Default)]
struct HitTally(HitCounter);

impl Tally for HitTally {
    fn receive(&mut self, frame: &Bytes) {
        let mut incoming = Incoming::default();
        incoming.buffer().extend_from_slice(frame);
        while let Ok(Some(message)) = incoming.next_message() {
            self.0.receive(&message);
        }
    }

    fn score(&self, standing: &Standing) -> i64 {
        let hits = standing.seat.parse().map_or(0, |id| self.0.of(PlayerId(id)));
        i64::from(hits) - standing.score
    }
}

impl Replayable for Server {
    // Deaths by name.
    type Probe = Vec<(String, u32)>;

    fn probe(&self, _: impl Fn(&str) -> String) -> Self::Probe {
        let names = self.players().values().map(|player| player.name.to_string());
        let robots = self.game().map(robots::Game::robots).unwrap_or_default();
        names.zip(robots.iter().map(|robot| robot.score)).collect()
    }

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<Change> {
        let both = before.iter().zip(after);
        let died = both.filter(|(before, after)| after.1 > before.1);
        let change =
            |name: &String| Change { name: Some(name.clone()), ..Change::new("death", format!("{name} is destroyed")) };
        died.map(|(_, (name, _))| change(name)).collect()
    }
}

// Clients count the explosions in the messages themselves.
impl PageState for Server {
    fn name_in(request: &ClientMessage) -> Option<&str> {
        let ClientMessage::Join { name } = request else { return None };
        Some(name)
    }
}

/// Fields of one kind in a picture; a board may have millions.
const MAX_SHOWN: usize = 512;

#[derive(Debug)]
pub(crate) struct BoardPainter(Client);

impl Default for BoardPainter {
    fn default() -> Self {
        Self(Client::new(ShortText::default(), None))
    }
}

impl Painter for BoardPainter {
    fn receive(&mut self, message: &[u8]) {
        // Rooms send complete messages. After an unreadable one, the picture no longer changes.
        let _ = self.0.receive(Time::ZERO, message);
        while self.0.take_outgoing().is_some() {}
    }

    fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        let Some(parameters) = self.0.parameters() else { return picture };
        let mut put = |name: &str, value| picture.insert(name.to_owned(), value);
        put("size", json!([parameters.size_x, parameters.size_y]));
        put("there", json!([self.0.players().len(), parameters.players_count]));
        let Some(game) = self.0.game() else { return picture };
        let places = |all: &mut dyn Iterator<Item = Position>| -> String {
            all.take(MAX_SHOWN).map(|Position { x, y }| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
        };
        let robots = game.positions().iter().map(|(id, Position { x, y })| format!("{}:{x},{y}", id.0));
        let bombs =
            game.bombs().take(MAX_SHOWN).map(|bomb| format!("{},{}:{}", bomb.position.x, bomb.position.y, bomb.timer));
        put("robots", robots.collect::<Vec<_>>().join(" ").into());
        put("bombs", bombs.collect::<Vec<_>>().join(" ").into());
        put("blocks", places(&mut game.board().blocks()).into());
        put("blasts", places(&mut game.blasts().iter().flat_map(robots::Blast::cells)).into());
        picture
    }
}

impl LadderGame for Options {
    const REQUESTS_MOVES: bool = false;

    fn of_the_ladder() -> Self {
        Self::short()
    }

    fn first(bytes: &[u8]) -> First {
        match bytes {
            [] | [0] => First::Incomplete,
            [0, length, rest @ ..] => {
                let length = usize::from(*length);
                let Some(name) = rest.get(..length) else { return First::Incomplete };
                First::Join(String::from_utf8_lossy(name).into_owned(), 2 + length)
            }
            _ => First::Wrong("the first message is Join"),
        }
    }

    fn join(name: &str) -> Bytes {
        let mut bytes = BytesMut::new();
        encode(&ClientMessage::Join { name: ShortText::try_from(name).unwrap_or_default() }, &mut bytes);
        bytes.freeze()
    }

    // The protocol has no refusal; another `Hello` has a text that a program may show.
    fn refusal(why: &str) -> Option<Bytes> {
        let hello = ServerMessage::Hello(Parameters {
            server_name: ShortText::try_from(why).ok()?,
            players_count: 0,
            size_x: 1,
            size_y: 1,
            game_length: 0,
            explosion_radius: 0,
            bomb_timer: 0,
        });
        let mut bytes = BytesMut::new();
        encode(&hello, &mut bytes);
        Some(bytes.freeze())
    }
}

#[cfg(test)]
mod tests {
    use robots::{BombId, Event};

    use super::*;

    #[test]
    fn challenge_counts_hits_less_own_destructions() {
        let mut tally = <Options as GameKind>::tally();
        let moved = |id, x| Event::PlayerMoved { id: PlayerId(id), position: Position::new(x, 0) };
        let turns = [
            vec![moved(0, 0), moved(1, 1)],
            vec![Event::BombPlaced { id: BombId(0), position: Position::new(0, 0) }],
            vec![Event::BombExploded {
                id: BombId(0),
                robots_destroyed: vec![PlayerId(0), PlayerId(1)],
                blocks_destroyed: vec![],
            }],
        ];
        for (turn, events) in (0..).zip(turns) {
            let mut frame = BytesMut::new();
            encode(&ServerMessage::Turn { turn, events }, &mut frame);
            let frame = frame.freeze();
            tally.receive(&frame);
            tally.receive(&frame);
        }
        let standing = |seat: &str, score| Standing { rank: 1, seat: seat.into(), name: "Ann".into(), score };
        assert_eq!(tally.score(&standing("0", 1)), 0);
        assert_eq!(tally.score(&standing("0", 3)), -2);
        assert_eq!(tally.score(&standing("1", 1)), -1);
    }
}
