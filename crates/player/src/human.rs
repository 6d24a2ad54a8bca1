//! A person at the table: on a screen, or by lines where standard input or output is no terminal.

use std::{
    io::{self, Write},
    mem,
    net::{self, Shutdown},
};

use blackjack::{Action, client::Event, learn::Score};
use bytes::BytesMut;
use socket2::SockRef;
use termkit::{Key, Palette, Source, Stage, StageEvent};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime, select,
};
use tracing::{debug, trace};

use crate::{
    game::{Game, odds_in_words},
    view::View,
};

/// The longest line that is read; nothing that can be said is longer.
const LINE: usize = 64;
/// Bytes read at a time.
const CHUNK: usize = 4096;

/// What a person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Do(Action),
    Advised,
    Leave,
}

impl Wish {
    fn of_key(key: u8) -> Option<Self> {
        Some(match key.to_ascii_lowercase() {
            b'h' => Self::Do(Action::Hit),
            b's' => Self::Do(Action::Stand),
            b'a' => Self::Advised,
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

struct Person {
    game: Game,
    stage: Stage,
    // None where there is no screen.
    view: Option<View>,
    // Whether the hand could be seen when it was last drawn.
    seen: bool,
    line: Vec<u8>,
    answers: BytesMut,
    leaving: bool,
}

/// Plays until the dealer takes leave, the person leaves or the terminal is gone. Gives the score, and what went wrong if
/// anything did.
///
/// # Errors
/// When the terminal or the system refuses.
pub(crate) fn play(stream: net::TcpStream, game: Game, draws: bool) -> anyhow::Result<(Score, anyhow::Result<()>)> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream)?;
        let stage = Stage::enter(draws, if draws { Source::Terminal } else { Source::Pipe })?;
        let view = draws.then(|| View::new(Palette::from_environment()));
        let mut person =
            Person { game, stage, view, seen: !draws, line: vec![], answers: BytesMut::new(), leaving: false };
        let ended = person.converse(&mut stream).await;
        let _ = SockRef::from(&stream).shutdown(Shutdown::Both);
        let Person { game, stage, .. } = person;
        drop(stage);
        // How the last round ended stood on a screen that is gone.
        if let Some(outcome) = game.outcome().filter(|_| draws && game.is_over()) {
            let _ = writeln!(io::stdout(), "{outcome}");
        }
        anyhow::Ok((game.score(), ended))
    })
}

impl Person {
    async fn converse(&mut self, stream: &mut TcpStream) -> anyhow::Result<()> {
        let mut chunk = BytesMut::new();
        loop {
            self.game.session().take_answers(&mut self.answers);
            if !self.answers.is_empty() {
                // A dealer that is gone may have said why: what is left to be read says more than this.
                if let Err(error) = stream.write_all(&mem::take(&mut self.answers)).await {
                    debug!(%error, "the dealer takes no answer");
                }
            }
            self.draw();
            let asked = self.game.advice().is_some();
            chunk.reserve(CHUNK);
            select! {
                read = stream.read_buf(&mut chunk) => {
                    if !matches!(read, Ok(1..)) {
                        if let Err(error) = read {
                            debug!(%error, "the connection is broken");
                        }
                        return self.game.session().ended();
                    }
                    self.stage.change();
                    self.listen(&chunk.split())?;
                }
                event = self.stage.next(asked) => self.happen(event)?,
            }
            if self.leaving || self.game.is_over() {
                return Ok(());
            }
        }
    }

    fn listen(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let received = self.game.session().receive(bytes);
        while let Some(event) = self.game.next_event() {
            if self.view.is_none() {
                self.tell(&event)?;
            }
        }
        Ok(received?)
    }

    fn draw(&mut self) {
        if let Some(view) = &self.view {
            let game = &self.game;
            let seen = &mut self.seen;
            self.stage.draw(|frame| {
                *seen = View::fits(frame.area());
                view.render(game, frame.area(), frame.buffer_mut());
            });
        }
    }

    fn happen(&mut self, event: StageEvent) -> io::Result<()> {
        match event {
            StageEvent::Key(typed) => self.key(typed),
            StageEvent::Byte(b'\n') => {
                let line = mem::take(&mut self.line);
                match Wish::of_line(&line) {
                    Some(wish) => self.fulfil(wish),
                    None => writeln!(io::stdout(), "Type hit, stand, advice or quit.")?,
                }
            }
            StageEvent::Byte(byte) => {
                if self.line.len() <= LINE {
                    self.line.push(byte);
                }
            }
            // The last line may have no end.
            StageEvent::End => {
                match Wish::of_line(&self.line) {
                    Some(wish) => self.fulfil(wish),
                    None => self.leaving = true,
                }
                self.line.clear();
            }
            StageEvent::Leave => self.leaving = true,
            StageEvent::Gone(error) => {
                debug!(%error, "the terminal is gone");
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
            Key::Redraw => self.stage.forget(),
            Key::Suspend => self.stage.suspend(),
            _ if view.shows_help() => view.toggle_help(),
            Key::Byte(b'?') | Key::Function(1) => view.toggle_help(),
            Key::Byte(key) => {
                // Nobody decides about a hand that cannot be seen.
                if let Some(wish) = Wish::of_key(key).filter(|wish| self.seen || *wish == Wish::Leave) {
                    self.fulfil(wish);
                }
            }
            Key::Pad { .. } | Key::Function(_) => {}
        }
    }

    fn fulfil(&mut self, wish: Wish) {
        let action = match wish {
            Wish::Do(action) => Some(action),
            Wish::Advised => self.game.advice().map(|advice| advice.action),
            Wish::Leave => {
                self.leaving = true;
                None
            }
        };
        if let Some(message) = action.and_then(|action| self.game.decide(action)) {
            trace!("> {message}");
        }
    }

    // What is new, in lines.
    fn tell(&self, event: &Event) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let game = &self.game;
        match event {
            Event::Asked => {
                let cards: Vec<&str> = game.hand().cards().iter().map(|card| card.name()).collect();
                if let Some(upcard) = game.upcard() {
                    writeln!(out, "Round {}: the dealer shows {upcard}.", game.round())?;
                }
                writeln!(out, "You have {}: {}.", game.total(), cards.join(", "))?;
                if let Some(advice) = game.advice() {
                    if let Some((stand, hit)) = advice.odds {
                        writeln!(out, "  hit    {}", odds_in_words(hit))?;
                        writeln!(out, "  stand  {}", odds_in_words(stand))?;
                    }
                    let advised = if advice.action == Action::Hit { "hits" } else { "stands" };
                    writeln!(out, "The table {advised}. hit, stand, advice or quit?")?;
                }
            }
            Event::Ended { .. } => {
                if let Some(outcome) = game.outcome() {
                    writeln!(out, "{outcome}")?;
                }
            }
            Event::Quit => writeln!(out, "The dealer says goodbye.")?,
            Event::Began | Event::Dealt | Event::Ignored => return Ok(()),
        }
        out.flush()
    }
}
