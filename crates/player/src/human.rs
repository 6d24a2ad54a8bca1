//! Play by a user: on a screen, or by lines if standard input or output is not a terminal.

mod lines;

use std::{collections::VecDeque, future, io, mem, pin::Pin, time::Duration};

use anyhow::anyhow;
use blackjack::{Action, client::MessageEffect};
use bytes::{Buf, Bytes, BytesMut};
use clientkit::{ServerLocation, Wire};
use cmdkit::{Backoff, FOLLOW};
use termkit::{Key, Palette, Source, Stage, StageEvent};
use tokio::{
    select,
    time::{Instant, sleep, sleep_until},
};
use tracing::{debug, trace, warn};

use self::lines::QuitReason;
use crate::{
    game::Game,
    link::Link,
    session::{Summary, UNENDED},
    view::{Again, Closing, Hold, Scene, View, sentence},
};

const CHUNK: usize = 4096;
const PAUSE: Duration = Duration::from_millis(1_500);
/// How long keys are ignored after a game, since they were meant for it.
const DRAIN: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_secs(1);

/// Plays until the user leaves, the terminal is closed or, without a screen, the dealer sends QUIT.
///
/// `again` is where to join another game, and `think` is the dealer's time limit for an answer.
pub(crate) async fn play(
    link: Link,
    again: Option<ServerLocation>,
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
        state: PlayState::Playing,
        leaving: false,
        played: Summary::default(),
    };
    person.run().await?;
    person.finish()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaiting {
    Player,
    /// With the time that the answer took.
    Answered(Duration),
    Dealing,
}

impl Awaiting {
    fn of(game: &Game, answered: Option<Duration>) -> Self {
        match answered {
            _ if game.is_asked() => Self::Player,
            Some(after) if game.in_round() => Self::Answered(after),
            _ => Self::Dealing,
        }
    }
}

type Connecting = Pin<Box<dyn Future<Output = ConnectResult>>>;

/// The dealer's place, and a connection to it or the error.
type ConnectResult = (ServerLocation, anyhow::Result<Wire>);

enum PlayState {
    Playing,
    Over(GameEnd),
    Joining(GameEnd, Connecting),
}

struct GameEnd {
    reason: Option<String>,
    failed: bool,
    // Shows the ranks instead of the cards behind them.
    ranked: bool,
}

struct Person {
    game: Game,
    stage: Stage,
    // `None` without a screen.
    view: Option<View>,
    // The last drawing showed the hand.
    seen: bool,
    line: Vec<u8>,
    link: Link,
    again: Option<ServerLocation>,
    // Of a lost dealer, with the start of the search.
    search: Option<(Instant, Backoff)>,
    inbox: Inbox,
    joined: Instant,
    clock: Clock,
    hold: Option<Hold>,
    advised: bool,
    answered: Option<Duration>,
    unended: Option<String>,
    // Rounds that the dealer ended without waiting for an answer, and its longest wait.
    rushed: Option<(u64, Duration)>,
    state: PlayState,
    leaving: bool,
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
            let reads = self.inbox.wants_more() && matches!(self.state, PlayState::Playing);
            let (asked, wake) = (self.game.is_asked(), self.wake());
            let Self { link, stage, state, .. } = self;
            select! {
                read = link.read(&mut chunk), if reads => self.inbox.take(read, chunk.split().freeze()),
                event = stage.next(asked) => self.handle_stage_event(event)?,
                connected = connected(state) => self.joined(connected),
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => self.awake(),
            }
        }
    }

    // Processes the input byte by byte, up to a result to show: the client would process a piece in one batch and
    // already be in the next round.
    fn take_in(&mut self) -> io::Result<()> {
        while self.hold.is_none()
            && matches!(self.state, PlayState::Playing)
            && let Some(byte) = self.inbox.next_byte()
        {
            let was = Awaiting::of(&self.game, self.answered);
            let received = self.game.session.receive(&[byte]);
            while let Some(event) = self.game.poll_event() {
                self.handle_event(&event, was)?;
            }
            if let Err(error) = received {
                self.end(Some(format!("{:#}", anyhow::Error::from(error))), true);
            }
        }
        if self.inbox.is_over() && self.hold.is_none() && matches!(self.state, PlayState::Playing) {
            let waited = self.game.is_asked().then(|| self.clock.stop(self.inbox.arrived));
            let error = self.game.session.ended();
            self.end(Some(error.to_string()), true);
            self.search_dealer();
            // The silence of a lost dealer does not reveal its limit.
            if let Some(waited) = waited.filter(|_| self.search.is_none()) {
                self.clock.learn(waited);
            }
        }
        Ok(())
    }

    fn handle_event(&mut self, event: &MessageEffect, was: Awaiting) -> io::Result<()> {
        self.stage.change();
        self.unended = None;
        self.search = None;
        let over = matches!(event, MessageEffect::Began | MessageEffect::Ended { .. } | MessageEffect::Quit);
        let waited = (was == Awaiting::Player && over).then(|| self.clock.stop(self.inbox.arrived));
        match event {
            MessageEffect::DecisionDue => {
                self.clock.start(self.inbox.arrived);
                self.advised = false;
            }
            MessageEffect::Began | MessageEffect::Dealt => self.answered = None,
            MessageEffect::Ended { .. } => {
                self.game.revealed = self.link.revealed();
                if self.view.is_some() {
                    let practices = matches!(self.link, Link::Practice(_));
                    self.hold = Some(if practices { Hold::Key } else { Hold::Until(Instant::now() + PAUSE) });
                }
            }
            MessageEffect::Ignored | MessageEffect::Quit => {}
        }
        if self.view.is_none() {
            lines::print_event(&self.game, event, self.clock.left(Instant::now()))?;
        }
        match (event, waited) {
            (MessageEffect::Quit, waited) => self.handle_quit(waited, was),
            (_, Some(waited)) => {
                let (rounds, longest) = self.rushed.unwrap_or_default();
                self.rushed = Some((rounds + 1, longest.max(waited)));
                self.clock.learn(waited);
            }
            (_, None) => {}
        }
        Ok(())
    }

    // `waited` is how long a question was open, if there was one.
    fn handle_quit(&mut self, waited: Option<Duration>, was: Awaiting) {
        let (reason, failed) = match (waited, self.rushed, was) {
            (Some(waited), _, _) => {
                let cut = QuitReason::after(waited, self.clock.limit);
                self.clock.learn(waited);
                if cut.costs_the_hand() {
                    self.game.forfeit();
                }
                (Some(cut.in_words()), cut.costs_the_hand())
            }
            (None, Some((unanswered, waited)), _) => (Some(lines::rushed(unanswered, self.game.round(), waited)), true),
            (None, None, Awaiting::Answered(after)) => (Some(lines::no_result(after)), true),
            (None, None, _) if self.game.round() == 0 => (Some(lines::NO_SEAT.to_owned()), false),
            (None, None, _) => (None, false),
        };
        self.end(reason, failed);
    }

    fn end(&mut self, reason: Option<String>, failed: bool) {
        self.state = PlayState::Over(GameEnd { reason, failed, ranked: true });
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
        let playing = self.view.is_some() && matches!(self.state, PlayState::Playing);
        let clock = self.clock.next_change(now).filter(|_| playing);
        let waits = playing && self.game.round() == 0;
        let part = now.saturating_duration_since(self.joined).subsec_nanos();
        let waiting = waits.then(|| now + TICK - Duration::from_nanos(part.into()));
        let unended = self.unended_at().filter(|_| matches!(self.state, PlayState::Playing));
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

    fn unended_at(&self) -> Option<Instant> {
        let waits = self.unended.is_none() && self.game.session.unended().is_some();
        waits.then(|| self.inbox.arrived + UNENDED)
    }

    fn draw(&mut self) {
        let Some(view) = &self.view else { return };
        let now = Instant::now();
        let closing = match &self.state {
            PlayState::Over(over) | PlayState::Joining(over, _) => Some(Closing {
                reason: over.reason.as_deref(),
                ranked: over.ranked,
                again: match (&self.state, &self.again) {
                    (PlayState::Joining(..), _) => Again::Joining,
                    (_, Some(_)) => Again::Possible,
                    (_, None) => Again::Never,
                },
                ignores_keys: self.stage.ignores_keys(),
            }),
            PlayState::Playing => None,
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

async fn connected(state: &mut PlayState) -> ConnectResult {
    match state {
        PlayState::Joining(_, connecting) => connecting.await,
        PlayState::Playing | PlayState::Over(_) => future::pending().await,
    }
}

impl Person {
    fn join(&mut self) {
        self.join_after(Duration::ZERO);
    }

    fn join_after(&mut self, pause: Duration) {
        let Some(location) = self.again.clone() else { return };
        if let PlayState::Over(over) = mem::replace(&mut self.state, PlayState::Playing) {
            self.state = PlayState::Joining(over, Box::pin(reach(location, pause)));
        }
    }

    fn search_dealer(&mut self) {
        if !self.again.as_ref().is_some_and(ServerLocation::follows) {
            return;
        }
        let (since, backoff) = self.search.get_or_insert_with(|| (Instant::now(), Backoff::default()));
        if since.elapsed() >= FOLLOW {
            return;
        }
        let pause = backoff.next_wait();
        if let PlayState::Over(GameEnd { reason: Some(reason), .. }) = &self.state {
            warn!("{reason}; locating the room");
        }
        self.leaving = false;
        self.join_after(pause);
    }

    fn joined(&mut self, (location, connected): ConnectResult) {
        self.stage.change();
        let PlayState::Joining(over, _) = mem::replace(&mut self.state, PlayState::Playing) else { return };
        self.again = Some(location);
        match connected {
            Ok(wire) => {
                self.link = Link::Wire(wire);
                self.count();
                self.game.join_again();
                let now = Instant::now();
                self.clock.stop(now);
                (self.inbox, self.hold, self.rushed) = (Inbox::new(now), None, None);
                (self.advised, self.answered, self.joined) = (false, None, now);
            }
            Err(error) => {
                self.state = PlayState::Over(GameEnd { reason: Some(format!("{error:#}")), ranked: true, ..over });
                if self.search.is_some() {
                    self.leaving = self.view.is_none();
                    self.search_dealer();
                }
            }
        }
    }

    fn count(&mut self) {
        let session = &self.game.session;
        self.played.add(session.score, session.forfeits);
    }

    // Restores the terminal before it prints the result as lines.
    fn finish(mut self) -> anyhow::Result<(Summary, anyhow::Result<()>)> {
        let drawn = self.view.take().is_some();
        let told = self.conclude(drawn);
        self.count();
        let Self { stage, state, played, .. } = self;
        drop(stage);
        for line in told {
            lines::print_line(&line)?;
        }
        let ended = match state {
            PlayState::Over(GameEnd { reason: Some(reason), failed: true, .. })
            | PlayState::Joining(GameEnd { reason: Some(reason), failed: true, .. }, _) => Err(anyhow!(reason)),
            _ => Ok(()),
        };
        Ok((played, ended))
    }

    fn conclude(&mut self, drawn: bool) -> Vec<String> {
        let mut told = vec![];
        match &self.state {
            PlayState::Playing => {
                // Messages that arrived while a result was shown count too.
                while let Some(byte) = self.inbox.next_byte()
                    && self.game.session.receive(&[byte]).is_ok()
                {
                    while self.game.poll_event().is_some() {}
                }
                let practices = matches!(self.link, Link::Practice(_));
                if !practices && self.game.has_open_hand() {
                    self.game.forfeit();
                    told.push(lines::LEFT_A_HAND.to_owned());
                }
            }
            PlayState::Over(over) | PlayState::Joining(over, _) => {
                told.extend(self.game.outcome().filter(|_| drawn));
                told.extend(over.reason.as_deref().filter(|_| !over.failed).map(sentence));
            }
        }
        told.extend(self.game.coach.summary().map(|judgement| format!("{judgement}.")));
        told
    }
}

async fn reach(mut location: ServerLocation, pause: Duration) -> ConnectResult {
    sleep(pause).await;
    let connected = location.reconnect().await;
    (location, connected)
}

/// Commands are shorter.
const LINE: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Do(Action),
    Advice,
    Leave,
}

impl Command {
    fn of_key(key: u8) -> Option<Self> {
        Some(match key.to_ascii_lowercase() {
            b'h' => Self::Do(Action::Hit),
            b's' => Self::Do(Action::Stand),
            b'a' => Self::Advice,
            b'q' => Self::Leave,
            _ => return None,
        })
    }

    fn of_line(line: &[u8]) -> Option<Self> {
        let word = line.trim_ascii().to_ascii_lowercase();
        let whole = [&b"hit"[..], b"stand", b"advice", b"quit"].contains(&&*word);
        if whole || word.len() == 1 { Self::of_key(word[0]) } else { None }
    }
}

impl Person {
    fn handle_stage_event(&mut self, event: StageEvent) -> io::Result<()> {
        match event {
            StageEvent::Key(typed) => self.key(typed),
            StageEvent::Byte(b'\n') => {
                let line = mem::take(&mut self.line);
                match Command::of_line(&line) {
                    Some(command) => self.execute(command)?,
                    None => lines::print_line("Type hit, stand, advice or quit.")?,
                }
            }
            StageEvent::Byte(byte) => {
                if self.line.len() <= LINE {
                    self.line.push(byte);
                }
            }
            // The last line may lack a terminator.
            StageEvent::End => {
                match Command::of_line(&self.line) {
                    Some(command) => self.execute(command)?,
                    None => self.leaving = true,
                }
                self.line.clear();
            }
            StageEvent::Leave => self.leaving = true,
            StageEvent::Gone(error) => {
                debug!(%error, "lost the terminal");
                self.leaving = true;
            }
            StageEvent::Frame | StageEvent::Mouse(_) => {}
        }
        Ok(())
    }

    fn key(&mut self, typed: Key) {
        self.stage.change();
        let Some(view) = &mut self.view else { return };
        match typed {
            Key::Interrupt | Key::EndOfInput => self.leaving = true,
            Key::Redraw => self.stage.invalidate(),
            Key::Suspend => self.stage.suspend(),
            _ if view.help => view.help = false,
            Key::Byte(b'?') | Key::Function(1) => view.help = true,
            Key::Byte(b'q' | b'Q') => self.leaving = true,
            Key::Byte(key) => match &mut self.state {
                PlayState::Over(_) if key == b'\n' => self.join(),
                PlayState::Over(over) | PlayState::Joining(over, _) => over.ranked ^= key == b'\t',
                PlayState::Playing => match self.hold {
                    Some(Hold::Key) if key != b'\n' && key != b' ' => {}
                    Some(_) => self.hold = None,
                    None => {
                        // Keys do not act on a hidden hand.
                        if let Some(command) = Command::of_key(key).filter(|_| self.seen) {
                            let _ = self.execute(command);
                        }
                    }
                },
            },
            Key::Pad { .. } | Key::Function(_) => {}
        }
    }

    fn execute(&mut self, command: Command) -> io::Result<()> {
        match command {
            Command::Leave => self.leaving = true,
            Command::Advice => {
                self.advised = true;
                if let Some(advice) = self.game.advice().filter(|_| self.view.is_none()) {
                    lines::advise(advice)?;
                }
            }
            Command::Do(action) => {
                if let Some(message) = self.game.decide(action) {
                    trace!("> {message}");
                    self.answered = Some(self.clock.stop(Instant::now()));
                    if let Some(grade) = self.game.grade.filter(|_| self.view.is_none()) {
                        lines::print_line(&grade.in_words())?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Bytes that wait while a result is shown. Further ones stay in the system's buffer.
const MAX_WAITING: usize = 64 << 10;

#[derive(Debug)]
struct Inbox {
    pieces: VecDeque<(Instant, Bytes)>,
    waiting: usize,
    arrived: Instant,
    closed: bool,
}

impl Inbox {
    const fn new(now: Instant) -> Self {
        Self { pieces: VecDeque::new(), waiting: 0, arrived: now, closed: false }
    }

    const fn wants_more(&self) -> bool {
        !self.closed && self.waiting < MAX_WAITING
    }

    fn take(&mut self, read: io::Result<usize>, piece: Bytes) {
        match read {
            Ok(1..) => {
                self.waiting += piece.len();
                self.pieces.push_back((Instant::now(), piece));
            }
            Ok(0) => self.closed = true,
            Err(error) => {
                debug!(%error, "the connection failed");
                self.closed = true;
            }
        }
    }

    fn next_byte(&mut self) -> Option<u8> {
        let (at, piece) = self.pieces.front_mut()?;
        self.arrived = *at;
        let byte = piece.get_u8();
        self.waiting -= 1;
        if piece.is_empty() {
            self.pieces.pop_front();
        }
        Some(byte)
    }

    fn is_over(&self) -> bool {
        self.closed && self.pieces.is_empty()
    }
}

/// Counts down from the dealer's limit while a decision is due.
///
/// The limit is not in the protocol: the user specifies it, and it is lowered if the dealer turns out to wait less
/// long.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    pub(crate) limit: Option<Duration>,
    asked: Option<Instant>,
}

impl Clock {
    /// `None` shows no time and never treats an answer as late.
    pub(crate) const fn new(limit: Option<Duration>) -> Self {
        Self { limit, asked: None }
    }

    pub(crate) const fn start(&mut self, at: Instant) {
        self.asked = Some(at);
    }

    pub(crate) fn stop(&mut self, now: Instant) -> Duration {
        self.asked.take().map_or(Duration::ZERO, |asked| now.saturating_duration_since(asked))
    }

    pub(crate) fn learn(&mut self, waited: Duration) {
        self.limit = self.limit.map(|limit| limit.min(waited));
    }

    /// In whole seconds, rounded down, since the dealer's clock started slightly earlier.
    pub(crate) fn left(&self, now: Instant) -> Option<u64> {
        let due = self.asked? + self.limit?;
        Some(due.saturating_duration_since(now).as_secs())
    }

    pub(crate) fn next_change(&self, now: Instant) -> Option<Instant> {
        let due = self.asked? + self.limit?;
        let left = due.checked_duration_since(now)?;
        // The additional millisecond ensures that the number has changed by then.
        Some(now + Duration::from_nanos(left.subsec_nanos().into()) + Duration::from_millis(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn seconds_are_counted_down() {
        let now = Instant::now();
        let mut clock = Clock::new(Some(seconds(30)));
        assert_eq!((clock.left(now), clock.next_change(now)), (None, None));
        clock.start(now);
        assert_eq!(clock.left(now), Some(30));
        let change = clock.next_change(now).unwrap();
        assert_eq!(clock.left(change), Some(29));
        assert_eq!(clock.left(clock.next_change(change).unwrap()), Some(28));
        assert_eq!(clock.left(now + seconds(31)), Some(0));
        assert_eq!(clock.next_change(now + seconds(31)), None);
        assert_eq!(clock.stop(now + seconds(31)), seconds(31));
        assert_eq!(clock.left(now), None);
    }

    #[test]
    fn shorter_time_limit_of_the_dealer_is_used() {
        let now = Instant::now();
        let mut clock = Clock::new(Some(seconds(30)));
        clock.learn(seconds(40));
        clock.learn(seconds(5));
        clock.start(now);
        assert_eq!((clock.limit, clock.left(now)), (Some(seconds(5)), Some(5)));
        let mut none = Clock::new(None);
        none.learn(seconds(5));
        none.start(now);
        assert_eq!(none.left(now), None);
    }
}
