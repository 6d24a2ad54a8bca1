use std::{
    ops::RangeInclusive,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::Context as _;
use bytes::Bytes;
use clientkit::{Ended, mastermind_bot, run};
use mastermind::{
    Client, ClientMessage, Config, Mastermind, Mode as Play, Name, Revealed, Server, ServerMessage,
    config::{FirstDay, MAX_RACERS},
    protocol::Decoder,
    server::{NOT_FOUND, TOO_MANY_HINTS},
    view::{Board, GameOutcome, TurnRecord},
};
use netcore::{Client as _, Framing, Link, Protocol as _, Rate, Recorded, RequestOf, Time};
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use servekit::Wire;
use store::{DAILY, LADDER, Order};

use super::{
    counts::Casual,
    kind::{Bot, Connect, Field, Frames, GameKind, MAX_EXACT, within},
    ladder::{LadderGame, MessageParser, ProgramEvent},
    page_state::{PageState, Painter, Picture},
    replayable::{Change, Replayable},
};

/// Bytes of one connection; messages are short lines.
const READ_RATE: Rate = Rate { per_second: 4 << 10, burst: 16 << 10 };
const PEGS: RangeInclusive<u8> = 4..=8;
const RACERS: RangeInclusive<u8> = 2..=MAX_RACERS;
/// The maximum duration of a race in minutes.
const MINUTES: RangeInclusive<u8> = 1..=60;
const RACE: &str = "race";
const DAY: u64 = 86_400;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Options {
    mode: Mode,
    length: u8,
    repeats: bool,
    players: u8,
    minutes: u8,
    seed: Option<u64>,
    /// Determines the daily puzzles. `None` for codes that no other room shares.
    #[serde(skip)]
    key: Option<[u8; 32]>,
}

impl Default for Options {
    fn default() -> Self {
        Self { mode: Mode::Solo, length: 4, repeats: true, players: 2, minutes: 10, seed: None, key: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Solo,
    Race,
    Daily,
}

impl Options {
    fn daily() -> Self {
        Self { mode: Mode::Daily, ..Self::default() }
    }

    pub(super) fn race() -> Self {
        Self { mode: Mode::Race, ..Self::default() }
    }
}

impl GameKind for Options {
    type Engine = Server;
    type Painter = Rows;

    const NAME: &str = "mastermind";
    const TITLE: &str = "Mastermind";
    const COLOUR: [u8; 3] = [201, 168, 255];
    const WIRE: Wire = Wire::Tcp(READ_RATE);
    const FRAMES: Frames = Frames::Text;
    const JOIN: Option<&str> = Some("PLAY ");

    fn title(&self) -> String {
        let Self { mode, length, repeats, players, .. } = self;
        let repeats = if *repeats { "with repeats" } else { "no repeats" };
        match mode {
            Mode::Solo => format!("codes of {length} pegs, {repeats}"),
            Mode::Race => format!("a race for {players}, {length} pegs, {repeats}"),
            Mode::Daily => format!("the puzzle of the day, {length} pegs, {repeats}"),
        }
    }

    fn engine(&self) -> anyhow::Result<Server> {
        let &Self { mode, length, repeats, players, minutes, seed, key } = self;
        within("length", length, &PEGS)?;
        within("players", players, &RACERS)?;
        within("minutes", minutes, &MINUTES)?;
        let (mode, first_day) = match mode {
            Mode::Solo => (Play::Solo, None),
            Mode::Race => (Play::Race(players), None),
            Mode::Daily => {
                let mut drawn = [0; 32];
                SysRng.try_fill_bytes(&mut drawn)?;
                (Play::Keyed(key.unwrap_or(drawn)), Some(today()?))
            }
        };
        let config = Config {
            mode,
            length,
            repeats,
            limit: Duration::from_secs(60 * u64::from(minutes)),
            first_day,
            seed: seed.map_or_else(|| SysRng.try_next_u64(), Ok)?,
        };
        Ok(Server::new(config)?)
    }

    fn fields() -> Vec<Field> {
        vec![
            Field::choice(
                "mode",
                ["solo", "race", "daily"],
                "Solo: everybody has codes of their own. Race: all look for the same code. Daily: the puzzle of the day.",
            ),
            Field::integer("length", &PEGS, "Pegs in a code."),
            Field::boolean("repeats", "Whether a colour may occur twice in a code."),
            Field::integer("players", &RACERS, "Players of a race, which begins when all are there."),
            Field::integer("minutes", &MINUTES, "How long a race lasts at most."),
            Field::seed(MAX_EXACT),
        ]
    }

    fn permanent() -> Vec<Self> {
        vec![Self::default(), Self::daily()]
    }

    fn duel() -> Self {
        Self { mode: Mode::Race, ..Self::default() }
    }

    fn class(&self) -> String {
        match self.mode {
            Mode::Solo => class(self.length, self.repeats),
            Mode::Race => RACE.to_owned(),
            Mode::Daily => DAILY.to_owned(),
        }
    }

    fn casual(&self) -> Option<Casual> {
        let standard = match self.mode {
            // The other options are unused in this mode.
            Mode::Solo => true,
            mode @ (Mode::Race | Mode::Daily) => {
                self.clone().without_seed() == Self { mode, key: self.key, ..Self::default() }
            }
        };
        self.seed.map(|_| Casual::Seed).or((!standard).then_some(Casual::Options))
    }

    fn classes() -> Vec<String> {
        let usual = Self::default();
        let mut classes = vec![class(usual.length, usual.repeats)];
        for (length, repeats) in PEGS.flat_map(|length| [(length, true), (length, false)]) {
            if (length, repeats) != (usual.length, usual.repeats) {
                classes.push(class(length, repeats));
            }
        }
        classes.extend([RACE, DAILY].map(str::to_owned));
        classes
    }

    fn order(class: &str) -> Order {
        if matches!(class, RACE | LADDER) { Order::Rating } else { Order::LowestScore }
    }

    fn keyed(self, key: [u8; 32]) -> Self {
        Self { key: Some(key), ..self }
    }

    fn without_seed(self) -> Self {
        Self { seed: None, ..self }
    }

    fn starts_at_once(&self) -> bool {
        self.mode != Mode::Race
    }

    fn is_daily(&self) -> bool {
        self.mode == Mode::Daily
    }

    fn party(&self, seats: u32) -> u32 {
        // Each player plays alone, except in a race.
        if self.starts_at_once() { 1 } else { seats }
    }

    fn farewell(why: &str, framing: Framing) -> Option<Bytes> {
        Some(ServerMessage::Bye(why.into()).to_frame(framing))
    }

    fn postponement(message: &[u8], framing: Framing) -> Option<Bytes> {
        let is_hint = Mastermind::decode(&mut Decoder, message, framing) == Ok(Ok(ClientMessage::Hint));
        is_hint.then(|| ServerMessage::No(TOO_MANY_HINTS.into()).to_frame(framing))
    }

    // A player without opponents loses by not finding the code.
    fn is_lost(score: i64) -> bool {
        score >= NOT_FOUND
    }

    fn score(score: i64) -> String {
        match score {
            NOT_FOUND.. => "not found".into(),
            1 => "1 turn".into(),
            turns => format!("{turns} turns"),
        }
    }

    async fn play<'a>(
        bot: Bot,
        connect: impl Connect<'a>,
        left: impl Future<Output = ()> + Send,
    ) -> anyhow::Result<Ended> {
        let name = Name::new(bot.name.as_bytes()).context("its name is empty")?;
        let (wire, _) = connect.await?;
        let (mut client, mut pilot) = mastermind_bot(name, bot.level, bot.seed, bot.brisk);
        Ok(run(wire, &mut client, &mut pilot, left).await)
    }
}

fn class(length: u8, repeats: bool) -> String {
    if repeats { format!("{length}-repeats") } else { length.to_string() }
}

// The day in UTC, and the time until it ends.
fn today() -> anyhow::Result<FirstDay> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?.as_secs();
    let day = u32::try_from(seconds / DAY).context("the clock is far in the future")?;
    Ok(FirstDay { day, lasts: Duration::from_secs(DAY - seconds % DAY) })
}

impl Replayable for Server {
    // Per player with a game: the name, the number of the game, the lines that took turns, and the ending.
    type Probe = Vec<(String, u32, Vec<TurnRecord>, Option<GameOutcome>)>;

    fn probe(&self, real: impl Fn(&str) -> String) -> Self::Probe {
        let game = |(name, board): (&Name, Option<Board>)| {
            let Board { number, lines, over, .. } = board?;
            Some((real(name.as_str()), number, lines, over.map(|over| over.how)))
        };
        self.boards().filter_map(game).collect()
    }

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<Change> {
        let mut changes = vec![];
        for (name, number, lines, how) in after {
            let known = before.iter().find(|(other, game, ..)| other == name && game == number);
            let (seen, was) = known.map_or((0, None), |(_, _, lines, how)| (lines.len(), *how));
            for line in lines.iter().skip(seen) {
                changes.push(match line {
                    TurnRecord::Row { feedback, .. } => Change::new("guess", format!("{name}: {feedback}")),
                    TurnRecord::Lifeline { lifeline, .. } => Change::new("lifeline", format!("{name} uses {lifeline}")),
                });
            }
            if let Some(how) = how.filter(|_| was.is_none()) {
                changes.push(Change::new("over", format!("{name}: {}", how.word())));
            }
        }
        changes
    }

    fn day(setup: &<Self as Recorded>::Setup, begins: Duration) -> Option<u32> {
        let first = setup.first_day?;
        let later = begins.checked_sub(first.lasts).map_or(0, |since| since.as_secs() / DAY + 1);
        Some(first.day.saturating_add(u32::try_from(later).unwrap_or(u32::MAX)))
    }

    fn is_request(frame: &Bytes) -> bool {
        frame.starts_with(b"TURN ") || frame.starts_with(b"NO ")
    }

    fn frame(bytes: &Bytes) -> Bytes {
        // A line feed ends a message on a stream.
        bytes.strip_suffix(b"\n").map_or_else(|| bytes.clone(), |line| bytes.slice_ref(line))
    }
}

// All clients receive all rows.
impl PageState for Server {
    fn name_in(request: &RequestOf<Self>) -> Option<&str> {
        let Ok(ClientMessage::Play(name)) = request else { return None };
        Some(name.as_str())
    }

    fn odd(&self, game: u32) -> Option<Casual> {
        let (rules, hints) = self.oddities(game);
        rules.then_some(Casual::Rules).or(hints.then_some(Casual::Hints))
    }

    // Clients could compute the daily codes of a match that an earlier version has started.
    fn is_current(&self) -> bool {
        self.config().mode != Play::Daily
    }
}

const ROWS: usize = 5;

#[derive(Debug)]
pub(crate) struct Rows(Client);

impl Default for Rows {
    fn default() -> Self {
        Self(Client::new(Link::Message, None))
    }
}

impl Painter for Rows {
    fn receive(&mut self, message: &[u8]) {
        let _ = self.0.receive(Time::ZERO, message);
    }

    fn picture(&self) -> Picture {
        let boards = || self.0.places().values().filter_map(|place| place.board.as_ref());
        let board = boards().find(|board| board.over.is_none()).or_else(|| boards().next());
        let Some(Board { rules, lines, .. }) = board else { return Picture::new() };
        let last = &lines[lines.len().saturating_sub(ROWS)..];
        let rows = last.iter().map(row).collect::<Vec<_>>();
        [("length".to_owned(), json!(rules.length())), ("rows".to_owned(), rows.into())].into()
    }
}

fn row(line: &TurnRecord) -> Value {
    match line {
        TurnRecord::Row { guess, feedback, .. } => json!([guess.to_string(), feedback.red, feedback.white]),
        TurnRecord::Lifeline { revealed: None, .. } => json!([null, null]),
        TurnRecord::Lifeline { revealed: Some(Revealed::Colour(peg)), .. } => json!([null, peg.digit()]),
        TurnRecord::Lifeline { revealed: Some(Revealed::Place { place, peg }), .. } => json!([place + 1, peg.digit()]),
    }
}

impl LadderGame for Options {
    const REQUESTS_MOVES: bool = true;

    fn of_the_ladder() -> Self {
        Self::race()
    }

    fn parse_events(parser: &mut MessageParser, bytes: &[u8]) -> Vec<ProgramEvent> {
        let mut events = vec![];
        for text in parser.texts(bytes, b'\n') {
            match text.split(' ').collect::<Vec<_>>()[..] {
                ["OK", seat] => parser.seat = Some(seat.to_owned()),
                // After a message without effect, a valid one is still expected.
                ["TURN" | "NO", ..] => events.push(ProgramEvent::Requested),
                // The program waits for the other players.
                ["OVER", seat, ..] if parser.seat.as_deref() == Some(seat) => events.push(ProgramEvent::Finished),
                _ => {}
            }
        }
        events
    }
}
