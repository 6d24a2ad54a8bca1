pub(super) mod maps;

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use anyhow::Context as _;
use bytes::{Bytes, BytesMut};
use clientkit::{Ended, nuggets_bot, run};
use netcore::{Client as _, Framing, Link, Time};
use nuggets::{Client, ClientMessage, Config, Name, Participant, Server, ServerMessage};
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use serde_json::json;
use servekit::Wire;

use super::{
    challenge::BOTS,
    counts::Casual,
    kind::{Bot, Connect, Field, Frames, GameKind, MAX_EXACT, within},
    ladder::{First, LadderGame},
    page_state::{PageState, Painter, Picture, Show},
    replayable::{Change, Replayable},
};

/// Bots fill a game up to this number of players.
const PARTY: u32 = 4;

/// How long a player keeps a seat without sending a key. Over UDP a room cannot detect a disconnected client, whose
/// seat would keep it open forever.
const IDLE: Duration = Duration::from_mins(15);

/// Seconds from the first player to the start, for other players to join.
const COUNTDOWN: RangeInclusive<u32> = 0..=60;
/// Seconds from the last bot to the start of a daily challenge.
const COUNTDOWN_OF_CHALLENGE: u32 = 3;
/// New players are late once this percentage of the gold is found.
const LATE: u32 = 20;

/// The prefix of a message with the whole map, and its symbol of gold.
const DISPLAY: &[u8] = b"DISPLAY\n";
const GOLD: u8 = b'*';

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Options {
    map: String,
    /// Drawn by a user. Replaces a map of the hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_map: Option<String>,
    countdown: u32,
    seed: Option<u64>,
    /// The seed of a daily challenge. A shorter one could be guessed from the piles.
    #[serde(skip)]
    challenge: Option<u128>,
}

impl Default for Options {
    fn default() -> Self {
        // Requested bots join before the countdown ends.
        Self { map: "main".into(), own_map: None, countdown: 8, seed: None, challenge: None }
    }
}

impl Options {
    /// A short countdown, since both players join at the same moment.
    pub(super) fn soon() -> Self {
        Self { countdown: 1, ..Self::default() }
    }
}

impl GameKind for Options {
    type Engine = Server;
    type Painter = Cave;

    const NAME: &str = "nuggets";
    const TITLE: &str = "Nuggets";
    const COLOUR: [u8; 3] = [255, 209, 102];
    const WIRE: Wire = Wire::Udp;
    const FRAMES: Frames = Frames::Text;
    const JOIN: Option<&str> = Some("PLAY ");
    const SPENDS_SEATS: bool = true;
    const HIDES: bool = true;

    fn title(&self) -> String {
        if self.own_map.is_some() { "a map of its own".into() } else { format!("map {}", self.map) }
    }

    fn engine(&self) -> anyhow::Result<Server> {
        let Self { map, own_map, countdown, seed, challenge } = self;
        within("countdown", *countdown, &COUNTDOWN)?;
        let text = match own_map {
            Some(text) => maps::check(text.as_bytes())?,
            None => maps::named(map)?,
        };
        let (grid, _) = nuggets::Grid::parse(text)?;
        let mut drawn = [0; 16];
        SysRng.try_fill_bytes(&mut drawn)?;
        let config = Config {
            idle_timeout: Some(IDLE),
            rematch: true,
            countdown: (*countdown > 0).then(|| Duration::from_secs((*countdown).into())),
            // The person joins first, and the place of each bot depends on those before.
            wait_for: if challenge.is_some() { u32::from(BOTS) + 1 } else { 0 },
            seed: challenge.or(seed.map(u128::from)).unwrap_or(u128::from_le_bytes(drawn)),
            ..Config::default()
        };
        Ok(Server::new(Arc::new(grid), config)?)
    }

    fn fields() -> Vec<Field> {
        vec![
            Field::choice("map", maps::names(), "The map that is explored."),
            Field::integer("countdown", &COUNTDOWN, "Seconds from the first player to the start of a match."),
            Field::seed(MAX_EXACT),
        ]
    }

    fn duel() -> Self {
        // Both have time to join.
        Self { countdown: 30, ..Self::default() }
    }

    fn class(&self) -> String {
        self.map.clone()
    }

    fn casual(&self) -> Option<Casual> {
        let Self { map: _, own_map, countdown, seed, challenge: _ } = self;
        let standard = own_map.is_none() && *countdown == Self::default().countdown;
        seed.map(|_| Casual::Seed).or((!standard).then_some(Casual::Options))
    }

    fn classes() -> Vec<String> {
        maps::names().into_iter().map(str::to_owned).collect()
    }

    fn challenge(day: u32) -> Option<Self> {
        Some(Self { map: maps::of_day(day).into(), countdown: COUNTDOWN_OF_CHALLENGE, ..Self::default() })
    }

    fn seeded(self, seed: [u8; 32]) -> Self {
        let mut number = [0; 16];
        number.copy_from_slice(&seed[..16]);
        Self { challenge: Some(u128::from_le_bytes(number)), ..self }
    }

    fn without_seed(self) -> Self {
        Self { seed: None, own_map: None, ..self }
    }

    fn has_own_map(&self) -> bool {
        self.own_map.is_some()
    }

    fn starts_at_once(&self) -> bool {
        true
    }

    fn party(&self, seats: u32) -> u32 {
        seats.min(PARTY)
    }

    fn farewell(why: &str, framing: Framing) -> Option<Bytes> {
        Some(ServerMessage::Quit(why.as_bytes()).to_frame(framing))
    }

    fn score(score: i64) -> String {
        if score == 1 { "1 nugget".into() } else { format!("{score} nuggets") }
    }

    async fn play<'a>(
        bot: Bot,
        connect: impl Connect<'a>,
        left: impl Future<Output = ()> + Send,
    ) -> anyhow::Result<Ended> {
        let name = Name::new(bot.name.as_bytes()).context("its name is empty")?;
        let (wire, _) = connect.await?;
        let (mut client, mut pilot) = nuggets_bot(name, bot.level, bot.seed, bot.brisk);
        Ok(run(wire, &mut client, &mut pilot, left).await)
    }
}

impl Replayable for Server {
    // Name, purse and place of each player.
    type Probe = Vec<(String, u32, Option<usize>)>;

    fn probe(&self, real: impl Fn(&str) -> String) -> Self::Probe {
        let player = |player: &nuggets::game::Player| {
            (real(player.name.as_str()), player.purse, player.cell.map(nuggets::Cell::index))
        };
        self.game().players().iter().map(player).collect()
    }

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<Change> {
        let mut changes = vec![];
        let both = || before.iter().zip(after);
        for ((_, had, _), (name, has, _)) in both().filter(|(before, after)| after.1 > before.1) {
            let count = has - had;
            changes.push(Change {
                name: Some(name.clone()),
                count: Some(count),
                ..Change::new("gold", format!("{name}: {count} nuggets"))
            });
        }
        for (index, (was, is)) in both().enumerate().filter(|(_, (was, is))| was.2 != is.2) {
            let others = both().skip(index + 1);
            let other =
                others.filter(|(_, other)| other.2.is_some() && other.2 == was.2).find(|(other, _)| other.2 == is.2);
            if let Some((_, (name, ..))) = other {
                changes.push(Change::new("swap", format!("{} and {name} swap places", is.0)));
            }
        }
        changes
    }
}

impl PageState for Server {
    fn name_in(request: &ClientMessage) -> Option<&str> {
        let ClientMessage::Play(Some(name)) = request else { return None };
        Some(name.as_str())
    }

    fn veiled(&self, frame: &Bytes) -> Option<Bytes> {
        let start = frame.starts_with(DISPLAY).then_some(DISPLAY.len())?;
        let mut text = BytesMut::from(&frame[..]);
        for (at, bare) in self.unseen_gold() {
            // A player may be on this cell.
            if let Some(byte) = text.get_mut(start + at).filter(|byte| **byte == GOLD) {
                *byte = bare;
            }
        }
        Some(text.freeze())
    }

    fn overview(&self) -> Option<Vec<Bytes>> {
        Some(Self::overview(self).into())
    }

    fn prelude(&self) -> Option<Vec<Bytes>> {
        Some(Self::prelude(self).into())
    }

    fn supersedes(before: &Bytes, after: &Bytes) -> bool {
        before.starts_with(DISPLAY) && after.starts_with(DISPLAY)
    }

    fn version(&self) -> u64 {
        // Purses grow only by gold from the map, and joining players have empty ones.
        let players = u64::try_from(self.game().players().len()).unwrap_or(u64::MAX);
        (u64::from(self.game().remaining()) << 32) | players
    }

    fn show(&self) -> Show {
        let purse = |player: &nuggets::game::Player| (player.letter.to_string(), player.purse.into());
        let (all, left) = (self.game().rules().gold, self.game().remaining());
        let late = all.saturating_sub(left).saturating_mul(100) >= all.saturating_mul(LATE);
        Show { scores: self.game().players().iter().map(purse).collect(), late, ..Show::default() }
    }
}

#[derive(Debug)]
pub(crate) struct Cave(Client);

impl Default for Cave {
    fn default() -> Self {
        Self(Client::with_link(Link::Message, Participant::Spectator, Time::ZERO))
    }
}

impl Painter for Cave {
    fn receive(&mut self, message: &[u8]) {
        let _ = self.0.receive(Time::ZERO, message);
        while self.0.take_outgoing().is_some() {}
    }

    fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        let (Some((rows, columns)), [_, ..]) = (self.0.size(), self.0.display()) else { return picture };
        picture.insert("size".to_owned(), json!([rows, columns]));
        let lines = self.0.display().split(|&byte| byte == b'\n').take(rows.into());
        for (row, line) in lines.enumerate() {
            picture.insert(row.to_string(), String::from_utf8_lossy(line).trim_end().into());
        }
        picture
    }
}

impl LadderGame for Options {
    const REQUESTS_MOVES: bool = false;
    // The rules end a match only with the last nugget.
    const LIMIT: Duration = Duration::from_secs(45);

    fn of_the_ladder() -> Self {
        Self::soon()
    }

    fn first(bytes: &[u8]) -> First {
        // Programs in C may send a zero byte at the end.
        let text = bytes.strip_suffix(b"\0").unwrap_or(bytes);
        match ClientMessage::parse(text) {
            Ok(ClientMessage::Play(Some(name))) => First::Join(name.as_str().to_owned(), bytes.len()),
            _ => First::Wrong("the first message is PLAY with a name"),
        }
    }

    fn join(name: &str) -> Bytes {
        format!("PLAY {name}").into()
    }

    fn leave() -> Option<Bytes> {
        Some(Bytes::from_static(b"KEY Q"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_seed_has_128_bits() {
        let seed = |seed| Options { seed, ..Options::default() }.engine().unwrap().config().seed;
        assert_eq!(seed(Some(7)), 7);
        // One in 2^64 is shorter.
        assert!(seed(None) > u64::MAX.into());
    }
}
