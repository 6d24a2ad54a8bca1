//! One client at a terminal, steered by hand or by a bot.

use std::{
    future,
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

use nuggets::{End, Participant, Typist};
use sigkit::Requests;
use termkit::{Palette, Source, Stage, StageEvent};
use tokio::select;
use tracing::{debug, info};

use crate::{
    after_game::AfterGame,
    bot::{Style, account},
    keys::{self, Action, Context},
    link::Link,
    options::Options,
    result::Verdict,
    session::Session,
    view::View,
};

/// How long keys are ignored once a result is shown: they were meant for the game.
const QUIET: Duration = Duration::from_secs(1);
/// How long a server's port has to be closed before the server counts as gone. A match that is resumed at once goes on
/// unnoticed.
const GONE: Duration = Duration::from_secs(2);

/// A client, what it is steered by and where it is shown.
pub(crate) struct Player {
    options: Options,
    session: Session,
    view: View,
    stage: Stage,
    bot: Option<Typist>,
    // Keys come from the terminal that is drawn on, so somebody is there to look at a result.
    attended: bool,
    over: Option<AfterGame>,
    leaving: bool,
    requests: Requests,
    hung_up: bool,
    ended: Option<End>,
}

/// How a client's part in the game ended, once the terminal is the user's own again.
pub(crate) struct Parting {
    pub(crate) end: End,
    /// What the bot did, if one played.
    pub(crate) account: Option<String>,
    /// Nobody listens at the server's port.
    pub(crate) refused: bool,
    /// Why the directory did not tell where the server is.
    pub(crate) untold: Option<String>,
    /// The terminal was gone before the end.
    pub(crate) hung_up: bool,
}

impl Player {
    /// Takes the terminal over, as far as there is one, and then asks to be let in.
    pub(crate) fn new(options: Options) -> anyhow::Result<Self> {
        let Options { part, addresses, bot, .. } = &options;
        let link = Link::open(addresses.clone())?;
        let directory = options.directory.clone();
        let (typed, drawn) = (io::stdin().is_terminal(), io::stdout().is_terminal());
        let source = match (typed, drawn, bot) {
            (true, true, _) => Source::Terminal,
            // Nobody steers a bot, and one that runs in a script often has nothing to read.
            (_, _, Some(_)) => Source::Nothing,
            _ => Source::Pipe,
        };
        let player = bot.map(Style::bot).transpose()?;
        let stage = Stage::enter(drawn, source)?;
        Ok(Self {
            view: View::new(Palette::from_environment(), bot.is_some()).taking_part(options.place.clone()),
            session: Session::start(part.clone(), link, directory),
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

    /// Plays until it is over, then gives the terminal back and tells how it ended.
    pub(crate) async fn run(mut self) -> Parting {
        loop {
            self.look_for_the_end();
            if let Some(end) = self.ended.take() {
                // The terminal is the user's own again before anything is printed.
                drop(self.stage);
                let name = match self.session.client().participant() {
                    Participant::Player(name) => name.to_string(),
                    Participant::Spectator => String::new(),
                };
                let account = self.bot.map(|bot| account(&bot, self.session.client(), &name));
                let (refused, untold) = (self.session.is_refused(), self.session.untold().map(str::to_owned));
                return Parting { end, account, refused, untold, hung_up: self.hung_up };
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
                event = self.stage.next(joined) => self.happen(event),
                () = typing => {}
                () = gone => self.stage.change(),
            }
            // What a client has that comes back is no news.
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

    // After how long the server counts as gone, if it says nothing before that.
    fn gone_in(&self) -> Option<Duration> {
        let (client, now) = (self.session.client(), self.session.now());
        let closed = client.closed_for(now).filter(|_| self.attended && self.over.is_none() && client.is_joined())?;
        // With a directory it is looked for elsewhere first.
        let gone = if self.session.follows() { self.session.patience() } else { GONE };
        Some(gone.saturating_sub(closed))
    }

    // Shows how the game ended, if it has and somebody is there to look at it, or ends the program.
    fn look_for_the_end(&mut self) {
        if self.over.as_ref().is_some_and(AfterGame::has_joined) {
            self.play_on();
        }
        let (client, now) = (self.session.client(), self.session.now());
        let end = self.session.end().cloned();
        let (has_board, is_heard) = (client.size().is_some(), client.closed_for(now).is_none());
        let gone = self.gone_in().is_some_and(|gone| gone.is_zero());
        match (&mut self.over, end) {
            // A server that was gone is back.
            (Some(over), None) if is_heard && !over.is_joining() => {
                self.over = None;
                self.stage.change();
            }
            (Some(over), _) if !self.leaving => {
                if over.go_on() {
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
        self.options.addresses = self.session.addresses().to_vec();
        self.over = Some(AfterGame::new(self.options.clone(), self.session.client()));
        self.stage.ignore_keys(QUIET);
        if self.options.bell {
            self.stage.ring();
        }
    }

    // The next game has begun.
    fn play_on(&mut self) {
        if let Some(session) = self.over.take().and_then(AfterGame::into_session) {
            self.view = self.view.next_game(Verdict::of_last(self.session.client()));
            self.session = session;
            // If no new seed can be drawn, the old bot plays on.
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

    fn happen(&mut self, event: StageEvent) {
        match event {
            StageEvent::Key(typed) => {
                let action = keys::action(typed, self.context());
                debug!(?typed, ?action, "key");
                self.act(action);
            }
            StageEvent::Byte(b'Q') | StageEvent::End => self.leave(),
            // A key that is no byte of ASCII is no key of the game.
            StageEvent::Byte(byte) if byte.is_ascii() => self.session.key(byte),
            StageEvent::Leave if self.requests.insist(Instant::now()) => self.interrupt(),
            StageEvent::Leave => self.leave(),
            StageEvent::Gone(error) => {
                info!(%error, "the terminal is gone");
                // So nobody plays any more.
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
            Action::Redraw => self.stage.forget(),
            Action::Suspend => self.stage.suspend(),
            Action::Ignore => {}
        }
    }

    // Who insists does not wait for the server's goodbye.
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
            // Nobody waits for a seat that may have been given just now.
            over.leave();
            self.ended = self.session.end().cloned();
        }
        self.session.leave();
    }
}

// Waits until there is something new about the next game.
async fn turn(over: Option<&mut AfterGame>) {
    match over {
        Some(over) => over.turn().await,
        None => future::pending().await,
    }
}
