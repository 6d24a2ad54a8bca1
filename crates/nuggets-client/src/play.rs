//! One client at a terminal, steered by hand or by a bot.

use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
    time::{Duration, Instant},
};

use nuggets::{End, Part};
use sigkit::Requests;
use termkit::{Palette, Source, Stage, StageEvent};
use tokio::select;
use tracing::{debug, info};

use crate::{
    bot::Bot,
    keys::{self, Action, Context},
    link::Link,
    session::Session,
    view::View,
};

/// A client, what it is steered by and where it is shown.
pub(crate) struct Player {
    session: Session,
    view: View,
    stage: Stage,
    bot: Option<Bot>,
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
    /// The terminal was gone before the end.
    pub(crate) hung_up: bool,
}

impl Player {
    /// Takes the terminal over, as far as there is one, and then asks to be let in.
    pub(crate) fn new(part: Part, addresses: Vec<SocketAddr>, bot: Option<Duration>) -> anyhow::Result<Self> {
        let link = Link::open(addresses)?;
        let (typed, drawn) = (io::stdin().is_terminal(), io::stdout().is_terminal());
        let source = match (typed, drawn, &bot) {
            (true, true, _) => Source::Terminal,
            // Nobody steers a bot, and one that runs in a script often has nothing to read.
            (_, _, Some(_)) => Source::Nothing,
            _ => Source::Pipe,
        };
        let stage = Stage::enter(drawn, source)?;
        Ok(Self {
            view: View::new(Palette::from_environment(), bot.is_some()),
            session: Session::start(part, link),
            stage,
            bot: bot.map(Bot::new),
            leaving: false,
            requests: Requests::default(),
            hung_up: false,
            ended: None,
        })
    }

    /// Plays until it is over, then gives the terminal back and tells how it ended.
    pub(crate) async fn run(mut self) -> Parting {
        loop {
            if let Some(end) = self.ended.take().or_else(|| self.session.end().cloned()) {
                // The terminal is the user's own again before anything is printed.
                drop(self.stage);
                let name = match self.session.client().part() {
                    Part::Player(name) => name.to_string(),
                    Part::Spectator => String::new(),
                };
                let account = self.bot.map(|bot| bot.account(self.session.client(), &name));
                return Parting { end, account, refused: self.session.is_refused(), hung_up: self.hung_up };
            }
            self.draw();
            let client = self.session.client();
            let typing = self.session.until(self.bot.as_ref().and_then(|bot| bot.due(client)));
            let joined = client.is_joined();
            select! {
                () = self.session.turn() => self.stage.change(),
                event = self.stage.next(joined) => self.happen(event),
                () = typing => {}
            }
            if let Some(bot) = &mut self.bot {
                bot.listen(&self.session);
                if !self.leaving {
                    bot.type_key(&mut self.session);
                }
            }
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
            Action::ToggleHelp => self.view.toggle_help(),
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
        self.session.leave();
    }
}
