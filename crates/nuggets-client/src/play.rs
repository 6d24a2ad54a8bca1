//! One client at a terminal, steered by hand or by a bot.

use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
    time::Duration,
};

use netcore::Time;
use nuggets::{End, Seat};
use termkit::{Event, Keyboard as Mode, Palette, Screen};
use tokio::select;
use tracing::{debug, info};

use crate::{
    bot::Bot,
    keyboard::{Input, Keyboard},
    keys::{self, Action, Context},
    link::Link,
    session::Session,
    signals::{Signal, Signals},
    view::View,
};

/// The least time between two frames: sixty a second at most, whatever the server sends.
const FRAME: Duration = Duration::from_millis(16);

/// A client, what it is steered by and where it is shown.
pub(crate) struct Player {
    session: Session,
    view: View,
    // None when standard output is no terminal, or when the terminal is gone.
    screen: Option<Screen>,
    keyboard: Keyboard,
    signals: Signals,
    bot: Option<Bot>,
    // When the next frame may be drawn; whether there is anything new to draw.
    next_frame: Time,
    changed: bool,
    leaving: bool,
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
    pub(crate) fn new(seat: Seat, addresses: Vec<SocketAddr>, bot: Option<Duration>) -> anyhow::Result<Self> {
        let link = Link::open(addresses)?;
        let (typed, drawn) = (io::stdin().is_terminal(), io::stdout().is_terminal());
        let signals = if drawn { Signals::for_screen()? } else { Signals::listen()? };
        let mode = if typed { Mode::Keys } else { Mode::Unread };
        let screen = if drawn { Some(Screen::enter(mode)?) } else { None };
        let keyboard = match (typed, drawn, &bot) {
            (true, true, _) => Keyboard::terminal()?,
            // Nobody steers a bot, and one that runs in a script often has nothing to read.
            (_, _, Some(_)) => Keyboard::none(),
            _ => Keyboard::pipe()?,
        };
        Ok(Self {
            view: View::new(Palette::from_environment(), bot.is_some()),
            session: Session::start(seat, link),
            screen,
            keyboard,
            signals,
            bot: bot.map(Bot::new),
            next_frame: Time::ZERO,
            changed: true,
            leaving: false,
            hung_up: false,
            ended: None,
        })
    }

    /// Plays until it is over, then gives the terminal back and tells how it ended.
    pub(crate) async fn run(mut self) -> Parting {
        loop {
            if let Some(end) = self.ended.take().or_else(|| self.session.end().cloned()) {
                // The terminal is the user's own again before anything is printed.
                drop(self.screen);
                let name = match self.session.client().seat() {
                    Seat::Player(name) => name.to_string(),
                    Seat::Spectator => String::new(),
                };
                let account = self.bot.map(|bot| bot.account(self.session.client(), &name));
                return Parting { end, account, refused: self.session.is_refused(), hung_up: self.hung_up };
            }
            self.draw();
            let client = self.session.client();
            let frame = self.session.until((self.changed && self.screen.is_some()).then_some(self.next_frame));
            let typing = self.session.until(self.bot.as_ref().and_then(|bot| bot.due(client)));
            let joined = client.is_joined();
            select! {
                () = self.session.turn() => self.changed = true,
                input = self.keyboard.next(joined) => self.input(input),
                signal = self.signals.next() => self.signal(signal),
                () = typing => {}
                () = frame => {}
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
        if !self.changed || now < self.next_frame {
            return;
        }
        let Some(screen) = &mut self.screen else { return };
        let (client, view) = (self.session.client(), &mut self.view);
        let drawn = screen.draw(|frame| {
            view.prepare(client, frame.area().as_size());
            frame.render_widget(&view.picture(client, now), frame.area());
        });
        self.changed = false;
        self.next_frame = now.plus(FRAME);
        if let Err(error) = drawn {
            info!(%error, "the screen cannot be drawn");
            self.hang_up();
        }
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Event(Event::Typed(typed)) => {
                let action = keys::action(typed, self.context());
                debug!(?typed, ?action, "key");
                self.act(action);
            }
            Input::Event(Event::Resized) => self.changed = true,
            Input::Event(Event::Gone) => self.hang_up(),
            Input::Byte(b'Q') | Input::End => self.leave(),
            // A key that is no byte of ASCII is no key of the game.
            Input::Byte(byte) if byte.is_ascii() => self.session.key(byte),
            Input::Byte(_) => {}
        }
    }

    fn context(&self) -> Context {
        self.view.context(self.session.client())
    }

    fn act(&mut self, action: Action) {
        self.changed = true;
        match action {
            Action::Send(key) => self.session.key(key),
            Action::Leave => self.leave(),
            Action::Interrupt => self.interrupt(),
            Action::ToggleHelp => self.view.toggle_help(),
            Action::Scroll(direction) => self.view.scroll(self.session.client(), direction),
            Action::Redraw => self.with_screen(Screen::forget),
            Action::Suspend => self.with_screen(Screen::suspend),
            Action::Ignore => {}
        }
    }

    fn signal(&mut self, signal: Signal) {
        match signal {
            Signal::Leave => self.interrupt(),
            Signal::HangUp => self.hang_up(),
            Signal::Resized => self.changed = true,
            Signal::Stop => self.act(Action::Suspend),
            Signal::Continued => {
                self.changed = true;
                self.with_screen(Screen::resume);
            }
        }
    }

    fn with_screen(&mut self, act: impl FnOnce(&mut Screen) -> io::Result<()>) {
        if let Some(Err(error)) = self.screen.as_mut().map(act) {
            info!(%error, "the terminal does not obey");
            self.hang_up();
        }
    }

    // The terminal is gone, so nobody plays any more.
    fn hang_up(&mut self) {
        self.hung_up = true;
        self.screen = None;
        self.keyboard = Keyboard::none();
        self.leave();
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
        self.changed = true;
        self.session.leave();
    }
}
