//! The engine of all turn-based games is a [`Table`] with the rules of the game.

use anyhow::Context as _;
use bytes::Bytes;
use clientkit::{Ended, run, turn_based_bot};
use netcore::{Framing, Link, Rate, RequestOf, Time};
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use turnbased::{Client, ClientMessage, LastMove, Name, Rules, ServerMessage, Table};

use super::{
    kind::{Bot, Connect, GameKind},
    ladder::{LadderGame, MessageParser, ProgramEvent},
    page_state::{PageState, Painter, Picture},
    replayable::{Change, Replayable},
};

/// Bytes of one connection; messages are short lines.
const READ_RATE: Rate = Rate { per_second: 4 << 10, burst: 16 << 10 };

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent, bound = "")]
pub(crate) struct Options<R: Rules>(R::Options);

impl<R: Rules> Default for Options<R> {
    fn default() -> Self {
        Self(R::Options::default())
    }
}

impl<R: Rules> PartialEq for Options<R> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<R: Rules> Eq for Options<R> {}

impl<R: Rules> GameKind for Options<R> {
    type Engine = Table<R>;
    type Painter = View<R>;

    const NAME: &str = R::NAME;
    const TITLE: &str = R::TITLE;
    const WIRE: servekit::Wire = servekit::Wire::Tcp(READ_RATE);
    const JOIN: Option<&str> = Some("PLAY ");
    const HIDES: bool = R::HIDES;
    const IS_EXAMPLE: bool = R::IS_EXAMPLE;

    fn title(&self) -> String {
        format!("a game for {}", R::SEATS)
    }

    fn engine(&self) -> anyhow::Result<Table<R>> {
        Table::new(self.0.clone(), SysRng.try_next_u64()?).map_err(anyhow::Error::msg)
    }

    fn farewell(why: &str, framing: Framing) -> Option<Bytes> {
        Some(ServerMessage::Bye(why.into()).to_frame(framing))
    }

    async fn play<'a>(
        bot: Bot,
        connect: impl Connect<'a>,
        left: impl Future<Output = ()> + Send,
    ) -> anyhow::Result<Ended> {
        let name = Name::new(bot.name.as_bytes()).context("its name is empty")?;
        let (wire, _) = connect.await?;
        let (mut client, mut pilot) = turn_based_bot::<R>(name, bot.level, bot.seed, bot.brisk);
        Ok(run(wire, &mut client, &mut pilot, left).await)
    }
}

impl<R: Rules> Replayable for Table<R> {
    // With the name of the player.
    type Probe = Option<(String, LastMove)>;

    fn probe(&self, real: impl Fn(&str) -> String) -> Self::Probe {
        self.last_move().map(|last| (real(last.name.as_str()), last.clone()))
    }

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<Change> {
        let last = after.iter().filter(|_| before != after);
        last.map(|(name, last)| Change::new("move", format!("{name}: {}", last.action))).collect()
    }

    fn frame(bytes: &Bytes) -> Bytes {
        // A line feed ends a message on a stream.
        bytes.strip_suffix(b"\n").map_or_else(|| bytes.clone(), |line| bytes.slice_ref(line))
    }
}

impl<R: Rules> PageState for Table<R> {
    fn name_in(request: &RequestOf<Self>) -> Option<&str> {
        let Ok(ClientMessage::Play(name)) = request else { return None };
        Some(name.as_str())
    }

    fn overview(&self) -> Option<Vec<Bytes>> {
        Some(self.overview())
    }
}

/// Draws no picture itself: the page receives the view of the game.
#[derive(Debug)]
pub(crate) struct View<R: Rules>(Client<R>);

impl<R: Rules> Default for View<R> {
    fn default() -> Self {
        Self(Client::new(Link::Message, None))
    }
}

impl<R: Rules> Painter for View<R> {
    fn receive(&mut self, message: &[u8]) {
        let _ = netcore::Client::receive(&mut self.0, Time::ZERO, message);
    }

    fn picture(&self) -> Picture {
        let view = self.0.view().and_then(|view| serde_json::to_value(view).ok());
        view.map(|view| ("view".to_owned(), view)).into_iter().collect()
    }
}

impl<R: Rules> LadderGame for Options<R> {
    const REQUESTS_MOVES: bool = true;

    fn of_the_ladder() -> Self {
        Self::default()
    }

    fn parse_events(parser: &mut MessageParser, bytes: &[u8]) -> Vec<ProgramEvent> {
        let mut events = vec![];
        for text in parser.texts(bytes, b'\n') {
            match text.split(' ').collect::<Vec<_>>()[..] {
                // Only the player whose turn it is receives moves. After a message without effect, a valid one must
                // follow.
                ["TURN", _, _, ..] | ["NO", ..] => events.push(ProgramEvent::Requested),
                ["OVER", ..] => events.push(ProgramEvent::Finished),
                _ => {}
            }
        }
        events
    }
}
