//! A person at the table: on a screen, or by lines where standard input or output is no terminal.

mod ending;
mod inbox;
mod keys;
mod lines;
mod parting;

use std::{future, io, pin::Pin, time::Duration};

use blackjack::client::Meaning;
use bytes::BytesMut;
use clientkit::{Place, Wire};
use cmdkit::Backoff;
use termkit::{Palette, Source, Stage};
use tokio::{
    select,
    time::{Instant, sleep_until},
};
use tracing::warn;

use ending::CutOff;
use inbox::Inbox;

use crate::{
    clock::Clock,
    game::Game,
    link::Link,
    session::UNENDED,
    summary::Summary,
    view::{Again, Closing, Hold, Scene, View},
};

/// Bytes read at a time.
const CHUNK: usize = 4096;
/// How long the result of a round is shown before the game goes on.
const PAUSE: Duration = Duration::from_millis(1_500);
/// How long keys are ignored when a game has ended: they were meant for the game.
const DRAIN: Duration = Duration::from_secs(1);
/// How often a waiting time is drawn anew.
const TICK: Duration = Duration::from_secs(1);

/// Plays until the user leaves, the terminal is gone or, without a screen, the dealer sends QUIT. `again` is where the user can join
/// another game, and `think` is how long the dealer waits for an answer. Returns what was played, and an error if the game ended in one.
/// Fails when the terminal or the system refuses.
pub(crate) async fn play(
    link: Link,
    again: Option<Place>,
    game: Game,
    draws: bool,
    think: Option<Duration>,
) -> anyhow::Result<(Summary, anyhow::Result<()>)> {
    let stage = Stage::enter(draws, if draws { Source::Terminal } else { Source::Pipe })?;
    let now = Instant::now();
    let mut person = Person {
        game,
        stage,
        view: draws.then(|| View::new(Palette::from_environment())),
        seen: !draws,
        line: vec![],
        link,
        again,
        search: None,
        inbox: Inbox::new(now),
        joined: now,
        clock: Clock::new(think),
        hold: None,
        advised: false,
        answered: None,
        unended: None,
        rushed: None,
        state: State::Playing,
        leaving: false,
        played: Summary::default(),
    };
    person.run().await?;
    person.finish()
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The person's: the dealer has asked.
    Asked,
    /// The dealer's, who was answered after this time.
    Answered(Duration),
    /// The dealer's, who deals.
    Dealing,
}

impl Turn {
    fn of(game: &Game, answered: Option<Duration>) -> Self {
        match answered {
            _ if game.is_asked() => Self::Asked,
            Some(after) if game.in_round() => Self::Answered(after),
            _ => Self::Dealing,
        }
    }
}

type Connecting = Pin<Box<dyn Future<Output = Reached>>>;

/// Where the dealer is now, and a connection to it or the error.
type Reached = (Place, anyhow::Result<Wire>);

enum State {
    Playing,
    Over(Over),
    /// The game is over, and another one is wanted.
    Joining(Over, Connecting),
}

/// How a game ended.
struct Over {
    reason: Option<String>,
    failed: bool,
    // Whether the table of ranks is shown, and not the cards behind it.
    ranked: bool,
}

struct Person {
    game: Game,
    stage: Stage,
    // None where there is no screen.
    view: Option<View>,
    // Whether the hand could be seen when it was last drawn.
    seen: bool,
    line: Vec<u8>,
    link: Link,
    // Where the dealer can be joined again.
    again: Option<Place>,
    // Since when a lost dealer is searched for, and when to try again.
    search: Option<(Instant, Backoff)>,
    inbox: Inbox,
    joined: Instant,
    clock: Clock,
    hold: Option<Hold>,
    // Whether the person has asked for advice on this hand.
    advised: bool,
    // How long the person took for the last answer.
    answered: Option<Duration>,
    // The warning about a message without its zero byte.
    unended: Option<String>,
    // How many rounds the dealer ended without waiting for an answer, and how long it has waited at most.
    rushed: Option<(u64, Duration)>,
    state: State,
    leaving: bool,
    // The games that are over.
    played: Summary,
}

impl Person {
    async fn run(&mut self) -> anyhow::Result<()> {
        let mut chunk = BytesMut::new();
        loop {
            self.take_in()?;
            self.link.send_answers(&mut self.game.session);
            self.draw();
            if self.leaving {
                return Ok(());
            }
            chunk.reserve(CHUNK);
            let reads = self.inbox.wants_more() && matches!(self.state, State::Playing);
            let (asked, wake) = (self.game.is_asked(), self.wake());
            let Self { link, stage, state, .. } = self;
            select! {
                read = link.read(&mut chunk), if reads => self.inbox.take(read, chunk.split().freeze()),
                event = stage.next(asked) => self.happen(event)?,
                connected = connected(state) => self.joined(connected),
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => self.awake(),
            }
        }
    }

    // Looks at what has come, up to a result that is to be seen first. Byte by byte, since the client takes in all messages of
    // a piece at once and would be in the next round already.
    fn take_in(&mut self) -> io::Result<()> {
        while self.hold.is_none()
            && matches!(self.state, State::Playing)
            && let Some(byte) = self.inbox.next_byte()
        {
            let was = Turn::of(&self.game, self.answered);
            let received = self.game.session.receive(&[byte]);
            while let Some(event) = self.game.poll_event() {
                self.hear(&event, was)?;
            }
            if let Err(error) = received {
                self.end(Some(format!("{:#}", anyhow::Error::from(error))), true);
            }
        }
        if self.inbox.is_over() && self.hold.is_none() && matches!(self.state, State::Playing) {
            let waited = self.game.is_asked().then(|| self.clock.stop(self.inbox.arrived));
            let error = self.game.session.ended();
            self.end(Some(error.to_string()), true);
            self.look_for_dealer();
            // A dealer that is lost and looked for says nothing about its limit.
            if let Some(waited) = waited.filter(|_| self.search.is_none()) {
                self.clock.learn(waited);
            }
        }
        Ok(())
    }

    fn hear(&mut self, event: &Meaning, was: Turn) -> io::Result<()> {
        self.stage.change();
        self.unended = None;
        self.search = None;
        let over = matches!(event, Meaning::Began | Meaning::Ended { .. } | Meaning::Quit);
        let waited = (was == Turn::Asked && over).then(|| self.clock.stop(self.inbox.arrived));
        match event {
            Meaning::Asked => {
                self.clock.start(self.inbox.arrived);
                self.advised = false;
            }
            Meaning::Began | Meaning::Dealt => self.answered = None,
            Meaning::Ended { .. } => {
                self.game.revealed = self.link.revealed();
                if self.view.is_some() {
                    let practices = matches!(self.link, Link::Practice(_));
                    self.hold = Some(if practices { Hold::Key } else { Hold::Until(Instant::now() + PAUSE) });
                }
            }
            Meaning::Ignored | Meaning::Quit => {}
        }
        if self.view.is_none() {
            lines::tell(&self.game, event, self.clock.left(Instant::now()))?;
        }
        match (event, waited) {
            (Meaning::Quit, waited) => self.take_leave(waited, was),
            (_, Some(waited)) => {
                let (rounds, longest) = self.rushed.unwrap_or_default();
                self.rushed = Some((rounds + 1, longest.max(waited)));
                self.clock.learn(waited);
            }
            (_, None) => {}
        }
        Ok(())
    }

    // The dealer has taken leave, with a question open for so long if one was.
    fn take_leave(&mut self, waited: Option<Duration>, was: Turn) {
        let (reason, failed) = match (waited, self.rushed, was) {
            (Some(waited), _, _) => {
                let cut = CutOff::after(waited, self.clock.limit);
                self.clock.learn(waited);
                if cut.costs_the_hand() {
                    self.game.forfeit();
                }
                (Some(cut.in_words()), cut.costs_the_hand())
            }
            (None, Some((unanswered, waited)), _) => {
                (Some(ending::rushed(unanswered, self.game.round(), waited)), true)
            }
            (None, None, Turn::Answered(after)) => (Some(ending::no_result(after)), true),
            (None, None, _) if self.game.round() == 0 => (Some(ending::NO_SEAT.to_owned()), false),
            (None, None, _) => (None, false),
        };
        self.end(reason, failed);
    }

    fn end(&mut self, reason: Option<String>, failed: bool) {
        self.state = State::Over(Over { reason, failed, ranked: true });
        self.stage.change();
        if self.view.is_some() {
            self.stage.ignore_keys(DRAIN);
        } else {
            self.leaving = true;
        }
    }

    fn wake(&self) -> Option<Instant> {
        let now = Instant::now();
        let hold = match self.hold {
            Some(Hold::Until(end)) => Some(end),
            Some(Hold::Key) | None => None,
        };
        let playing = self.view.is_some() && matches!(self.state, State::Playing);
        let clock = self.clock.next_change(now).filter(|_| playing);
        let waits = playing && self.game.round() == 0;
        let part = now.saturating_duration_since(self.joined).subsec_nanos();
        let waiting = waits.then(|| now + TICK - Duration::from_nanos(part.into()));
        let unended = self.unended_at().filter(|_| matches!(self.state, State::Playing));
        [hold, clock, waiting, unended].into_iter().flatten().min()
    }

    fn awake(&mut self) {
        if let Some(Hold::Until(end)) = self.hold
            && end <= Instant::now()
        {
            self.hold = None;
        }
        if self.unended_at().is_some_and(|at| at <= Instant::now()) {
            self.unended = self.game.session.unended();
            if let (None, Some(warning)) = (&self.view, &self.unended) {
                warn!("{warning}");
            }
        }
        self.stage.change();
    }

    // When to warn about a message without its zero byte.
    fn unended_at(&self) -> Option<Instant> {
        let waits = self.unended.is_none() && self.game.session.unended().is_some();
        waits.then(|| self.inbox.arrived + UNENDED)
    }

    fn draw(&mut self) {
        let Some(view) = &self.view else { return };
        let now = Instant::now();
        let closing = match &self.state {
            State::Over(over) | State::Joining(over, _) => Some(Closing {
                reason: over.reason.as_deref(),
                ranked: over.ranked,
                again: match (&self.state, &self.again) {
                    (State::Joining(..), _) => Again::Joining,
                    (_, Some(_)) => Again::Possible,
                    (_, None) => Again::Never,
                },
                ignores_keys: self.stage.ignores_keys(),
            }),
            State::Playing => None,
        };
        let scene = Scene {
            keys: true,
            advised: self.advised,
            left: self.clock.left(now),
            waited: (self.game.round() == 0).then(|| now.saturating_duration_since(self.joined).as_secs()),
            unended: self.unended.as_deref(),
            rushed: self.rushed.map(|(_, waited)| waited),
            hold: self.hold,
            closing,
        };
        let (game, seen) = (&self.game, &mut self.seen);
        self.stage.draw(|frame| {
            *seen = View::fits(frame.area());
            view.render_scene(game, &scene, frame.area(), frame.buffer_mut());
        });
    }
}

async fn connected(state: &mut State) -> Reached {
    match state {
        State::Joining(_, connecting) => connecting.await,
        State::Playing | State::Over(_) => future::pending().await,
    }
}
