//! One client at a terminal, controlled by a user or by a bot, and the time after its game.

use std::{
    future,
    io::{self, IsTerminal},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use cmdkit::Directory;
use nuggets::{Client, End, Participant, Typist};
use sigkit::Requests;
use termkit::{Palette, Source, Stage, StageEvent};
use tokio::{
    select,
    time::{Instant, sleep_until},
};
use tracing::{debug, info, warn};

use crate::{
    headless::{Style, account},
    keys::{self, Action, Context},
    result::Verdict,
    session::Session,
    view::View,
};

/// How long keys are ignored after a result appears, since they were meant for the game.
const QUIET: Duration = Duration::from_secs(1);
/// After this time with a closed port, a server counts as gone. A match that is resumed earlier continues without a
/// notice.
const GONE: Duration = Duration::from_secs(2);

/// Before the next game is joined automatically.
const PAUSE: Duration = Duration::from_secs(6);
const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) part: Participant,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) directory: Option<Arc<Directory>>,
    pub(crate) bot: Option<Style>,
    pub(crate) rematch: bool,
    pub(crate) place: String,
    pub(crate) bell: bool,
}

pub(crate) struct Player {
    options: Options,
    session: Session,
    view: View,
    stage: Stage,
    bot: Option<Typist>,
    // The terminal with the game provides the keys, so a user is there to read a result.
    attended: bool,
    over: Option<AfterGame>,
    leaving: bool,
    requests: Requests,
    hung_up: bool,
    ended: Option<End>,
}

/// After the terminal has been restored.
pub(crate) struct Parting {
    pub(crate) end: End,
    pub(crate) account: Option<String>,
    pub(crate) refused: bool,
    pub(crate) search_error: Option<String>,
    pub(crate) hung_up: bool,
}

impl Player {
    /// Takes over the terminal, if there is one, before it requests a seat.
    pub(crate) fn new(options: Options) -> anyhow::Result<Self> {
        let Options { part, addresses, bot, .. } = &options;
        let directory = options.directory.clone();
        let (typed, drawn) = (io::stdin().is_terminal(), io::stdout().is_terminal());
        let source = match (typed, drawn, bot) {
            (true, true, _) => Source::Terminal,
            // A bot needs no input, and in a script it often has none to read.
            (_, _, Some(_)) => Source::Nothing,
            _ => Source::Pipe,
        };
        let player = bot.map(Style::bot).transpose()?;
        let stage = Stage::enter(drawn, source)?;
        let session = Session::start(part.clone(), addresses.clone(), directory)?;
        Ok(Self {
            view: View::new(Palette::from_environment(), bot.is_some()).taking_part(options.place.clone()),
            session,
            stage,
            bot: player,
            attended: source == Source::Terminal,
            over: None,
            leaving: false,
            requests: Requests::default(),
            hung_up: false,
            ended: None,
            options,
        })
    }

    pub(crate) async fn run(mut self) -> Parting {
        loop {
            self.check_end();
            if let Some(end) = self.ended.take() {
                // Before any output is printed.
                drop(self.stage);
                let name = match self.session.client().participant() {
                    Participant::Player(name) => name.to_string(),
                    Participant::Spectator => String::new(),
                };
                let account = self.bot.map(|bot| account(&bot, self.session.client(), &name));
                let (refused, search_error) =
                    (self.session.is_refused(), self.session.search_error().map(str::to_owned));
                return Parting { end, account, refused, search_error, hung_up: self.hung_up };
            }
            self.draw();
            let client = self.session.client();
            let typing = self.session.until(self.bot.as_ref().and_then(|bot| bot.due(client)));
            let gone = self.session.until(self.gone_in().map(|gone| self.session.now().plus(gone)));
            let joined = client.is_joined();
            let purse = client.purse();
            select! {
                () = self.session.turn(), if self.session.end().is_none() => self.stage.change(),
                () = turn(self.over.as_mut()) => self.stage.change(),
                event = self.stage.next(joined) => self.handle_event(event),
                () = typing => {}
                () = gone => self.stage.change(),
            }
            // The purse that a reconnected client receives is not a new find.
            if self.options.bell && joined && self.session.client().purse() > purse {
                self.stage.ring();
            }
            if let Some(bot) = &mut self.bot {
                bot.listen(self.session.client(), self.session.now());
                if !self.leaving
                    && let Some(key) = bot.key(self.session.client(), self.session.now())
                {
                    self.session.key(key);
                }
            }
        }
    }

    // When the server counts as gone, unless it sends a message earlier.
    fn gone_in(&self) -> Option<Duration> {
        let (client, now) = (self.session.client(), self.session.now());
        let closed = client.closed_for(now).filter(|_| self.attended && self.over.is_none() && client.is_joined())?;
        // With a directory, the session first searches for the server at other addresses.
        let gone = if self.session.follows() { self.session.patience() } else { GONE };
        Some(gone.saturating_sub(closed))
    }

    // Shows the result if a user is there to read it; otherwise the program ends.
    fn check_end(&mut self) {
        if self.over.as_ref().is_some_and(AfterGame::has_joined) {
            self.play_on();
        }
        let (client, now) = (self.session.client(), self.session.now());
        let end = self.session.end().cloned();
        let (has_board, is_heard) = (client.size().is_some(), client.closed_for(now).is_none());
        let gone = self.gone_in().is_some_and(|gone| gone.is_zero());
        match (&mut self.over, end) {
            // The server is back.
            (Some(over), None) if is_heard && !over.is_joining() => {
                self.over = None;
                self.stage.change();
            }
            (Some(over), _) if !self.leaving => {
                if over.update() {
                    self.stage.change();
                }
            }
            (None, Some(End::Quit(_))) if self.attended && !self.leaving && has_board => self.end_game(),
            (_, Some(end)) => self.ended = Some(end),
            (None, None) if gone => self.end_game(),
            (_, None) => {}
        }
        let quiet = self.stage.ignores_keys();
        let verdict = self.over.as_ref().map(|over| over.verdict(self.session.client(), quiet));
        self.view.set_verdict(verdict);
    }

    fn end_game(&mut self) {
        self.options.addresses = self.session.servers().to_vec();
        self.over = Some(AfterGame::new(self.options.clone(), self.session.client()));
        self.stage.ignore_keys(QUIET);
        if self.options.bell {
            self.stage.ring();
        }
    }

    fn play_on(&mut self) {
        if let Some(session) = self.over.take().and_then(AfterGame::into_session) {
            self.view = self.view.next_game(Verdict::of_last(self.session.client()));
            self.session = session;
            // Without entropy for a new seed, the old bot continues.
            self.bot =
                self.bot.take().and_then(|bot| self.options.bot.and_then(|style| style.bot().ok()).or(Some(bot)));
            self.stage.change();
        }
    }

    fn draw(&mut self) {
        let now = self.session.now();
        let (client, view) = (self.session.client(), &mut self.view);
        self.stage.draw(|frame| {
            view.prepare(client, frame.area().as_size());
            frame.render_widget(&view.picture(client, now), frame.area());
        });
    }

    fn handle_event(&mut self, event: StageEvent) {
        match event {
            StageEvent::Key(typed) => {
                let action = keys::action(typed, self.context());
                debug!(?typed, ?action, "key");
                self.act(action);
            }
            StageEvent::Byte(b'Q') | StageEvent::End => self.leave(),
            StageEvent::Byte(byte) if byte.is_ascii() => self.session.key(byte),
            StageEvent::Leave if self.requests.register(Instant::now().into_std()) => self.interrupt(),
            StageEvent::Leave => self.leave(),
            StageEvent::Gone(error) => {
                info!(%error, "lost the terminal");
                self.hung_up = true;
                self.leave();
            }
            StageEvent::Byte(_) | StageEvent::Mouse(_) | StageEvent::Frame => {}
        }
    }

    fn context(&self) -> Context {
        self.view.context(self.session.client())
    }

    fn act(&mut self, action: Action) {
        self.stage.change();
        match action {
            Action::Send(key) => self.session.key(key),
            Action::Leave => self.leave(),
            Action::Interrupt => self.interrupt(),
            Action::ToggleHelp => self.view.help = !self.view.help,
            Action::ToggleResult => self.view.board = !self.view.board,
            Action::ToggleLast => self.view.shows_last = !self.view.shows_last,
            Action::Again => {
                if let Some(over) = &mut self.over {
                    over.join();
                }
            }
            Action::Scroll(direction) => self.view.scroll(self.session.client(), direction),
            Action::Redraw => self.stage.invalidate(),
            Action::Suspend => self.stage.suspend(),
            Action::Ignore => {}
        }
    }

    // A second request does not wait for the server's goodbye.
    fn interrupt(&mut self) {
        if self.leaving {
            self.ended = Some(End::LeftEarly);
        } else {
            self.leave();
        }
    }

    fn leave(&mut self) {
        self.leaving = true;
        self.stage.change();
        if let Some(over) = &mut self.over {
            // Releases a seat that may just have been assigned, without waiting for the goodbye.
            over.leave();
            self.ended = self.session.end().cloned();
        }
        self.session.leave();
    }
}

async fn turn(over: Option<&mut AfterGame>) {
    match over {
        Some(over) => over.turn().await,
        None => future::pending().await,
    }
}

pub(crate) struct AfterGame {
    options: Options,
    next: Option<Session>,
    trouble: Option<String>,
    // The server has ended, so Enter is not offered.
    ended: bool,
    joins_at: Option<Instant>,
    // The server is gone: Enter requests a seat in a new match, not in the next game.
    gone: bool,
}

impl AfterGame {
    pub(crate) fn new(options: Options, client: &Client) -> Self {
        let gone = client.end().is_none();
        let joins_at = (options.rematch && client.end().is_some_and(End::is_game_over)).then(|| Instant::now() + PAUSE);
        Self { options, next: None, trouble: None, ended: false, joins_at, gone }
    }

    /// Lists keys once they are no longer ignored.
    pub(crate) fn verdict(&self, client: &Client, ignores_keys: bool) -> Verdict {
        let mut verdict = Verdict::of(client);
        verdict.keys = self.keys();
        if let Some(line) = verdict.keys.last_mut().filter(|_| ignores_keys) {
            // Keeps the width of the line, and so of the box.
            *line = " ".repeat(line.len());
        } else {
            verdict.bar = self.choices("table");
        }
        verdict
    }

    fn keys(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.trouble.iter().cloned().collect();
        if self.next.is_some() {
            lines.push("Joining the next game.".into());
        }
        if let Some(joins_at) = self.joins_at {
            let left = joins_at.saturating_duration_since(Instant::now()).as_secs() + 1;
            lines.push(format!("Joining the next game in {left} s."));
        }
        lines.push(self.choices("board"));
        lines
    }

    // The available keys. Tab shows `other`.
    fn choices(&self, other: &str) -> String {
        let again = match self.next {
            Some(_) => None,
            None if self.ended => None,
            None if self.gone => Some("Enter join again"),
            None => Some("Enter next game"),
        };
        let (tab, leave) = (format!("Tab {other}"), "Q leave");
        match again {
            // The key that leaves the current screen comes first.
            Some(again) if other == "table" => [&*tab, again, leave].join("   "),
            Some(again) => [again, &*tab, leave].join("   "),
            None => [&*tab, leave].join("   "),
        }
    }

    /// Requests a seat in the next game on a new socket, which gets no late datagrams of the last one.
    pub(crate) fn join(&mut self) {
        if self.next.is_some() {
            return;
        }
        (self.joins_at, self.trouble, self.ended) = (None, None, false);
        let Options { part, addresses, directory, .. } = self.options.clone();
        match Session::start(part, addresses, directory) {
            Ok(next) => self.next = Some(next),
            Err(error) => {
                warn!(%error, "cannot join the next game");
                self.trouble = Some("The server cannot be reached any more.".into());
            }
        }
    }

    pub(crate) const fn is_joining(&self) -> bool {
        self.next.is_some()
    }

    pub(crate) fn has_joined(&self) -> bool {
        self.next.as_ref().is_some_and(|next| next.client().is_joined())
    }

    pub(crate) fn into_session(self) -> Option<Session> {
        self.next
    }

    pub(crate) fn update(&mut self) -> bool {
        if self.joins_at.is_some_and(|joins_at| joins_at <= Instant::now()) {
            self.join();
        }
        let Some(next) = &self.next else { return false };
        let trouble = match next.end() {
            Some(End::Quit(text)) => text.lines().next().unwrap_or_default().to_owned(),
            Some(_) => "The server no longer answers.".to_owned(),
            None if next.client().closed_for(next.now()).is_some() => {
                self.ended = true;
                "There are no more games: the server has stopped.".to_owned()
            }
            None => return false,
        };
        (self.next, self.trouble) = (None, Some(trouble));
        true
    }

    pub(crate) fn leave(&mut self) {
        if let Some(next) = &mut self.next {
            next.leave();
        }
    }

    pub(crate) async fn turn(&mut self) {
        match (&mut self.next, self.joins_at) {
            (Some(next), _) => next.turn().await,
            // The screen counts down the seconds.
            (None, Some(joins_at)) => sleep_until(joins_at.min(Instant::now() + SECOND)).await,
            (None, None) => future::pending().await,
        }
    }
}
