//! The panel game: three panels in a terminal of 90 columns and 26 rows, or more.

mod keys;
mod log;
mod look;
mod state;
mod table;
mod view;

use std::{
    io::{self, Write},
    time::SystemTime,
};

use ratatui::layout::Size;
use termkit::{Depth, Source, Stage, StageEvent};
use tokio::runtime;

pub use self::{
    keys::{Command, command},
    log::{Log, Message, Tone},
    look::{Look, Role},
    state::{Asked, Menu, Overlaid, Press, State, Symbol, Target},
    table::Table,
    view::{SIZE, View},
};
use crate::{Book, Round, today};

/// Plays until the user leaves. The terminal is the user's own again when this returns.
pub(crate) fn play(table: Table, book: &Book) -> anyhow::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let table = runtime.block_on(async {
        let stage = Stage::enter(true, Source::TerminalAndMouse)?;
        anyhow::Ok(Player { stage, table, depth: Depth::from_environment(), window: Size::ZERO, book }.run().await)
    })?;
    // Where it can be copied.
    if let Some(share) = table.share() {
        let mut out = io::stdout().lock();
        writeln!(out, "{share}")?;
        out.flush()?;
    }
    Ok(())
}

/// The game and where it is shown.
struct Player<'a> {
    stage: Stage,
    table: Table,
    depth: Depth,
    // As it was when it was last drawn in.
    window: Size,
    book: &'a Book,
}

impl Player<'_> {
    async fn run(mut self) -> Table {
        self.table.statistics(self.book.read());
        loop {
            self.keep_date();
            let (table, depth, window) = (&self.table, self.depth, &mut self.window);
            self.stage.draw(|frame| {
                *window = frame.area().as_size();
                frame.render_widget(&View::new(table, depth), frame.area());
            });
            if self.happen_next().await {
                return self.table;
            }
        }
    }

    /// Waits for something and does it. Answers whether that was the end.
    async fn happen_next(&mut self) -> bool {
        let event = self.stage.next(true).await;
        // It may have been waited for over midnight.
        self.keep_date();
        let asked = match event {
            StageEvent::Key(typed) => match command(typed) {
                Command::Press(key) if self.fits() => self.table.press(key),
                Command::Press(_) => Asked::Nothing,
                Command::Leave => Asked::Leave,
                Command::Redraw => {
                    self.stage.forget();
                    Asked::Nothing
                }
                Command::Suspend => {
                    self.stage.suspend();
                    Asked::Nothing
                }
            },
            StageEvent::Mouse(mouse) if self.fits() => {
                let target = View::new(&self.table, self.depth).target(self.window, mouse);
                target.map_or(Asked::Nothing, |target| self.table.point(target, mouse.gesture))
            }
            StageEvent::Leave | StageEvent::Gone(_) => Asked::Leave,
            _ => return false,
        };
        self.stage.change();
        match asked {
            Asked::Nothing => {}
            Asked::Leave => return true,
            Asked::Begin => {
                if let Some(puzzle) = self.table.round().and_then(Round::puzzle) {
                    let begun = self.book.begin(puzzle);
                    self.table.begun(begun);
                }
            }
            Asked::Count => {
                if let Some(round) = self.table.round() {
                    let added = self.book.add(round);
                    self.table.counted(added);
                }
            }
        }
        false
    }

    /// Between games the puzzle of the day is that of the date; a game that is being played keeps its own.
    fn keep_date(&mut self) {
        if let Ok(day) = today(SystemTime::now()) {
            self.table.turn_page(day);
        }
    }

    /// Nobody can play what is not shown.
    fn fits(&self) -> bool {
        self.window.width >= SIZE.width && self.window.height >= SIZE.height
    }
}
